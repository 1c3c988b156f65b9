"""All pings at once: one raw ICMP socket per source, one loop, one idle deadline."""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.results import Reason

ECHO_REPLY, UNREACHABLE, ECHO_REQUEST, EXCEEDED = 0, 3, 8, 11
ICMP_FILTER, IP_MTU_DISCOVER, PMTUDISC_PROBE = 1, 10, 3
PAYLOAD_BYTES = 56
ROUND = 60_000  # echo sequence numbers have 16 bits
HARD_CAP = 20  # times the idle deadline
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
    """Counts empty waits instead of wall time, so that a starved process does not lose answers."""

    def __init__(self, idle_s: float) -> None:
        self.slice_s = idle_s / _SLICES
        self._limit = time.monotonic() + HARD_CAP * max(idle_s, 0.05)
        self._empty = 0

    def note(self, something: bool) -> None:
        """Record the outcome of one wait of `slice_s`."""
        self._empty = 0 if something else self._empty + 1

    @property
    def over(self) -> bool:
        """Whether nothing has arrived for the idle time, or the hard cap has passed."""
        return self._empty >= _SLICES or time.monotonic() > self._limit


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


class PingRound:
    """Up to 60,000 echo requests in flight."""

    def __init__(self, spaces: Spaces, echoes: Sequence[Echo]) -> None:
        self._echoes = echoes
        self._answers = [Answer() for _ in echoes]
        self._sent = [0.0] * len(echoes)
        self._open: set[int] = set()
        self._nonce = os.urandom(8)
        self._identity = struct.unpack("!H", os.urandom(2))[0]
        self._body = self._nonce + bytes(PAYLOAD_BYTES - len(self._nonce))
        self._sum = ~checksum(_HEAD.pack(ECHO_REQUEST, 0, 0, self._identity, 0) + self._body) & 0xFFFF
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
            for position in range(len(self._echoes)):
                self._send(position)
                if position % 32 == 31:
                    self._receive(0)
            clock = IdleClock(idle_s)
            while self._open and not clock.over:
                clock.note(self._receive(clock.slice_s))
        finally:
            self._poll.close()
            for made in self._sockets.values():
                made.close()
        return self._answers

    def _checksum(self, position: int) -> int:
        """Checksum of a request: only the sequence number differs from the first."""
        total = self._sum + position
        return ~((total >> 16) + (total & 0xFFFF)) & 0xFFFF

    def _send(self, position: int) -> None:
        echo = self._echoes[position]
        data = _HEAD.pack(ECHO_REQUEST, 0, self._checksum(position), self._identity, position) + self._body
        made = self._sockets[echo.source]
        if echo.ttl != 64:
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, echo.ttl)
        self._sent[position] = time.perf_counter()
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
                return
            else:
                self._open.add(position)
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
        known = identity == self._identity and position in self._open
        if not known or not self._nonce.startswith(message[8:16]):
            return False
        if self._echoes[position].source != name:
            return False
        self._open.discard(position)
        answer.rtt_ms = (time.perf_counter() - self._sent[position]) * 1000 if answer.reason is Reason.OK else None
        self._answers[position] = answer
        return True


def ping(spaces: Spaces, echoes: Sequence[Echo], idle_s: float) -> list[Answer]:
    """Answers in the order of the requests."""
    found: list[Answer] = []
    for start in range(0, len(echoes), ROUND):
        found += PingRound(spaces, echoes[start : start + ROUND]).run(idle_s)
    return found
