"""Addresses that stand for many endpoints: gateways, balancers, translated sources, remote sites."""

from __future__ import annotations

from collections import Counter

from nl2net.segmentation.endpoints import Population
from nl2net.segmentation.roles import RoleModel

_KINDS = 3
_COVERED = 0.9


def shared_endpoints(population: Population, model: RoleModel) -> frozenset[str]:
    """Clients whose services are those of several whole roles at once.

    Parameters
    ----------
    population : Population
        Clean edges.
    model : RoleModel
        Groups of endpoints.

    Notes
    -----
    Without client ports in the typed edges the test rests on tokens: an address that is alone in its role and consumes,
    fully, what three or more other roles consume (services that most roles use do not count). It is marked for review
    and never merged; it does not lose its own role.
    """
    edges = population.edges[population.learn]
    used: dict[str, set[tuple[str, int, int]]] = {}
    for client, server, proto, port in zip(
        edges["client"].tolist(), edges["server"].tolist(), edges["proto"].tolist(), edges["port"].tolist(), strict=True
    ):
        used.setdefault(client, set()).add((server, proto, port))
    common = Counter(service for services in used.values() for service in services)
    many = 0.3 * max(1, len(used))
    specific = {client: {s for s in services if common[s] < many} for client, services in used.items()}
    groups = model.groups()
    by_label = {
        label: set.intersection(*(specific.get(name, set()) for name in names))
        for label, names in groups.items()
        if len(names) >= 2
    }
    wholes = {label: services for label, services in by_label.items() if services}
    found = set()
    for names in groups.values():
        if len(names) != 1 or not population.inside.get(names[0], False):
            continue
        own = specific.get(names[0], set())
        kinds = [services for services in wholes.values() if len(services & own) >= _COVERED * len(services)]
        explained = set().union(*kinds) if kinds else set()
        if len(kinds) >= _KINDS and len(own & explained) >= _COVERED * len(own):
            found.add(names[0])
    return frozenset(found)
