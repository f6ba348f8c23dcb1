"""Read forecast tables, judgments and detections; write the latter and other files whole.

Formats, told by the first bytes and never by the name: delimited text (``,`` ``;`` TAB ``|``;
UTF-8, UTF-16, Windows-1252 or Latin-1), Parquet, JSON Lines; each also compressed with gzip.
Anything else is refused by name. Nothing is guessed silently: `ForecastTable.decisions` says what
was decided, and whatever can be read in two ways is an error that names the option to decide it.

Columns, told by their names in any case:

- series ``unique_id item_id id series_id series location``; without one the file is one series;
- time ``ds timestamp date datetime time target_end_date step t``: dates, times with or without a
  zone, months, quarters, years, whole numbers;
- truth ``y target actual truth value observed``;
- ``cutoff reference_date forecast_date``: the last time of a window's history;
- ``freq dataset unit``: the same in all rows of a series;
- quantiles and bounds of intervals (``M-lo-90 M-hi-90 0.1 q0.1 M-q-0.1``) are kept apart;
- every other column of numbers is a model. A column without any number is passed over.

Layouts of tables with one row a step:

- One file. Rows of a series whose model cells are all empty are history. Rows with a prediction
  are the horizon and need the truth. Each model has its own horizon, and its history ends where
  that begins; a step between them, or within the horizon, that has no row is NaN.
- With cutoffs each (series, cutoff) is a window. Its history is every truth of the series up to
  the cutoff, whatever the cutoff of the row that holds it; a step has one truth.
- With a file of actuals (series, time, truth), joined on series and time. They give the history,
  and the truth where the forecasts lack it.

Layout with one window a line, in JSON Lines: ``{"id": "a", "history": [1, 2], "truth": [3, 4],
"predictions": {"ets": [3, 3]}}``, with ``cutoff freq dataset unit season_length`` where known;
arrays beside ``history`` and ``truth`` are models too. Its steps have no time.

Series lie on a regular grid where their times do, with NaN for a step that no row holds. Series
that skip weekends, and those with uneven steps, are taken step by step as their rows come.
Times with a zone are turned into UTC. Empty cells, ``NA NaN null None - N/A`` are missing.

Errors name rows: in text files the line where the record starts, counted from 1 as an editor
does; in Parquet the record, counted from 1.
"""

from timevista_hf.io._detections import read_detections, write_detections
from timevista_hf.io._judgments import read_judgments, write_judgments
from timevista_hf.io._roles import Columns
from timevista_hf.io._table import ForecastTable, read_forecasts
from timevista_hf.io._write import write_atomically, write_json

__all__ = [
    "Columns",
    "ForecastTable",
    "read_detections",
    "read_forecasts",
    "read_judgments",
    "write_atomically",
    "write_detections",
    "write_json",
    "write_judgments",
]
