"""Costs: what a run will use and cost, from dated prices, and how to stop before it costs more."""

from __future__ import annotations

from timevista_hf.costs._budget import Budget, BudgetExhaustedError, BudgetJudge
from timevista_hf.costs._estimate import Calibration, CostEstimate, calibrate, estimate_cost
from timevista_hf.costs._prices import Price, PriceTable, load_prices
from timevista_hf.costs._tokens import ImageTokens, image_tokens, text_tokens
from timevista_hf.costs._usage import Usage

__all__ = [
    "Budget",
    "BudgetExhaustedError",
    "BudgetJudge",
    "Calibration",
    "CostEstimate",
    "ImageTokens",
    "Price",
    "PriceTable",
    "Usage",
    "calibrate",
    "estimate_cost",
    "image_tokens",
    "load_prices",
    "text_tokens",
]
