"""The three modes of a policy, from one set of accepted rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.cluster.hierarchy as hierarchy
from scipy.spatial.distance import pdist

from nl2net.segmentation.endpoints import Population
from nl2net.segmentation.frames import rows_of
from nl2net.segmentation.policy.baselines import with_baselines
from nl2net.segmentation.policy.measure import allows
from nl2net.segmentation.policy.rules import Evidence, Mode, Policy, Rule
from nl2net.segmentation.policy.synthesis import Roles, synthesise

_PARENT_DISTANCE = 0.5


def build_policy(population: Population, roles: Roles, mode: Mode = Mode.ROLE) -> Policy:
    """A policy of one mode, with baselines marked.

    Parameters
    ----------
    population : Population
        Typed edges.
    roles : Roles
        Who belongs where.
    mode : Mode
        Strict narrows the accepted role rules to the observed pairs; generalised lets all roles of the client's kind
        (same services served and consumed) use a rule.
    """
    base = synthesise(population, roles, Mode.ROLE)
    if mode is Mode.STRICT:
        return _strict(population, base)
    policy = with_baselines(base, external=roles.external, quarantine=roles.quarantine)
    if mode is Mode.ROLE:
        return policy
    return with_baselines(_generalised(base, roles), external=roles.external, quarantine=roles.quarantine)


def _strict(population: Population, base: Policy) -> Policy:
    """Every observed pair that a role rule covers becomes a rule between two endpoints."""
    edges = population.edges[allows(base, population.edges)]
    edges = edges[edges["connections"] > 0]
    rules = []
    for row in rows_of(edges):
        evidence = Evidence(
            clients=1,
            servers=1,
            client_share=1.0,
            server_share=1.0,
            buckets=int(row.buckets),
            connections=int(row.connections),
            bytes=int(row.bytes),
            denied=int(row.denied),
            first_seen=pd.Timestamp(row.first_seen).isoformat(),
            last_seen=pd.Timestamp(row.last_seen).isoformat(),
            samples=(f"{row.client} > {row.server}",),
        )
        rules.append(Rule(row.client, row.server, int(row.proto), int(row.port), int(row.port), evidence))
    members = {name: (name,) for names in base.members.values() for name in names}
    rules.sort(key=lambda rule: rule.id)
    return Policy(Mode.STRICT, tuple(rules), base.review, members, base.notes)


def parent_scopes(policy: Policy) -> Mapping[str, int]:
    """Groups of roles of one kind: those that serve and consume much the same services."""
    roles = sorted(policy.members)
    services = sorted({(side, rule.proto, rule.port_low) for rule in policy.rules for side in (0, 1)})
    at = {service: i for i, service in enumerate(services)}
    row = {role: i for i, role in enumerate(roles)}
    table = np.zeros((len(roles), max(1, len(services))), dtype=bool)
    for rule in policy.rules:
        if rule.client in row and rule.server in row:
            table[row[rule.client], at[(0, rule.proto, rule.port_low)]] = True
            table[row[rule.server], at[(1, rule.proto, rule.port_low)]] = True
    if len(roles) < 2:
        return dict.fromkeys(roles, 0)
    labels = hierarchy.fcluster(hierarchy.linkage(pdist(table, "jaccard"), "average"), _PARENT_DISTANCE, "distance")
    return dict(zip(roles, labels.tolist(), strict=True))


def _generalised(base: Policy, roles: Roles) -> Policy:
    scope = parent_scopes(base)
    inner = [role for role in base.members if role not in roles.external and role not in roles.quarantine]
    kin: dict[int, list[str]] = {}
    for role in inner:
        kin.setdefault(scope[role], []).append(role)
    rules = {(rule.client, rule.server, rule.proto, rule.port_low): rule for rule in base.rules}
    for rule in base.rules:
        relatives: Sequence[str] = kin.get(scope[rule.client], ()) if rule.client in inner else ()
        for other in relatives:
            key = (other, rule.server, rule.proto, rule.port_low)
            if key not in rules:
                note = f"generalised from {rule.client}: not observed"
                rules[key] = replace(rule, client=other, evidence=Evidence(), note=note)
    return replace(base, mode=Mode.GENERALISED, rules=tuple(sorted(rules.values(), key=lambda rule: rule.id)))
