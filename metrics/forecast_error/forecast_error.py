"""Errors of point forecasts: MSE, MAE, MASE and DTW."""

import math

import datasets
import evaluate

from timevista_hf.loading.module_inputs import (
    evaluate_words,
    merge_options,
    one_a_row,
    split_options,
)
from timevista_hf.metrics import dtw_batch, mae, mase, mase_horizon, mse

_INPUTS = """
Args:
    predictions: list of forecasts, each a list of numbers; None or nan is a missing step.
    references: list of truths, each as long as its forecast.
    history: list of what came before, one a row; without it MASE is nan.
    season_length: steps in a season, an integer or one a row. Default 1.
Returns:
    mse, mae, mase, mase_horizon, dtw: means over the rows where they are defined; 0 is perfect.
    undefined: how many rows are not in each mean; rows: how many there are.
"""


class ForecastError(evaluate.Metric):
    """Average the errors of point forecasts over rows."""

    def __init__(self, config_name=None, **options):
        self.options, options = split_options({"season_length": 1}, options, config_name)
        super().__init__(config_name, **options)

    def _info(self):
        series = datasets.List(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": series, "references": series}),
        )

    def _compute(self, predictions, references, history=None, **options):
        rows = len(references)
        season = merge_options(self.options, options)["season_length"]
        seasons = [season] * rows if isinstance(season, int) else season
        seasons = one_a_row("season_length", seasons, rows)
        pasts = [[]] * rows if history is None else one_a_row("history", history, rows)
        errors = {name: [] for name in ("mse", "mae", "mase", "mase_horizon")}
        for row, case in enumerate(zip(references, predictions, pasts, seasons, strict=True)):
            with evaluate_words(row):
                for name, error in _errors(*case).items():
                    errors[name].append(error)
        errors["dtw"] = dtw_batch(references, predictions).tolist()
        undefined = {name: sum(map(math.isnan, values)) for name, values in errors.items()}
        means = {name: _mean(values) for name, values in errors.items()}
        return {**means, "undefined": undefined, "rows": rows}


def _errors(truth, prediction, past, season):
    return {
        "mse": mse(truth, prediction),
        "mae": mae(truth, prediction),
        "mase": mase(truth, prediction, past, season_length=season),
        "mase_horizon": mase_horizon(truth, prediction, season_length=season),
    }


def _mean(values):
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan
