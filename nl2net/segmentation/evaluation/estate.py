"""An estate with known roles: endpoints, intended rules, and windows of observed typed edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

Rule = tuple[str, str, int, int]  # client role, server role, protocol, port
SHAPES = ("full", "balanced", "sharded", "mesh")
EDGE_COLUMNS = [
    "client",
    "server",
    "proto",
    "port",
    "connections",
    "bytes",
    "buckets",
    "answered_yes",
    "answered_no",
    "denied",
    "first_seen",
    "last_seen",
]
EPHEMERAL = 32768


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How far a window of log is from the intended traffic.

    Attributes
    ----------
    noise : float
        Stray flows per endpoint.
    scanners : int
        Hosts that probe many addresses and ports.
    flipped : float
        Share of edges of which some records are turned round.
    seen : float
        Share of intended edges that the window shows.
    young : float
        Share of endpoints that show few of their edges.
    churn : float
        Share of endpoints that have another address in the next window.
    """

    noise: float = 0.3
    scanners: int = 2
    flipped: float = 0.03
    seen: float = 0.9
    young: float = 0.1
    churn: float = 0.2


DEFAULT = Difficulty()
NOISY = Difficulty(noise=1.0, scanners=5, flipped=0.08, seen=0.75, young=0.25)


@dataclass(frozen=True, slots=True)
class Flow:
    """An intended rule with the shape of its traffic and how many connections a pair makes per window."""

    client: str
    server: str
    proto: int
    port: int
    shape: str = "full"
    volume: float = 20.0


@dataclass(slots=True)
class Estate:
    """Roles with their sizes and the flows between them, before anything is observed.

    ``externals`` names roles whose members lie outside; their addresses are public.
    """

    name: str
    seed: int
    sizes: dict[str, int] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    externals: set[str] = field(default_factory=set)

    def add_role(self, role: str, size: int, *, external: bool = False) -> str:
        """Add a role of ``size`` members."""
        self.sizes[role] = size
        if external:
            self.externals.add(role)
        return role

    def add_flow(
        self, client: str, server: str, proto: int, port: int, *, shape: str = "full", volume: float = 20.0
    ) -> None:
        """Add an intended flow between roles."""
        self.flows.append(Flow(client, server, proto, port, shape, volume))

    @property
    def rules(self) -> set[Rule]:
        """What is intended, between roles."""
        return {(flow.client, flow.server, flow.proto, flow.port) for flow in self.flows}


@dataclass(frozen=True, slots=True)
class Window:
    """Typed edges that one window of log shows, and the truth behind them.

    ``roles`` maps every address, ``edges`` has the columns of the aggregation, ``legitimate`` marks edges that are
    intended.
    """

    edges: pd.DataFrame
    legitimate: np.ndarray
    roles: Mapping[str, str]
    scanners: frozenset[str]


def _addresses(estate: Estate, rng: np.random.Generator) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    total = sum(size for role, size in estate.sizes.items() if role not in estate.externals)
    inside = rng.permutation(max(4 * total, 256))
    at = 0
    for role, size in estate.sizes.items():
        if role in estate.externals:
            members[role] = [f"203.{rng.integers(0, 112)}.{rng.integers(256)}.{i + 1}" for i in range(size)]
            continue
        picked = inside[at : at + size]
        at += size
        members[role] = [f"10.{40 + (i >> 16)}.{(i >> 8) & 255}.{i & 255}" for i in picked.tolist()]
    return members


def _pairs(flow: Flow, members: Mapping[str, list[str]], rng: np.random.Generator) -> list[tuple[str, str]]:
    clients, servers = members[flow.client], members[flow.server]
    if flow.shape == "mesh":
        return [(a, b) for a in clients for b in servers if a != b]
    wide = {"full": len(servers), "balanced": 3, "sharded": int(rng.integers(1, 3))}[flow.shape]
    pairs = []
    for client in clients:
        count = min(wide, len(servers))
        for index in rng.choice(len(servers), size=count, replace=False):
            if servers[index] != client:
                pairs.append((client, servers[index]))
    return pairs


