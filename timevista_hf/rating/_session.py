"""One annotator's way through the questions, which goes on where it was left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from timevista_hf._version import __version__
from timevista_hf.rating._question import Question, ordered
from timevista_hf.rating._record import (
    Action,
    Rating,
    RatingFile,
    annotator_name,
    read_records,
    standing,
)


class RatingSession:
    """Ask one annotator every question, in an order of their own, and keep each answer at once.

    The answers are in ``FOLDER/NAME.jsonl``, one record a line; nothing in it is ever rewritten.
    A session that was closed or killed goes on where it was. Use it as a context manager, or call
    `close`.

    Parameters
    ----------
    questions : iterable of Question
        At least one; none twice.
    annotator : str
        1 to 80 printable characters.
    folder : str or Path
        Where the annotator's file is; made where it does not exist.
    render : str
        Fingerprint of the style that the cases are drawn in.

    Attributes
    ----------
    annotator : str
    path : Path
        The annotator's file.
    notices : list of str
        What was found in the file and should be known.

    Raises
    ------
    ValueError
        Where there is no question, the file is another annotator's, is no such file, cannot be
        written, or is held by another process.

    Examples
    --------
    >>> import tempfile
    >>> from timevista_hf.cases import ForecastCase
    >>> from timevista_hf.rubrics import load_rubric
    >>> case = ForecastCase(id="a", history=[1, 2], truth=[3, 4], prediction=[3, 5])
    >>> with RatingSession([Question(case, load_rubric("trend"))], "ana", tempfile.mkdtemp()) as s:
    ...     s.rate(4, comment="a little steep")
    ...     s.done, s.total
    (1, 1)
    """

    def __init__(
        self,
        questions: Iterable[Question],
        annotator: str,
        folder: str | Path,
        *,
        render: str = "",
    ) -> None:
        self.annotator, self._render = annotator_name(annotator), render
        order = ordered(questions, self.annotator)
        if not order:
            raise ValueError("there is no case to rate")
        self._file = RatingFile(Path(folder), self.annotator)
        self.path = self._file.path
        try:
            self._resume(order)
        except ValueError:
            self.close()
            raise

    def __enter__(self) -> RatingSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def current(self) -> Question | None:
        """The question that is next; None where all are answered."""
        return self._pending[0][1] if self._pending else None

    @property
    def token(self) -> str:
        """Name of the current question that tells nothing of it; empty at the end."""
        return self._pending[0][0] if self._pending else ""

    @property
    def total(self) -> int:
        """Number of questions."""
        return len(self._pending) + len(self._answered)

    @property
    def done(self) -> int:
        """Number of answered ones, the skipped included."""
        return len(self._answered)

    @property
    def skipped(self) -> int:
        """Number of skipped ones."""
        return sum(rating.score is None for _, _, rating in self._answered)

    def rate(self, score: int, *, comment: str = "", seconds: float = 0.0) -> None:
        """Score the current question.

        Parameters
        ----------
        score : int
            From 1 (worst) to 5 (best).
        comment : str
        seconds : float
            How long the annotator looked.

        Raises
        ------
        ValueError
            For another score, where no question is left, and where the answer cannot be saved;
            the question is then still the current one.
        """
        self._answer("rate", score, comment, seconds)

    def skip(self, *, comment: str = "", seconds: float = 0.0) -> None:
        """Leave the current question without a score, as `rate` gives one."""
        self._answer("skip", None, comment, seconds)

    def undo(self) -> Rating | None:
        """Take the last answer back and ask its question again; None where there is none.

        Raises
        ------
        ValueError
            Where that cannot be saved; the answer then stands.
        """
        if not self._answered:
            return None
        token, question, rating = self._answered[-1]
        self._file.append("undo", self._rating(question, None, "", 0.0))
        self._answered.pop()
        self._pending.appendleft((token, question))
        return rating

    def close(self) -> None:
        """Let another process have the file."""
        self._file.close()

    def _resume(self, order: dict[str, Question]) -> None:
        records, self.notices = read_records(self.path) if self.path.exists() else ([], [])
        for _, rating in records:
            if rating.annotator != self.annotator:
                raise ValueError(
                    f"{self.path}: holds ratings of {rating.annotator!r}, not of "
                    f"{self.annotator!r}; give another folder as --output"
                )
        tokens = {question.key: token for token, question in order.items()}
        self._answered = [
            (tokens[key], order[tokens[key]], rating)
            for key, rating in standing(records).items()
            if key in tokens
        ]
        answered = {token for token, _, _ in self._answered}
        self._pending = deque(entry for entry in order.items() if entry[0] not in answered)
        others = sum(rating.render != self._render for _, _, rating in self._answered)
        if others:
            self.notices.append(f"{others} earlier answers are on pictures in another style")

    def _answer(self, action: Action, score: int | None, comment: str, seconds: float) -> None:
        if not self._pending:
            raise ValueError("all questions are answered")
        token, question = self._pending[0]
        rating = self._rating(question, score, comment, seconds)
        self._file.append(action, rating)
        self._pending.popleft()
        self._answered.append((token, question, rating))

    def _rating(
        self, question: Question, score: int | None, comment: str, seconds: float
    ) -> Rating:
        case, rubric = question.case, question.rubric
        return Rating(
            annotator=self.annotator,
            case_id=case.id,
            cutoff=case.cutoff,
            model=case.model,
            content=question.content,
            dataset=rubric.dataset or case.dataset,
            level=rubric.level,
            dimension=rubric.dimension,
            rubric=rubric.identity,
            score=score,
            # Half an emoji can be typed and not be written as UTF-8.
            comment=comment.strip().encode("utf-8", "replace").decode("utf-8"),
            seconds=round(seconds, 1),
            time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            render=self._render,
            version=__version__,
        )
