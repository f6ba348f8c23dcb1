"""Rows become windows: which are history, which horizon, and on what axis."""

import numpy as np
import pandas as pd
import pytest

from timevista_hf.io import read_forecasts
from timevista_hf.io._axis import season_length_of

NAN = float("nan")


def same(values, expected):
    return np.array_equal(values, expected, equal_nan=True)


def test_each_model_has_its_own_horizon(write):
    text = "ds,y,m,n\n1,1,,\n2,2,,\n3,3,3,\n4,4,4,4\n5,5,,5\n"
    early, late = read_forecasts(write(text)).cases()
    assert (early.history.tolist(), early.truth.tolist()) == ([1, 2], [3, 4])
    assert (late.history.tolist(), late.truth.tolist()) == ([1, 2, 3], [4, 5])


def test_rows_after_the_horizon_are_not_used(write):
    [case] = read_forecasts(write("ds,y,m\n1,1,\n2,2,2\n3,3,3\n4,4,\n")).cases()
    assert (case.truth.tolist(), case.prediction.tolist()) == ([2, 3], [2, 3])


def test_rows_may_come_in_any_order(write):
    [case] = read_forecasts(write("ds,y,m\n4,4,8\n1,1,\n3,3,7\n2,2,\n")).cases()
    assert (case.history.tolist(), case.prediction.tolist()) == ([1, 2], [7, 8])


def test_step_without_a_row_is_nan(write):
    # Step 2 of the history and step 5 of the horizon have no row.
    read = read_forecasts(write("ds,y,m\n1,1,\n3,3,\n4,4,4\n6,6,6\n7,7,7\n"))
    [case] = read.cases()
    assert same(case.history, [1, NAN, 3])
    assert same(case.truth, [4, NAN, 6, 7])
    assert same(case.prediction, [4, NAN, 6, 7])
    assert read.decisions["missing_steps"] == 2


def test_history_starts_with_its_first_truth(write):
    [case] = read_forecasts(write("ds,y,m\n1,,\n2,2,\n3,,\n4,4,4\n5,5,5\n")).cases()
    assert same(case.history, [2, NAN])


def test_truth_may_lack_steps_and_they_are_counted(write):
    read = read_forecasts(write("ds,y,m\n1,1,\n2,2,2\n3,,3\n4,4,4\n"))
    assert same(next(read.cases()).truth, [2, NAN, 4])
    assert read.decisions["predicted_rows_without_truth"] == 1


def test_series_without_an_id_is_named_after_the_file_and_said(write):
    read = read_forecasts(write("ds,y,m\n1,1,\n2,2,2\n3,3,3\n", "sales.v2.csv"))
    assert next(read.cases()).id == "sales"
    assert (
        "sales.v2.csv: no column of series, read as one series 'sales'" in read.decisions["notes"]
    )


WINDOWS = (
    "id,ds,cutoff,y,m,n\n"
    "a,1,,1,,\na,2,,2,,\na,3,2,3,30,300\na,4,2,4,40,400\n"
    "a,4,3,4,41,\na,5,3,5,51,\nb,1,,1,,\nb,2,1,2,2,2\nb,3,1,3,3,3\n"
)


def test_history_of_a_window_is_every_truth_up_to_its_cutoff(write):
    cases = list(read_forecasts(write(WINDOWS)).cases(models=["m"]))
    assert [(c.id, c.cutoff) for c in cases] == [("a", "2"), ("a", "3"), ("b", "1")]
    # Step 3 is the horizon of the first window and the history of the second.
    assert [c.history.tolist() for c in cases] == [[1, 2], [1, 2, 3], [1]]
    assert [c.prediction.tolist() for c in cases] == [[30, 40], [41, 51], [2, 3]]


def test_models_of_a_window_come_one_after_another(write):
    cases = read_forecasts(write(WINDOWS)).cases()
    assert [(c.id, c.cutoff, c.model) for c in cases] == [
        ("a", "2", "m"), ("a", "2", "n"), ("a", "3", "m"), ("b", "1", "m"), ("b", "1", "n"),
    ]  # fmt: skip


def test_limit_counts_windows(write):
    read = read_forecasts(write(WINDOWS))
    assert [c.model for c in read.cases(limit=1)] == ["m", "n"]
    assert (len(read), len(list(read.cases(limit=99))), len(list(read.cases(limit=0)))) == (3, 5, 0)


