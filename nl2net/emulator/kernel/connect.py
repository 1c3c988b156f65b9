"""All TCP connections at once: name lookup, connection and banner, served and asked in one loop."""

from __future__ import annotations

import errno
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nl2net.emulator.kernel import names
from nl2net.emulator.kernel.icmp import IdleClock
from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.results import Reason

WINDOW = 2000  # connections in flight; each takes two descriptors
_RESET = struct.pack("ii", 1, 0)
_ERRORS = {
    errno.ECONNREFUSED: Reason.REFUSED,
    errno.ECONNRESET: Reason.REFUSED,
    errno.EHOSTUNREACH: Reason.HOST_UNREACHABLE,
    errno.EACCES: Reason.HOST_UNREACHABLE,
    errno.ENETUNREACH: Reason.NET_UNREACHABLE,
    errno.EINVAL: Reason.BLACKHOLE,
}


@dataclass(slots=True)
class Attempt:
    """One connection: where from and to, and how far it came.

    ``name`` is the full service name to look up first, or empty; ``banners`` are the answers that count as right.
    """

    source: str
    address: str
    port: int
    banners: frozenset[str]
    name: str = ""
    reason: Reason = Reason.TIMEOUT
    stage: str = ""
    rtt_ms: float | None = None
    started: float = 0.0
    done: bool = False


@dataclass(slots=True)
class Client:
    """One socket of an attempt; a second question gives it another."""

    socket: socket.socket
    attempt: Attempt
    received: bytes = b""


class Servers:
    """Listeners of all nodes; TCP answers the node's name, UDP 53 of the name server answers addresses."""

    def __init__(self, spaces: Spaces, resolve: Callable[[str], str]) -> None:
        self._resolve = resolve
        self.listeners: dict[int, tuple[socket.socket, bytes]] = {}
        self.resolvers: dict[int, socket.socket] = {}
        for space in spaces:
            for port in space.node.listens:
                with spaces.inside(space.name):
                    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.bind(("", port.number))
                made.listen(4096)
                self.listeners[made.fileno()] = (made, space.name.encode() + b"\n")

    def add_resolver(self, spaces: Spaces, node: str) -> None:
        """Answer names from this node."""
        with spaces.inside(node):
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        made.bind(("", 53))
        self.resolvers[made.fileno()] = made

    def descriptors(self) -> list[int]:
        """Descriptors to wait for."""
        return [*self.listeners, *self.resolvers]

    def serve(self, descriptor: int) -> bool:
        """Serve what waits on a descriptor; ``False`` when it is none of ours."""
        if descriptor in self.listeners:
            self._accept(*self.listeners[descriptor])
            return True
        if descriptor in self.resolvers:
            self._answer(self.resolvers[descriptor])
            return True
        return False

    @staticmethod
    def _accept(listener: socket.socket, banner: bytes) -> None:
        while True:
            try:
                made, _ = listener.accept()
            except OSError:
                return
            with made:
                try:
                    made.send(banner)
                except OSError:
                    continue

    def _answer(self, server: socket.socket) -> None:
        while True:
            try:
                data, sender = server.recvfrom(512)
            except OSError:
                return
            try:
                identity, name, question = names.decode_query(data)
                server.sendto(names.encode_answer(identity, question, self._resolve(name)), sender)
            except (ValueError, IndexError, OSError):
                continue

    def drain(self) -> None:
        """Throw away what came while nobody was looking."""
        for descriptor in self.descriptors():
            self.serve(descriptor)

    def close(self) -> None:
        """Stop listening."""
        for made, _ in self.listeners.values():
            made.close()
        for server in self.resolvers.values():
            server.close()


