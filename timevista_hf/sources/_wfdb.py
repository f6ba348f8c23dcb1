"""Signals of WFDB records in the formats 16 and 212, which the used databases are written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

_FORMAT = re.compile(r"(?P<code>\d+)(?:x(?P<samples>\d+))?(?::\d+)?(?:\+(?P<offset>\d+))?")
_GAIN = re.compile(r"(?P<gain>[^(/]+)(?:\((?P<baseline>-?\d+)\))?(?:/(?P<unit>\S+))?")
_MISSING = {16: -32768, 212: -2048}


class Signal(NamedTuple):
    """What the header says of one signal."""

    name: str
    file: str
    code: int  # format of the file
    samples: int  # in a frame
    offset: int  # bytes before the first sample
    gain: float  # steps of the converter in a unit
    baseline: float  # the converter's step that is 0
    rate: float  # Hz
    length: int  # samples of the record


def read_header(path: Path) -> list[Signal]:
    """Read the header of a record of one segment, in the order of its signals.

    References
    ----------
    https://physionet.org/physiotools/wag/header-5.htm
    """
    lines = path.read_text(encoding="latin-1").splitlines()
    record, *signals = [line for line in lines if line.strip() and not line.startswith("#")]
    try:
        name, number, rate, length, *_ = record.split()
        if "/" in name:
            raise ValueError("it has several segments")
        frames = (float(rate.partition("/")[0]), int(length))
        return [_signal(line.split(maxsplit=8), *frames) for line in signals[: int(number)]]
    except (ValueError, AttributeError, IndexError) as error:
        raise ValueError(f"{path}: is no WFDB header that can be read: {error}") from error


def read_signal(path: Path, signal: Signal, signals: Sequence[Signal]) -> np.ndarray:
    """Read one signal of a file in its physical unit; NaN where it is missing.

    Parameters
    ----------
    path : Path
        The signal's file.
    signal : Signal
    signals : sequence of Signal
        All of the record.
    """
    if signal.code not in _MISSING:
        raise ValueError(f"{path}: format {signal.code} of WFDB cannot be read, only 16 and 212")
    frame = [other for other in signals if other.file == signal.file]
    width = sum(other.samples for other in frame)
    raw = np.fromfile(path, dtype=np.uint8, offset=signal.offset)
    digital = raw[: raw.size // 2 * 2].view("<i2") if signal.code == 16 else _unpack(raw)
    if digital.size < signal.length * width:
        raise ValueError(
            f"{path}: holds {digital.size} samples, the header promises {signal.length * width}"
        )
    first = sum(other.samples for other in frame[: frame.index(signal)])
    frames = digital[: signal.length * width].reshape(-1, width)
    samples = frames[:, first : first + signal.samples].ravel()
    missing = samples == _MISSING[signal.code]
    return np.where(missing, np.nan, (samples - signal.baseline) / signal.gain)


def _signal(fields: list[str], rate: float, length: int) -> Signal:
    kind, gain = _FORMAT.fullmatch(fields[1]), _GAIN.fullmatch((fields + ["200"] * 8)[2])
    if kind is None or gain is None:
        raise ValueError(f"a signal is given as {' '.join(fields)!r}")
    samples = int(kind["samples"] or 1)
    zero = fields[4] if len(fields) > 4 else 0
    return Signal(
        name=fields[8].strip() if len(fields) > 8 else "",
        file=fields[0],
        code=int(kind["code"]),
        samples=samples,
        offset=int(kind["offset"] or 0),
        gain=float(gain["gain"]) or 200.0,  # 0 stands for a gain that is not known
        baseline=float(gain["baseline"] or zero),
        rate=rate * samples,
        length=length,
    )


def _unpack(raw: np.ndarray) -> np.ndarray:
    """Unpack pairs of 12 bits from three bytes each."""
    low, mixed, high = raw[: raw.size // 3 * 3].reshape(-1, 3).T.astype(np.int16)
    pairs = np.stack([low | (mixed & 0x0F) << 8, high | (mixed & 0xF0) << 4], axis=1).ravel()
    if raw.size % 3 == 2:  # an odd number of samples
        pairs = np.append(pairs, np.int16(raw[-2]) | np.int16(raw[-1] & 0x0F) << 8)
    return np.where(pairs > 2047, pairs - 4096, pairs)
