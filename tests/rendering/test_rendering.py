import dataclasses
import hashlib
import io
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from PIL import Image

from timevista_hf.cases import ForecastCase
from timevista_hf.rendering import Renderer, Style, describe_case, render_case
from timevista_hf.rendering import _window as window
from timevista_hf.rendering._png import encode_png
from timevista_hf.rendering._scale import leaving_note, step_ticks, value_limits, value_ticks

HISTORY, TRUTH, FORECAST, START = "#000000", "#0072B2", "#D55E00", "#666666"


def make_case(history=None, truth=None, prediction=None, **names):
    steps = np.arange(384)
    values = np.sin(2 * np.pi * steps / 24) + 0.3 * np.sin(2 * np.pi * steps / 7)
    history = values[:288] if history is None else history
    truth = values[288:] if truth is None else truth
    prediction = values[264:360] if prediction is None else prediction
    return ForecastCase(
        **{"id": "a", "history": history, "truth": truth, "prediction": prediction, **names}
    )


def read(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def where(picture, color):
    """Mask of the pixels inside the axes that have exactly this colour."""
    mask = (picture == np.round(np.array(to_rgb(color)) * 255)).all(axis=-1)
    mask[:34] = mask[-52:] = False  # legend and note above, labels below
    mask[:, :106] = False
    return mask


def start_column(picture):
    # The dashed line is the only long vertical one of its colour.
    return int(np.argmax(where(picture, START).sum(axis=0)))


@pytest.mark.parametrize(
    ("aspect", "width"), [("6:5", 600), ("12:5", 1200), ("18:5", 1800), ("24:5", 2400)]
)
def test_an_aspect_sets_the_width_and_leaves_the_height_at_500(aspect, width):
    png = render_case(make_case(), Style.with_aspect(aspect))
    assert Image.open(io.BytesIO(png)).size == (width, 500)


def test_an_unknown_aspect_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown aspect '16:9'. Known: 6:5, 12:5, 18:5, 24:5"):
        Style.with_aspect("16:9")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 599),
        ("width", 1200.0),
        ("height", 100),
        ("context", 0),
        ("font_size", 12),
        ("truth_color", "no colour"),
        ("truth_color", "white"),
        ("truth_color", "black"),
        ("truth_color", "#0072B280"),
        ("forecast_line", "wavy"),
        ("forecast_width", 0),
    ],
)
def test_a_style_that_cannot_be_read_is_refused_with_its_field(field, value):
    with pytest.raises(ValueError, match=f"`{field}` must .*{re.escape(repr(value))}"):
        Style(**{field: value})


def test_a_seed_gives_the_same_style_every_time():
    assert [Style.random(seed) for seed in range(20)] == [Style.random(seed) for seed in range(20)]


def test_seeds_give_different_styles():
    assert len({Style.random(seed) for seed in range(60)}) >= 55


@pytest.mark.parametrize("sight", ["normal", "protan", "deutan", "tritan"])
def test_random_colours_stay_apart_however_they_are_seen(sight):
    for style in [Style(), *map(Style.random, range(60))]:
        truth, forecast = style.truth_color, style.forecast_color
        assert color_difference(truth, forecast, SIGHTS[sight]) > 40
        for color in (truth, forecast):
            assert color_difference(color, style.history_color, SIGHTS[sight]) > 25


def test_random_colours_contrast_with_the_background():
    # WCAG 2.1 asks for 3:1 between graphics and what is behind them.
    for style in [Style(), *map(Style.random, range(60))]:
        for color in (style.history_color, style.truth_color, style.forecast_color):
            luminance = linear(color) @ [0.2126, 0.7152, 0.0722]
            assert 1.05 / (luminance + 0.05) >= 3


def test_random_styles_draw_the_truth_thinner_than_the_forecast():
    for style in map(Style.random, range(60)):
        assert 1.5 * style.truth_width <= style.forecast_width


