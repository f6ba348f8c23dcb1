"""What the Spaces share: the text of forms, their errors, and what they show."""

import math

import pytest

from timevista_hf.apps.forms import as_table, form_errors, read_series, read_values


class FormError(Exception):
    def __init__(self, message, *, print_exception):
        super().__init__(message)
        self.print_exception = print_exception


def test_what_is_refused_is_shown_as_text_and_not_as_markup():
    with pytest.raises(FormError, match=r"^got &lt;b&gt;$") as caught, form_errors(FormError):
        raise ValueError("got <b>")
    assert caught.value.print_exception is False


def test_another_kind_of_error_is_not_shown():
    with pytest.raises(KeyError), form_errors(FormError):
        raise KeyError("secret")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.123456, "0.1235"),
        (math.nan, "nan"),
        (3, "3"),
        ([0.5, 1.0], "0.5 to 1"),
        ({"dtw": 2, "mae": 0}, "dtw 2"),
        ({}, "none"),
    ],
)
def test_a_value_is_shown_as_text(value, shown):
    assert as_table({"some_name": value}) == [["some name", shown]]


@pytest.mark.parametrize("text", ["1, 2.5\n-3e2", "1;2.5\n\n -3e2 ", "1 \t 2.5\n-3e2\n"])
def test_numbers_may_be_separated_by_commas_semicolons_or_blanks(text):
    assert read_series(text, "Truth") == [[1.0, 2.5], [-300.0]]


def test_nan_is_a_missing_value():
    assert math.isnan(read_series("nan", "Truth")[0][0])


def test_what_is_no_number_is_named_with_its_line():
    with pytest.raises(ValueError, match="Truth, line 3: must hold numbers, got 'x'"):
        read_series("1\n\n2 x", "Truth")


@pytest.mark.parametrize("read", [read_series, read_values])
@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_text_is_named(read, text):
    with pytest.raises(ValueError, match="Truth: must not be empty"):
        read(text, "Truth")


def test_a_line_is_one_json_value():
    assert read_values("[[1, 2]]\n\nnull\n[]", "Answers") == [[[1, 2]], None, []]


def test_what_is_no_json_is_named_with_its_line():
    with pytest.raises(ValueError, match=r"Answers, line 2: must be JSON, got '\[1,'"):
        read_values("[]\n[1,", "Answers")
