"""Family A: applications from four templates in production and staging, over shared services."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nl2net.segmentation.evaluation.estate import Estate

TCP, UDP = 6, 17


@dataclass(frozen=True, slots=True)
class Template:
    """Tiers, and calls as (client tier, server tier, port, shape); the first tier is the entry."""

    name: str
    tiers: tuple[str, ...]
    calls: tuple[tuple[str, str, int, str], ...]
    caller: str
    entry_port: int


TEMPLATES = (
    Template(
        "web",
        ("lb", "web", "api", "worker", "cache", "db"),
        (
            ("lb", "web", 8080, "full"),
            ("web", "api", 8080, "balanced"),
            ("api", "cache", 6379, "sharded"),
            ("api", "db", 5432, "full"),
            ("worker", "cache", 6379, "sharded"),
            ("worker", "db", 5432, "balanced"),
        ),
        "api",
        443,
    ),
    Template(
        "pipeline",
        ("ingest", "bus", "consumer", "search"),
        (
            ("ingest", "bus", 9092, "balanced"),
            ("consumer", "bus", 9092, "balanced"),
            ("bus", "bus", 9092, "mesh"),
            ("consumer", "search", 9200, "balanced"),
            ("search", "search", 9300, "mesh"),
        ),
        "consumer",
        8443,
    ),
    Template(
        "batch",
        ("scheduler", "driver", "executor", "store"),
        (
            ("driver", "scheduler", 7077, "full"),
            ("executor", "scheduler", 7077, "full"),
            ("executor", "driver", 4040, "full"),
            ("executor", "executor", 7337, "mesh"),
            ("executor", "store", 9000, "sharded"),
            ("driver", "store", 9000, "full"),
            ("store", "store", 9001, "mesh"),
        ),
        "driver",
        7077,
    ),
    Template(
        "serving",
        ("gateway", "model", "features", "db"),
        (
            ("gateway", "model", 8500, "balanced"),
            ("model", "features", 6566, "balanced"),
            ("features", "db", 3306, "full"),
        ),
        "model",
        443,
    ),
)
_SHARED = (
    # name, members, protocol, port, share of roles that call it
    ("dns", 2, UDP, 53, 1.0),
    ("time", 2, UDP, 123, 1.0),
    ("logs", 2, TCP, 6514, 0.95),
    ("secrets", 2, TCP, 8200, 0.6),
    ("artefacts", 1, TCP, 8081, 0.5),
)


def _size(rng: np.random.Generator, low: float = 1, high: float = 8) -> int:
    return max(1, round(float(np.exp(rng.uniform(np.log(low), np.log(high))))))


def build_family_a(seed: int, *, applications: int = 10) -> Estate:
    """An estate of family A.

    Parameters
    ----------
    seed : int
        Equal seeds give equal estates.
    applications : int
        10 gives about 270 endpoints in 95 roles; 30 about 750 in 270.

    Examples
    --------
    >>> estate = build_family_a(1)
    >>> 80 < len(estate.sizes) < 110
    True
    """
    rng = np.random.default_rng([seed, 1])
    estate = Estate("family A", seed)
    apps: list[tuple[str, Template, int]] = []
    for index in range(applications):
        template = TEMPLATES[int(rng.integers(len(TEMPLATES)))]
        shift = int(rng.integers(1, 400)) * 10 if rng.random() < 0.5 else 0
        sizes = {tier: _size(rng) for tier in template.tiers}
        apps.append((f"app{index}", template, shift))
        for environment in ("prod", "stag"):
            for tier in template.tiers:
                size = sizes[tier] if environment == "prod" else max(1, sizes[tier] // 2)
                estate.add_role(f"{environment}/app{index}/{tier}", size)
            for client, server, port, shape in template.calls:
                prefix = f"{environment}/app{index}/"
                estate.add_flow(prefix + client, prefix + server, TCP, port + shift, shape=shape)
    _cross_calls(estate, apps, rng)
    _shared_services(estate, rng)
    _externals(estate, apps)
    return estate


def _cross_calls(estate: Estate, apps: list[tuple[str, Template, int]], rng: np.random.Generator) -> None:
    for index, (name, template, _) in enumerate(apps):
        if len(apps) < 2 or rng.random() >= 0.6:
            continue
        other = int(rng.integers(len(apps) - 1))
        target, target_template, shift = apps[other + (other >= index)]
        for environment in ("prod", "stag"):
            estate.add_flow(
                f"{environment}/{name}/{template.caller}",
                f"{environment}/{target}/{target_template.tiers[0]}",
                TCP,
                target_template.entry_port + shift,
                shape="balanced",
            )


def _shared_services(estate: Estate, rng: np.random.Generator) -> None:
    roles = list(estate.sizes)
    for name, size, proto, port, share in _SHARED:
        estate.add_role(f"shared/{name}", size)
        for role in roles:
            if rng.random() < share:
                estate.add_flow(role, f"shared/{name}", proto, port, volume=10)
    estate.add_role("shared/monitoring", 1)
    estate.add_role("shared/bastion", 1)
    for role in [*roles, *(f"shared/{name}" for name, *_ in _SHARED)]:
        estate.add_flow("shared/monitoring", role, TCP, 9100)
        estate.add_flow("shared/bastion", role, TCP, 22, volume=4)


def _externals(estate: Estate, apps: list[tuple[str, Template, int]]) -> None:
    estate.add_role("external/users", 40, external=True)
    for name, template, shift in apps:
        if template.name in ("web", "serving", "pipeline"):
            entry = f"prod/{name}/{template.tiers[0]}"
            estate.add_flow("external/users", entry, TCP, template.entry_port + shift, shape="full", volume=5)
