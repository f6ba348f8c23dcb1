"""The contract that every shipped rubric keeps."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from timevista_hf.rubrics import MICRO_DIMENSIONS, Rubric, list_rubrics, load_rubric

DATASETS = (
    "australia_solar",
    "azure2019",
    "covid_death",
    "cphl",
    "cpsc2019",
    "crypto",
    "current_velocity",
    "fnspid",
    "loop_seattle",
    "ptb",
    "rdbh",
    "solar",
    "supply_chain_customer",
)
MACRO = ("without_knowledge", *DATASETS)
EVERY = (*MICRO_DIMENSIONS, *MACRO)

# What each dataset's hard constraints are, by rule: the table that the rubrics were written from.
HARD = {
    "australia_solar": {"minimum", "near_zero_when_history_is", "within_history_range"},
    "azure2019": {"minimum", "maximum", "peaks_present"},
    "covid_death": {"non_decreasing", "not_below_last", "starts_at_last"},
    "cphl": {"minimum"},
    "cpsc2019": {"peaks_present", "within_history_range"},
    "crypto": {"positive", "within_history_moves"},
    "current_velocity": {"alternates_sign", "within_history_range"},
    "fnspid": {"positive", "starts_at_last"},
    "loop_seattle": {"minimum", "maximum", "peaks_present"},
    "ptb": {"peaks_present", "within_history_range"},
    "rdbh": {"peaks_present", "within_history_range"},
    "solar": {"minimum", "near_zero_when_history_is", "within_history_range"},
    "supply_chain_customer": {"minimum", "near_zero_when_history_is"},
}

MICRO_SECTIONS = ["Look at", "Ignore", "Without a cycle", "Gaps and extremes"]
KNOWING_SECTIONS = ["The series", "The decision", "Hard constraints", "Critical", "Tolerable"]

# Nouns and units of the datasets' fields, beside those taken from the rubrics themselves.
DOMAIN = """
    price stock coin currency dollar market trading heart beat ecg qrs lead voltage mv
    power solar plant mw kw sun night day daily week hour minute month cpu load burst
    machine utilisation traffic speed mph road congestion death covid person hospital
    order piece revenue demand customer sale chlorophyll bloom concentration mg sea tide
    velocity temperature pressure sound water current unit
