"""Measure `affiliation_precision_recall` against the reference algorithm, in CPU time, in one run.

The `vus` package carries a verbatim copy of the algorithm that the authors of the metric published.

Run: python benchmarks/affiliation.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from timevista_hf.metrics import EventTable, affiliation_precision_recall

Events = list[tuple[int, int]]
Reference = Callable[[Events, Events, tuple[int, int]], dict]

STEPS = 400
SAMPLES = 12_400
ROUNDS = 5
# True and predicted events of one sample and their length: ranges, and as many points as
# VisualTimeAnomaly puts into a series.
SMALL = ((1, 1, 10), (2, 2, 10), (5, 5, 10), (20, 20, 1))
GROWTH = (1_000, 10_000, 100_000, 1_000_000)


def main() -> None:
    """Print the three comparisons."""
    reference = _reference()
    print(f"numpy {np.__version__}, vus {version('vus')}; CPU time, best of {ROUNDS}")
    _compare_batch(reference)
    _compare_small(reference)
    _print_growth()


def _compare_batch(reference: Reference) -> None:
    rng = np.random.default_rng(0)
    truth = [_draw(rng, int(rng.integers(1, 4)), 10) for _ in range(SAMPLES)]
    answers = [_draw(rng, int(rng.integers(0, 4)), 10) for _ in range(SAMPLES)]
    tables = _table(truth), _table(answers)
    span = (0, STEPS)
    slow, lists, table = _best(
        lambda: [reference(p, t, span) for t, p in zip(truth, answers, strict=True)],
        lambda: affiliation_precision_recall(truth, answers, ranges=span),
        lambda: affiliation_precision_recall(*tables, ranges=span),
    )
    ours = affiliation_precision_recall(truth, answers, ranges=span)
    theirs = np.array(
        [[*reference(p, t, span).values()][:2] for t, p in zip(truth, answers, strict=True)]
    )
    events = sum(map(len, truth)), sum(map(len, answers))
    apart = np.nanmax(np.abs(theirs - np.column_stack([ours.precision, ours.recall])))
    print(
        f"\n{SAMPLES} samples of {STEPS} steps, {events[0]} true and {events[1]} predicted events"
    )
    print(f"reference  {slow * 1e3:9.2f} ms")
    print(f"lists      {lists * 1e3:9.2f} ms  {slow / lists:6.1f}x")
    print(f"EventTable {table * 1e3:9.2f} ms  {slow / table:6.1f}x")
    print(f"largest difference of a score {apart:.1e}")


def _compare_small(reference: Reference) -> None:
    rng = np.random.default_rng(1)
    span, calls = (0, STEPS), 200
    print(f"\none sample of {STEPS} steps, as lists")
    print(f"{'true':>5} {'predicted':>10} {'steps':>6} {'reference':>13} {'ours':>11} {'ratio':>7}")
    for true, predicted, length in SMALL:
        truth, answer = _draw(rng, true, length), _draw(rng, predicted, length)
        slow, fast = _best(
            lambda t=truth, a=answer: [reference(a, t, span) for _ in range(calls)],
            lambda t=truth, a=answer: [
                affiliation_precision_recall([t], [a], ranges=span) for _ in range(calls)
            ],
        )
        print(
            f"{true:>5} {predicted:>10} {length:>6} {slow / calls * 1e6:>10.1f} µs "
            f"{fast / calls * 1e6:>8.1f} µs {slow / fast:>6.1f}x"
        )


def _print_growth() -> None:
    print("\none sample of n true and n predicted events, as EventTable")
    seconds = []
    for count in GROWTH:
        tables = [_long_table(count, seed) for seed in (2, 3)]
        span = (0, 10 * count)
        seconds += _best(lambda t=tables, s=span: affiliation_precision_recall(*t, ranges=s))
        print(f"n = {count:>9,} {seconds[-1] * 1e3:>9.2f} ms")
    for first in (0, 1):
        exponent = np.polyfit(np.log(GROWTH[first:]), np.log(seconds[first:]), 1)[0]
        print(f"time grows as n to the {exponent:.2f} from n = {GROWTH[first]:,} on")


def _draw(rng: np.random.Generator, count: int, length: int) -> Events:
    """Draw events of up to `length` steps that do not touch, one to a slot of the range."""
    slots = np.sort(rng.choice(STEPS // (length + 1), count, replace=False)) * (length + 1)
    stops = slots + rng.integers(1, length, count, endpoint=True)
    return list(zip(slots.tolist(), stops.tolist(), strict=True))


def _table(samples: list[Events]) -> EventTable:
    return EventTable(np.array([e for events in samples for e in events]), [*map(len, samples)])


def _long_table(count: int, seed: int) -> EventTable:
    starts = 10 * np.arange(count)
    stops = starts + np.random.default_rng(seed).integers(1, 10, count)
    return EventTable(np.column_stack([starts, stops]), [count])


def _reference() -> Reference:
    try:
        from vus.affiliation.metrics import pr_from_events
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"benchmarks/affiliation.py compares with vus, but {error.name!r} is not installed: "
            "pip install --no-deps vus==0.0.6 (the part that is used here needs nothing else)"
        ) from error
    return pr_from_events


def _best(*functions: Callable[[], object]) -> list[float]:
    # In turns, so that a busy moment of the machine does not hit one of them alone.
    rounds = [[_cpu_seconds(function) for function in functions] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _cpu_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    main()
