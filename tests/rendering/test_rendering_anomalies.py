import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from PIL import Image

from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering import (
    AnomalyRenderer,
    AnomalyStyle,
    describe_anomalies,
    render_anomalies,
)
from timevista_hf.rendering._anomaly_layout import panel_grid, panels_of
from timevista_hf.rendering._scale import series_limits, value_ticks

LINE, INK, MARK, SHADE = "#4682B4", "#000000", "#D62728", "#F7D4D4"

# The box of a single variate with axes, in pixels from the upper left.
LEFT, TOP, RIGHT, BOTTOM = 98, 19, 985, 125


def one(values=None, granularity="range", events=()):
    values = np.sin(2 * np.pi * 0.04 * np.arange(400)) if values is None else values
    events = np.array(events, dtype=int).reshape(-1, 2)
    return AnomalyCase(id="a", values=values, granularity=granularity, events=events)


def several(num_variates, variates=(), steps=200):
    values = np.sin(np.arange(steps)[:, np.newaxis] / 8 + np.arange(num_variates))
    return AnomalyCase(id="a", values=values, granularity="variate", variates=variates)


def read(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def where(picture, color):
    """Mask of the pixels that have exactly this colour."""
    return (picture == np.round(np.array(to_rgb(color)) * 255)).all(axis=-1)


def column(step, steps=400):
    """The column of pixels of a step: 5 % of the steps are left free on either side."""
    end = steps - 1
    return round(LEFT + (step + 0.05 * end) / (1.1 * end) * (RIGHT - LEFT))


@pytest.mark.parametrize(
    ("case", "style", "size"),
    [
        (one(), AnomalyStyle(), (1000, 150)),
        (several(7), AnomalyStyle(), (1000, 1000)),
        (one(), AnomalyStyle(width=600, height=300), (600, 300)),
        (several(2), AnomalyStyle(width=600, height=300), (600, 300)),
    ],
)
def test_the_picture_has_the_size_that_the_style_says(case, style, size):
    assert Image.open(io.BytesIO(render_anomalies(case, style))).size == size


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 499),
        ("width", 1000.0),
        ("height", 119),
        ("line_color", "no colour"),
        ("line_color", "white"),
        ("line_color", "#d62728"),
        ("line_color", "#4682B480"),
        ("line_width", 0),
    ],
)
def test_a_style_that_cannot_be_read_is_refused_with_its_field(field, value):
    with pytest.raises(ValueError, match=f"AnomalyStyle: `{field}` .*{re.escape(repr(value))}"):
        AnomalyStyle(**{field: value})


def test_an_unknown_grid_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"(?s)`grid`.*near_square.*paper_code"):
        AnomalyStyle(grid="square")


@pytest.mark.parametrize(
    "change",
    [
        {"width": 600},
        {"height": 600},
        {"line_color": "black"},
        {"line_width": 1},
        {"grid": "paper_code"},
        {"marks": True},
    ],
)
def test_every_change_of_style_changes_the_fingerprint(change):
    assert AnomalyStyle(**change).fingerprint != AnomalyStyle().fingerprint


def test_the_fingerprint_names_size_grid_and_matplotlib():
    fingerprint = AnomalyStyle(grid="paper_code").fingerprint
    assert f"-1000xauto-paper_code-mpl{matplotlib.__version__}-" in fingerprint


# M: rows and columns that are nearest to a square, and those of the paper's code.
GRIDS = {
    2: ((1, 2), (1, 2)),
    3: ((2, 2), (1, 3)),
    4: ((2, 2), (2, 2)),
    5: ((2, 3), (2, 3)),
    6: ((2, 3), (2, 3)),
    7: ((3, 3), (2, 4)),
    8: ((3, 3), (2, 4)),
    9: ((3, 3), (3, 3)),
    10: ((3, 4), (3, 4)),
    11: ((3, 4), (3, 4)),
    12: ((3, 4), (3, 4)),
    13: ((4, 4), (3, 5)),
    14: ((4, 4), (3, 5)),
    15: ((4, 4), (3, 5)),
    16: ((4, 4), (4, 4)),
}


