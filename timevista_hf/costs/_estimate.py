"""What a run will cost: requests counted before they are sent, corrected by the first answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from timevista_hf.costs._prices import Price, PriceTable, load_prices
from timevista_hf.costs._tokens import UNKNOWN_RULE, rule_of, text_tokens, tokens_by_rule
from timevista_hf.judges import Judge, Reply, Request, Store
from timevista_hf.rubrics import JointRubric

CALIBRATION_ANSWERS = 20
REPLY_TOKENS = 120  # of one verdict: two or three sentences, a score, and the JSON around them

_BATCH = 512  # requests held in memory at once, pictures included


@dataclass(frozen=True)
class CostEstimate:
    """Hold what a run will use and cost.

    Parameters
    ----------
    calls : int
        Questions that will be asked; alike ones that follow closely are asked once.
    stored : int
        Questions whose answer is in the store already.
    image_tokens : int
        By the provider's formula; part of `input_tokens`.
    input_tokens, output_tokens : int
        Of all calls.
    usd, usd_batch : float
        US dollars for calls one by one, and in batch files. No discount for cached input.
    price_date : str or None
        When the price held, as ``YYYY-MM-DD``; None where nothing is billed.
    notes : tuple of str
        What was assumed.
    """

    calls: int
    stored: int
    image_tokens: int
    input_tokens: int
    output_tokens: int
    usd: float
    usd_batch: float
    price_date: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Calibration:
    """Compare what the first answers really used with what was expected.

    Parameters
    ----------
    answers : int
        Answers it knows, up to `CALIBRATION_ANSWERS`.
    expected_input : int
        Input tokens that were estimated for them.
    input_tokens, output_tokens : int
        Tokens that were billed for them, wasted attempts and thoughts included.

    Examples
    --------
    >>> learnt = Calibration().learn(100, Reply("", input_tokens=110, output_tokens=300))
    >>> learnt.input_factor, learnt.output_mean
    (1.1, 300.0)
    """

    answers: int = 0
    expected_input: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def complete(self) -> bool:
        """Whether enough answers are known; more change nothing."""
        return self.answers >= CALIBRATION_ANSWERS

    @property
    def input_factor(self) -> float:
        """Billed over estimated input; 1 where nothing is known."""
        return self.input_tokens / self.expected_input if self.expected_input else 1.0

    @property
    def output_mean(self) -> float:
        """Output tokens of an answer; those of one verdict where nothing is known."""
        return self.output_tokens / self.answers if self.answers else float(REPLY_TOKENS)

    def learn(self, expected_input: int, reply: Reply) -> Calibration:
        """Return it with one more answer; one without usage, or too many, changes nothing."""
        if self.complete or not (reply.input_tokens or reply.output_tokens):
            return self
        return replace(
            self,
            answers=self.answers + 1,
            expected_input=self.expected_input + expected_input,
            input_tokens=self.input_tokens + reply.input_tokens,
            output_tokens=self.output_tokens + reply.output_tokens,
        )


def estimate_cost(
    requests: Iterable[Request],
    judge: Judge,
    *,
    store: Store | None = None,
    prices: PriceTable | None = None,
    calibration: Calibration | None = None,
) -> CostEstimate:
    """Count requests and price them, without asking the judge.

    Requests are taken as they are needed, a few at a time.

    Parameters
    ----------
    requests : iterable of Request
    judge : Judge
        Who would be asked.
    store : Store, optional
        Answers in it cost nothing, and the first of them correct the estimate of the rest.
    prices : PriceTable, optional
        Those of `load_prices` where it is not given.
    calibration : Calibration, optional
        What the first answers of this judge really used, where they are not in the store.

    Raises
    ------
    ValueError
        For a judge without a price, or a picture that is no PNG.

    Examples
    --------
    >>> from timevista_hf.cases import ForecastCase
    >>> from timevista_hf.judges import load_judge
    >>> from timevista_hf.rubrics import load_rubric
    >>> case = ForecastCase(id="a", history=[1, 2, 3], truth=[4, 5], prediction=[4, 5])
    >>> rubric = load_rubric("trend")
    >>> estimate = estimate_cost([Request(case, rubric, rubric.prompt())], load_judge("builtin"))
    >>> estimate.calls, estimate.usd
    (1, 0.0)
    """
    price = (prices or load_prices()).find(judge)
    learnt = calibration or Calibration()
    sizes = RequestSizes(judge, price)
    calls = stored = pictures = texts = verdicts = 0
    for batch in _batches(requests):
        keys = {request.key(judge.identity): request for request in batch}
        kept = {} if store is None else store.get(list(keys))
        stored += len(kept)
        for key, reply in kept.items():
            learnt = learnt.learn(sizes.input(keys[key]), reply)
        for request in (request for key, request in keys.items() if key not in kept):
            calls += 1
            pictures += sizes.picture(request)
            texts += sizes.text(request)
            verdicts += sizes.verdicts(request)
    input_tokens = round((pictures + texts) * learnt.input_factor)
    output_tokens = verdicts * REPLY_TOKENS
    if learnt.answers and sizes.billed:
        output_tokens = round(calls * learnt.output_mean)
    usd = price.usd(input_tokens, output_tokens)
    return CostEstimate(
        calls=calls,
        stored=stored,
        image_tokens=pictures,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        usd=usd,
        usd_batch=usd * price.batch_factor,
        price_date=price.date or None,
        notes=tuple(_notes(judge, price, learnt, assumed=pictures > 0 and sizes.rule is None)),
    )


def calibrate(
    answers: Iterable[tuple[Request, Reply]], judge: Judge, *, prices: PriceTable | None = None
) -> Calibration:
    """Learn from the first answers of a judge what its requests really use.

    Parameters
    ----------
    answers : iterable of (Request, Reply)
        As `Judge.ask` yields them; no more are taken than are needed. Answers without usage do
        not count.
    judge : Judge
    prices : PriceTable, optional
        Those of `load_prices` where it is not given; they may say how pictures are counted.

    Raises
    ------
    ValueError
        For a judge without a price.
    """
    sizes = RequestSizes(judge, (prices or load_prices()).find(judge))
    learnt = Calibration()
    for request, reply in answers:
        learnt = learnt.learn(sizes.input(request), reply)
        if learnt.complete:
            break
    return learnt


class RequestSizes:
    """Count the tokens of requests to one judge; a judge that measures is sent none."""

    def __init__(self, judge: Judge, price: Price) -> None:
        self.rule = price.images or rule_of(str(judge.identity.get("model") or judge.name))
        self.billed = judge.modality != "numbers"

    def picture(self, request: Request) -> int:
        """Return the tokens of a request's picture, 0 without one."""
        if request.image is None or not self.billed:
            return 0
        return tokens_by_rule(self.rule, *_png_size(request.image)).tokens

    def text(self, request: Request) -> int:
        """Return the tokens of a request's texts, about."""
        if not self.billed:
            return 0
        return text_tokens(request.question.system_prompt) + text_tokens(request.prompt)

    def verdicts(self, request: Request) -> int:
        """Return how many rubrics a request asks for at once."""
        if not self.billed:
            return 0
        return len(request.question.parts) if isinstance(request.question, JointRubric) else 1

    def input(self, request: Request) -> int:
        """Return all input tokens of a request, about."""
        return self.picture(request) + self.text(request)