@pytest.mark.parametrize(
    "change",
    [{"width": 1800}, {"context": 48}, {"truth_color": "#117733"}, {"forecast_line": "dashed"}],
)
def test_every_change_of_style_changes_the_fingerprint(change):
    assert Style(**change).fingerprint != Style().fingerprint


def test_the_fingerprint_names_size_window_and_matplotlib():
    fingerprint = Style(width=600, context=48).fingerprint
    assert f"-600x500-context48-mpl{matplotlib.__version__}-" in fingerprint


def test_the_same_case_gives_the_same_bytes_in_any_order():
    cases = [
        make_case(),
        make_case(prediction=np.linspace(0, 1e6, 96)),
        make_case(history=[1, np.nan, 3], truth=[1, 2], prediction=[np.nan, *[1, 2]][1:]),
        make_case(history=np.full(9, 1e12), truth=[1e12, 2e12], prediction=[0, 1e12]),
    ]
    renderer = Renderer()
    forward = [renderer.render(case) for case in cases]
    backward = [renderer.render(case) for case in reversed(cases)]
    assert forward == backward[::-1] == [Renderer().render(case) for case in cases]


def test_a_reused_renderer_and_render_case_give_the_same_bytes():
    assert Renderer().render(make_case()) == render_case(make_case())


