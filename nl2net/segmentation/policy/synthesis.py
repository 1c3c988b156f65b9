"""From typed edges and roles to rules with evidence; what is not clear goes to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import poisson

from nl2net.segmentation.endpoints import EPHEMERAL, Population, answered_share
from nl2net.segmentation.frames import rows_of
from nl2net.segmentation.policy.rules import Evidence, Mode, Policy, Review, Rule

_LEAST_ANSWERED = 0.5
_DYNAMIC_PORTS = 8
_LONE_ROLE = 5
_BY_CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class Roles:
    """What synthesis needs to know of roles: members, and roles that must not be allowed by themselves.

    ``quarantine`` are scanner roles; ``external`` are roles outside; ``shared`` are endpoints that stand for many.
    """

    members: Mapping[str, Sequence[str]]
    quarantine: frozenset[str] = frozenset()
    external: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def role_of(self) -> dict[str, str]:
        """Role of every member."""
        return {member: role for role, members in self.members.items() for member in members}


def synthesise(population: Population, roles: Roles, mode: Mode = Mode.ROLE) -> Policy:
    """Rules between roles that the edges justify.

    Parameters
    ----------
    population : Population
        Typed edges and what was found out about them.
    roles : Roles
        Who belongs where.
    mode : Mode
        How far rules reach; see `Mode`.

    Notes
    -----
    A candidate is accepted when at least half of it was answered (or nobody knows) and one pair of endpoints was seen
    in two 5-minute buckets, or two pairs were seen and strays on that port are so rare that chance does not explain
    them, or it comes repeatedly from a role of one. Refused records never make a rule.
    """
    edges = _with_roles(population, roles)
    candidates = _candidates(edges, roles)
    candidates["chance"] = _chance(candidates, roles)
    rules, review = [], []
    for candidate in rows_of(candidates):
        reason = _objection(candidate, roles)
        evidence = _evidence(candidate, roles)
        if reason:
            review.append(Review(candidate.c, candidate.s, int(candidate.proto), int(candidate.port), reason, evidence))
            continue
        size = len(roles.members[candidate.c])
        note = ""
        if size >= _LONE_ROLE and evidence.clients == 1:
            note = f"only one of {size} members does this: check that it is not an intruder"
        if candidate.s in roles.external:
            note = "external destination"
        rules.append(
            Rule(
                candidate.c,
                candidate.s,
                int(candidate.proto),
                int(candidate.port),
                int(candidate.port),
                evidence,
                note=note,
            )
        )
    ranges, review = _dynamic_ranges(review, rules, roles)
    rules = sorted([*rules, *ranges], key=lambda rule: rule.id)
    review.sort(key=lambda item: (-item.evidence.connections, item.client, item.server, item.port))
    return Policy(mode, tuple(rules), tuple(review), dict(roles.members), tuple(population.notes))


def _with_roles(population: Population, roles: Roles) -> pd.DataFrame:
    role_of = roles.role_of()
    edges = population.edges.assign(
        c=population.edges["client"].map(role_of),
        s=population.edges["server"].map(role_of),
        dynamic=population.dynamic,
        share=answered_share(population.edges),
        repeated=(population.edges["connections"] >= 2) | (population.edges["buckets"] >= 2),
    )
    edges["shared"] = edges["client"].isin(roles.shared) | edges["server"].isin(roles.shared)
    return edges.dropna(subset=["c", "s"])


def _candidates(edges: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    if not len(edges):
        return pd.DataFrame(columns=["c", "s", "proto", "port"])
    weight = (edges["connections"] + edges["denied"]).clip(lower=1)
    known = edges["share"].notna()
    work = edges.assign(
        yes=(edges["share"].fillna(0) * weight).where(known, 0.0),
        known=weight.where(known, 0),
        text=edges["client"] + " > " + edges["server"],
        good=(edges["share"].fillna(1) >= _LEAST_ANSWERED) & (edges["connections"] > 0),
    )
    good = work[work["good"]]
    keys = ["c", "s", "proto", "port"]
    strong = good.groupby(keys).agg(
        clients=("client", "nunique"),
        servers=("server", "nunique"),
        buckets=("buckets", "max"),
        pairs=("text", "nunique"),
        again=("repeated", "sum"),
    )
    every = work.groupby(keys).agg(
        connections=("connections", "sum"),
        bytes=("bytes", "sum"),
        denied=("denied", "sum"),
        yes=("yes", "sum"),
        known=("known", "sum"),
        dynamic=("dynamic", "all"),
        shared=("shared", "all"),
        first_seen=("first_seen", "min"),
        last_seen=("last_seen", "max"),
        samples=("text", lambda column: tuple(column.iloc[:5])),
        all_clients=("client", "nunique"),
        all_servers=("server", "nunique"),
    )
    table = every.join(strong).fillna({"clients": 0, "servers": 0, "buckets": 0, "pairs": 0, "again": 0}).reset_index()
    table["answered"] = np.where(table["known"] > 0, table["yes"] / table["known"].clip(lower=1e-9), np.nan)
    return table


def _chance(table: pd.DataFrame, roles: Roles) -> np.ndarray:
    """How many candidates one expects to look like this one by strays alone.

    A stray is a pair of endpoints with one connection. Were the strays of a port spread evenly over all pairs of
    endpoints, a pair of large roles would collect two now and then; with many pairs of roles that happens somewhere.
    """
    if not len(table):
        return np.zeros(0)
    size = {role: len(members) for role, members in roles.members.items()}
    total = max(2, sum(size.values()))
    lone = table["pairs"].where(table["again"] == 0, 0)
    others = lone.groupby([table["proto"], table["port"]]).transform("sum") - lone
    room = table["c"].map(size) * table["s"].map(size) / (total * (total - 1))
    tail = poisson.sf(np.maximum(table["pairs"] - 1, 0), others * room)
    return np.where(table["again"] > 0, 0.0, tail * len(size) ** 2)


def _objection(row: Any, roles: Roles) -> str:
    """Why a candidate needs a person, or nothing."""
    client, server = row.c, row.s
    if client in roles.quarantine or server in roles.quarantine:
        return "scanner"
    if row.connections == 0:
        return "denied"
    if row.denied > row.connections:
        return "denied"
    if row.dynamic:
        return "ephemeral port"
    if row.answered < _LEAST_ANSWERED:
        return "unanswered"
    if row.shared:
        return "shared address"
    alone = len(roles.members[client]) == 1
    seen_twice = row.buckets >= 2 or (row.pairs >= 2 and row.chance < _BY_CHANCE)
    if not seen_twice and not (alone and row.connections >= 2):
        return "external" if client in roles.external else "one-off"
    return ""


def _evidence(row: Any, roles: Roles) -> Evidence:
    r = row
    clients = int(r.clients or r.all_clients)
    servers = int(r.servers or r.all_servers)
    return Evidence(
        clients=clients,
        servers=servers,
        client_share=round(clients / max(1, len(roles.members[r.c])), 3),
        server_share=round(servers / max(1, len(roles.members[r.s])), 3),
        buckets=int(r.buckets),
        connections=int(r.connections),
        bytes=int(r.bytes),
        answered=float(r.answered),
        denied=int(r.denied),
        first_seen=pd.Timestamp(r.first_seen).isoformat(),
        last_seen=pd.Timestamp(r.last_seen).isoformat(),
        samples=tuple(r.samples),
    )


def _dynamic_ranges(review: list[Review], accepted: list[Rule], roles: Roles) -> tuple[list[Rule], list[Review]]:
    """One range rule for a role pair on more than eight high ports, each seen in one or two buckets.

    Where the same two roles have a rule the other way round, high ports are more likely records whose direction is
    wrong than a service, and stay with the reviewer.
    """
    backwards = {(rule.server, rule.client, rule.proto) for rule in accepted}
    groups: dict[tuple[str, str, int], list[Review]] = {}
    for item in review:
        if item.reason in ("ephemeral port", "one-off") and item.port >= EPHEMERAL and item.evidence.buckets <= 2:
            groups.setdefault((item.client, item.server, item.proto), []).append(item)
    rules, taken = [], set()
    for (client, server, proto), items in groups.items():
        turned = (client, server, proto) in backwards
        if len(items) <= _DYNAMIC_PORTS or turned or client in roles.quarantine:
            continue
        ports = [item.port for item in items]
        low, high = min(ports), max(ports)
        evidence = Evidence(
            clients=max(item.evidence.clients for item in items),
            servers=max(item.evidence.servers for item in items),
            buckets=sum(item.evidence.buckets for item in items),
            connections=sum(item.evidence.connections for item in items),
            bytes=sum(item.evidence.bytes for item in items),
            first_seen=min(item.evidence.first_seen for item in items),
            last_seen=max(item.evidence.last_seen for item in items),
            samples=items[0].evidence.samples,
        )
        note = f"dynamic range of {high - low + 1} ports, {len(items)} of them seen"
        rules.append(Rule(client, server, proto, low, high, evidence, note=note))
        taken |= {id(item) for item in items}
    return rules, [item for item in review if id(item) not in taken]
