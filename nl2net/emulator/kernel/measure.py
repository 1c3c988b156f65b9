"""What an impairment does to test frames, measured between the two ends of its link."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from nl2net.emulator.kernel import relay

_TEST_TYPE = bytes.fromhex("88b5")
_DELAY_FRAMES = 5
_MORE_FRAMES = 25  # where some are lost on purpose
Judgement = tuple[str, str]  # class of the refusal or empty, and what was measured


@dataclass(frozen=True, slots=True)
class Line:
    """Packet sockets at the far and at the near end of a link."""

    arrivals: socket.socket
    departures: socket.socket


def send_frames(line: Line, count: int, *, size: int = 60, first: int = 0) -> None:
    """Send numbered frames; a full queue loses some."""
    for number in range(first, first + count):
        with suppress(OSError):
            line.departures.send(relay.test_frame(number, size))


def _arrive(line: Line, wait_s: float, *, relayed: bool = False) -> list[tuple[float, int]]:
    """Time and number of the test frames that are there after at most `wait_s`; of a relay's only what it sent on."""
    found: list[tuple[float, int]] = []
    with select.epoll() as poll:
        poll.register(line.arrivals.fileno(), select.EPOLLIN)
        if not poll.poll(wait_s):
            return found
    while True:
        try:
            data, sender = line.arrivals.recvfrom(2048)
        except BlockingIOError:
            return found
        if sender[2] == relay.OUTGOING or data[12:14] != _TEST_TYPE:
            continue
        if not relayed or data[6:12] == relay.MARK:
            found.append((time.monotonic(), int.from_bytes(data[14:18], "big")))


def delays(line: Line, values: Mapping[str, float], *, relayed: bool) -> list[float]:
    """One-way times in milliseconds of some frames that arrive."""
    found: list[float] = []
    limit = (values["delay_ms"] + values["jitter_ms"]) / 1000 + 0.5
    for number in range(_MORE_FRAMES if values["loss"] else _DELAY_FRAMES):
        started = time.monotonic()
        send_frames(line, 1, first=number)
        while time.monotonic() - started < limit:
            late = [moment - started for moment, seen in _arrive(line, limit, relayed=relayed) if seen == number]
            if late:
                found.append(late[0] * 1000)
                break
        if len(found) == _DELAY_FRAMES:
            break
    return found


def judge_delay(found: list[float], values: Mapping[str, float]) -> Judgement:
    """Whether frames are as late as was asked."""
    if not found:
        return "no-effect", "no delayed frame arrived"
    middle = sorted(found)[len(found) // 2]
    low = values["delay_ms"] - values["jitter_ms"]
    # A relay without delay would pass for a small jitter: something beyond the plain link must be seen.
    enough = middle >= low * 0.9 if low > 0 else max(found) > 0
    return ("" if enough else "no-effect"), f"{middle:.1f} ms one way (median of {len(found)})"


def lost_share(line: Line, count: int, *, wait_s: float) -> float:
    """Share of frames that do not arrive within `wait_s` after the last one that did."""
    seen: set[int] = set()
    for first in range(0, count, 20):
        send_frames(line, min(20, count - first), first=first)
        seen.update(number for _, number in _arrive(line, 0))
    while len(seen) < count:
        more = _arrive(line, wait_s)
        if not more:
            break
        seen.update(number for _, number in more)
    return 1 - len(seen) / count


def judge_loss(share: float, wanted: float, count: int = 400) -> Judgement:
    """Whether as many frames are lost as was asked, within five standard deviations."""
    margin = 5 * (max(wanted * (1 - wanted), 0.0001) / count) ** 0.5
    right = wanted - margin <= share <= wanted + margin + 1e-9
    return ("" if right else "no-effect"), f"{share:.1%} of {count} test frames dropped"


def judge_limit(share: float) -> Judgement:
    """Whether a packet rate drops anything of twice as much."""
    return ("" if share >= 0.05 else "no-effect"), f"{share:.1%} of a burst dropped"


def throughput(line: Line, rate_kbit: float) -> float:
    """Kilobits a second that arrive of twice the rate."""
    size, span, pause = 1000, 0.3, 0.005
    per_pause = min(int(rate_kbit * 1000 / 8 * pause * 2 / size) + 1, 200)
    count, number = 0, 0
    started = time.monotonic()
    while time.monotonic() - started < span:
        # In small portions: a queue would drop one large burst.
        send_frames(line, per_pause, size=size, first=number)
        number += per_pause
        count += len(_arrive(line, pause))
    return count * size * 8 / span / 1000


def judge_rate(found: float, rate_kbit: float) -> Judgement:
    """Whether no more passes than was asked."""
    right = 0 < found <= rate_kbit * 1.5 + 150
    return ("" if right else "no-effect"), f"{found:.0f} kbit/s"