@pytest.mark.parametrize("num_variates", GRIDS)
def test_panels_stand_in_the_rows_and_columns_of_the_rule(num_variates):
    grids = tuple(panel_grid(num_variates, rule) for rule in ("near_square", "paper_code"))
    assert grids == GRIDS[num_variates]


def test_the_two_rules_differ_for_44_numbers_of_variates_up_to_100():
    # Just where n(n + 1) < M < (n + 1)²: n numbers for each n from 2 to 9.
    differ = [
        m for m in range(4, 101) if panel_grid(m, "near_square") != panel_grid(m, "paper_code")
    ]
    assert differ == [m for n in range(2, 10) for m in range(n * (n + 1) + 1, (n + 1) ** 2)]


@pytest.mark.parametrize("grid", ["near_square", "paper_code"])
@pytest.mark.parametrize("num_variates", [2, 3, 7, 13, 36])
def test_panels_are_framed_row_by_row_and_no_more_than_variates(num_variates, grid):
    rows, columns = panel_grid(num_variates, grid)
    picture = read(render_anomalies(several(num_variates), AnomalyStyle(grid=grid)))
    # The middle lines of a row and of a column cross both sides of each panel's frame.
    frame = where(picture, INK)
    for row in range(rows):
        middle = round((row + 0.5) * 1000 / rows)
        in_row = min(columns, num_variates - row * columns)
        assert frame[middle].sum() == 2 * in_row
        assert np.flatnonzero(frame[middle])[-1] <= in_row * 1000 / columns
    assert frame[:, round(0.5 * 1000 / columns)].sum() == 2 * rows


def test_variates_stand_row_by_row_from_the_upper_left():
    # Only the marked ones are red: number 5 of 3 × 3 is the last of the second row.
    picture = read(render_anomalies(several(9, variates=[5]), AnomalyStyle(marks=True)))
    rows, columns = np.nonzero(where(picture, MARK))
    assert 333 < rows.min() < rows.max() < 667 < columns.min()


@pytest.mark.parametrize("scale", [1e-270, 1e-9, 1.0, 1e299])
def test_every_curve_reaches_from_the_bottom_to_the_top_of_its_panel(scale):
    base = several(9)
    values = base.values * scale * np.array([1, 0.5, 0.1, 1, 1, 1, 1, 1, 1])
    case = AnomalyCase(id="a", values=values, granularity="variate")
    line = where(read(render_anomalies(case)), LINE)
    for panel in panels_of(case, AnomalyStyle()):
        inside = line[1000 - panel.top : 1000 - panel.bottom, panel.left : panel.right]
        rows = np.flatnonzero(inside.any(axis=1))
        # 5 % of the range, a twenty-second of the panel, stays free above and below.
        free = (panel.top - panel.bottom) / 22
        assert abs(rows[0] - free) <= 3
        assert abs(inside.shape[0] - rows[-1] - free) <= 3


def test_the_steps_are_where_the_axis_says():
    values = np.zeros(400)
    values[100] = 1
    picture = read(render_anomalies(one(values)))
    tip = np.flatnonzero(where(picture, LINE)[TOP + 1 : 50].any(axis=0))
    assert abs(tip.mean() - column(100)) <= 1
    ticks = np.flatnonzero(where(picture, INK)[BOTTOM + 3, LEFT:]) + LEFT
    # Every fiftieth step of 400 has a tick.
    assert ticks.tolist() == pytest.approx([column(step) for step in range(0, 401, 50)], abs=1)


def test_a_gap_is_blank():
    values = one().values.copy()
    values[100:140] = np.nan
    ink = (read(render_anomalies(one(values)))[TOP + 1 : BOTTOM - 1] < 255).any(axis=(0, 2))
    assert ink[column(90) : column(99)].all()
    assert not ink[column(99) + 2 : column(140) - 1].any()
    assert ink[column(140) + 1 : column(150)].all()