class ConnectRound:
    """Up to `WINDOW` attempts in flight.

    With ``again``, what is silent after a first wait is looked up and connected a second time: the kernel repeats a
    lost SYN only after a second, and one lost packet is no closed port.
    """

    def __init__(
        self, spaces: Spaces, servers: Servers, attempts: Sequence[Attempt], resolver: str, *, again: bool = True
    ) -> None:
        self._spaces, self._servers, self._attempts, self._resolver = spaces, servers, attempts, resolver
        self._again = again
        self._left = len(attempts)
        self._slowest = 0.0
        self._poll = select.epoll()
        for descriptor in servers.descriptors():
            self._poll.register(descriptor, select.EPOLLIN)
        self._clients: dict[int, Client] = {}
        self._lookups: dict[int, socket.socket] = {}
        self._waiting: dict[tuple[int, int], Attempt] = {}
        self._by_source: dict[str, socket.socket] = {}

    def run(self, idle_s: float) -> None:
        """Start all attempts and serve until none is open or nothing happens any more."""
        try:
            self._start_all()
            clock = IdleClock(idle_s)
            while self._left and not clock.over:
                clock.note(self._step(clock.slice_s))
                clock.saw(self._slowest)
                if self._again and clock.again:
                    self._again = False
                    self._start_all()
        finally:
            self._poll.close()
            for client in self._clients.values():
                client.socket.close()
            for lookup in self._lookups.values():
                lookup.close()

    def _start_all(self) -> None:
        for position, attempt in enumerate(self._attempts):
            if attempt.done:
                continue
            attempt.started = time.perf_counter()
            if attempt.name and not attempt.stage:
                self._look_up(position, attempt)
            else:
                self._connect(attempt)
            if position % 32 == 31:
                self._step(0)

    def _look_up(self, position: int, attempt: Attempt) -> None:
        made = self._by_source.get(attempt.source)
        if made is None:
            with self._spaces.inside(attempt.source):
                made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            self._by_source[attempt.source] = self._lookups[made.fileno()] = made
            self._poll.register(made.fileno(), select.EPOLLIN)
        try:
            made.sendto(names.encode_query(position & 0xFFFF, attempt.name), (self._resolver, 53))
        except OSError:
            return  # a resolver reports no reason, only silence
        self._waiting[made.fileno(), position & 0xFFFF] = attempt

    def _connect(self, attempt: Attempt) -> None:
        with self._spaces.inside(attempt.source):
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        code = made.connect_ex((attempt.address, attempt.port))
        if code not in {0, errno.EINPROGRESS}:
            made.close()
            self._fail(attempt, _ERRORS.get(code, Reason.TIMEOUT))
            return
        self._clients[made.fileno()] = Client(made, attempt)
        self._poll.register(made.fileno(), select.EPOLLIN)

    def _step(self, wait_s: float) -> bool:
        events = self._poll.poll(wait_s)
        for descriptor, _ in events:
            if self._servers.serve(descriptor):
                continue
            if descriptor in self._lookups:
                self._resolved(descriptor)
            elif descriptor in self._clients:
                self._read(descriptor)
        return bool(events)

    def _resolved(self, descriptor: int) -> None:
        while True:
            try:
                data = self._lookups[descriptor].recv(512)
            except OSError:
                return
            identity, address = names.decode_answer(data)
            attempt = self._waiting.pop((descriptor, identity), None)
            if attempt is None:
                continue
            if not address:
                self._finish(attempt, Reason.NAME)
                continue
            attempt.stage, attempt.address = "dns", address
            self._connect(attempt)

    def _read(self, descriptor: int) -> None:
        client = self._clients[descriptor]
        attempt = client.attempt
        try:
            data = client.socket.recv(256)
        except BlockingIOError:
            return
        except OSError as error:
            self._drop(descriptor)
            self._fail(attempt, _ERRORS.get(error.errno or 0, Reason.TIMEOUT))
            return
        client.received += data
        if not attempt.done:
            attempt.stage = "connect"
        if data and not client.received.endswith(b"\n"):
            return
        self._drop(descriptor)
        if not attempt.done:  # else its other socket was faster
            self._judge(attempt, client.received)

    def _judge(self, attempt: Attempt, received: bytes) -> None:
        taken = time.perf_counter() - attempt.started
        attempt.rtt_ms = taken * 1000
        self._slowest = max(self._slowest, taken)
        right = received.decode(errors="replace").strip() in attempt.banners
        attempt.stage = "banner" if right else "connect"
        self._finish(attempt, Reason.OK if right else Reason.WRONG)

    def _fail(self, attempt: Attempt, reason: Reason) -> None:
        """Note a failure; one that only ARP or silence stands behind waits for the second question."""
        if attempt.done:
            return
        attempt.reason = reason
        if reason not in {Reason.HOST_UNREACHABLE, Reason.TIMEOUT} or not self._again:
            self._finish(attempt, reason)

    def _finish(self, attempt: Attempt, reason: Reason) -> None:
        if not attempt.done:
            attempt.reason, attempt.done = reason, True
            self._left -= 1

    def _drop(self, descriptor: int) -> None:
        client = self._clients.pop(descriptor)
        self._poll.unregister(descriptor)
        client.socket.close()


def connect(
    spaces: Spaces,
    servers: Servers,
    attempts: Sequence[Attempt],
    *,
    resolver: str,
    idle_s: float,
    again: bool = True,
) -> None:
    """Carry out all attempts; each holds its own outcome afterwards."""
    servers.drain()
    for start in range(0, len(attempts), WINDOW):
        ConnectRound(spaces, servers, attempts[start : start + WINDOW], resolver, again=again).run(idle_s)
