"""Values of a policy: rules with their evidence, and what was left to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nl2net.segmentation.flows import protocol_name


class Mode(StrEnum):
    """How far a rule reaches beyond what was observed."""

    STRICT = "strict"  # observed pairs of endpoints
    ROLE = "role"  # all members of the two roles
    GENERALISED = "generalised"  # the server's role and all roles of the client's kind


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a rule exists.

    ``client_share`` and ``server_share`` relate to the sizes of the roles; ``answered`` is a share, NaN when no format
    said; ``samples`` are up to five observed edges.
    """

    clients: int = 0
    servers: int = 0
    client_share: float = 0.0
    server_share: float = 0.0
    buckets: int = 0
    connections: int = 0
    bytes: int = 0
    answered: float = float("nan")
    denied: int = 0
    first_seen: str = ""
    last_seen: str = ""
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """Members of ``client`` may open connections to members of ``server`` on a range of ports.

    ``baseline`` names the shared rule set it belongs to; ``note`` says what a reviewer should know. ICMP has the range
    0-0, which means all types.
    """

    client: str
    server: str
    proto: int
    port_low: int
    port_high: int
    evidence: Evidence = field(default_factory=Evidence)
    baseline: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """Stable name: roles, protocol and port."""
        ports = str(self.port_low) if self.port_low == self.port_high else f"{self.port_low}-{self.port_high}"
        return f"{self.client}>{self.server}:{protocol_name(self.proto)}/{ports}"

    def covers(self, proto: int, port: int) -> bool:
        """Whether the rule speaks of that service."""
        return proto == self.proto and self.port_low <= port <= self.port_high


@dataclass(frozen=True, slots=True)
class Review:
    """A candidate that was not accepted, with one reason."""

    client: str
    server: str
    proto: int
    port: int
    reason: str
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules, the review list, and the roles they speak of.

    ``members`` maps a role to its endpoints; in strict mode every endpoint is a role of its own. ``logical`` is the
    number of rules that a person reads: a shared baseline counts once.
    """

    mode: Mode
    rules: tuple[Rule, ...]
    review: tuple[Review, ...]
    members: Mapping[str, Sequence[str]]
    notes: tuple[str, ...] = ()

    @property
    def logical(self) -> int:
        """Rules with each baseline counted once."""
        plain = sum(not rule.baseline for rule in self.rules)
        return plain + len({(rule.baseline, rule.proto, rule.port_low) for rule in self.rules if rule.baseline})

    def role_of(self) -> dict[str, str]:
        """Role of every member."""
        return {member: role for role, members in self.members.items() for member in members}


def index_rules(rules: Iterable[Rule]) -> dict[tuple[str, str, int], list[tuple[int, int]]]:
    """Port ranges by (client role, server role, protocol)."""
    found: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
    for rule in rules:
        found.setdefault((rule.client, rule.server, rule.proto), []).append((rule.port_low, rule.port_high))
    return found
