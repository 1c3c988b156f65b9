"""Stable ids and readable names of roles."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.roles import RoleModel

KEEP = 0.5
QUARANTINE = "quarantine-scanners"
Spread = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Identity:
    """Id per group, and for new ids the former roles that most members come from."""

    ids: Mapping[int, str]
    parents: Mapping[str, tuple[str, ...]]


def _stem(model: RoleModel, members: Sequence[str], soft: Mapping[str, str], volumes: _Volumes) -> str:
    """A word for a role: what the platform calls it, else the service it offers, else what it calls."""
    if all(not model.population.inside[member] for member in members):
        return "external"
    labels = Counter(soft[member] for member in members if member in soft)
    if labels:
        label, count = sorted(labels.items(), key=lambda item: (-item[1], item[0]))[0]
        if count > len(members) / 2:
            return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:30] or "role"
    for side, word in (("server", ""), ("client", "to-")):
        total: Counter[tuple[int, int]] = Counter()
        for member in members:
            total.update(volumes.by_side[side].get(member, {}))
        common = _service(volumes.spread, list(total), list(total.values()))
        if common:
            return f"{word}{common}"
    return "idle"


@dataclass(frozen=True, slots=True)
class _Volumes:
    """Connections per endpoint and service on each side, and how many serve each service in the whole estate."""

    by_side: Mapping[str, Mapping[str, Mapping[tuple[int, int], int]]]
    spread: Spread


def _volumes(model: RoleModel) -> _Volumes:
    edges = model.population.edges
    counted = edges.groupby(["proto", "port"])["server"].nunique()
    learnt = edges[model.population.learn]
    by_side: dict[str, dict[str, dict[tuple[int, int], int]]] = {}
    for side in ("server", "client"):
        sums = learnt.groupby([side, "proto", "port"])["connections"].sum()
        found = by_side.setdefault(side, {})
        for (name, proto, port), count in zip(sums.index.tolist(), sums.tolist(), strict=True):
            found.setdefault(name, {})[proto, port] = count
    return _Volumes(by_side, dict(zip(counted.index.tolist(), counted.tolist(), strict=True)))


def _service(spread: Spread, services: list[tuple[int, int]], volume: list[int]) -> str:
    """The service that says most: served by few in the whole estate, then by volume."""
    if not services:
        return ""
    ranked = sorted(zip(services, volume, strict=True), key=lambda item: (spread[item[0]], -item[1], item[0]))
    proto, port = ranked[0][0]
    return f"{protocol_name(int(proto))}{port or ''}"


def identify(
    model: RoleModel,
    *,
    previous: Mapping[str, Sequence[str]] | None = None,
    soft: Mapping[str, str] | None = None,
) -> Identity:
    """Ids of all groups.

    Parameters
    ----------
    model : RoleModel
        Fresh groups.
    previous : mapping of str to members, optional
        Roles of the run before; a group keeps the id of the one it overlaps most, from a Jaccard index of 0.5 up.
    soft : mapping, optional
        Labels per endpoint; they name roles and decide nothing.

    Notes
    -----
    A new id is a word and four hex digits of the hash of its sorted members: equal input gives equal ids.
    """
    groups = model.groups()
    volumes = _volumes(model)
    kept = _matched(groups, previous or {})
    taken = set(kept.values())
    ids: dict[int, str] = {}
    parents: dict[str, tuple[str, ...]] = {}
    former = {member: role for role, members in (previous or {}).items() for member in members}
    for group in sorted(groups, key=lambda g: sorted(groups[g])):
        if group in kept:
            ids[group] = kept[group]
            continue
        members = sorted(groups[group])
        digest = hashlib.sha256("\n".join(members).encode()).hexdigest()
        stem, length = _stem(model, members, soft or {}, volumes), 4
        while f"{stem}-{digest[:length]}" in taken:
            length += 1
        ids[group] = f"{stem}-{digest[:length]}"
        taken.add(ids[group])
        origin = Counter(former[member] for member in members if member in former)
        if origin:
            parents[ids[group]] = tuple(role for role, _ in origin.most_common(3))
    return Identity(ids, parents)


def _matched(groups: Mapping[int, Sequence[str]], previous: Mapping[str, Sequence[str]]) -> dict[int, str]:
    if not previous:
        return {}
    order, names = sorted(groups), sorted(previous)
    former = {member: at for at, name in enumerate(names) for member in previous[name]}
    overlap = np.zeros((len(order), len(names)))
    for row, group in enumerate(order):
        common = Counter(former[member] for member in groups[group] if member in former)
        for at, count in common.items():
            overlap[row, at] = count / (len(groups[group]) + len(previous[names[at]]) - count)
    rows, columns = linear_sum_assignment(-overlap)
    return {
        order[row]: names[at]
        for row, at in zip(rows.tolist(), columns.tolist(), strict=True)
        if overlap[row, at] >= KEEP
    }
