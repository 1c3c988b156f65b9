"""Readers of traces that are rows of numbers: two columns, Mahimahi, HSDPA logs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nl2net.curriculum.traces.normal import Trace, build_trace
from nl2net.errors import DataError

_PACKET_BITS = 1500 * 8


def numbered(text: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, with their line numbers; ``#`` starts a comment line."""
    for line, row in enumerate(text.splitlines(), start=1):
        if row.strip() and not row.lstrip().startswith("#"):
            yield line, row.replace(",", " ").split()


def number(text: str, *, path: Path, line: int, field: str) -> float:
    """A finite number, or an error that names the place."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        hint = "Write a plain decimal number, or remove the row."
        raise DataError(f"expected a number, found {text[:40]!r}", path=path, line=line, field=field, hint=hint)
    return value


def rate(text: str, *, path: Path, line: int, field: str = "rate") -> float:
    """A number that is not negative."""
    value = number(text, path=path, line=line, field=field)
    if value < 0:
        hint = "A rate is zero or more; a missing value is best removed."
        raise DataError(f"negative rate {text}", path=path, line=line, field=field, hint=hint)
    return value


def check_increasing(times: Sequence[float], lines: Sequence[int], *, path: Path) -> None:
    """Refuse times that repeat or fall, naming every such line up to five."""
    bad = [k for k in range(1, len(times)) if times[k] <= max(times[:k])]
    if not bad:
        return
    first = bad[0]
    others = ", ".join(str(lines[k]) for k in bad[1:5])
    more = f"; also line {others}" if others else ""
    verb = "repeats" if times[first] == times[first - 1] else "falls"
    message = f"time {verb}: {times[first]:g} after {times[first - 1]:g}{more}"
    hint = "Times must increase; sort the rows and keep one per time."
    raise DataError(message, path=path, line=lines[first], field="time", hint=hint)


def read_two_column(path: Path, text: str) -> list[Trace]:
    """Time in s and rate in Mbit/s; a rate holds *until* its stamp, so the first row's rate is never played."""
    times, rates, lines = [], [], []
    for line, cells in numbered(text):
        if len(cells) != 2:
            hint = "Two columns (s, Mbit/s) are read as they are; name more columns in a header, as in header.csv."
            raise DataError(f"{len(cells)} columns, the format is ambiguous", path=path, line=line, hint=hint)
        times.append(number(cells[0], path=path, line=line, field="time"))
        rates.append(rate(cells[1], path=path, line=line))
        lines.append(line)
    check_increasing(times, lines, path=path)
    return [build_trace(path.stem, times, rates[1:], path=str(path))]


def read_mahimahi(path: Path, text: str, *, bin_s: float = 1.0) -> list[Trace]:
    """One line per 1500-byte packet in ms; the last stamp is the period, and a gap is a rate of zero."""
    stamps, previous = [], 0.0
    for line, cells in numbered(text):
        stamp = number(cells[0], path=path, line=line, field="stamp")
        if len(cells) != 1 or stamp < 0:
            hint = "One stamp in ms per line."
            raise DataError("expected one stamp of zero or more", path=path, line=line, hint=hint)
        if stamp < previous:
            hint = "Stamps are delivery times in order; sort them."
            raise DataError(f"stamps fall: {stamp:g} after {previous:g}", path=path, line=line, hint=hint)
        stamps.append(stamp)
        previous = stamp
    if not stamps:
        raise DataError("no interval", path=path, hint="The file holds no packet.")
    if stamps[-1] == 0:
        hint = "The last stamp is the period after which the trace repeats; it must be above zero."
        raise DataError("the period is zero", path=path, line=len(stamps), hint=hint)
    period = stamps[-1] / 1000
    count = math.ceil(period / bin_s - 1e-9)
    edges = np.minimum(np.arange(count + 1) * bin_s, period)
    # A packet stamped 1000 was delivered at the end of the first second, not at the start of the second one.
    bins = np.clip(np.ceil(np.array(stamps) / 1000 / bin_s - 1e-9).astype(int) - 1, 0, count - 1)
    packets = np.bincount(bins, minlength=count)
    note = f"packets counted in bins of {bin_s:g} s"
    return [build_trace(path.stem, edges, packets * _PACKET_BITS / 1e6 / np.diff(edges), path=str(path), notes=[note])]


def read_hsdpa(path: Path, text: str) -> list[Trace]:
    """Logs of mobile downloads: unix s, ms, latitude, longitude, bytes, ms since the last row; places are dropped."""
    stamps, rates, spans, lines = [], [], [], []
    for line, cells in numbered(text):
        if len(cells) != 6:
            hint = "Six columns: unix s, ms since start, latitude, longitude, bytes, ms since the last row."
            raise DataError(f"{len(cells)} columns instead of 6", path=path, line=line, hint=hint)
        span = number(cells[5], path=path, line=line, field="ms since the last row")
        if span <= 0:
            hint = "Remove the row: no time passed in it."
            raise DataError(f"interval of {span:g} ms", path=path, line=line, field="ms since the last row", hint=hint)
        stamps.append(number(cells[1], path=path, line=line, field="ms since start"))
        rates.append(rate(cells[4], path=path, line=line, field="bytes") * 8 / span / 1000)
        spans.append(span / 1000)
        lines.append(line)
    check_increasing(stamps, lines, path=path)
    return [build_trace(path.stem, np.concatenate([[0.0], np.cumsum(spans)]), rates, path=str(path))]
