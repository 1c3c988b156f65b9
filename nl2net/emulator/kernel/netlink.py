"""Route netlink: messages of exactly the kinds needed here, many in one send.

References
----------
rtnetlink(7), netlink(7). A general library spends about a millisecond of Python on each request; a network of 50
routers has 7,500 routes.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NEWLINK, GETLINK, SETLINK = 16, 18, 19
NEWADDR, DELADDR, GETADDR = 20, 21, 22
NEWROUTE, DELROUTE, GETROUTE = 24, 25, 26
DELNEIGH, GETNEIGH = 29, 30
NEWRULE, DELRULE, GETRULE = 32, 33, 34
ERROR, DONE = 2, 3
REQUEST, ACK, EXCL, CREATE, APPEND, DUMP = 0x001, 0x004, 0x200, 0x400, 0x800, 0x300
IFF_UP = 1
# Operational states (RFC 2863): up, and what an administrator set on purpose; no carrier on this or the other side.
CARRYING = frozenset({4, 5, 6})
WITHOUT_CARRIER = frozenset({1, 2, 3, 4, 5})
MAIN_TABLE = 254
PROTO_KERNEL, PROTO_STATIC = 2, 4
SCOPE_UNIVERSE, SCOPE_LINK, SCOPE_NOWHERE = 0, 253, 255
ROUTE_TYPES = {"unicast": 1, "blackhole": 6, "unreachable": 7, "prohibit": 8}
RULE_ACTIONS = {"blackhole": 6, "unreachable": 7, "prohibit": 8}
NETFILTER = 12
CONNTRACK_DELETE = (1 << 8) | 2
_CHUNK = 60


@dataclass(frozen=True, slots=True)
class Request:
    """One message without its header."""

    type: int
    flags: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """One message of a dump: the fixed part and the attributes."""

    fixed: bytes
    attributes: dict[int, bytes]


def attribute(kind: int, data: bytes) -> bytes:
    """Encode one attribute with its padding."""
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def number(kind: int, value: int) -> bytes:
    """Encode a 32-bit attribute."""
    return attribute(kind, struct.pack("=I", value))


def name(kind: int, value: str) -> bytes:
    """Encode a zero-terminated text attribute."""
    return attribute(kind, value.encode() + b"\0")


def _ifinfo(index: int, flags: int = 0, change: int = 0) -> bytes:
    return struct.pack("=BxHiII", 0, 0, index, flags, change)


@dataclass(frozen=True, slots=True)
class End:
    """One end of a veth pair: interface name and index, and its MTU."""

    name: str
    index: int
    mtu: int


def veth(near: End, far: End, *, far_network: int, bridge: int = 0) -> Request:
    """A veth pair: the near end, up, in the socket's namespace and the far one in another (by descriptor).

    The far end must be taken up by a request of its own: veth refuses while its peer is not registered yet.
    """
    peer = _ifinfo(far.index) + name(3, far.name) + number(4, far.mtu) + number(28, far_network)
    info = name(1, "veth") + attribute(2, attribute(1, peer))
    body = _ifinfo(near.index, IFF_UP, IFF_UP) + name(3, near.name) + number(4, near.mtu) + attribute(18, info)
    return Request(NEWLINK, CREATE | EXCL, body + (number(10, bridge) if bridge else b""))


def bridge(link_name: str, index: int) -> Request:
    """A bridge that is up; spanning tree is off by default."""
    body = _ifinfo(index, IFF_UP, IFF_UP) + name(3, link_name) + attribute(18, name(1, "bridge"))
    return Request(NEWLINK, CREATE | EXCL, body)


def join_bridge(index: int, bridge_index: int) -> Request:
    """Make an interface a port of a bridge."""
    return Request(SETLINK, 0, _ifinfo(index) + number(10, bridge_index))


def set_up(index: int, up: bool) -> Request:
    """Take an interface up or down."""
    return Request(SETLINK, 0, _ifinfo(index, IFF_UP if up else 0, IFF_UP))


def set_mtu(index: int, mtu: int) -> Request:
    """Set an MTU."""
    return Request(SETLINK, 0, _ifinfo(index) + number(4, mtu))


def address(kind: int, index: int, cidr: str) -> Request:
    """Add (`NEWADDR`) or delete (`DELADDR`) an address."""
    value, _, length = cidr.partition("/")
    packed = socket.inet_aton(value)
    body = struct.pack("=BBBBI", socket.AF_INET, int(length), 0, 0, index)
    flags = CREATE | EXCL if kind == NEWADDR else 0
    return Request(kind, flags, body + attribute(2, packed) + attribute(1, packed))


@dataclass(frozen=True, slots=True)
class RouteSpec:
    """A route of the main table, with the device as index (0: not given)."""

    prefix: str
    via: str = ""
    index: int = 0
    metric: int = 0
    type: str = "unicast"
    connected: bool = False
    source: str = ""


def route(kind: int, spec: RouteSpec) -> Request:
    """Add (`NEWROUTE`) or delete (`DELROUTE`) a route.

    Notes
    -----
    A deletion asks for any scope (255) and any protocol (0); without that a connected route is "not found".
    """
    network, _, length = spec.prefix.partition("/")
    if kind == DELROUTE:
        scope, protocol, flags = SCOPE_NOWHERE, 0, 0
    else:
        scope = SCOPE_LINK if spec.type == "unicast" and not spec.via else SCOPE_UNIVERSE
        protocol = PROTO_KERNEL if spec.connected else PROTO_STATIC
        flags = CREATE | EXCL
    fixed = (socket.AF_INET, int(length), 0, 0, MAIN_TABLE, protocol, scope, ROUTE_TYPES[spec.type], 0)
    body = struct.pack("=BBBBBBBBI", *fixed)
    if int(length):
        body += attribute(1, socket.inet_aton(network))
    if spec.index:
        body += number(4, spec.index)
    if spec.via:
        body += attribute(5, socket.inet_aton(spec.via))
    if spec.metric:
        body += number(6, spec.metric)
    if spec.source:
        body += attribute(7, socket.inet_aton(spec.source))
    return Request(kind, flags, body)


def rule(kind: int, action: str, preference: int) -> Request:
    """Add (`NEWRULE`) or delete (`DELRULE`) a rule for all packets."""
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 0, 0, 0, RULE_ACTIONS[action], 0)
    return Request(kind, CREATE | EXCL if kind == NEWRULE else 0, body + number(6, preference))


class Netlink:
    """A netlink socket of the namespace in which it was made."""

    def __init__(self, protocol: int = 0) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        """Release the socket."""
        self._socket.close()

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, requests: Sequence[Request]) -> list[int]:
        """Send requests and return the error number of each, 0 for accepted."""
        results: list[int] = []
        for start in range(0, len(requests), _CHUNK):
            part = requests[start : start + _CHUNK]
            first = self._sequence + 1
            self._socket.send(b"".join(self._encode(request, REQUEST | ACK) for request in part))
            codes = dict(self._acknowledgements(len(part)))
            results += [codes[first + offset] for offset in range(len(part))]
        return results

    def require(self, requests: Sequence[Request], what: str) -> None:
        """Send requests and raise for the first that is refused."""
        for position, code in enumerate(self.send(requests)):
            if code:
                raise OSError(code, f"{what} (request {position}): {errno.errorcode.get(code, str(code))}")

    def _encode(self, request: Request, flags: int) -> bytes:
        self._sequence += 1
        length = 16 + len(request.body)
        header = struct.pack("=IHHII", length, request.type, flags | request.flags, self._sequence, 0)
        return header + request.body + b"\0" * (-length % 4)

    def _acknowledgements(self, count: int) -> Iterator[tuple[int, int]]:
        while count:
            for kind, sequence, body in _messages(self._socket.recv(1 << 18)):
                if kind == ERROR:
                    count -= 1
                    yield sequence, -struct.unpack_from("=i", body)[0]

    def dump(self, kind: int, fixed: bytes, size: int) -> list[Record]:
        """All objects of a kind; ``size`` is the length of the fixed part of each answer."""
        self._socket.send(self._encode(Request(kind, DUMP, fixed), REQUEST))
        found: list[Record] = []
        while True:
            for answer, _, body in _messages(self._socket.recv(1 << 18)):
                if answer == DONE:
                    return found
                if answer == ERROR:
                    code = -struct.unpack_from("=i", body)[0]
                    raise OSError(code, f"netlink dump {kind}: {errno.errorcode.get(code, str(code))}")
                found.append(Record(body[:size], dict(_attributes(body[size:]))))


def _messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    while offset + 16 <= len(data):
        length, kind, _, sequence, _ = struct.unpack_from("=IHHII", data, offset)
        yield kind, sequence, data[offset + 16 : offset + length]
        offset += (length + 3) & ~3


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        if length < 4:
            return
        yield kind & 0x3FFF, data[offset + 4 : offset + length]
        offset += (length + 3) & ~3


@dataclass(frozen=True, slots=True)
class LinkState:
    """Whether an interface is meant to be up, and its operational state."""

    index: int
    up: bool
    operational: int


def link_states(link: Netlink) -> Iterator[LinkState]:
    """State of every interface."""
    for record in link.dump(GETLINK, _ifinfo(0), 16):
        index, flags = struct.unpack_from("=iI", record.fixed, 4)
        yield LinkState(index, bool(flags & IFF_UP), record.attributes[16][0])


def forget_neighbours(link: Netlink) -> None:
    """Delete every ARP entry of the namespace, so that the next packet asks again."""
    requests = []
    for record in link.dump(GETNEIGH, struct.pack("=BxxxiHBB", socket.AF_INET, 0, 0, 0, 0), 12):
        index = struct.unpack_from("=i", record.fixed, 4)[0]
        if 1 in record.attributes:
            body = struct.pack("=BxxxiHBB", socket.AF_INET, index, 0, 0, 0)
            requests.append(Request(DELNEIGH, 0, body + attribute(1, record.attributes[1])))
    link.send(requests)


def forget_connections() -> None:
    """Delete every connection-tracking entry of the current namespace; nothing to do where tracking is not in use."""
    with Netlink(NETFILTER) as link:
        link.send([Request(CONNTRACK_DELETE, 0, struct.pack("=BBH", socket.AF_INET, 0, 0))])