"""

# Words of the knowing rubrics that belong to no field.
PLAIN = {"few", "invented", "near", "runs", "top"}


def sections(rubric: Rubric) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", rubric.body, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())


def said(rubric: Rubric) -> str:
    return "\n".join([rubric.body, *rubric.scale])


def test_the_shipped_rubrics_are_five_micro_one_blind_and_one_for_each_dataset():
    assert list_rubrics() == [*MICRO_DIMENSIONS, "without_knowledge", *DATASETS]


@pytest.mark.parametrize("name", EVERY)
def test_a_rubric_is_named_as_its_file_and_has_a_version(name):
    rubric = load_rubric(name)
    assert rubric.identity == f"{name}@{rubric.version}"
    assert re.fullmatch(r"\d+\.\d+", rubric.version)


@pytest.mark.parametrize("name", EVERY)
def test_a_rubric_stands_at_its_level_and_dimension(name):
    rubric = load_rubric(name)
    where = ("micro", name, None) if name in MICRO_DIMENSIONS else ("macro", name, None)
    if name in DATASETS:
        where = ("macro", "with_knowledge", name)
    assert (rubric.level, rubric.dimension, rubric.dataset) == where


@pytest.mark.parametrize("name", EVERY)
def test_a_body_has_150_to_300_words_and_the_whole_at_most_400(name):
    rubric = load_rubric(name)
    assert 150 <= len(rubric.body.split()) <= 300
    assert len(said(rubric).split()) <= 400


@pytest.mark.parametrize("name", EVERY)
def test_the_five_levels_differ_and_each_has_a_cue_of_six_words_or_more(name):
    scale = load_rubric(name).scale
    assert len(set(scale)) == 5
    assert min(len(level.split()) for level in scale) >= 6


@pytest.mark.parametrize("name", EVERY)
def test_at_least_three_levels_give_a_number_to_measure(name):
    number = re.compile(r"\d|half|third|quarter|fifth|tenth|double|twice|\bno\b|every|none|never")
    assert sum(bool(number.search(level)) for level in load_rubric(name).scale) >= 3


@pytest.mark.parametrize("name", EVERY)
def test_a_body_repeats_neither_the_description_of_the_plot_nor_the_reply_format(name):
    body = load_rubric(name).body.lower()
    assert not [word for word in ("json", 'rationale"', "legend", "dashed") if word in body]


@pytest.mark.parametrize("name", ["trend", "phase", "magnitude"])
def test_the_first_number_of_a_level_grows_from_best_to_worst(name):
    texts = reversed(load_rubric(name).scale)
    numbers = [float(re.search(r"\d+(?:\.\d+)?", text)[0]) for text in texts]
    # Neighbouring levels meet, so that level n ends where level n - 1 starts.
    assert numbers == sorted(numbers)
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 4


@pytest.mark.parametrize("name", ["trend", "phase", "magnitude"])
def test_neighbouring_levels_meet_at_one_number(name):
    scale = load_rubric(name).scale
    for worse, better in pairwise(scale):
        edge = re.search(r"\d+(?:\.\d+)?", worse)[0]
        assert re.search(rf"(?<![\d.]){re.escape(edge)}(?![\d.])", better)


@pytest.mark.parametrize("name", MICRO_DIMENSIONS)
def test_a_micro_rubric_has_its_four_sections(name):
    assert list(sections(load_rubric(name))) == MICRO_SECTIONS


@pytest.mark.parametrize("name", MICRO_DIMENSIONS[:4])
def test_the_prompt_of_one_dimension_names_the_other_three_to_ignore(name):
    ignored = sections(load_rubric(name))["Ignore"].lower()
    others = {*MICRO_DIMENSIONS[:4]} - {name}
    assert {other for other in others if f"{other} (" in ignored} == others
    assert ignored.strip() in load_rubric(name).prompt().lower()


@pytest.mark.parametrize("name", ["motif", "phase", "magnitude"])
def test_a_flat_or_over_smoothed_line_is_level_1_of_all_but_trend(name):
    rubric = load_rubric(name)
    assert "flat or over-smoothed line" in rubric.scale[0]
    assert "A flat or over-smoothed line scores 1" in " ".join(rubric.body.split())


def test_the_general_score_is_bounded_by_one_above_the_worst_aspect():
    body = " ".join(load_rubric("general").body.split())
    assert "at most one above the lowest of the four" in body


@pytest.mark.parametrize("name", MICRO_DIMENSIONS)
def test_a_micro_rubric_reads_series_without_a_cycle_gaps_and_a_forecast_off_the_axis(name):
    parts = sections(load_rubric(name))
    assert {"prices", "counts", "events", "steps"} <= set(words(parts["Without a cycle"]))
    extremes = parts["Gaps and extremes"].lower()
    assert "axis" in extremes
    assert "gap" in extremes


@pytest.mark.parametrize("name", DATASETS)
def test_a_knowing_rubric_has_its_five_sections(name):
    assert list(sections(load_rubric(name))) == KNOWING_SECTIONS


@pytest.mark.parametrize("name", DATASETS)
def test_a_knowing_rubric_has_the_hard_constraints_of_its_dataset(name):
    assert {constraint.rule for constraint in load_rubric(name).constraints} == HARD[name]


@pytest.mark.parametrize("name", DATASETS)
def test_the_caps_in_the_prose_are_those_of_the_constraints(name):
    rubric = load_rubric(name)
    prose = re.findall(r"at\s+most\s+(\d)", sections(rubric)["Hard constraints"])
    assert {int(cap) for cap in prose} == {constraint.cap for constraint in rubric.constraints}


@pytest.mark.parametrize("name", DATASETS)
def test_every_constraint_has_a_reason_and_none_stands_twice(name):
    constraints = load_rubric(name).constraints
    assert all(len(constraint.why.split()) >= 2 for constraint in constraints)
    assert len({repr(constraint) for constraint in constraints}) == len(constraints)


@pytest.mark.parametrize("name", [*MICRO_DIMENSIONS, "without_knowledge"])
def test_only_knowing_rubrics_have_constraints(name):
    assert load_rubric(name).constraints == ()


@pytest.mark.parametrize("name", MACRO)
def test_the_weights_of_a_macro_rubric_cover_four_dimensions_and_sum_to_1(name):
    weights = load_rubric(name).twin["weights"]
    assert list(weights) == list(MICRO_DIMENSIONS[:4])
    assert min(weights.values()) > 0
    assert sum(weights.values()) == pytest.approx(1)


def test_the_blind_rubric_weighs_all_dimensions_alike():
    assert set(load_rubric("without_knowledge").twin["weights"].values()) == {0.25}


@pytest.mark.parametrize(
    ("name", "heaviest"),
    [
        ("covid_death", "trend"),
        ("fnspid", "trend"),
        ("crypto", "trend"),
        ("current_velocity", "phase"),
        ("loop_seattle", "phase"),
        ("azure2019", "magnitude"),
        ("cpsc2019", "motif"),
        ("supply_chain_customer", "magnitude"),
    ],
)
def test_the_heaviest_dimension_is_the_one_that_the_decision_hangs_on(name, heaviest):
    weights = load_rubric(name).twin["weights"]
    assert max(weights, key=weights.get) == heaviest


def test_the_blind_prompt_has_no_word_of_a_dataset_unit_or_field():
    prompt = words(load_rubric("without_knowledge").prompt())
    nouns = {form for noun in words(DOMAIN) for form in (noun, f"{noun}s")}
    assert nouns.isdisjoint(prompt)


def test_the_blind_prompt_has_no_word_that_only_knowing_rubrics_use():
    knowing = set()
    for name in DATASETS:
        parts = sections(load_rubric(name))
        knowing |= set(words(f"{name.replace('_', ' ')} {parts['The series']}"))
        knowing |= set(words(parts["The decision"]))
    common = {word for name in MICRO_DIMENSIONS for word in words(load_rubric(name).prompt())}
    fields = knowing - common - PLAIN
    assert len(fields) > 150  # the list is really there
    assert sorted(fields & set(words(load_rubric("without_knowledge").prompt()))) == []


def test_the_blind_prompt_has_no_unit_sign():
    assert not re.search(r"[%°$€³²]", load_rubric("without_knowledge").prompt())
