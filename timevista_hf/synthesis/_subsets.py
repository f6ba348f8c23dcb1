"""The subsets of VisualTimeAnomaly: what a series is made of, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from numbers import Integral

from timevista_hf.cases import Granularity
from timevista_hf.loading.known import check_known, unknown

MAX_IRREGULARITY = 50


@dataclass(frozen=True, kw_only=True)
class AnomalySubset:
    """Name one kind of series and of anomaly.

    Parameters
    ----------
    base : {"sine", "symbols", "sine_cosine", "articulary_word_recognition"}
        The normal series. The first two are univariate; the second and the last are real.
    anomaly : str
        What is to be found. In univariate series: points ("global", "contextual") or ranges
        ("seasonal", "trend", "shapelet"); only the sine has a season. In multivariate ones, the
        shape of the anomalous variates: "triangle", "square", "sawtooth" or "random_walk".
    num_variates : int
        M; 1 in univariate series, at least 2 in the others.
    irregularity : int
        Per cent of the steps that are missing, from 0 to 50.

    Raises
    ------
    ValueError
        For an unknown base, an anomaly that it does not have, and numbers outside their range.

    Examples
    --------
    >>> subset = AnomalySubset(base="sine_cosine", anomaly="square", num_variates=9)
    >>> subset.name, subset.scenario, subset.granularity
    ('sine_cosine-square-m9', 'multivariate', 'variate')
    """

    base: str
    anomaly: str
    num_variates: int = 1
    irregularity: int = 0

    def __post_init__(self) -> None:
        check_known("base", self.base, [*_ANOMALIES])
        check_known(f"anomaly of {self.base!r}", self.anomaly, _ANOMALIES[self.base])
        univariate = self.granularity != "variate"
        least, most = (1, 1) if univariate else (2, None)
        self._check_whole("num_variates", least, most)
        self._check_whole("irregularity", 0, MAX_IRREGULARITY)

    @property
    def name(self) -> str:
        """The subset in one word, as "sine-trend-r5" or "sine_cosine-square-m9-r25"."""
        variates = f"-m{self.num_variates}" if self.granularity == "variate" else ""
        missing = f"-r{self.irregularity}" if self.irregularity else ""
        return f"{self.base}-{self.anomaly}{variates}{missing}"

    @property
    def scenario(self) -> str:
        """The paper's name of the setting: (irr_)univariate or (irr_)multivariate."""
        kind = "multivariate" if self.granularity == "variate" else "univariate"
        return f"irr_{kind}" if self.irregularity else kind

    @property
    def granularity(self) -> Granularity:
        """What is to be found: points, ranges, or whole variates."""
        return _GRANULARITIES.get(self.anomaly, "variate")

    @property
    def is_synthetic(self) -> bool:
        """Whether the normal series needs no data from outside."""
        return self.base in ("sine", "sine_cosine")

    def _check_whole(self, name: str, least: int, most: int | None) -> None:
        value = getattr(self, name)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or value < least or (most is not None and value > most):
            allowed = f"from {least} to {most}" if most is not None else f"of at least {least}"
            raise ValueError(
                f"{self.base}-{self.anomaly}: `{name}` must be an integer {allowed}, got {value!r}"
            )


def list_subsets(*, synthetic: bool | None = None) -> list[AnomalySubset]:
    """List the 124 subsets of the paper.

    Parameters
    ----------
    synthetic : bool, optional
        True for the 65 that need no data, False for the 59 on real series.

    Returns
    -------
    list of AnomalySubset
        Synthetic ones first; then univariate before multivariate, regular before irregular, few
        variates or missing steps before many.

    Examples
    --------
    >>> len(list_subsets()), len(list_subsets(synthetic=True))
    (124, 65)
    """
    return [one for one in _paper_subsets() if synthetic in (None, one.is_synthetic)]


def find_subset(name: str) -> AnomalySubset:
    """Find a subset by its name.

    Parameters
    ----------
    name : str
        As `AnomalySubset.name`; it need not be one of the paper's.

    Returns
    -------
    AnomalySubset

    Raises
    ------
    ValueError
        For a name that is no subset's, with the nearest of the paper's.

    Examples
    --------
    >>> find_subset("sine_cosine-triangle-m7-r30").num_variates
    7
    """
    parsed = _PATTERN.fullmatch(name)
    if parsed is not None and parsed["anomaly"] in _ANOMALIES[parsed["base"]]:
        found = AnomalySubset(
            base=parsed["base"],
            anomaly=parsed["anomaly"],
            num_variates=int(parsed["variates"] or 1),
            irregularity=int(parsed["missing"] or 0),
        )
        if found.name == name:
            return found
    raise ValueError(unknown("subset", name, [one.name for one in _paper_subsets()]))


@cache
def _paper_subsets() -> tuple[AnomalySubset, ...]:
    return tuple(
        AnomalySubset(base=base, anomaly=anomaly, num_variates=variates, irregularity=missing)
        for bases in (("sine", "sine_cosine"), ("symbols", "articulary_word_recognition"))
        for base in bases
        for variates, missing in _SETTINGS[base in ("sine", "symbols")]
        for anomaly in _ANOMALIES[base]
        if not (missing and anomaly == "contextual")
    )


_GRANULARITIES: dict[str, Granularity] = {
    "global": "point",
    "contextual": "point",
    "seasonal": "range",
    "trend": "range",
    "shapelet": "range",
}
_SHAPES = ("triangle", "square", "sawtooth", "random_walk")
_ANOMALIES: dict[str, tuple[str, ...]] = {
    "sine": ("global", "contextual", "seasonal", "trend", "shapelet"),
    "sine_cosine": _SHAPES,
    "symbols": ("global", "contextual", "trend", "shapelet"),
    "articulary_word_recognition": _SHAPES,
}
_RATES = (5, 10, 15, 20, 25)
_SETTINGS = {  # (num_variates, irregularity), by whether the base is univariate
    True: [(1, rate) for rate in (0, *_RATES)],
    False: [*((count, 0) for count in (4, 9, 16, 25, 36)), *((9, rate) for rate in _RATES)],
}
_PATTERN = re.compile(
    rf"(?P<base>{'|'.join(_ANOMALIES)})-(?P<anomaly>[a-z_]+)"
    r"(?:-m(?P<variates>\d{1,6}))?(?:-r(?P<missing>\d{1,3}))?"
)