def test_counts_are_those_of_the_cases(write):
    read = read_forecasts(write(WINDOWS))
    counts = [read.decisions[name] for name in ("rows", "series", "windows", "cases")]
    assert counts == [9, 2, 3, 5]
    assert read.decisions["windows_without_a_model"] == 1
    assert len(list(read.cases())) == 5


def test_truth_between_cutoff_and_horizon_is_not_shown(write):
    text = "id,ds,cutoff,y,m\na,1,,1,\na,2,,2,\na,3,,3,\na,4,2,4,4\na,5,2,5,5\n"
    [case] = read_forecasts(write(text)).cases()
    assert same(case.history, [1, 2, NAN])


def test_actuals_give_history_and_truth(write):
    actuals = write("series;day;sales\n", "actuals.csv")
    actuals = write("id;date;sales\na;1;1\na;2;2\na;3;3\na;4;4\nz;1;9\n", "actuals.csv")
    read = read_forecasts(write("id,ds,m\na,3,30\na,4,40\n"), actuals=actuals)
    [case] = read.cases()
    assert (case.history.tolist(), case.truth.tolist()) == ([1, 2], [3, 4])
    assert read.decisions["actuals"]["columns"]["target"] == "sales"
    assert read.decisions["actuals"]["delimiter"] == ";"


def test_actuals_fill_the_empty_truths_of_the_forecasts(write):
    actuals = write("id,ds,y\na,1,1\na,4,4\n", "actuals.csv")
    [case] = read_forecasts(write("id,ds,y,m\na,3,3,30\na,4,,40\n"), actuals=actuals).cases()
    assert (case.truth.tolist(), case.history.size) == ([3, 4], 2)


def test_actuals_with_cutoffs_are_joined(write):
    forecasts = write("id,ds,cutoff,m\na,3,2,30\na,4,2,40\na,4,3,41\na,5,3,51\n")
    actuals = "id,ds,cutoff,y\na,1,,1\na,2,,2\na,3,2,3\na,4,2,4\na,4,3,4\na,5,3,5\n"
    cases = list(read_forecasts(forecasts, actuals=write(actuals, "actuals.csv")).cases())
    assert [c.truth.tolist() for c in cases] == [[3, 4], [4, 5]]
    assert [c.history.tolist() for c in cases] == [[1, 2], [1, 2, 3]]


def test_truth_in_single_precision_is_no_conflict(write):
    forecasts = write("id,ds,y,m\na,1,0.1,\na,2,0.2,2\na,3,0.3,3\n")
    actuals = write(f"id,ds,y\na,1,{np.float32(0.1):.9f}\n", "actuals.csv")
    assert next(read_forecasts(forecasts, actuals=actuals).cases()).history.tolist() == [0.1]


def test_labels_are_those_of_the_series(write):
    text = (
        "id,ds,y,m,dataset,unit,freq\na,1,1,,sun,kW,15min\na,2,2,2,,,\na,3,3,3,sun,,\n"
        "b,1,1,,wind,,\nb,2,2,2,,,\nb,3,3,3,,,\n"
    )
    one, two = read_forecasts(write(text)).cases()
    assert (one.dataset, one.unit, one.freq, one.season_length) == ("sun", "kW", "15min", 96)
    assert (two.dataset, two.unit, two.freq, two.season_length) == ("wind", None, None, None)


def test_season_length_is_taken_as_asked(write):
    path = write("ds,y,m\n2024-01-01,1,\n2024-01-02,2,2\n2024-01-03,3,3\n")
    assert next(read_forecasts(path, season_length=30).cases()).season_length == 30


def days(times, horizon=2):
    rows = [f"{time},{n},{n if n >= len(times) - horizon else ''}" for n, time in enumerate(times)]
    return "ds,y,m\n" + "\n".join(rows) + "\n"


def test_business_days_follow_one_another(write):
    # Two weeks from Monday 2024-01-01, without Thursday the 4th: nine rows, no gap.
    times = pd.bdate_range("2024-01-01", "2024-01-12").strftime("%Y-%m-%d").tolist()
    times.remove("2024-01-04")
    read = read_forecasts(write(days(times)))
    [case] = read.cases()
    assert (read.decisions["axis"], case.freq, case.season_length) == ("weekdays", "B", 5)
    assert case.history.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_days_that_miss_a_weekday_too_often_are_a_grid(write):
    # Monday to Wednesday of two weeks: 6 of 8 weekdays, and 6 of 10 days.
    times = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-08", "2024-01-09", "2024-01-10"]
    read = read_forecasts(write(days(times)))
    assert (read.decisions["axis"], read.decisions["missing_steps"]) == ("regular", 4)


