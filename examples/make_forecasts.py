"""Make `forecasts.csv`: six public series and what three statistical models said came next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import co2, elnino, macrodata, nile, sunspots
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.statespace.sarimax import SARIMAX


@dataclass(frozen=True, eq=False)
class Series:
    """One series, its last steps held back as the truth, and the order of its ARIMA."""

    unique_id: str
    unit: str
    freq: str
    start: str
    values: np.ndarray  # [T + H]
    season: int
    horizon: int
    order: tuple[int, int, int]
    trend: str | None = None  # of the ARIMA: "c" is a mean, or the drift of a differenced series


def load_series() -> list[Series]:
    """Load the series from the copies that statsmodels carries."""
    weekly = co2.load_pandas().data["co2"]
    monthly = weekly.resample("MS").mean()["1965":]  # five earlier months have no sample
    warm = elnino.load_pandas().data.drop(columns="YEAR").to_numpy().ravel()
    spots = sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
    flow = nile.load_pandas().data["volume"].to_numpy()
    macro = macrodata.load_pandas().data
    output, jobless = macro["realgdp"].to_numpy(), macro["unemp"].to_numpy()
    return [
        Series("co2", "ppm", "MS", "1965-01", monthly.to_numpy(), 12, 24, (0, 1, 1)),
        Series("el_nino", "°C", "MS", "1950-01", warm, 12, 24, (1, 0, 1)),
        Series("sunspots", "sunspots", "YS", "1700-01", spots, 11, 22, (9, 0, 0), "c"),
        Series("nile", "10⁸ m³", "YS", "1871-01", flow, 1, 10, (1, 0, 1), "c"),
        Series("us_gdp", "billion 2005 USD", "QS", "1959-01", output, 4, 12, (1, 1, 0), "c"),
        Series("us_unemployment", "%", "QS", "1959-01", jobless, 4, 12, (2, 0, 0), "c"),
    ]


def forecast(series: Series) -> dict[str, np.ndarray]:
    """Forecast the held-back steps from those before: one array of shape (H,) a model."""
    history = series.values[: -series.horizon]
    seasonal = series.freq == "MS"  # the quarterly series come seasonally adjusted
    naive = np.resize(history[-series.season :], series.horizon)
    smoothing = ExponentialSmoothing(
        history,
        trend="add",
        damped_trend=True,
        seasonal="add" if seasonal else None,
        seasonal_periods=series.season if seasonal else None,
    )
    arima = SARIMAX(
        history,
        order=series.order,
        seasonal_order=(0, 1, 1, series.season) if seasonal else (0, 0, 0, 0),
        trend=series.trend,
    )
    return {
        "SeasonalNaive": naive,
        "HoltWinters": smoothing.fit().forecast(series.horizon),
        "ARIMA": arima.fit(disp=False, maxiter=200).forecast(series.horizon),
    }


def to_frame(series: Series) -> pd.DataFrame:
    """Lay a series out in long form: one row a step, model columns empty in the history."""
    steps = pd.date_range(series.start, periods=series.values.size, freq=series.freq)
    frame = pd.DataFrame({"unique_id": series.unique_id, "ds": steps.strftime("%Y-%m-%d")})
    frame = frame.assign(freq=series.freq, unit=series.unit, y=series.values)
    held_back = frame.index[-series.horizon :]
    for model, steps_ahead in forecast(series).items():
        frame[model] = pd.Series(steps_ahead, index=held_back)
    return frame


if __name__ == "__main__":
    table = pd.concat([to_frame(series) for series in load_series()]).round(3)
    target = Path(__file__).with_name("forecasts.csv")
    table.to_csv(target, index=False, float_format="%.8g", lineterminator="\n", encoding="utf-8")
    print(f"{target.name}: {len(table)} rows")
