"""Typed changes of a running network. One frozen value per kind, JSON in and out; never shell text."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from nl2net.errors import UserError

T = TypeVar("T")

CHAINS = ("input", "forward", "output")
VERDICTS = ("accept", "drop", "reject")
ROUTE_TYPES = ("unicast", "blackhole", "prohibit", "unreachable")
RULE_ACTIONS = ("prohibit", "blackhole", "unreachable")
FILTER_PROTOCOLS = ("", "icmp", "tcp", "udp")


@dataclass(frozen=True, slots=True)
class SetForwarding:
    """Switch forwarding of other nodes' packets on or off."""

    op: ClassVar[str] = "set_forwarding"
    node: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class SetLink:
    """Take an interface up or down. Down removes every route through it; up restores only the connected ones."""

    op: ClassVar[str] = "set_link"
    node: str
    interface: str
    up: bool


@dataclass(frozen=True, slots=True)
class SetMtu:
    """Set the MTU of an interface, 68 to 65535 bytes."""

    op: ClassVar[str] = "set_mtu"
    node: str
    interface: str
    mtu: int


@dataclass(frozen=True, slots=True)
class AddAddress:
    """Add an address with its prefix length, such as ``10.0.0.1/24``."""

    op: ClassVar[str] = "add_address"
    node: str
    interface: str
    address: str


@dataclass(frozen=True, slots=True)
class RemoveAddress:
    """Remove one address; secondaries of the same subnet go with their primary."""

    op: ClassVar[str] = "remove_address"
    node: str
    interface: str
    address: str


@dataclass(frozen=True, slots=True)
class FlushAddresses:
    """Remove all addresses of an interface, and with them every route through it."""

    op: ClassVar[str] = "flush_addresses"
    node: str
    interface: str


@dataclass(frozen=True, slots=True)
class AddRoute:
    """Add a route. ``connected`` marks one that the kernel would have made for an address; only inverses set it."""

    op: ClassVar[str] = "add_route"
    node: str
    prefix: str
    via: str = ""
    dev: str = ""
    metric: int = 0
    type: str = "unicast"
    connected: bool = False


@dataclass(frozen=True, slots=True)
class RemoveRoute:
    """Remove the first route that matches what is given; empty fields match anything."""

    op: ClassVar[str] = "remove_route"
    node: str
    prefix: str
    via: str = ""
    dev: str = ""
    metric: int = 0
    type: str = "unicast"


@dataclass(frozen=True, slots=True)
class AddRule:
    """Add a routing rule for all packets; a rule at preference 0 stands behind local delivery."""

    op: ClassVar[str] = "add_rule"
    node: str
    action: str = "prohibit"
    preference: int = 0


@dataclass(frozen=True, slots=True)
class RemoveRule:
    """Remove a routing rule that `AddRule` made."""

    op: ClassVar[str] = "remove_rule"
    node: str
    action: str = "prohibit"
    preference: int = 0


@dataclass(frozen=True, slots=True)
class SetChainPolicy:
    """What becomes of packets that no filter of the chain decides: accept or drop."""

    op: ClassVar[str] = "set_chain_policy"
    node: str
    chain: str
    policy: str


@dataclass(frozen=True, slots=True)
class AddFilter:
    """Add a filter to a chain; ``position`` counts from 0, ``None`` is the end. Empty fields match anything."""

    op: ClassVar[str] = "add_filter"
    node: str
    chain: str
    action: str
    source: str = ""
    destination: str = ""
    protocol: str = ""
    port: int = 0
    position: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveFilter:
    """Remove the first filter of the chain that equals this one."""

    op: ClassVar[str] = "remove_filter"
    node: str
    chain: str
    action: str
    source: str = ""
    destination: str = ""
    protocol: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class SetImpairment:
    """Impair what leaves an interface. Zero everywhere removes the impairment.

    Attributes
    ----------
    loss : float
        Share of lost frames, 0 to 1.
    delay_ms, jitter_ms : float
        Added one-way delay and its half range.
    rate_kbit : int
        Byte rate limit in kilobits per second.
    packets_s : int
        Packet rate limit per second.
    """

    op: ClassVar[str] = "set_impairment"
    node: str
    interface: str
    loss: float = 0.0
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    rate_kbit: int = 0
    packets_s: int = 0

    @property
    def clear(self) -> bool:
        """Whether this takes an impairment away."""
        return not (self.loss or self.delay_ms or self.jitter_ms or self.rate_kbit or self.packets_s)