def _batches(requests: Iterable[Request]) -> Iterator[list[Request]]:
    stream = iter(requests)
    while batch := list(islice(stream, _BATCH)):
        yield batch


def _png_size(image: bytes) -> tuple[int, int]:
    """Read width and height from the header that every PNG starts with."""
    if len(image) < 24 or not image.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError(f"the picture of a request must be a PNG, got {image[:8]!r}")
    return int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")


def _notes(judge: Judge, price: Price, learnt: Calibration, *, assumed: bool) -> Iterator[str]:
    if price.free:
        yield f"judge {judge.name!r} costs nothing, unless a price file says otherwise"
    else:
        yield f"price of {price.date or 'an unknown date'}: {price.source or 'no source given'}"
    if price.example:
        yield "the price is an example that was not seen on the provider's page: check it"
    if price.note:
        yield price.note
    if assumed:
        yield f"how {judge.name!r} counts pictures is not known: {UNKNOWN_RULE} is assumed"
    if learnt.answers:
        yield (
            f"corrected by {learnt.answers} real answers: input ×{learnt.input_factor:.2f}, "
            f"{learnt.output_mean:.0f} output tokens each"
        )
    elif not price.free:
        yield (
            f"a verdict is taken as {REPLY_TOKENS} tokens; thoughts are billed too and not in it: "
            f"the first {CALIBRATION_ANSWERS} real answers will tell"
        )
