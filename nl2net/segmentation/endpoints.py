"""Endpoints of the typed edges: inside or outside, scanners, shared addresses, and the clean edges to learn from."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from nl2net.errors import UserError

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10")
EPHEMERAL = 32768
SCAN_TARGETS = 60
SCAN_ANSWERED = 0.4
FOLD_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class Scope:
    """Which addresses are the operator's own.

    ``internal`` are prefixes; by default the private ranges. When fewer than 5 % of the edges touch them, everything
    counts as inside, and ``assumed`` says so.
    """

    internal: tuple[str, ...] = PRIVATE
    assumed: bool = False

    def inside(self, addresses: Iterable[str]) -> dict[str, bool]:
        """Whether each address is inside."""
        try:
            networks = [ipaddress.ip_network(prefix) for prefix in self.internal]
        except ValueError as error:
            raise UserError(f"not a prefix: {error}") from None
        found = {}
        for text in addresses:
            try:
                address = ipaddress.ip_address(text)
            except ValueError:  # folded buckets and names of workloads
                found[text] = not text.startswith("external:")
                continue
            found[text] = self.assumed or any(
                address in network for network in networks if network.version == address.version
            )
        return found


@dataclass(slots=True)
class Population:
    """What the edges consist of.

    Attributes
    ----------
    edges : DataFrame
        All typed edges, external tail folded.
    learn : ndarray of bool
        Edges to learn roles from.
    inside : dict
        Endpoint to whether it is the operator's own.
    scanners : tuple of str
        Endpoints to quarantine.
    dynamic : ndarray of bool
        Edges on dynamic ports.
    folded : dict
        External bucket to (prefix, number of addresses).
    notes : list of str
        Assumptions.
    """

    edges: pd.DataFrame
    learn: np.ndarray
    inside: dict[str, bool]
    scanners: tuple[str, ...]
    dynamic: np.ndarray
    folded: dict[str, tuple[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def answered_share(edges: pd.DataFrame) -> pd.Series:
    """Answered share per edge; refused records count as unanswered, and NaN means unknown."""
    yes = edges["answered_yes"].to_numpy(float)
    refused = edges["answered_no"].to_numpy(float) + edges["denied"].to_numpy(float)
    known = yes + refused
    if "back" in edges:
        # One-directional formats answer by records of the way back.
        returned = np.minimum(edges["back"].to_numpy(float), edges["there"].to_numpy(float))
        oneway = (yes == 0) & (returned > 0)
        yes = np.where(oneway, returned, yes)
        known = np.where(oneway, returned + refused, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.Series(np.where(known > 0, yes / known, np.nan), index=edges.index)


def find_scanners(edges: pd.DataFrame) -> tuple[str, ...]:
    """Clients with more than 60 distinct (server, port) pairs of which under 40 % answered."""
    share = answered_share(edges)
    unknown = edges["connections"] > 0
    if "back" in edges and (edges["back"] > 0).mean() > 0.5:
        # Where the log shows the way back of most edges, its absence is telling; only here, where a person decides.
        unknown = edges["back"] > 0
    answered = np.where(share.isna(), unknown, share >= 0.5)
    table = pd.DataFrame({"client": edges["client"].to_numpy(), "ok": answered})
    grouped = table.groupby("client")["ok"].agg(["size", "mean"])
    suspects = grouped[(grouped["size"] > SCAN_TARGETS) & (grouped["mean"] < SCAN_ANSWERED)]
    return tuple(sorted(suspects.index))


def dynamic_edges(edges: pd.DataFrame) -> np.ndarray:
    """Edges to a high port with one client there, on a port that nobody else serves."""
    high = (edges["port"] >= EPHEMERAL) & edges["proto"].isin([6, 17])
    keys = ["proto", "port"]
    servers = edges.groupby(keys)["server"].transform("nunique")
    clients = edges.groupby(["server", *keys])["client"].transform("nunique")
    return (high & (servers == 1) & (clients == 1)).to_numpy()


def clean_edges(edges: pd.DataFrame, scanners: Sequence[str]) -> np.ndarray:
    """Edges to learn from: answered or unknown, and repeated or shared by other clients of the same service."""
    share = answered_share(edges)
    silent_udp = (edges["proto"] == 17) & (edges["answered_yes"] == 0)
    answered = share.isna() | (share >= 0.5) | (silent_udp & (edges["denied"] == 0) & (edges["connections"] > 1))
    repeated = (edges["connections"] >= 2) | (edges["buckets"] >= 2)
    # A short-lived worker shows one connection; it counts when others show the same service.
    clients = edges[repeated].groupby(["server", "proto", "port"])["client"].nunique()
    index = pd.MultiIndex.from_frame(edges[["server", "proto", "port"]])
    others = clients.reindex(index).fillna(0).to_numpy() >= 2
    outside = edges["client"].isin(scanners) | edges["server"].isin(scanners)
    return (answered & (repeated | others) & (edges["connections"] > 0) & ~outside).to_numpy()


def _bucket(address: str) -> str:
    parsed = ipaddress.ip_address(address)
    length = 16 if parsed.version == 4 else 32
    return str(ipaddress.ip_network(f"{address}/{length}", strict=False))


def fold_tail(edges: pd.DataFrame, inside: dict[str, bool]) -> tuple[pd.DataFrame, dict[str, tuple[str, int]]]:
    """Fold external addresses below 0.1 % of bytes and of connections into one bucket per /16 or /32.

    Totals of all counters stay; edges with denied records keep their addresses.
    """
    total_bytes, total_connections = max(edges["bytes"].sum(), 1), max(edges["connections"].sum(), 1)
    sides = []
    for side in ("client", "server"):
        part = edges[[side, "bytes", "connections", "denied"]].rename(columns={side: "address"})
        sides.append(part)
    weight = pd.concat(sides).groupby("address")[["bytes", "connections", "denied"]].sum()
    small = (
        (weight["bytes"] < FOLD_SHARE * total_bytes)
        & (weight["connections"] < FOLD_SHARE * total_connections)
        & (weight["denied"] == 0)
    )
    tail = {address: f"external:{_bucket(address)}" for address in weight.index[small] if not inside.get(address, True)}
    if not tail:
        return edges, {}
    folded = edges.assign(
        client=edges["client"].map(tail).fillna(edges["client"]),
        server=edges["server"].map(tail).fillna(edges["server"]),
    )
    how = {name: "sum" for name in folded.columns if name not in ("client", "server", "proto", "port")}
    how |= {"first_seen": "min", "last_seen": "max", "buckets": "max"}
    how = {name: rule for name, rule in how.items() if name in folded.columns}
    merged = folded.groupby(["client", "server", "proto", "port"], as_index=False).agg(how)
    members: dict[str, int] = {}
    for bucket in tail.values():
        members[bucket] = members.get(bucket, 0) + 1
    return merged, {bucket: (bucket.removeprefix("external:"), count) for bucket, count in members.items()}


def survey(edges: pd.DataFrame, scope: Scope | None = None) -> Population:
    """Sort endpoints and edges before roles are inferred.

    Parameters
    ----------
    edges : DataFrame
        Typed edges.
    scope : Scope, optional
        Which addresses are the operator's own.
    """
    scope = scope or Scope()
    addresses = sorted(set(edges["client"]) | set(edges["server"]))
    inside = scope.inside(addresses)
    notes = []
    touched = edges["client"].map(inside) | edges["server"].map(inside)
    if len(edges) and touched.mean() < 0.05:
        inside = Scope(scope.internal, assumed=True).inside(addresses)
        notes.append("hardly any address is private: all count as internal (say otherwise with --internal)")
    edges, folded = fold_tail(edges, inside)
    edges = edges.sort_values(["client", "server", "proto", "port"], ignore_index=True)
    inside = {name: inside.get(name, False) for name in sorted(set(edges["client"]) | set(edges["server"]))}
    scanners = find_scanners(edges)
    dynamic = dynamic_edges(edges)
    learn = clean_edges(edges, scanners) & ~dynamic
    return Population(edges, learn, inside, scanners, dynamic, folded, notes)
