"""All pings at once: one raw ICMP socket per source, one loop, one idle deadline."""

from __future__ import annotations

import errno
import math
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.results import Reason

ECHO_REPLY, UNREACHABLE, ECHO_REQUEST, EXCEEDED = 0, 3, 8, 11
ICMP_FILTER, IP_MTU_DISCOVER, PMTUDISC_PROBE = 1, 10, 3
PAYLOAD_BYTES = 56
ROUND = 60_000  # echo sequence numbers have 16 bits
HARD_CAP = 20  # times the idle deadline
MANY, MAX_THREADS = 4000, 4
_SLICES = 4
_HEAD = struct.Struct("!BBHHH")

_CODES = {
    0: Reason.NET_UNREACHABLE,
    1: Reason.HOST_UNREACHABLE,
    3: Reason.PORT_UNREACHABLE,
    4: Reason.FRAG_NEEDED,
    9: Reason.ADMIN_PROHIBITED,
    10: Reason.ADMIN_PROHIBITED,
    13: Reason.ADMIN_PROHIBITED,
}
SEND_ERRORS = {
    errno.ENETUNREACH: Reason.NET_UNREACHABLE,
    errno.EHOSTUNREACH: Reason.HOST_UNREACHABLE,
    errno.EACCES: Reason.ADMIN_PROHIBITED,
    errno.EINVAL: Reason.BLACKHOLE,
    errno.EPERM: Reason.FILTERED,
    errno.EMSGSIZE: Reason.FRAG_NEEDED,
    errno.ENETDOWN: Reason.NET_UNREACHABLE,
}


@dataclass(frozen=True, slots=True)
class Echo:
    """One request: from a node to an address, with a TTL."""

    source: str
    target: str
    ttl: int = 64


@dataclass(slots=True)
class Answer:
    """What came back: the reason, who said so, and the time; an own error has the node's name as place."""

    reason: Reason = Reason.TIMEOUT
    place: str = ""
    rtt_ms: float | None = None


class IdleClock:
    """Counts empty waits instead of wall time, so that a starved process does not lose answers.

    The patience grows with the slowest answer seen: where answers take long, silence says less.
    """

    def __init__(self, idle_s: float) -> None:
        self.slice_s = idle_s / _SLICES
        self._limit = time.monotonic() + HARD_CAP * max(idle_s, 0.05)
        self._empty = 0
        self._needed = _SLICES
        self._repeated = False

    def note(self, something: bool) -> None:
        """Record the outcome of one wait of `slice_s`."""
        self._empty = 0 if something else self._empty + 1

    def saw(self, round_trip_s: float) -> None:
        """Record the time of one answer: wait four times as long for the next."""
        self._needed = max(self._needed, math.ceil(4 * round_trip_s / self.slice_s))

    @property
    def again(self) -> bool:
        """Whether to ask once more what is still silent: true once, after the first empty wait.

        One lost packet proves nothing; the wait itself gets no longer by the second question.
        """
        due = self._empty > 0 and not self._repeated
        self._repeated = self._repeated or due
        return due

    @property
    def over(self) -> bool:
        """Whether nothing has arrived for the idle time, or the hard cap has passed."""
        return self._empty >= self._needed or time.monotonic() > self._limit


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


