"""Prices: dated, found under a judge's names, and replaced by a file of one's own."""

import json
import math

import pytest
from billed import ROUND, Hosted

from timevista_hf.costs import Price, PriceTable, load_prices
from timevista_hf.judges._presets import load_presets


@pytest.fixture(autouse=True)
def no_prices_of_ones_own(monkeypatch):
    monkeypatch.delenv("TIMEVISTA_PRICES", raising=False)


def test_a_price_bills_input_cached_input_and_output():
    # 600 · 2 + 400 · 0.5 + 100 · 8 = 2,200 dollars for a million of them.
    price = Price(input=2, output=8, cached_input=0.5)
    assert price.usd(1000, 100, cached_tokens=400) == pytest.approx(0.0022)


def test_cached_input_costs_as_much_as_other_where_it_has_no_price():
    assert ROUND.usd(1000, 0, cached_tokens=400) == ROUND.usd(1000, 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"input": -1}, "`input` must be a number of at least 0, got -1"),
        ({"output": "15"}, "`output` must be a number of at least 0, got '15'"),
        ({"output": math.inf}, "`output` must be a number of at least 0, got inf"),
        ({"input": math.nan}, "`input` must be a number of at least 0, got nan"),
        ({"cached_input": True}, "`cached_input` must be a number of at least 0, got True"),
        ({"batch_factor": 2}, "`batch_factor` must be at most 1, got 2"),
        ({"example": "no"}, "`example` must be a bool, got 'no'"),
        ({"note": 5}, "`note` must be a str, got 5"),
        ({"images": "gpt4o"}, "unknown rule in `images` 'gpt4o'; did you mean 'gpt-4o'?"),
    ],
)
def test_a_price_that_is_none_is_refused(fields, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        Price(**{"input": 1, "output": 1, **fields})


@pytest.mark.parametrize("preset", load_presets().values())
def test_every_preset_has_a_price(preset):
    assert not load_prices().find(f"{preset.family}:{preset.model}").free


def test_every_shipped_price_says_when_it_held_and_who_said_so():
    prices = load_prices().entries.values()
    assert all(price.date >= "2026-06-04" and price.source for price in prices)


def test_a_shipped_price_is_read_as_written():
    price = load_prices().find("openai:gpt-5.4")
    assert (price.input, price.cached_input, price.output) == (2.5, 0.25, 15.0)
    assert (price.batch_factor, price.date, price.example) == (0.5, "2026-06-04", False)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic:claude-sonnet-4-6",
        "anthropic:Claude-Sonnet-4.6-20260217",
        "anthropic:claude-sonnet-4-6-latest",
    ],
)
def test_a_model_is_found_under_its_other_spellings(name):
    assert load_prices().find(name).output == 15.0


def test_a_model_is_found_by_the_identity_of_a_judge_under_a_short_name():
    judge = Hosted(name="my-favourite", family="openai", model="gpt-5.4")
    assert load_prices().find(judge).output == 15.0


def test_a_smaller_model_is_not_priced_as_the_larger_it_is_named_after():
    table = PriceTable({"openai:gpt-5.4": ROUND})
    with pytest.raises(ValueError, match=r"judge 'openai:gpt-5\.4-mini'"):
        table.find("openai:gpt-5.4-mini")


def test_a_judge_without_a_price_is_told_what_to_do():
    message = "judge 'openai:gpt-5.44'; did you mean 'openai:gpt-5.4'.*docs/costs.md.*TIMEVISTA_PRI"
    with pytest.raises(ValueError, match=message):
        load_prices().find("openai:gpt-5.44")


@pytest.mark.parametrize(
    "name", ["builtin", "mock", "local:/models/x", "server:http://localhost:8000/v1#x"]
)
def test_a_judge_on_a_machine_of_ones_own_is_free(name):
    assert load_prices().find(name).free


@pytest.mark.parametrize("name", ["hf:x/y", "server:https://api.example.com/v1#x", "panel"])
def test_a_judge_elsewhere_is_not_free(name):
    with pytest.raises(ValueError, match="no price is known"):
        load_prices().find(name)


def write_prices(folder, models, **shared):
    path = folder / "prices.json"
    content = {"lists": [{"date": "2027-01-31", "source": "me", "models": models, **shared}]}
    path.write_text(json.dumps(content))
    return path


def test_a_file_of_ones_own_wins_over_the_shipped_one_in_any_spelling(tmp_path):
    path = write_prices(tmp_path, {"openai:gpt-5-4": {"input": 1, "output": 2}})
    table = load_prices(path)
    assert table.find("openai:gpt-5.4") == Price(input=1, output=2, date="2027-01-31", source="me")
    assert table.find("openai:gpt-5.5").input == 5.0


def test_the_environment_names_a_file_of_ones_own(tmp_path, monkeypatch):
    path = write_prices(tmp_path, {"server:http://box/v1#x": {"input": 1, "output": 2}})
    monkeypatch.setenv("TIMEVISTA_PRICES", str(path))
    assert load_prices().find("server:http://box/v1#x").output == 2


def test_an_argument_wins_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TIMEVISTA_PRICES", str(tmp_path / "missing.yaml"))
    path = write_prices(tmp_path, {"hf:x/y": {"input": 1, "output": 2}})
    assert load_prices(path).find("hf:x/y").input == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"input": 1}, "prices.json, list 1, model 'hf:x': `output` is missing"),
        ({"input": 1, "output": 2, "outputs": 3}, "list 1, model 'hf:x': unknown field 'outputs'"),
        ({"input": "1", "output": 2}, "model 'hf:x': `input` must be a number of at least 0"),
        ({"input": 1, "output": 2, "date": "soon"}, "model 'hf:x': Invalid isoformat string"),
        (3, "model 'hf:x': must give `input` and `output`, got 3"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_place(values, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        load_prices(write_prices(tmp_path, {"hf:x": values}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lists: [", "cannot be read as a price file"),
        ("a: 1", "a price file is a mapping with `lists`"),
        ("{currency: EUR, lists: []}", "`currency` must be USD, got 'EUR'"),
        ("lists: [{date: 2027-01-01}]", "list 1: must be a mapping with `models`"),
    ],
)
def test_a_file_that_is_no_price_file_is_refused(text, message, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"mine.yaml.*{message}"):
        load_prices(path)