@dataclass(frozen=True, slots=True)
class PutPolicy:
    """Create or replace a NetworkPolicy."""

    op: ClassVar[str] = "put_policy"
    manifest: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class DeletePolicy:
    """Delete a NetworkPolicy."""

    op: ClassVar[str] = "delete_policy"
    name: str
    namespace: str = "default"


FilterOperation = AddFilter | RemoveFilter | SetChainPolicy
PolicyOperation = PutPolicy | DeletePolicy
NodeOperation = (
    SetForwarding
    | SetLink
    | SetMtu
    | AddAddress
    | RemoveAddress
    | FlushAddresses
    | AddRoute
    | RemoveRoute
    | AddRule
    | RemoveRule
    | SetChainPolicy
    | AddFilter
    | RemoveFilter
    | SetImpairment
)
Operation = NodeOperation | PolicyOperation

_KINDS: tuple[type[Operation], ...] = (
    SetForwarding,
    SetLink,
    SetMtu,
    AddAddress,
    RemoveAddress,
    FlushAddresses,
    AddRoute,
    RemoveRoute,
    AddRule,
    RemoveRule,
    SetChainPolicy,
    AddFilter,
    RemoveFilter,
    SetImpairment,
    PutPolicy,
    DeletePolicy,
)
OPERATIONS: Mapping[str, type[Operation]] = {kind.op: kind for kind in _KINDS}


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of an operation.

    Attributes
    ----------
    accepted : bool
        Whether the network changed as asked; a refusal by the kernel is a value, not an exception.
    reason : str
        Class of the refusal, the same word on every backend; empty when accepted.
    inverse : tuple of operations
        Leads back to the state before; empty when nothing changed.
    detail : str
        What the backend said, or what it measured.
    """

    accepted: bool
    reason: str = ""
    inverse: tuple[Operation, ...] = ()
    detail: str = ""


def operation_to_json(operation: Operation) -> dict[str, Any]:
    """JSON form: ``op`` and the fields that differ from their defaults.

    Examples
    --------
    >>> operation_to_json(SetLink("r1", "eth0", up=False))
    {'op': 'set_link', 'node': 'r1', 'interface': 'eth0', 'up': False}
    """
    if isinstance(operation, PutPolicy):
        return {"op": operation.op, "manifest": dict(operation.manifest)}
    defaults = {item.name: item.default for item in fields(operation)}
    kept = {name: value for name, value in asdict(operation).items() if value != defaults[name]}
    return {"op": operation.op, **kept}


def applied_to_json(applied: Applied) -> dict[str, Any]:
    """JSON form of the outcome of an operation."""
    return {
        "accepted": applied.accepted,
        "reason": applied.reason,
        "inverse": [operation_to_json(item) for item in applied.inverse],
        "detail": applied.detail,
    }


def applied_from_json(data: Mapping[str, Any]) -> Applied:
    """Read the JSON form of the outcome of an operation."""
    inverse = tuple(operation_from_json(item) for item in data["inverse"])
    return Applied(data["accepted"], data["reason"], inverse, data["detail"])


def operation_from_json(data: Mapping[str, Any]) -> Operation:
    """Read the JSON form and check every value.

    Raises
    ------
    UserError
        Unknown operation or field, a field is missing, or a value is of the wrong type or out of range.
    """
    kind = OPERATIONS.get(str(data.get("op")))
    if kind is None:
        raise UserError(f"unknown operation {data.get('op')!r}", hint=f"One of: {', '.join(OPERATIONS)}")
    known = {item.name: item for item in fields(kind)}
    given = {name: value for name, value in data.items() if name != "op"}
    extra = sorted(set(given) - set(known))
    missing = sorted(name for name, item in known.items() if item.default is MISSING and name not in given)
    if extra or missing:
        what = f"unknown field {extra[0]!r}" if extra else f"field {missing[0]!r} is missing"
        raise UserError(f"operation {kind.op}: {what}")
    for name, value in given.items():
        _check_type(kind.op, name, value, str(known[name].type))
    return check_operation(kind(**given))


_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (float, int),
    "Mapping[str, Any]": (dict,),
}


def _check_type(op: str, name: str, value: Any, wanted: str) -> None:
    kinds = _TYPES[wanted]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UserError(f"operation {op}: {name} must be {wanted}, not {type(value).__name__}")


def check_operation(operation: Operation) -> Operation:
    """Refuse what no backend could carry out; whether the network accepts it is for the backend to say."""
    match operation:
        case AddAddress() | RemoveAddress():
            address = _parse(ipaddress.IPv4Interface, operation.address, operation.op)
            if operation.interface == "lo" and address.network.prefixlen != 32:
                raise UserError(f"operation {operation.op}: the loopback takes /32 addresses only")
            if address.is_multicast or address.is_unspecified or address.is_loopback or address.is_reserved:
                raise UserError(f"operation {operation.op}: {address.ip} is not a unicast address")
        case AddRoute() | RemoveRoute():
            _parse(ipaddress.IPv4Network, operation.prefix, operation.op)
            if operation.via:
                _parse(ipaddress.IPv4Address, operation.via, operation.op)
            _among(operation.op, operation.type, ROUTE_TYPES)
            if operation.op == "add_route" and operation.type == "unicast" and not (operation.via or operation.dev):
                raise UserError("operation add_route: via or dev is needed")
        case AddRule() | RemoveRule():
            _among(operation.op, operation.action, RULE_ACTIONS)
            if not 0 <= operation.preference < 32766:
                raise UserError(f"operation {operation.op}: preference must be 0 to 32765")
        case SetChainPolicy():
            _among(operation.op, operation.chain, CHAINS)
            _among(operation.op, operation.policy, ("accept", "drop"))
        case AddFilter() | RemoveFilter():
            _check_filter(operation)
        case SetImpairment():
            if not 0 <= operation.loss <= 1 or min(operation.delay_ms, operation.jitter_ms) < 0:
                raise UserError("operation set_impairment: loss is a share from 0 to 1, delays are not negative")
        case _:
            pass
    return operation


def _check_filter(operation: AddFilter | RemoveFilter) -> None:
    _among(operation.op, operation.chain, CHAINS)
    _among(operation.op, operation.action, VERDICTS)
    _among(operation.op, operation.protocol, FILTER_PROTOCOLS)
    for prefix in (operation.source, operation.destination):
        if prefix:
            _parse(ipaddress.IPv4Network, prefix, operation.op)
    if operation.port and operation.protocol not in {"tcp", "udp"}:
        raise UserError(f"operation {operation.op}: a port needs protocol tcp or udp")
    if not 0 <= operation.port <= 65535:
        raise UserError(f"operation {operation.op}: port must be 0 to 65535")


def filter_item(operation: AddFilter | RemoveFilter) -> dict[str, Any]:
    """Canonical form of a filter: prefixes with their length, and the prefix of everything as empty."""

    def prefix(text: str) -> str:
        network = str(ipaddress.IPv4Network(text)) if text else ""
        return "" if network == "0.0.0.0/0" else network

    return {
        "action": operation.action,
        "source": prefix(operation.source),
        "destination": prefix(operation.destination),
        "protocol": operation.protocol,
        "port": operation.port,
    }


def _among(op: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UserError(f"operation {op}: {value!r} is not one of {', '.join(repr(item) for item in allowed)}")


def _parse(kind: Callable[[str], T], text: str, op: str) -> T:
    try:
        return kind(text)
    except ValueError as error:
        raise UserError(f"operation {op}: {error}") from None
