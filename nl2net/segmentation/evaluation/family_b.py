"""Family B, from another idea than A: sites with fleets of devices, over a data centre of services.

Nothing here has templates, staging copies or replicas behind balancers in the sense of family A: roles are fleets at
sites (hub and spoke, many clients with few tokens), peer-to-peer clusters, and a random layered call graph of services
on few well-known ports.
"""

from __future__ import annotations

import numpy as np

from nl2net.segmentation.evaluation.estate import Estate

TCP, UDP = 6, 17
_FLEETS = (
    # device, controller at the site, protocol, port, central service port
    ("camera", "recorder", TCP, 554, 0),
    ("till", "payhub", TCP, 8443, 1),
    ("badge", "doors", TCP, 4070, 0),
    ("phone", "voice", UDP, 5060, 1),
    ("sensor", "gateway", TCP, 1883, 0),
    ("desk", "files", TCP, 445, 2),
    ("access", "wireless", UDP, 5246, 0),
)
_LAYERS = ((443, 8443), (8080, 50051), (5432, 6379, 27017, 9042))


def build_family_b(seed: int, *, sites: int = 5, services: int = 22) -> Estate:
    """An estate of family B of about 300 endpoints.

    Examples
    --------
    >>> estate = build_family_b(1)
    >>> 200 < sum(estate.sizes.values()) < 420
    True
    """
    rng = np.random.default_rng([seed, 2])
    estate = Estate("family B", seed)
    front = _services(estate, rng, services)
    for site in range(sites):
        _site(estate, rng, f"site{site}", front)
    _clusters(estate, rng)
    _common(estate, rng)
    return estate


def _services(estate: Estate, rng: np.random.Generator, count: int) -> list[tuple[str, int]]:
    """A layered random call graph; returns the front services with their ports."""
    layers: list[list[tuple[str, int]]] = [[], [], []]
    for index in range(count):
        layer = int(rng.choice(3, p=[0.25, 0.45, 0.3]))
        port = int(rng.choice(_LAYERS[layer]))
        size = int(rng.integers(2, 9)) if layer < 2 else int(rng.integers(1, 4))
        layers[layer].append((estate.add_role(f"dc/service{index}", size), port))
    for upper, lower in ((0, 1), (1, 1), (1, 2)):
        for role, _ in layers[upper]:
            targets = [item for item in layers[lower] if item[0] != role]
            for at in rng.choice(len(targets), size=min(len(targets), int(rng.integers(1, 4))), replace=False):
                target, port = targets[int(at)]
                shape = "full" if lower == 2 else "balanced"
                estate.add_flow(role, target, TCP, port, shape=shape, volume=30)
    return layers[0] or layers[1]


def _site(estate: Estate, rng: np.random.Generator, site: str, front: list[tuple[str, int]]) -> None:
    for device, controller, proto, port, central in _FLEETS:
        if rng.random() < 0.2:
            continue
        fleet = estate.add_role(f"{site}/{device}", int(rng.integers(3, 13)))
        hub = estate.add_role(f"{site}/{controller}", int(rng.integers(1, 3)))
        estate.add_flow(fleet, hub, proto, port, shape="full")
        if central:
            target, target_port = front[int(rng.integers(len(front)))]
            estate.add_flow(hub if central == 1 else fleet, target, TCP, target_port, shape="balanced", volume=8)
        if device == "camera":
            estate.add_flow(hub, fleet, TCP, 80, shape="full", volume=3)
        if device == "access":
            estate.add_flow(hub, fleet, UDP, 161, shape="full", volume=6)


def _clusters(estate: Estate, rng: np.random.Generator) -> None:
    for name, client_port, gossip in (("cassandra", 9042, 7000), ("etcd", 2379, 2380), ("consul", 8500, 8301)):
        cluster = estate.add_role(f"dc/{name}", int(rng.integers(3, 8)))
        estate.add_flow(cluster, cluster, TCP, gossip, shape="mesh")
        users = [role for role in estate.sizes if role.startswith("dc/service")]
        for at in rng.choice(len(users), size=4, replace=False):
            estate.add_flow(users[int(at)], cluster, TCP, client_port, shape="balanced")


def _common(estate: Estate, rng: np.random.Generator) -> None:
    roles = list(estate.sizes)
    dns = estate.add_role("common/dns", 2)
    directory = estate.add_role("common/directory", 2)
    backup = estate.add_role("common/backup", 1)
    monitor = estate.add_role("common/monitor", 1)
    for role in roles:
        estate.add_flow(role, dns, UDP, 53)
        if "/desk" in role or rng.random() < 0.3:
            estate.add_flow(role, directory, TCP, 389, volume=6)
        if role.startswith("dc/"):
            estate.add_flow(monitor, role, TCP, 9100)
            if rng.random() < 0.5:
                estate.add_flow(backup, role, TCP, 10050, volume=3)