def test_threads_that_share_a_renderer_give_the_same_bytes():
    cases = [make_case(prediction=np.full(96, level)) for level in (0.0, 0.5, 9.0)] * 4
    renderer = Renderer()
    alone = [renderer.render(case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(renderer.render, cases)) == alone


FRESH_PROCESS = """
import hashlib, sys
import numpy as np, matplotlib
matplotlib.rcParams.update({"font.size": 30, "lines.linewidth": 9, "path.simplify": False})
from timevista_hf.cases import ForecastCase
from timevista_hf.rendering import render_case
case = ForecastCase(id="a", history=np.sin(np.arange(99)), truth=[1, 2, 0], prediction=[1, 9, 0])
print(hashlib.sha256(render_case(case)).hexdigest(), "matplotlib.pyplot" in sys.modules)
"""


def test_a_fresh_process_gives_the_same_bytes_without_pyplot():
    case = make_case(history=np.sin(np.arange(99)), truth=[1, 2, 0], prediction=[1, 9, 0])
    render_case(make_case())
    digest = hashlib.sha256(render_case(case)).hexdigest()
    run = subprocess.run(
        [sys.executable, "-c", FRESH_PROCESS], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [digest, "False"]


def test_the_users_matplotlib_settings_change_nothing_and_stay():
    expected = Renderer().render(make_case())
    mine = {
        "axes.facecolor": "red",
        "figure.dpi": 200,
        "font.family": ["serif"],
        "lines.antialiased": False,
        "path.sketch": (3, 20, 5),
        "text.antialiased": False,
        "text.hinting": "none",
        "legend.labelcolor": "red",
    }
    with matplotlib.rc_context(mine):
        assert Renderer().render(make_case()) == expected
        assert {key: matplotlib.rcParams[key] for key in mine} == mine


def test_a_judge_cannot_see_what_the_series_and_the_model_are_called():
    named = make_case(id="b", model="m", dataset="d", unit="MW", freq="h", cutoff="c")
    assert render_case(named) == render_case(make_case())


def test_the_png_holds_nothing_but_the_picture():
    png, chunks, place = render_case(make_case()), set(), 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        chunks.add(png[place + 4 : place + 8])
        place += length + 12
    assert chunks == {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


def test_the_palette_changes_a_pixel_by_less_than_the_eye_sees():
    renderer = Renderer()
    picture = read(renderer.render(make_case())).astype(float)
    drawn = np.asarray(renderer._canvas.buffer_rgba())[..., :3].astype(float)
    changed = np.abs(picture - drawn).max(axis=-1)
    # 5 bits a channel are at most 7 of 255 off; only the rarest of the edges' colours are more.
    assert np.mean(changed > 7) < 0.002
    assert changed.mean() < 0.5


def test_a_picture_of_more_than_256_colours_keeps_the_exact_ones():
    rng = np.random.default_rng(0)
    pixels = np.full((60, 60, 4), 255, dtype=np.uint8)
    pixels[:30, :, :3] = rng.integers(0, 256, (30, 60, 3))
    pixels[40:45, :, :3] = np.round(np.array(to_rgb(TRUTH)) * 255)
    picture = read(encode_png(pixels, exact=[TRUTH]))
    assert np.array_equal(picture[30:], pixels[30:, :, :3])


@pytest.mark.parametrize("color", [HISTORY, TRUTH, FORECAST])
def test_every_curve_is_seen_in_its_colour(color):
    assert where(read(render_case(make_case())), color).sum() > 300


def test_history_and_forecast_stay_on_their_sides_of_the_start():
    picture = read(render_case(make_case()))
    start = start_column(picture)
    assert where(picture, HISTORY).any(axis=0)[start + 4 :].sum() == 0
    assert where(picture, FORECAST).any(axis=0)[:start].sum() == 0


def test_the_start_line_stands_between_the_last_known_and_the_first_forecast_step():
    picture = read(render_case(make_case(history=[1, 2], truth=[1, 2], prediction=[2, 1])))
    # Steps -1 to 2 with half a step on either side fill the axes from 105 to 1170.
    assert abs(start_column(picture) - (105 + 1170) / 2) <= 1


def test_truth_and_forecast_are_both_seen_where_they_are_equal():
    case = make_case(prediction=make_case().truth)
    picture = read(render_case(case))
    assert where(picture, TRUTH).sum() > 300
    assert where(picture, FORECAST).sum() > 300


def test_the_truth_continues_the_history_and_the_forecast_starts_on_its_own():
    picture = read(render_case(make_case(history=[0, 1], truth=[2, 3], prediction=[1, 1.5])))
    start = start_column(picture)
    blue = where(picture, TRUTH).any(axis=0)
    orange = where(picture, FORECAST).any(axis=0)
    # A step is 266 pixels wide: from the last known step to the first is 133 on either side.
    assert blue[start - 125 : start - 5].reshape(-1, 20).any(axis=1).all()
    assert np.flatnonzero(orange)[0] >= start + 125


def test_a_gap_is_blank():
    history = make_case().history.copy()
    history[100:140] = np.nan
    ink = where(read(render_case(make_case(history=history))), HISTORY).any(axis=0)
    # 391 steps with the margins fill 1065 pixels; step -287 + 100 is the first that is missing.
    first, last = (105 + 1065 * (index + 3.83) / 390.7 for index in (100, 139))
    assert ink[int(first) - 10 : int(first)].any()
    assert not ink[int(first) : int(last)].any()
    assert ink[int(last) + 2 : int(last) + 12].any()


def test_a_point_between_gaps_is_seen():
    history = make_case().history.copy()
    history[100:140] = np.nan
    history[120] = 0.0
    ink = where(read(render_case(make_case(history=history))), HISTORY)
    middle = int(105 + 1065 * (120 + 3.83) / 390.7)
    assert 10 <= ink[:, middle - 5 : middle + 6].sum() <= 50


def test_a_missing_first_truth_paints_no_history_as_truth():
    history, truth = [1.0, 2.0, 3.0], [np.nan, 2.0, 1.0]
    picture = read(render_case(make_case(history=history, truth=truth, prediction=[1, 2, 3])))
    assert not where(picture, TRUTH)[:, : start_column(picture)].any()


def test_a_case_without_observed_history_is_drawn():
    picture = read(render_case(make_case(history=[np.nan, np.nan], truth=[1, 2, 3, 2.0] * 24)))
    assert not where(picture, HISTORY).any()
    assert where(picture, TRUTH).any()


@pytest.mark.parametrize(
    ("sign", "edge"), [(-1, slice(432, 448)), (1, slice(34, 50))], ids=["below", "above"]
)
def test_a_forecast_that_explodes_is_marked_at_the_edge_as_long_as_it_is_out(sign, edge):
    wild = make_case().truth.copy()
    wild[48:] = sign * 1e6
    picture = read(render_case(make_case(prediction=wild)))
    marked = np.flatnonzero(where(picture, FORECAST)[edge].sum(axis=0) > 2)
    # Steps 49 and 96 of -290.8 to 99.8; a triangle reaches 6 pixels to either side.
    first, last = (105 + 1065 * (step + 290.83) / 390.7 for step in (49, 96))
    assert abs(marked[0] - (first - 4)) <= 3
    assert abs(marked[-1] - (last + 4)) <= 3
    assert np.diff(marked).max() < 14


def test_a_note_says_that_the_forecast_leaves_the_axis():
    head = slice(8, 32), slice(700, 1170)
    wild, calm = (make_case(prediction=np.linspace(0, top, 96)) for top in (1e6, 1))
    assert (read(render_case(wild))[head] < 100).any()
    assert (read(render_case(calm))[head] == 255).all()


def test_dense_curves_leave_each_other_visible():
    # Neighbouring steps are half a pixel apart, and the forecast is the truth of two steps ago.
    values = np.tile([0.0, 1.0, 3.0, 2.0, -1.0, -3.0, -2.0], 400)
    case = make_case(history=values[:1799], truth=values[1799:2399], prediction=values[1797:2397])
    picture = read(render_case(case))[100:400, 920:1150].astype(float)
    blue, orange = (np.round(np.array(to_rgb(color)) * 255) for color in (TRUTH, FORECAST))
    bluish = np.abs(picture - blue).sum(axis=-1) < np.abs(picture - orange).sum(axis=-1)
    assert 0.25 < bluish.mean() < 0.75


def test_a_short_horizon_marks_every_step():
    rising = make_case(history=[1, 2, 3, 4, 5, 6], truth=[7, 8], prediction=[7, 7.5])
    ink = where(read(render_case(rising)), HISTORY)
    # Eight steps fill 1065 pixels from 105 on; half a step further there is the line alone.
    at_steps, between = (
        [ink[:, x - 4 : x + 5].sum() for x in (105 + (np.arange(5) + shift) * 1065 / 8).astype(int)]
        for shift in (0.5, 1)
    )
    assert min(at_steps) > 2 * max(between)


def test_steps_beyond_the_context_change_nothing():
    case = make_case(history=np.concatenate([np.full(50, 99.0), make_case().history]))
    assert render_case(case) == render_case(make_case())


def test_a_context_shows_just_that_many_steps():
    case = make_case()
    shorter = make_case(history=case.history[-40:])
    assert render_case(case, Style(context=40)) == render_case(shorter, Style(context=40))


def test_thinning_a_long_history_is_not_seen(monkeypatch):
    steps = np.arange(20_000)
    noise = np.random.default_rng(0).normal(size=steps.size)
    case = make_case(history=np.sin(2 * np.pi * steps / 5000) + 0.2 * noise)
    style = Style(context=steps.size)
    thinned = read(render_case(case, style)).astype(float)
    monkeypatch.setattr(window, "MOST_POINTS", steps.size)
    assert np.abs(thinned - read(render_case(case, style))).mean() < 1.5


def test_values_that_overflow_are_refused_by_name():
    with pytest.raises(ValueError, match=r"series 'a', model 'prediction': values up to 1e\+300"):
        render_case(make_case(truth=[1e301, 0], prediction=[0, 1]))


@settings(max_examples=40, deadline=None)
@given(
    level=st.floats(-1e13, 1e13),
    span=st.one_of(st.just(0.0), st.floats(1e-280, 1e250)),
    beyond=st.floats(-1e300, 1e300),
)
def test_nothing_is_cut_off_at_the_border(level, span, beyond):
    truth = level + span * np.array([0, 0.3, 1.0])
    case = make_case(history=truth, truth=truth, prediction=[level, -beyond, beyond])
    picture = read(render_case(case, Style(width=600, height=400, font_size=18)))
    border = [picture[:2], picture[-2:], picture[:, :2], picture[:, -2:]]
    assert all((side == 255).all() for side in border)


def test_the_range_is_what_was_observed_with_a_margin():
    case = make_case(history=[0, 10], truth=[2, 8], prediction=[4, 5])
    assert value_limits(case, case.history) == (-0.5, 10.5)  # 5 % of 10


def test_a_forecast_a_little_beyond_is_shown_in_full():
    case = make_case(history=[0, 10], truth=[2, 8], prediction=[-4, 14])
    # From -4 to 14 is 18, and 5 % of it is 0.9.
    assert value_limits(case, case.history) == pytest.approx((-4.9, 14.9))


def test_a_forecast_far_beyond_is_cut_off_half_the_range_away():
    case = make_case(history=[0, 10], truth=[2, 8], prediction=[-1e9, 1e9])
    # From -5 to 15 is 20, and 5 % of it is 1.
    assert value_limits(case, case.history) == (-6, 16)


def test_a_constant_shows_all_of_the_forecast():
    case = make_case(history=[5, 5], truth=[5, 5], prediction=[5, 7])
    # 2 on either side, and 5 % of 4.
    assert value_limits(case, case.history) == pytest.approx((2.8, 7.2))


def test_a_constant_that_is_met_still_has_a_range():
    case = make_case(history=[0, 0], truth=[0, 0], prediction=[0, 0])
    assert value_limits(case, case.history) == pytest.approx((-1.1, 1.1))


def test_history_outside_the_window_does_not_stretch_the_range():
    case = make_case(history=[1e6, 0, 10], truth=[2, 8], prediction=[4, 5])
    assert value_limits(case, case.history[1:]) == (-0.5, 10.5)


@given(
    low=st.floats(-1e13, 1e13),
    span=st.floats(1e-270, 1e280),
    most=st.integers(4, 12),
)
def test_every_label_is_short_and_reads_as_its_place(low, span, most):
    span = max(span, 1e-8 * abs(low))
    ticks = value_ticks(low, low + span, most)
    assert 2 <= len(ticks.labels) <= 10
    assert len(set(ticks.labels)) == len(ticks.labels)
    for place, label in zip(ticks.places, ticks.labels, strict=True):
        assert len(label) <= 8
        assert read_label(label, ticks.title) == pytest.approx(place, abs=1e-3 * span)


@pytest.mark.parametrize(
    ("low", "high", "labels", "title"),
    [
        (0, 10, ["0", "5", "10"], "Value"),
        (0, 1e12, ["0.0", "0.5", "1.0"], "Value = label × 1e12"),
        (0, 1e-9, ["0.0", "0.5", "1.0"], "Value = label × 1e−9"),
        (1e6, 1e6 + 0.1, ["0.00", "0.05", "0.10"], "Value = label + 1000000"),
        (-1, 1, ["−1", "0", "1"], "Value"),
    ],
)
def test_ticks_are_round_and_their_labels_plain(low, high, labels, title):
    ticks = value_ticks(low, high, 3)
    assert (ticks.labels, ticks.title) == (labels, title)


def test_step_ticks_are_whole_numbers():
    assert step_ticks(-5.5, 2.5, 4).labels == ["−4", "−2", "0", "2"]


def test_the_note_gives_both_ends_that_leave():
    note = leaving_note(np.array([-3.14159e5, np.nan, 1.2e6]), -1, 1)
    assert note == "Forecast leaves the axis (min -3.14e+05, max 1.2e+06)"


def test_there_is_no_note_for_a_forecast_that_stays():
    assert leaving_note(np.array([-1.0, np.nan, 1.0]), -1, 1) == ""


def test_thinning_keeps_the_extremes():
    values = np.random.default_rng(0).normal(size=50_000)
    values[[12_345, 40_001]] = [99, -99]
    curve = window.thinned_curve(-49_999, values)
    assert curve.steps.size <= window.MOST_POINTS + 2
    assert {12_345 - 49_999, 40_001 - 49_999} <= set(curve.steps)


def test_thinning_keeps_every_value_at_its_step():
    values = np.random.default_rng(0).normal(size=50_000)
    curve = window.thinned_curve(-49_999, values)
    assert np.array_equal(curve.values, values[curve.steps + 49_999])


def test_thinning_keeps_a_wide_gap_and_the_values_at_its_edges():
    values = np.ones(50_000)
    values[10_000:20_000] = np.nan
    curve = window.thinned_curve(0, values)
    gap = np.flatnonzero(np.isnan(curve.values))
    assert curve.steps[gap[0] - 1] == 9_999
    assert curve.steps[gap[-1] + 1] == 20_000


def test_a_curve_that_fits_is_not_thinned():
    values = np.arange(float(window.MOST_POINTS))
    assert np.array_equal(window.thinned_curve(0, values).values, values)


def test_a_long_forecast_is_thinned_too():
    truth = np.sin(np.arange(9000.0))
    text = describe_case(make_case(history=[1.0], truth=truth, prediction=truth))
    assert text.splitlines()[1].startswith("Truth (steps 1 to 9000, extremes as step:value): 1:0, ")


def test_numbers_are_three_labelled_lines():
    case = make_case(history=[1, 2, 3], truth=[4, 5], prediction=[4, 6.5])
    assert describe_case(case).splitlines() == [
        "History (steps -2 to 0): 1, 2, 3",
        "Truth (steps 1 to 2): 4, 5",
        "Forecast (steps 1 to 2): 4, 6.5",
    ]


def test_numbers_have_six_significant_digits_and_gaps_are_nan():
    case = make_case(history=[np.nan, 1 / 3], truth=[1234567, 2e-9], prediction=[-0.00012345678, 5])
    assert describe_case(case).splitlines() == [
        "History (steps -1 to 0): nan, 0.333333",
        "Truth (steps 1 to 2): 1.23457e+06, 2e-09",
        "Forecast (steps 1 to 2): -0.000123457, 5",
    ]


def test_numbers_show_the_last_three_horizons():
    case = make_case(history=np.arange(20), truth=[4, 5], prediction=[4, 6])
    assert describe_case(case).startswith("History (steps -5 to 0): 14, 15, 16, 17, 18, 19\n")


def test_numbers_show_the_context_that_is_asked_for():
    case = make_case(history=np.arange(20), truth=[4, 5], prediction=[4, 6])
    assert describe_case(case, context=2).startswith("History (steps -1 to 0): 18, 19\n")


def test_numbers_without_context_are_refused():
    with pytest.raises(ValueError, match=r"`context` must be an integer of at least 1.*got 0"):
        describe_case(make_case(), context=0)


def test_numbers_hide_what_the_series_and_the_model_are_called():
    assert describe_case(make_case(id="b", model="m")) == describe_case(make_case())


def test_changing_the_context_by_replace_keeps_the_rest():
    style = dataclasses.replace(Style.with_aspect("6:5"), context=48)
    assert (style.width, style.context) == (600, 48)


def read_label(label, title):
    """Undo what the title says: the value is label × 1eN + offset."""
    pattern = r"Value(?: = label(?: × 1e(?P<e>[−\d]+))?(?: (?P<sign>[+−]) (?P<offset>\S+))?)?"
    said = re.fullmatch(pattern, title)
    exponent = (said["e"] or "0").replace("−", "-")
    offset = float((said["offset"] or "0").replace("−", "-"))
    sign = -1 if said["sign"] == "−" else 1
    return float(label.replace("−", "-")) * float(f"1e{exponent}") + sign * offset


# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear(color):
    values = np.array(to_rgb(color))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def color_difference(one, other, sight):
    """CIE76 difference of two colours as seen: sRGB, D65, CIELAB."""
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    labs = []
    for color in (one, other):
        xyz = to_xyz @ np.clip(sight @ linear(color), 0, 1) / [0.95047, 1, 1.08883]
        x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        labs.append(np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)]))
    return float(np.linalg.norm(labs[0] - labs[1]))
