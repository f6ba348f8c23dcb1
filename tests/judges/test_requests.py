"""What tells two questions apart, and how a judge is found by its name."""

import dataclasses
import itertools
import re
from types import MappingProxyType

import numpy as np
import pytest

from timevista_hf.cases import ForecastCase
from timevista_hf.constraints import load_constraint
from timevista_hf.judges import Request, list_judges, load_judge
from timevista_hf.rubrics import load_rubric

TREND = load_rubric("trend")
IDENTITY = {"model": "m", "version": 1, "options": {"temperature": 0.0, "seed": 1}}
FLOOR = {"rule": "minimum", "value": 0, "cap": 2, "why": "a count"}
STRICTER = {**FLOOR, "value": 1}


def make_case(**fields):
    whole = {"id": "a", "history": [1, 2, 3], "truth": [4, 5], "prediction": [4, 6], **fields}
    return ForecastCase(**whole)


def key(identity=IDENTITY, case=None, rubric=TREND, prompt="Judge.", image=None, run=0):
    return Request(case or make_case(), rubric, prompt, image, run).key(identity)


def edited(**fields):
    return dataclasses.replace(TREND, **fields)


def test_a_key_is_a_sha256_in_hexadecimal():
    assert re.fullmatch("[0-9a-f]{64}", key())


def test_equal_questions_that_were_made_apart_have_the_same_key():
    assert key() == key(case=make_case(), rubric=load_rubric("trend"))


@pytest.mark.parametrize(
    "identity",
    [
        {**IDENTITY, "model": "n"},
        {**IDENTITY, "version": 2},
        {**IDENTITY, "options": {"temperature": 0.5, "seed": 1}},
        {**IDENTITY, "base_url": "http://127.0.0.1"},
        {name: IDENTITY[name] for name in ("model", "version")},
    ],
)
def test_another_judge_has_another_key(identity):
    assert key(identity=identity) != key()


def test_the_order_in_which_a_judge_states_its_identity_does_not_matter():
    assert key(identity=dict(reversed(IDENTITY.items()))) == key()


def test_an_identity_may_be_any_mapping():
    assert key(identity=MappingProxyType(IDENTITY)) == key()


def test_another_prompt_has_another_key():
    assert key(prompt="Judge!") != key()


def test_another_run_has_another_key():
    assert len({key(run=run) for run in range(3)}) == 3


@pytest.mark.parametrize(
    "rubric",
    [
        edited(name="tendency"),
        edited(version="1.1"),
        edited(level="macro"),
        edited(dimension="phase"),
        edited(body=TREND.body + " "),
        edited(scale=("worse", *TREND.scale[1:])),
        edited(dataset="solar"),
        edited(twin={"errors": [0, 1, 2, 3, 4]}),
        edited(constraints=(load_constraint(FLOOR, place="mine"),)),
    ],
)
def test_an_edited_rubric_has_another_key(rubric):
    assert key(rubric=rubric) != key()


def test_an_edited_constraint_has_another_key():
    rubrics = [
        edited(constraints=(load_constraint(entry, place="mine"),)) for entry in (FLOOR, STRICTER)
    ]
    assert key(rubric=rubrics[0]) != key(rubric=rubrics[1])


def test_each_image_has_its_own_key_and_none_has_that_of_no_image():
    images = [None, b"", b"\x89PNG", b"\x89PNG\n"]
    assert len({key(image=image) for image in images}) == len(images)


@pytest.mark.parametrize(
    "fields",
    [
        {"history": [1, 2, 4]},
        {"history": [0, 1, 2, 3]},
        {"truth": [4, 5.000001]},
        {"prediction": [6, 4]},
        {"prediction": [np.nan, 4, 6], "truth": [1, 4, 5]},
        {"season_length": 12},
    ],
)
def test_without_an_image_other_measurable_data_has_another_key(fields):
    assert key(case=make_case(**fields)) != key()


def test_two_seasons_have_two_keys_where_the_judge_measures():
    seasons = {key(case=make_case(season_length=season)) for season in (12, 24)}
    assert len(seasons) == 2


def test_a_step_that_moves_from_one_array_to_another_changes_the_key():
    # The same eight numbers in the same order, cut at other places.
    numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    cuts = [
        {"history": numbers[: 8 - 2 * h], "truth": numbers[-2 * h : -h], "prediction": numbers[-h:]}
        for h in (2, 3)
    ]
    assert key(case=make_case(**cuts[0])) != key(case=make_case(**cuts[1]))


def test_with_an_image_the_arrays_do_not_matter_as_the_judge_does_not_see_them():
    other = make_case(history=[7, 8], prediction=[1, 2], season_length=12)
    assert key(image=b"\x89PNG", case=other) == key(image=b"\x89PNG")


@pytest.mark.parametrize("image", [None, b"\x89PNG"])
@pytest.mark.parametrize(
    "fields",
    [{"id": "b"}, {"model": "ets"}, {"cutoff": "2024"}, {"dataset": "d"}, {"unit": "kW"}],
)
def test_names_that_no_judge_is_told_do_not_change_the_key(fields, image):
    assert key(case=make_case(**fields), image=image) == key(image=image)


def test_all_these_differences_give_different_keys_together():
    changes = {
        "identity": {"model": "n"},
        "case": make_case(prediction=[6, 4]),
        "rubric": edited(version="2"),
        "prompt": "x",
        "image": b"x",
        "run": 1,
    }
    chosen = [dict(some) for n in range(7) for some in itertools.combinations(changes.items(), n)]
    # With an image the arrays do not count: of the 2^6 combinations, the 2^4 that hold both
    # equal those with the image alone.
    assert len({key(**some) for some in chosen}) == 64 - 16


@pytest.mark.parametrize("name", list_judges())
def test_every_listed_judge_can_be_made_and_bears_its_name(name):
    assert load_judge(name).name == name


@pytest.mark.parametrize("name", list_judges())
def test_every_listed_judge_says_what_it_wants_to_be_shown(name):
    assert load_judge(name).modality in ("vision", "text", "numbers")


def test_two_judges_never_share_an_identity():
    keys = {key(identity=load_judge(name).identity) for name in list_judges()}
    assert len(keys) == len(list_judges())


def test_an_unknown_judge_is_refused_with_the_nearest_name_and_all_names():
    rule = f"unknown judge 'bultin'; did you mean 'builtin'? Known: {', '.join(list_judges())}, "
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}gpt-5.4, .*, openai:MODEL, .*"):
        load_judge("bultin")


def test_a_judge_that_is_like_none_is_refused_with_all_names():
    rule = f"unknown judge '6*7'. Known: {', '.join(list_judges())}, "
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}.*, local:MODEL$"):
        load_judge("6*7")


def test_changing_the_list_of_judges_does_not_change_the_judges():
    list_judges().clear()
    assert "builtin" in list_judges()