class PingRound:
    """Up to 60,000 echo requests in flight.

    With ``again``, silent pairs and those that only ARP failed are asked a second time before they count as lost.
    """

    def __init__(self, spaces: Spaces, echoes: Sequence[Echo], *, again: bool = True) -> None:
        self._echoes, self._again = echoes, again
        self._answers = [Answer() for _ in echoes]
        self._sent = [[0.0] * len(echoes), [0.0] * len(echoes)]
        self._open: set[int] = set()
        self._slowest = 0.0
        self._identity = struct.unpack("!H", os.urandom(2))[0]
        # The payload tells the first request from the second, so that a late answer gets its own time.
        self._nonces = [os.urandom(7) + bytes([number]) for number in range(2)]
        self._bodies = [nonce + bytes(PAYLOAD_BYTES - len(nonce)) for nonce in self._nonces]
        heads = [_HEAD.pack(ECHO_REQUEST, 0, 0, self._identity, 0) + body for body in self._bodies]
        self._sums = [~checksum(head) & 0xFFFF for head in heads]
        self._poll = select.epoll()
        self._sockets: dict[str, socket.socket] = {}
        self._by_descriptor: dict[int, tuple[str, socket.socket]] = {}
        for name in dict.fromkeys(echo.source for echo in echoes):
            with spaces.inside(name):
                self._add(name)

    def _add(self, name: str) -> None:
        made = socket.socket(socket.AF_INET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMP)
        wanted = ~(1 << ECHO_REPLY | 1 << UNREACHABLE | 1 << EXCEEDED) & 0xFFFFFFFF
        made.setsockopt(socket.SOL_RAW if hasattr(socket, "SOL_RAW") else 255, ICMP_FILTER, struct.pack("=I", wanted))
        made.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._sockets[name] = made
        self._by_descriptor[made.fileno()] = (name, made)
        self._poll.register(made.fileno(), select.EPOLLIN)

    def run(self, idle_s: float) -> list[Answer]:
        """Send everything, receiving in between, then wait until all answered or nothing comes any more."""
        try:
            self._send_all(range(len(self._echoes)), 0)
            clock = IdleClock(idle_s)
            while self._open and not clock.over:
                clock.note(self._receive(clock.slice_s))
                clock.saw(self._slowest)
                if self._again and clock.again:
                    self._send_all(self._doubtful(), 1)
        finally:
            self._poll.close()
            for made in self._sockets.values():
                made.close()
        return self._answers

    def _doubtful(self) -> list[int]:
        """Requests without an answer, and those whose next hop did not answer ARP in time."""
        unheard = [i for i, answer in enumerate(self._answers) if answer.reason is Reason.HOST_UNREACHABLE]
        return sorted({*self._open, *unheard})

    def _send_all(self, positions: Sequence[int], attempt: int) -> None:
        for count, position in enumerate(positions):
            self._send(position, attempt)
            if count % 32 == 31:
                self._receive(0)

    def _request(self, position: int, attempt: int) -> bytes:
        """One echo request; of the checksum, only the sequence number differs from the first."""
        total = self._sums[attempt] + position
        total = ~((total >> 16) + (total & 0xFFFF)) & 0xFFFF
        return _HEAD.pack(ECHO_REQUEST, 0, total, self._identity, position) + self._bodies[attempt]

    def _send(self, position: int, attempt: int) -> None:
        echo = self._echoes[position]
        data = self._request(position, attempt)
        made = self._sockets[echo.source]
        if echo.ttl != 64:
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, echo.ttl)
        self._sent[attempt][position] = time.perf_counter()
        self._open.add(position)
        for _ in range(100):
            try:
                made.sendto(data, (echo.target, 0))
            except BlockingIOError:
                self._receive(0.001)
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    self._receive(0.001)
                    continue
                reason = SEND_ERRORS.get(error.errno or 0, Reason.TIMEOUT)
                self._answers[position] = Answer(reason, echo.source)
                self._open.discard(position)
                return
            else:
                return

    def _receive(self, wait_s: float) -> bool:
        found = False
        for descriptor, _ in self._poll.poll(wait_s):
            name, made = self._by_descriptor[descriptor]
            while True:
                try:
                    data, (sender, _port) = made.recvfrom(2048)
                except OSError:  # empty, or an error that the kernel kept for this socket
                    break
                found = self._take(name, data, sender) or found
        return found

    def _take(self, name: str, data: bytes, sender: str) -> bool:
        message = data[(data[0] & 15) * 4 :]
        kind, code = message[0], message[1]
        if kind == ECHO_REPLY:
            return self._finish(name, message, Answer(Reason.OK, sender))
        inner = message[8:]
        echo = inner[(inner[0] & 15) * 4 :]
        if echo[0] != ECHO_REQUEST:  # about an answer of ours, which is another probe's loss
            return False
        reason = Reason.TTL_EXCEEDED if kind == EXCEEDED else _CODES.get(code, Reason.ADMIN_PROHIBITED)
        return self._finish(name, echo, Answer(reason, sender))

    def _finish(self, name: str, message: bytes, answer: Answer) -> bool:
        identity, position = struct.unpack_from("!HH", message, 4)
        if identity != self._identity or position not in self._open or self._echoes[position].source != name:
            return False
        mark = message[8:16]
        attempt = next((i for i, nonce in enumerate(self._nonces) if nonce.startswith(mark)), -1)
        if attempt < 0:
            return False
        self._open.discard(position)
        if answer.reason is Reason.OK:
            taken = time.perf_counter() - self._sent[attempt][position]
            answer.rtt_ms = taken * 1000
            self._slowest = max(self._slowest, taken)
        self._answers[position] = answer
        return True


def ping(spaces: Spaces, echoes: Sequence[Echo], idle_s: float, *, again: bool = True) -> list[Answer]:
    """Answers in the order of the requests.

    Large matrices are divided among threads by source: nearly all of the time is spent in the kernel, which forwards
    a packet over all its hops within the call that sends it.
    """
    if len(echoes) < MANY:
        return _in_rounds(spaces, echoes, idle_s, again)
    parts = _divide(echoes, min(os.cpu_count() or 1, MAX_THREADS))
    found = [Answer()] * len(echoes)
    with ThreadPoolExecutor(len(parts)) as pool:
        waiting = [pool.submit(_in_rounds, spaces, [echoes[i] for i in part], idle_s, again) for part in parts]
        for part, answers in zip(parts, waiting, strict=True):
            for position, answer in zip(part, answers.result(), strict=True):
                found[position] = answer
    return found


def _in_rounds(spaces: Spaces, echoes: Sequence[Echo], idle_s: float, again: bool) -> list[Answer]:
    found: list[Answer] = []
    for start in range(0, len(echoes), ROUND):
        found += PingRound(spaces, echoes[start : start + ROUND], again=again).run(idle_s)
    return found


def _divide(echoes: Sequence[Echo], count: int) -> list[list[int]]:
    """Positions in parts of about one size, each source in one part only."""
    by_source: dict[str, list[int]] = {}
    for position, echo in enumerate(echoes):
        by_source.setdefault(echo.source, []).append(position)
    parts: list[list[int]] = [[] for _ in range(min(count, len(by_source)))]
    for positions in by_source.values():
        min(parts, key=len).extend(positions)
    return parts
