"""What the emulator answers: probes, matrices, paths, command results and snapshots. JSON in and out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a probe failed; the same words on every backend."""

    OK = "ok"
    TIMEOUT = "timeout"  # silence: dropped, or the answer was lost
    NET_UNREACHABLE = "net-unreachable"  # no route
    HOST_UNREACHABLE = "host-unreachable"  # nobody answers ARP, or an unreachable route
    ADMIN_PROHIBITED = "admin-prohibited"  # a prohibit route or rule, or a reject filter
    PORT_UNREACHABLE = "port-unreachable"
    FRAG_NEEDED = "frag-needed"  # larger than an MTU on the way
    TTL_EXCEEDED = "ttl-exceeded"  # a loop
    FILTERED = "filtered"  # dropped by the source's own output chain
    BLACKHOLE = "blackhole"  # a blackhole route at the source itself
    REFUSED = "refused"  # nobody listens on the port
    NAME = "name-not-resolved"
    WRONG = "wrong-answer"  # somebody else answered


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe.

    Attributes
    ----------
    source, target : str
        Node, and node, address or service.
    ok : bool
        The answer came back; for TCP with the right banner.
    rtt_ms : float, optional
        Round-trip time; ``None`` where lost or not measured.
    reason : Reason
    place : str
        Node that reported the failure, or its address where no node is known to own it.
    port : int
        TCP port, 0 for a ping.
    stage : str
        For TCP, the last stage that was reached: ``""``, ``dns``, ``connect`` or ``banner``.
    """

    source: str
    target: str
    ok: bool
    reason: Reason = Reason.OK
    place: str = ""
    rtt_ms: float | None = None
    port: int = 0
    stage: str = ""

    @property
    def pair(self) -> tuple[str, str, int]:
        """Source, target and port."""
        return self.source, self.target, self.port


@dataclass(frozen=True, slots=True)
class Matrix:
    """Probes of many pairs, with what made them.

    Examples
    --------
    >>> Matrix((Probe("a", "b", True), Probe("b", "a", False, Reason.TIMEOUT)), "simulated").loss
    0.5
    """

    probes: tuple[Probe, ...]
    backend: str
    kernel: str = ""
    not_measured: tuple[str, ...] = ()
    wall_s: float = 0.0

    @property
    def loss(self) -> float:
        """Share of pairs that failed; 0 for an empty matrix."""
        return len(self.failed) / len(self.probes) if self.probes else 0.0

    @property
    def failed(self) -> tuple[Probe, ...]:
        """Probes without a right answer."""
        return tuple(probe for probe in self.probes if not probe.ok)

    def reachable(self) -> Mapping[tuple[str, str, int], bool]:
        """Success by source, target and port."""
        return {probe.pair: probe.ok for probe in self.probes}

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "backend": self.backend,
            "kernel": self.kernel,
            "not_measured": list(self.not_measured),
            "wall_s": self.wall_s,
            "loss": self.loss,
            "probes": [asdict(probe) for probe in self.probes],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Matrix:
        """Read the JSON form."""
        probes = tuple(Probe(**{**item, "reason": Reason(item["reason"])}) for item in data["probes"])
        return cls(probes, data["backend"], data["kernel"], tuple(data["not_measured"]), data["wall_s"])


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path; ``address`` is empty where nobody answered."""

    node: str
    address: str


@dataclass(frozen=True, slots=True)
class Path:
    """Hops from source to target and how it ended."""

    hops: tuple[Hop, ...]
    reason: Reason
    place: str = ""

    @property
    def ok(self) -> bool:
        """Whether the target answered."""
        return self.reason is Reason.OK

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"hops": [asdict(hop) for hop in self.hops], "reason": str(self.reason), "place": self.place}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Path:
        """Read the JSON form."""
        return cls(tuple(Hop(**hop) for hop in data["hops"]), Reason(data["reason"]), data["place"])


@dataclass(frozen=True, slots=True)
class Convergence:
    """How long it took until all pairs answered; ``loss`` is not 0 when the wait ended before that."""

    wall_s: float
    loss: float
    protocol: str = ""
    daemons: int = 0

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A command line that ran inside a node. ``status`` is -1 when it was stopped by the time limit."""

    status: int
    output: str
    truncated: bool = False
    timed_out: bool = False
    wall_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Canonical state: sorted, without handles and counters."""

    state: Mapping[str, Any] = field(hash=False)

    @property
    def digest(self) -> str:
        """``sha256:`` over the canonical JSON text."""
        text = json.dumps(self.state, sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"digest": self.digest, "state": dict(self.state)}
