"""Metrics on arrays: pure numpy functions that know nothing of cases or files."""

from timevista_hf.metrics.forecast import (
    dtw,
    dtw_batch,
    forecast_errors,
    mae,
    mase,
    mase_horizon,
    mse,
)

__all__ = ["dtw", "dtw_batch", "forecast_errors", "mae", "mase", "mase_horizon", "mse"]
