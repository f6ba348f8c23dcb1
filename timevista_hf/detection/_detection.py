"""What a judge found in one series, with everything that made it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from timevista_hf.cases import Granularity
from timevista_hf.detection._answers import no_events
from timevista_hf.rubrics import Status

LONGEST_TEXT = 20_000  # characters kept of a reply


@dataclass(frozen=True, eq=False, kw_only=True)
class Detection:
    """Hold the outcome of one question about one series; the truth is not in it.

    A failed detection has a `status` other than ``"ok"``, a `reason`, and names no anomaly. One
    with status ``"ok"`` and no anomaly says that there is none, unless entries were rejected:
    see `says_none`.
    """

    case_id: str
    subset: str | None
    granularity: Granularity
    steps: int  # T
    num_variates: int  # M
    question: str  # name@version
    judge: str
    status: Status
    events: np.ndarray = field(default_factory=no_events)  # [E, 2], half-open
    variates: tuple[int, ...] = ()
    rationale: str = ""
    repairs: tuple[str, ...] = ()  # what was mended to read the reply
    rejected: int = 0  # entries outside the series, or not of the form asked for
    hallucinated_run: bool = False  # see `Answer`; also of a reply that was cut off
    reason: str = ""  # why there is no answer
    text: str = ""  # the reply as it came; of more than `LONGEST_TEXT` characters only the answer
    run: int = 0  # of several independent ones
    options: str = "{}"  # the judge's options that were really used, as JSON
    render: str = ""  # fingerprint of the picture, empty where the judge saw none
    version: str = ""  # of this package
    input_tokens: int = 0  # that were paid for the answer, wasted attempts included
    output_tokens: int = 0

    @property
    def says_none(self) -> bool:
        """Whether the judge said that nothing is anomalous."""
        named = self.events.size or self.variates or self.rejected
        return self.status == "ok" and not named