def test_trading_hours_follow_one_another(write):
    # Friday and Monday, five half hours each.
    times = [f"2024-01-0{day} {9 + n // 2:02}:{n % 2 * 30:02}" for day in (5, 8) for n in range(5)]
    read = read_forecasts(write(days(times)))
    assert (read.decisions["axis"], read.decisions["freq"]) == ("weekdays", "30min")
    assert next(read.cases()).history.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_uneven_times_follow_one_another(write):
    read = read_forecasts(write(days([1, 2, 4, 9, 11, 30, 31, 58])))
    [case] = read.cases()
    assert (read.decisions["axis"], case.history.tolist()) == ("irregular", [0, 1, 2, 3, 4, 5])


def test_close_pair_does_not_make_a_grid_of_gaps(write):
    # All are multiples of 1, the smallest step, but a grid would hold 5 rows of 101.
    read = read_forecasts(write(days([0, 1, 50, 75, 100])))
    assert (read.decisions["axis"], read.decisions["missing_steps"]) == ("irregular", 0)


def test_months_of_unequal_length_are_a_grid(write):
    # April is missing of January to June.
    times = [f"2024-{month:02}-01" for month in (1, 2, 3, 5, 6)]
    read = read_forecasts(write(days(times)))
    assert (read.decisions["axis"], read.decisions["freq"]) == ("regular", "MS")
    assert same(next(read.cases()).history, [0, 1, 2, NAN])


def test_hours_across_a_change_of_the_clock_are_even_in_utc(write):
    # Europe/Berlin on 2024-03-31: 01:00+01:00 is followed by 03:00+02:00.
    times = pd.date_range("2024-03-31", periods=5, freq="h", tz="Europe/Berlin").map(str).tolist()
    read = read_forecasts(write(days(times)))
    assert (read.decisions["freq"], read.decisions["missing_steps"]) == ("h", 0)


def test_steps_of_each_series_are_counted_where_they_differ(write):
    text = "id,ds,y,m\n"
    for name, step in (("a", "D"), ("b", "D"), ("c", "h")):
        for n, time in enumerate(pd.date_range("2024-01-01", periods=4, freq=step)):
            text += f"{name},{time},{n},{n if n > 1 else ''}\n"
    assert read_forecasts(write(text)).decisions["freq"] == {"D": 2, "h": 1}


def test_cases_are_those_of_a_loop_over_groups(write):
    rng = np.random.default_rng(3)
    rows = []
    for name in ("x", "y", "z"):
        truth = rng.normal(size=30)
        rows += [(name, n, "", truth[n], np.nan, np.nan) for n in range(12)]
        for cutoff in (11, 15, 20):
            rows += [(name, n, cutoff, truth[n], *rng.normal(size=2))
                     for n in range(cutoff + 1, cutoff + 5)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["id", "ds", "cutoff", "y", "m", "n"])
    shuffled = frame.sample(frac=1, random_state=1)
    read = read_forecasts(write(shuffled.to_csv(index=False)))
    found = {(c.id, c.cutoff, c.model): c for c in read.cases()}
    assert len(found) == 3 * 3 * 2
    for (name, cutoff), window in frame[frame.cutoff != ""].groupby(["id", "cutoff"]):
        past = frame[(frame.id == name) & (frame.ds <= cutoff)].drop_duplicates("ds")
        series = past.sort_values("ds").set_index("ds").y.reindex(range(cutoff + 1))
        for model in ("m", "n"):
            case = found[name, str(cutoff), model]
            assert same(case.history, series.to_numpy())
            assert same(case.prediction, window[model].to_numpy())
            assert same(case.truth, window.y.to_numpy())


@pytest.mark.parametrize(
    ("freq", "season"),
    [
        ("h", 24), ("H", 24), ("D", 7), ("B", 5), ("W", 52), ("W-SUN", 52), ("M", 12), ("MS", 12),
        ("ME", 12), ("Q", 4), ("QE-DEC", 4), ("Y", 1), ("YS-JAN", 1), ("min", 1440), ("s", 60),
        ("30min", 48), ("15min", 96), ("10min", 144), ("5min", 288), ("2h", 12), ("6h", 4),
        ("3MS", 4), ("2YS", None), ("5h", None), ("0D", None), ("ms", None), ("other", None),
        (None, None), ("", None), ("48h", None),
    ],
)  # fmt: skip
def test_season_length_follows_from_the_frequency(freq, season):
    assert season_length_of(freq) == season