class Observer:
    """Turns an estate into windows of log; the estate stays, members churn.

    Parameters
    ----------
    estate : Estate
        What is intended.
    difficulty : Difficulty
        How badly it is seen.
    """

    def __init__(self, estate: Estate, difficulty: Difficulty = DEFAULT) -> None:
        self.estate, self.difficulty = estate, difficulty
        self._rng = np.random.default_rng([estate.seed, 7])
        self._members = _addresses(estate, self._rng)
        self._pairs = [_pairs(flow, self._members, self._rng) for flow in estate.flows]
        self._fresh = 0

    def window(self) -> Window:
        """The next window; each call after the first replaces the churned members."""
        edges, legitimate = self._intended()
        extra = [*self._noise(), *self._flips(edges)]
        scanners, probes = self._scans()
        rows = edges + extra + probes
        flags = np.array([True] * len(edges) + [False] * (len(extra) + len(probes)))
        del legitimate
        frame = pd.DataFrame(rows, columns=EDGE_COLUMNS)
        roles = {address: role for role, addresses in self._members.items() for address in addresses}
        self._churn()
        return Window(frame, flags, roles, frozenset(scanners))

    def _row(self, pair: tuple[str, str], proto: int, port: int, *, volume: float) -> tuple[object, ...]:
        rng = self._rng
        count = max(1, int(rng.lognormal(np.log(volume), 0.8)))
        buckets = min(int(rng.integers(1, 13)), count)
        start = 1_790_000_000 + int(rng.integers(0, 3000))
        silent = proto == 17 and port in (514,)
        yes = 0 if silent else count
        stamp = pd.Timestamp(start, unit="s", tz="UTC")
        return (*pair, proto, port, count, count * 900, buckets, yes, 0, 0, stamp, stamp + pd.Timedelta(seconds=600))

    def _intended(self) -> tuple[list[tuple[object, ...]], list[bool]]:
        rng, hard = self._rng, self.difficulty
        young = {
            address
            for role, addresses in self._members.items()
            if len(addresses) > 1 and role not in self.estate.externals
            for address in addresses
            if rng.random() < hard.young
        }
        rows = []
        for flow, pairs in zip(self.estate.flows, self._pairs, strict=True):
            for pair in pairs:
                share = hard.seen * (0.4 if pair[0] in young or pair[1] in young else 1.0)
                if rng.random() < share:
                    rows.append(self._row(pair, flow.proto, flow.port, volume=flow.volume))
        return rows, [True] * len(rows)

    def _inside(self) -> list[str]:
        return [a for role, addresses in self._members.items() if role not in self.estate.externals for a in addresses]

    def _noise(self) -> list[tuple[object, ...]]:
        rng, inside = self._rng, self._inside()
        rows = []
        for _ in range(int(self.difficulty.noise * len(inside))):
            a, b = rng.choice(len(inside), size=2, replace=False)
            port = int(rng.choice([22, 80, 443, 445, 3389, 8080, int(rng.integers(1024, 60000))]))
            row = list(self._row((inside[a], inside[b]), 6, port, volume=1))
            row[4], row[6] = 1, 1
            row[7], row[8] = (1, 0) if rng.random() < 0.6 else (0, 1)
            rows.append(tuple(row))
        return rows

    def _flips(self, edges: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        rng = self._rng
        rows = []
        for row in edges:
            if rng.random() < self.difficulty.flipped:
                turned = list(row)
                turned[0], turned[1], turned[3] = row[1], row[0], int(rng.integers(EPHEMERAL, 60999))
                turned[4] = turned[7] = int(rng.integers(1, 4))
                turned[6] = min(int(turned[6]), int(turned[4]))  # type: ignore[call-overload]
                rows.append(tuple(turned))
        return rows

    def _scans(self) -> tuple[list[str], list[tuple[object, ...]]]:
        rng, inside = self._rng, self._inside()
        scanners = [f"10.39.0.{i + 1}" for i in range(self.difficulty.scanners)]
        rows = []
        for scanner in scanners:
            for _ in range(150):
                target = inside[int(rng.integers(len(inside)))]
                row = list(self._row((scanner, target), 6, int(rng.integers(1, 10000)), volume=1))
                row[4], row[6] = 1, 1
                row[7], row[8] = (1, 0) if rng.random() < 0.1 else (0, 1)
                rows.append(tuple(row))
        return scanners, rows

    def _churn(self) -> None:
        rng, renamed = self._rng, {}
        for role, addresses in self._members.items():
            if role in self.estate.externals:
                continue
            for at, address in enumerate(addresses):
                if rng.random() < self.difficulty.churn and len(addresses) > 1:
                    self._fresh += 1
                    addresses[at] = f"10.{200 + (self._fresh >> 16)}.{(self._fresh >> 8) & 255}.{self._fresh & 255}"
                    renamed[address] = addresses[at]
        self._pairs = [[(renamed.get(a, a), renamed.get(b, b)) for a, b in pairs] for pairs in self._pairs]
