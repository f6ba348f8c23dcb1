"""Prices of judges: a dated table in data form, and a user's own in front of it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from timevista_hf.costs._tokens import IMAGE_RULES
from timevista_hf.judges import Judge
from timevista_hf.loading.known import check_known, nearest

VARIABLE = "TIMEVISTA_PRICES"


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a judge's tokens cost, in US dollars for a million of them.

    Parameters
    ----------
    input, output : float
        ≥ 0. Thoughts are billed as output.
    cached_input : float, optional
        Of input that the provider has kept; the price of `input` where it is not given.
    batch_factor : float
        What a batch file costs as a share of this, from 0 to 1.
    date, source : str
        When the price held, as ``YYYY-MM-DD``, and where that was said.
    example : bool
        Whether the price was not seen on the provider's own page.
    note : str
        What else is to be known.
    images : str, optional
        The rule that pictures are counted by, where the model's name does not say it.

    Raises
    ------
    ValueError
        For an amount that is negative or no number, a factor above 1, an unknown rule, or a field
        of another type.

    Examples
    --------
    >>> Price(input=2.5, output=15.0).usd(1_000_000, 100_000)
    4.0
    """

    input: float
    output: float
    cached_input: float | None = None
    batch_factor: float = 1.0
    date: str = ""
    source: str = ""
    example: bool = False
    note: str = ""
    images: str | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached_input", "batch_factor"):
            value = getattr(self, name)
            if name == "cached_input" and value is None:
                continue
            if type(value) not in (int, float) or not 0 <= value < math.inf:
                raise ValueError(f"`{name}` must be a number of at least 0, got {value!r}")
        for name, kind in (("source", str), ("note", str), ("example", bool)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"`{name}` must be a {kind.__name__}, got {getattr(self, name)!r}")
        if self.batch_factor > 1:
            raise ValueError(f"`batch_factor` must be at most 1, got {self.batch_factor!r}")
        if self.images is not None:
            check_known("rule in `images`", self.images, list(IMAGE_RULES))

    @property
    def free(self) -> bool:
        """Whether nothing is billed."""
        return self.input == 0 and self.output == 0

    def usd(self, input_tokens: int, output_tokens: int, *, cached_tokens: int = 0) -> float:
        """Price tokens in US dollars; `cached_tokens` are those of the input that were kept."""
        kept = self.input if self.cached_input is None else self.cached_input
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * kept + output_tokens * self.output) / 1e6


@dataclass(frozen=True, eq=False)
class PriceTable:
    """Prices by judge, as named on the command line.

    Case, dots or dashes, and a model's date, ``-preview`` or ``-latest`` do not matter.

    Parameters
    ----------
    entries : mapping of str to Price
        For names such as ``"openai:gpt-5.4"``.

    Examples
    --------
    >>> table = PriceTable({"openai:gpt-5.4": Price(input=2.5, output=15.0)})
    >>> table.find("openai:gpt-5.4-2026-03-05").output
    15.0
    """

    entries: Mapping[str, Price]

    def find(self, judge: Judge | str) -> Price:
        """Return a judge's price.

        Free by default are ``builtin``, ``mock``, ``local:`` and ``server:http://``, which run on
        machines of one's own. A server behind ``https`` may bill, and needs a price.

        Raises
        ------
        ValueError
            For a judge without a price.
        """
        names = _names(judge)
        known = {_canonical(name): price for name, price in self.entries.items()}
        for name in names:
            if _canonical(name) in known:
                return known[_canonical(name)]
        if names[0].startswith(_FREE):
            return Price(input=0, output=0)
        meant = nearest(names[0], self.entries)
        hint = f"; did you mean {meant!r}?" if meant else "."
        raise ValueError(
            f"no price is known for judge {names[0]!r}{hint} Write one into a file, as in "
            f"docs/costs.md, and name the file in {VARIABLE}"
        )


def load_prices(path: str | Path | None = None) -> PriceTable:
    """Load the shipped prices, and in front of them a file of one's own.

    Parameters
    ----------
    path : str or Path, optional
        A YAML or JSON file in the form of the shipped ``prices.yaml``; where it is not given, the
        file that the environment variable ``TIMEVISTA_PRICES`` names, if any.

    Raises
    ------
    ValueError
        For a file that cannot be read or is no price file; the message names the place.

    Examples
    --------
    >>> load_prices().find("openai:gpt-5.4").date
    '2026-06-04'
    """
    entries = _read(Path(__file__).with_name("prices.yaml"))
    own = path or os.environ.get(VARIABLE)
    if own:
        entries |= _read(Path(own))  # the last of two spellings of a name is the one that is found
    return PriceTable(entries)


def _names(judge: Judge | str) -> list[str]:
    if isinstance(judge, str):
        return [judge]
    family, model = judge.identity.get("family"), judge.identity.get("model")
    return [judge.name, f"{family}:{model}"] if family and model else [judge.name]


def _canonical(name: str) -> str:
    plain = name.strip().lower().replace(".", "-")
    return re.sub(r"(-\d{6}|-\d{8}|-\d{4}-\d\d-\d\d|-preview|-latest)+$", "", plain)


def _read(path: Path) -> dict[str, Price]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: cannot be read as a price file: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("lists"), list):
        raise ValueError(f"{path}: a price file is a mapping with `lists`, each with `models`")
    if content.get("currency", "USD") != "USD":
        raise ValueError(f"{path}: `currency` must be USD, got {content['currency']!r}")
    entries: dict[str, Price] = {}
    for number, part in enumerate(content["lists"], start=1):
        entries.update(_read_list(part, f"{path}, list {number}"))
    return entries


def _read_list(part: Any, place: str) -> dict[str, Price]:
    if not isinstance(part, dict) or not isinstance(part.get("models"), dict):
        raise ValueError(f"{place}: must be a mapping with `models`, got {part!r}")
    shared = {name: value for name, value in part.items() if name != "models"}
    return {
        str(name): _price(shared, values, f"{place}, model {str(name)!r}")
        for name, values in part["models"].items()
    }


def _price(shared: dict[str, Any], own: Any, place: str) -> Price:
    if not isinstance(own, dict):
        raise ValueError(f"{place}: must give `input` and `output`, got {own!r}")
    values = shared | own
    try:
        for name in values:
            check_known("field", name, [field.name for field in fields(Price)])
        for name in ("input", "output", "date"):
            if name not in values:
                raise ValueError(f"`{name}` is missing")
        values["date"] = date.fromisoformat(str(values["date"])).isoformat()
        return Price(**values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


_FREE = ("builtin", "mock", "local:", "server:http://")
