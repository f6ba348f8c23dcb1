"""What a judge is: it takes requests and yields replies, in whatever order they come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol

from timevista_hf.cases import AnomalyCase, ForecastCase
from timevista_hf.judges._access import Secret
from timevista_hf.rubrics import Modality


class Question(Protocol):
    """What is asked of a case: a rubric, several of them at once, or where its anomalies are.

    Attributes
    ----------
    identity : str
        Name and version.
    level, dimension : str
        What sort of question it is, and what about the case it asks for.
    fingerprint : str
        SHA-256 of all that it says.
    system_prompt : str
        What a model is told before the prompt.
    reply_schema : dict
        JSON schema of the reply.
    parts : tuple
        The questions that one reply answers.
    """

    @property
    def identity(self) -> str: ...

    @property
    def level(self) -> str: ...

    @property
    def dimension(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def system_prompt(self) -> str: ...

    @property
    def reply_schema(self) -> dict[str, Any]: ...

    @property
    def parts(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True, eq=False)
class Request:
    """One question to a judge: a case as it is shown, and what is asked of it."""

    # The case is for judges that measure; a model is shown `prompt` and `image` only.
    case: ForecastCase | AnomalyCase
    question: Question
    prompt: str
    image: bytes | None = None  # PNG, where the judge looks at one
    run: int = 0

    @property
    def scored(self) -> bool:
        """Whether a score is asked for, of which the probabilities say more than itself."""
        return self.question.level != "detection"

    def key(self, identity: Mapping[str, Any]) -> str:
        """Return the SHA-256 of all that can change the answer of the judge of that identity."""
        digest = hashlib.sha256()
        question = self.question
        asked = [question.level, question.dimension, question.fingerprint, question.reply_schema]
        head = [dict(identity), question.system_prompt, self.prompt, asked, self.run]
        digest.update(json.dumps(head, sort_keys=True).encode())
        digest.update(_shown(self))
        return digest.hexdigest()


@dataclass(frozen=True, repr=False)
class Reply:
    """What came back: a text to parse, or the reason why there is none.

    The text is as it came, so that it is read as it came. A key that a server has echoed in it is
    hidden where the text is written: by `hide`, in the repr, and in a pickle.
    """

    text: str
    status: Literal["ok", "unparsable", "refused", "truncated", "error"] = "ok"
    expected_score: float | None = None  # before rounding, where the judge has it
    reason: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)  # what was really used
    mass: float | None = None  # probability that the score's token was one of the scale's
    input_tokens: int = 0  # all that were paid, wasted attempts included
    output_tokens: int = 0
    secret: Secret | None = field(default=None, repr=False, compare=False)

    def hide(self, text: str) -> str:
        """Return a text, as this reply's, without the key that was sent."""
        return text if self.secret is None else self.secret.hide(text)

    @property
    def masked(self) -> Reply:
        """The same without the key, as it may be written."""
        return replace(self, text=self.hide(self.text), secret=None)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.masked)

    def __repr__(self) -> str:
        shown = self.masked
        entries = (f"{one.name}={getattr(shown, one.name)!r}" for one in fields(self) if one.repr)
        return f"Reply({', '.join(entries)})"


class Judge(Protocol):
    """A judge that `judge_cases` and `detect_anomalies` can ask.

    Attributes
    ----------
    name : str
        As given on the command line, and as stored in every judgment.
    modality : {"vision", "text", "numbers"}
        Whether it looks at the plot, reads the numbers in the prompt, or measures the arrays.
    identity : mapping
        All that can change an answer: model, version, address, decoding options.
    """

    @property
    def name(self) -> str: ...

    @property
    def modality(self) -> Modality | Literal["numbers"]: ...

    @property
    def identity(self) -> Mapping[str, Any]: ...

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer every request once, in any order; a failure is a `Reply`, never an exception."""
        ...


def _shown(request: Request) -> bytes:
    """Return the picture, or all of the case that a judge without one can measure."""
    if request.image is not None:
        return request.image
    case = request.case
    if isinstance(case, AnomalyCase):
        return f"{case.values.shape}|".encode() + case.values.tobytes()
    head = f"{case.season_length}|{case.history.size}|".encode()
    return head + b"".join(a.tobytes() for a in (case.history, case.truth, case.prediction))
