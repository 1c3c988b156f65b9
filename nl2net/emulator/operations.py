"""Typed changes of a running network. One frozen value per kind, JSON in and out; never shell text."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

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
