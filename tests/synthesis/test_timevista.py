"""The synthetic series of TimeVista and the parts they are made from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timevista_hf.synthesis import kernels
from timevista_hf.synthesis._motifs import MOTIFS, Motif
from timevista_hf.synthesis.timevista import (
    GROUPS,
    SyntheticSeries,
    make_series,
    make_synthetic,
)

# index: history[0], history[-1], truth[0], truth[-1], of the first edition
STORED = {
    1: (5.55111512e-17, 0.866025404, 0.5, 1.77975831e-16),
    5: (-10.8497438, -10.1791179, -10.1468327, -10.3059243),
    7: (-0.994679132, -1.16243854, -1.12160547, -1.16243854),
    13: (0.158419782, -1.34635629, -0.438555633, -1.74161872),
    24: (23.8377584, 24.3175332, 24.3172334, 23.7503235),
    45: (0.467521581, -10.1047952, -10.1363826, -8.86795426),
    50: (14.9262035, 15.7902554, 16.0594954, 13.9459568),
    205: (-14.1012037, -19.0044028, -18.5901885, -20.1022285),
    297: (0.369340889, -1.06559282, -1.19953788, 0.430617002),
    398: (0.218218061, 0.471827105, 0.463322561, 0.564933255),
    395: (-5.85215974, -10.93575, -10.945698, -11.7433185),
    394: (24.4927433, 25.3919918, 25.5422554, 24.4770296),
}
NAMES = {
    1: ("motif-00", 107, 32, 12, "none", "reversed sine", "steady", "steady"),
    5: (
        "trend-01",
        389,
        144,
        36,
        "(rbf(0.1) × linear(0) + linear(1)) × rbf(1) + rational_quadratic(1)",
        "shoulder",
        "steady",
        "steady",
    ),
    7: ("phase-01", 107, 36, 12, "none", "shoulder", "shifting", "steady"),
    13: ("magnitude-02", 269, 60, 15, "none", "shoulder", "steady", "rising"),
    24: (
        "general-04",
        635,
        192,
        59,
        "rational_quadratic(1) × linear(10)",
        "inverted reversed twins",
        "rising",
        "falling",
    ),
    45: (
        "trend-09",
        1553,
        336,
        84,
        "rbf(0.1) + rational_quadratic(0.1)",
        "shoulder",
        "steady",
        "steady",
    ),
    50: (
        "trend-10",
        450,
        120,
        30,
        "periodic(365 steps) × constant(1)",
        "shoulder",
        "steady",
        "steady",
    ),
    205: ("trend-41", 217, 48, 12, "linear(1)", "shoulder", "steady", "steady"),
    297: ("phase-59", 447, 120, 14, "none", "shoulder", "swaying", "steady"),
    398: ("magnitude-79", 1720, 601, 150, "none", "shoulder", "steady", "rising"),
    395: (
        "trend-79",
        1720,
        601,
        150,
        "(linear(1) + linear(10)) × rbf(10) × rational_quadratic(0.1)",
        "shoulder",
        "steady",
        "steady",
    ),
    394: (
        "general-78",
        189,
        48,
        16,
        "rbf(0.1) × rational_quadratic(0.1) + periodic(336 steps)",
        "ringing",
        "rising",
        "shifting",
    ),
}


@pytest.fixture(scope="module")
def series() -> list[SyntheticSeries]:
    with pytest.MonkeyPatch.context() as patch:
        # no trend takes the route that rounding moves
        patch.setattr(kernels, "_draw_by_cholesky", None)
        return list(make_synthetic())


def of_group(series: list[SyntheticSeries], group: str) -> list[SyntheticSeries]:
    return [one for one in series if one.group == group]


def test_there_are_400_series_eighty_of_a_group(series):
    assert [len(of_group(series, group)) for group in GROUPS] == [80] * 5
    assert len({one.id for one in series}) == 400


def test_lengths_are_the_papers_and_both_ends_are_reached_in_each_group(series):
    for group in GROUPS:
        mine = of_group(series, group)
        assert (min(s.history.size for s in mine), max(s.history.size for s in mine)) == (107, 1720)
        assert (min(s.truth.size for s in mine), max(s.truth.size for s in mine)) == (32, 601)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 399))
def test_the_parts_recombine(index):
    one = make_series(index)
    values = np.concatenate([one.history, one.truth])
    np.testing.assert_allclose(one.trend + one.amplitude * one.motif, values, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 399))
def test_the_motif_is_a_shape_at_the_phase(index):
    one = make_series(index)
    *turns, shape = one.motif_name.split()
    motif = Motif(shape, inverted="inverted" in turns, reversed="reversed" in turns)
    np.testing.assert_allclose(one.motif, motif(one.phase), rtol=0, atol=1e-12)


def test_time_runs_forwards_and_heights_are_positive(series):
    assert all((np.diff(one.phase) > 0).all() for one in series)
    assert all((one.amplitude > 0).all() for one in series)


def test_a_season_is_the_average_cycle_of_the_horizon(series):
    for one in series:
        cycles = one.phase[-1] - one.phase[-one.truth.size - 1]
        assert one.truth.size / cycles == pytest.approx(one.season_length)


@pytest.mark.parametrize("group", ["trend", "motif", "phase", "magnitude"])
def test_in_a_group_only_its_own_part_varies(series, group):
    held = {
        "trend": lambda s: np.zeros(s.trend.size),
        "motif": lambda s: Motif("shoulder")(s.phase),
        "phase": lambda s: np.arange(s.phase.size) / max(12, s.truth.size // 4),
        "magnitude": lambda s: np.ones(s.amplitude.size),
    }
    parts = {"trend": "trend", "motif": "motif", "phase": "phase", "magnitude": "amplitude"}
    for one in of_group(series, group):
        same = {
            name: np.array_equal(getattr(one, part), held[name](one))
            for name, part in parts.items()
            if name != group
        }
        assert all(same.values()), (one.id, same)
    own = [getattr(one, parts[group])[:107].tobytes() for one in of_group(series, group)]
    assert len(set(own)) >= 40


def test_in_the_general_group_all_parts_vary(series):
    mine = of_group(series, "general")
    for name in ("kernel_name", "motif_name", "phase_name", "amplitude_name"):
        assert len({getattr(one, name) for one in mine}) >= 5


def test_all_shapes_occur_in_the_group_of_motifs(series):
    shapes = [one.motif_name.split()[-1] for one in of_group(series, "motif")]
    assert {shapes.count(shape) for shape in MOTIFS} == {5}


@pytest.mark.parametrize("shape", MOTIFS)
def test_a_shape_has_mean_zero_and_height_two_and_no_jump(shape):
    values = Motif(shape)(np.arange(4096) / 4096)
    assert values.mean() == pytest.approx(0, abs=1e-3)
    assert np.ptp(values) == pytest.approx(2, abs=1e-3)
    assert np.abs(np.diff(values, append=values[0])).max() < 0.02


def test_a_reversed_shape_runs_backwards_and_an_inverted_one_upside_down():
    phase = np.linspace(0, 3, 200)
    np.testing.assert_allclose(Motif("ramp", reversed=True)(phase), Motif("ramp")(-phase))
    np.testing.assert_allclose(Motif("ramp", inverted=True)(phase), -Motif("ramp")(phase))


def test_a_series_does_not_depend_on_those_before_it(series):
    for index in (399, 17, 204):
        again = make_series(index)
        assert again.history.tobytes() == series[index].history.tobytes()
        assert again.truth.tobytes() == series[index].truth.tobytes()


@pytest.mark.parametrize("index", STORED)
def test_values_are_the_stored_ones(series, index):
    one = series[index]
    found = (one.history[0], one.history[-1], one.truth[0], one.truth[-1])
    height = np.ptp(np.concatenate([one.history, one.truth]))
    assert found == pytest.approx(STORED[index], rel=0, abs=1e-6 * height)


@pytest.mark.parametrize("index", NAMES)
def test_names_and_lengths_are_the_stored_ones(series, index):
    one = series[index]
    names = (one.kernel_name, one.motif_name, one.phase_name, one.amplitude_name)
    assert (one.id, one.history.size, one.truth.size, one.season_length, *names) == NAMES[index]


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        make_series(3).trend[0] = 1.0


def test_a_forecast_of_a_series_is_a_case():
    one = make_series(7)
    case = one.forecast(one.truth + 1, model="mine")
    assert (case.id, case.model, case.dataset) == ("phase-01", "mine", "synthetic")
    assert case.season_length == one.season_length


@pytest.mark.parametrize("index", [-1, 400, 1.5, "3"])
def test_an_index_that_no_series_has_is_refused(index):
    with pytest.raises(ValueError, match="`index` must be an integer from 0 to 399"):
        make_series(index)


@pytest.mark.parametrize("count", [0, 401, 2.0])
def test_a_count_of_more_or_no_series_is_refused(count):
    with pytest.raises(ValueError, match="`count` must be an integer from 1 to 400"):
        make_synthetic(count)