def test_a_single_missing_step_is_seen():
    values = np.zeros(400)
    values[200] = np.nan
    ink = (read(render_anomalies(one(values)))[TOP + 1 : BOTTOM - 1] < 128).any(axis=(0, 2))
    assert not ink[column(200)]


@pytest.mark.parametrize("observed", [[120], [120, 121]], ids=["one", "two alike"])
def test_what_is_observed_between_missing_steps_is_a_dot(observed):
    values = one().values.copy()
    values[100:140] = np.nan
    # Two steps of 20,000 are less than a pixel apart.
    values = np.repeat(values, 1 if len(observed) == 1 else 50)
    place = observed[0] * (values.size // 400)
    values[place : place + len(observed)] = 0.5
    dot = where(read(render_anomalies(one(values))), LINE)[
        TOP + 1 : BOTTOM, column(110) : column(130)
    ]
    rows, columns = np.nonzero(dot)
    assert 4 <= dot.sum() <= 16
    assert max(np.ptp(rows), np.ptp(columns)) <= 4


def test_dots_of_several_variates_stand_in_their_panels():
    values = np.full((20, 4), np.nan)
    values[:, 0] = np.arange(20)
    values[10, 3] = 7
    case = AnomalyCase(id="a", values=values, granularity="variate")
    line = where(read(render_anomalies(case)), LINE)
    quarters = line.reshape(2, 500, 2, 500).sum(axis=(1, 3))
    assert quarters[0, 0] > 200
    assert 4 <= quarters[1, 1] <= 16
    assert quarters[0, 1] == quarters[1, 0] == 0


def test_a_variate_that_is_missing_altogether_is_an_empty_frame():
    values = several(4).values.copy()
    values[:, 1] = np.nan
    case = AnomalyCase(id="a", values=values, granularity="variate")
    empty = read(render_anomalies(case))[:500, 500:]
    assert where(empty, INK).sum() > 1000
    assert (where(empty, INK) | where(empty, "white")).all()


def test_a_constant_is_a_line_in_the_middle():
    rows = np.flatnonzero(where(read(render_anomalies(one(np.full(50, 3.0)))), LINE).any(axis=1))
    assert abs(rows.mean() - (TOP + BOTTOM) / 2) <= 2


@pytest.mark.parametrize("values", [[1.0, 2.0], [np.nan, 2.0], [np.nan, np.nan]])
def test_two_steps_are_drawn(values):
    seen = where(read(render_anomalies(one(values))), LINE).any()
    assert seen == np.isfinite(values).any()


def test_a_long_series_keeps_its_extremes_and_gaps():
    values = np.zeros(100_000)
    values[25_000], values[75_000] = 1, -1
    values[50_000:60_000] = np.nan
    line = read(render_anomalies(one(values)))[TOP + 1 : BOTTOM - 1, LEFT + 1 : RIGHT - 1] < 255
    highest, lowest = (line[rows].any(axis=(0, 2)) for rows in (slice(0, 30), slice(-30, None)))
    assert abs(np.flatnonzero(highest).mean() + LEFT + 1 - column(25_000, 100_000)) <= 2
    assert abs(np.flatnonzero(lowest).mean() + LEFT + 1 - column(75_000, 100_000)) <= 2
    gap = slice(column(50_000, 100_000) - LEFT + 1, column(60_000, 100_000) - LEFT - 2)
    assert not line[:, gap].any()


def test_400_variates_have_a_panel_each():
    picture = read(render_anomalies(several(400, steps=50)))
    assert where(picture, INK)[25].sum() == 40
    assert where(picture, LINE).reshape(20, 50, 20, 50).any(axis=(1, 3)).all()


def test_more_variates_than_there_is_room_for_are_refused():
    rule = r"series 'a': 26 × 26 panels do not fit 500 × 1000 pixels"
    with pytest.raises(ValueError, match=rule):
        render_anomalies(several(676, steps=2), AnomalyStyle(width=500))


def test_values_that_overflow_are_refused_by_series_and_variate():
    values = several(4).values.copy()
    values[3, 2] = 1e301
    case = AnomalyCase(id="a", values=values, granularity="variate")
    with pytest.raises(ValueError, match=r"series 'a', variate 2: values up to 1e\+300"):
        render_anomalies(case)


@pytest.mark.parametrize(
    ("case", "color"),
    [
        (one(granularity="point", events=[(50, 51), (300, 301)]), MARK),
        (one(events=[(50, 70)]), SHADE),
        (several(9, variates=[4]), MARK),
    ],
    ids=["point", "range", "variate"],
)
def test_the_truth_is_marked_only_on_request(case, color):
    plain = AnomalyCase(id="a", values=case.values, granularity=case.granularity)
    assert render_anomalies(case) == render_anomalies(plain)
    assert where(read(render_anomalies(case, AnomalyStyle(marks=True))), color).sum() > 50


def test_a_range_is_shaded_over_its_steps():
    picture = read(render_anomalies(one(events=[(100, 120)]), AnomalyStyle(marks=True)))
    shaded = np.flatnonzero(where(picture, SHADE).any(axis=0))
    # From half a step before 100 to half a step behind 119; a step is two pixels wide.
    assert [shaded[0], shaded[-1]] == pytest.approx([column(99.5), column(119.5)], abs=1)


def test_a_range_at_the_end_is_shaded_inside_the_frame():
    picture = read(render_anomalies(one([1, 2], events=[(1, 2)]), AnomalyStyle(marks=True)))
    assert np.flatnonzero(where(picture, SHADE).any(axis=0))[-1] < RIGHT


def test_a_range_narrower_than_a_pixel_is_seen():
    case = one(np.zeros(100_000), events=[(70_000, 70_001)])
    picture = read(render_anomalies(case, AnomalyStyle(marks=True)))
    assert where(picture, SHADE)[TOP + 2].sum() in (1, 2, 3)


def test_a_point_is_marked_at_its_step():
    case = one(granularity="point", events=[(150, 151)])
    marked = where(read(render_anomalies(case, AnomalyStyle(marks=True))), MARK)
    assert abs(np.flatnonzero(marked.any(axis=0)).mean() - column(150)) <= 1


def test_a_clean_series_has_nothing_to_mark():
    assert render_anomalies(one(), AnomalyStyle(marks=True)) == render_anomalies(one())


def test_the_same_case_gives_the_same_bytes_in_any_order():
    cases = [one(), several(9), one(np.full(9, 1e12)), several(36, variates=[3]), one([1, 2])]
    renderer = AnomalyRenderer(AnomalyStyle(marks=True))
    forward = [renderer.render(case) for case in cases]
    backward = [renderer.render(case) for case in reversed(cases)]
    assert forward == backward[::-1]
    assert forward == [render_anomalies(case, AnomalyStyle(marks=True)) for case in cases]


def test_threads_that_share_a_renderer_give_the_same_bytes():
    cases = [one(), several(4), several(9), one([0, 1, 0])] * 3
    renderer = AnomalyRenderer()
    alone = [renderer.render(case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(renderer.render, cases)) == alone


FRESH_PROCESS = """
import hashlib, sys
import numpy as np, matplotlib
matplotlib.rcParams.update({"font.size": 30, "lines.linewidth": 9, "path.simplify": False})
from timevista_hf.cases import AnomalyCase
from timevista_hf.rendering import render_anomalies
case = AnomalyCase(id="a", values=np.sin(np.arange(99)), granularity="range")
print(hashlib.sha256(render_anomalies(case)).hexdigest(), "matplotlib.pyplot" in sys.modules)
"""


def test_a_fresh_process_gives_the_same_bytes_without_pyplot():
    digest = sha256(render_anomalies(one(np.sin(np.arange(99))))).hexdigest()
    run = subprocess.run(
        [sys.executable, "-c", FRESH_PROCESS], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [digest, "False"]


@pytest.mark.parametrize("case", [one(), several(4)])
def test_the_users_matplotlib_settings_change_nothing_and_stay(case):
    expected = AnomalyRenderer().render(case)
    mine = {
        "figure.facecolor": "red",
        "figure.dpi": 200,
        "font.family": ["serif"],
        "lines.antialiased": False,
        "patch.antialiased": False,
        "path.sketch": (3, 20, 5),
        "text.antialiased": False,
    }
    with matplotlib.rc_context(mine):
        assert AnomalyRenderer().render(case) == expected
        assert {key: matplotlib.rcParams[key] for key in mine} == mine


@settings(max_examples=40, deadline=None)
@given(
    level=st.floats(-1e13, 1e13),
    span=st.one_of(st.just(0.0), st.floats(1e-280, 1e250)),
)
def test_nothing_is_cut_off_at_the_border(level, span):
    values = level + span * np.array([0, 0.3, 1.0])
    picture = read(render_anomalies(one(values), AnomalyStyle(width=500, height=120)))
    border = [picture[:1], picture[-1:], picture[:, :1], picture[:, -1:]]
    assert all((side == 255).all() for side in border)


@given(low=st.floats(-1e13, 1e13), span=st.floats(1e-270, 1e280), most=st.integers(2, 3))
def test_labels_of_a_low_picture_differ(low, span, most):
    ticks = value_ticks(low, low + max(span, 1e-8 * abs(low)), most)
    assert len(set(ticks.labels)) == len(ticks.labels) >= 2


def test_two_ticks_that_differ_in_the_last_digit_have_two_labels():
    # The middle, −1788.095, rounds to the upper end, which is no exact number.
    ticks = value_ticks(-1788.1059884211684, -1788.083054211673, 2)
    assert ticks.labels == ["0.00", "0.01"]
    assert ticks.title == "Value = label - 1788.1".replace("-", "−")


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([0, 10, np.nan], (-0.5, 10.5)),  # 5 % of 10
        ([4, 4], (3.78, 4.22)),  # 5 % of 4 on either side, and 5 % of 0.4
        ([0, 0], (-1.1, 1.1)),
        ([np.nan, np.nan], (-1.1, 1.1)),
    ],
)
def test_the_range_is_what_was_observed_with_a_margin(values, limits):
    assert series_limits(np.array(values, dtype=float), "a") == pytest.approx(limits)


def test_numbers_are_a_line_for_each_variate():
    values = [[1, np.nan], [1 / 3, -2e-9], [1234567, 5]]
    case = AnomalyCase(id="a", values=values, granularity="variate", variates=[1])
    assert describe_anomalies(case).splitlines() == [
        "Variate 0 (steps 0 to 2): 1, 0.333333, 1.23457e+06",
        "Variate 1 (steps 0 to 2): nan, -2e-09, 5",
    ]


def test_numbers_of_one_variate_are_its_values():
    assert describe_anomalies(one([1, np.nan, 3])) == "Values (steps 0 to 2): 1, nan, 3"


@pytest.mark.parametrize(
    ("plain", "labelled"),
    [(one(), one(events=[(3, 9)])), (several(4), several(4, variates=[2]))],
)
def test_numbers_do_not_tell_the_truth(plain, labelled):
    assert describe_anomalies(plain) == describe_anomalies(labelled)


def test_numbers_of_the_benchmark_are_complete():
    lines = describe_anomalies(several(36)).splitlines()
    assert [len(line.split(": ")[1].split(", ")) for line in lines] == [200] * 36


@pytest.mark.parametrize(
    "case", [one(np.arange(100_000.0)), several(400, steps=5000)], ids=["long", "many"]
)
def test_numbers_of_a_large_case_are_extremes_of_limited_number(case):
    text = describe_anomalies(case)
    assert "extremes as step:value" in text
    assert text.count(",") <= 4 * 4000 + 3 * case.num_variates
