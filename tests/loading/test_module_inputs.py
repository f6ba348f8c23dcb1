"""What the evaluate modules share: options, and errors in evaluate's words."""

import pytest

from timevista_hf.loading.module_inputs import (
    evaluate_words,
    merge_options,
    one_a_row,
    split_options,
)


def test_options_are_parted_from_those_of_evaluate():
    own, rest = split_options({"level": "micro"}, {"level": "macro", "num_process": 2})
    assert (own, rest) == ({"level": "macro"}, {"num_process": 2})


def test_an_option_not_given_keeps_its_default():
    assert split_options({"level": "micro"}, {})[0] == {"level": "micro"}


def test_an_unknown_option_at_load_names_the_nearest():
    with pytest.raises(ValueError, match="unknown option 'levle'; did you mean 'level'"):
        split_options({"level": "micro"}, {"levle": "macro"})


def test_an_unknown_configuration_names_the_nearest():
    with pytest.raises(ValueError, match="unknown configuration 'micr'; did you mean 'micro'"):
        split_options({}, {}, "micr", ("micro", "macro"))


@pytest.mark.parametrize("name", [None, "default", "micro"])
def test_a_known_configuration_passes(name):
    assert split_options({}, {}, name, ("micro",)) == ({}, {})


def test_what_compute_is_given_wins():
    assert merge_options({"level": "micro"}, {"level": "macro"}) == {"level": "macro"}


def test_none_leaves_an_option_as_it_was_loaded():
    assert merge_options({"level": "micro"}, {"level": None}) == {"level": "micro"}


def test_merging_changes_neither_argument():
    options, given = {"level": "micro"}, {"level": "macro"}
    merge_options(options, given)
    assert (options, given) == ({"level": "micro"}, {"level": "macro"})


def test_an_unknown_option_of_compute_lists_the_known():
    with pytest.raises(ValueError, match=r"unknown option 'nope'\. Known: level"):
        merge_options({"level": "micro"}, {"nope": 1})


def test_one_entry_a_row_is_returned():
    assert one_a_row("history", ([1], [2]), 2) == [[1], [2]]


@pytest.mark.parametrize(("values", "found"), [(None, "none"), ([[1]], "1"), ([[1]] * 3, "3")])
def test_another_number_of_entries_than_rows_is_an_error(values, found):
    with pytest.raises(ValueError, match=f"`history` must have .* 2 rows, got {found}"):
        one_a_row("history", values, 2)


@pytest.mark.parametrize(
    ("said", "translated"),
    [
        ("`y_true` must be finite", "row 7: `references` must be finite"),
        ("`y_pred` must be finite", "row 7: `predictions` must be finite"),
        ("`y_past` must be finite", "row 7: `history` must be finite"),
        (
            "series '7', model 'prediction': `truth` has 2 steps but `prediction` has 1",
            "row 7: `references` has 2 steps but `predictions` has 1",
        ),
    ],
)
def test_an_error_is_said_in_the_words_of_evaluate(said, translated):
    with pytest.raises(ValueError, match=f"^{translated}$"), evaluate_words(7):
        raise ValueError(said)


def test_a_sample_is_a_row_in_the_words_of_evaluate():
    with pytest.raises(ValueError, match=r"^row 3: `references` must hold$"), evaluate_words():
        raise ValueError("sample 3: `y_true` must hold")


def test_an_error_of_another_kind_passes():
    with pytest.raises(KeyError), evaluate_words(7):
        raise KeyError("y_true")
