"""The protocol: families, seeds, our method, baselines, ablations, policies on the later window. One command.

``python -m nl2net.segmentation.evaluation --seeds 101-105 --baselines`` prints every figure with mean and range.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, v_measure_score

from nl2net.segmentation.endpoints import Population, survey
from nl2net.segmentation.evaluation.baselines import cloudcluster_like, jaccard, role2vec_like, simrank
from nl2net.segmentation.evaluation.estate import DEFAULT, NOISY, Difficulty, Estate, Observer, Window
from nl2net.segmentation.evaluation.family_a import build_family_a
from nl2net.segmentation.evaluation.family_b import build_family_b
from nl2net.segmentation.evaluation.zts_like import zts_like
from nl2net.segmentation.identity import identify
from nl2net.segmentation.place import place_endpoints
from nl2net.segmentation.policy.measure import Trade, measure, reach
from nl2net.segmentation.policy.modes import build_policy
from nl2net.segmentation.policy.synthesis import Roles
from nl2net.segmentation.roles import RoleModel, RoleSettings, infer_roles

DEVELOPMENT = (1, 2, 3)
PUBLISHED = (101, 102, 103, 104, 105)


@dataclass(frozen=True, slots=True)
class Family:
    """A named workload: how to build the estate and how badly it is seen."""

    name: str
    build: Callable[[int], Estate]
    difficulty: Difficulty


FAMILIES: dict[str, Family] = {
    "default": Family("default", build_family_a, DEFAULT),
    "noisy": Family("noisy", build_family_a, NOISY),
    "large": Family("large", partial(build_family_a, applications=30), DEFAULT),
    "sites": Family("sites", build_family_b, DEFAULT),
    "sites-noisy": Family("sites-noisy", build_family_b, NOISY),
}
ABLATIONS: dict[str, RoleSettings] = {
    "no idf": RoleSettings(idf=False),
    "no refinement": RoleSettings(refinements=0),
    "one refinement": RoleSettings(refinements=1),
    "no ports": RoleSettings(ports=False),
    "unique joint": RoleSettings(unique="joint"),
    "unique drop": RoleSettings(unique="drop"),
    "no adoption": RoleSettings(adoption=False),
    "no settling": RoleSettings(settling=None),
    "fixed cut 0.5": RoleSettings(fixed=0.5),
    "fixed cut 0.4": RoleSettings(fixed=0.4),
}


@dataclass(frozen=True, slots=True)
class Scores:
    """Agreement with the true roles; pair precision falls with wrong merges, pair recall with wrong splits."""

    ari: float
    ami: float
    v: float
    pair_precision: float
    pair_recall: float


def settings_hash(settings: RoleSettings) -> str:
    """First digits of the hash of frozen settings, printed with every result."""
    return hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:12]


def score(truth: Sequence[str], labels: Sequence[int]) -> Scores:
    """Compare groups with true roles.

    Examples
    --------
    >>> score(["a", "a", "b"], [0, 0, 1]).ari
    1.0
    """
    table = np.unique(
        np.unique(truth, return_inverse=True)[1] * (max(labels) + 1) + np.asarray(labels), return_counts=True
    )[1]
    pairs = float((table * (table - 1)).sum())
    found = np.unique(labels, return_counts=True)[1]
    meant = np.unique(truth, return_counts=True)[1]
    return Scores(
        float(adjusted_rand_score(truth, labels)),
        float(adjusted_mutual_info_score(truth, labels)),
        float(v_measure_score(truth, labels)),
        pairs / max(1.0, float((found * (found - 1)).sum())),
        pairs / max(1.0, float((meant * (meant - 1)).sum())),
    )


@dataclass(frozen=True, slots=True)
class Case:
    """One estate seen in two windows."""

    estate: Estate
    first: Window
    second: Window
    population: Population


def make_case(family: Family, seed: int) -> Case:
    """Build and observe one estate."""
    observer = Observer(family.build(seed), family.difficulty)
    first, second = observer.window(), observer.window()
    return Case(observer.estate, first, second, survey(first.edges))


def _labelled(case: Case, model: RoleModel) -> np.ndarray:
    names = model.names
    return np.array([at for at, n in enumerate(names) if n in case.first.roles and case.population.inside[n]])


def score_roles(case: Case, settings: RoleSettings | None = None) -> tuple[Scores, RoleModel]:
    """Our method on the first window, over all endpoints inside that it shows."""
    model = infer_roles(case.population, settings)
    rows = _labelled(case, model)
    return score([case.first.roles[model.names[at]] for at in rows], model.labels[rows].tolist()), model


def score_baselines(case: Case, model: RoleModel, seed: int) -> dict[str, float]:
    """ARI of every baseline, each with the true number of roles."""
    rows = _labelled(case, model)
    truth = [case.first.roles.get(name, "") for name in model.names]
    groups = len(set(truth))
    found: dict[str, np.ndarray] = {
        "jaccard": jaccard(model, groups),
        "simrank": simrank(model, groups),
        "role2vec-like": role2vec_like(model, groups, seed=seed),
        "cloudcluster-like": cloudcluster_like(model, groups),
    }
    for share in (0.0, 0.15, 0.23):
        found[f"zts-like {share:.0%} labels"] = zts_like(model, groups, truth, labelled=share, seed=seed)
    wanted = [truth[at] for at in rows]
    return {name: float(adjusted_rand_score(wanted, labels[rows])) for name, labels in found.items()}


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """Ours and the true roles' trade-off on the later window, and reach of ours."""

    ours: Trade
    true: Trade
    reach_1: float
    reach_3: float


def score_policy(case: Case, model: RoleModel) -> PolicyResult:
    """Rules learnt on the first window, measured on intended edges of the second."""
    ids = identify(model).ids
    ours: dict[str, list[str]] = {}
    true: dict[str, list[str]] = {}
    for name, label in zip(model.names, model.labels.tolist(), strict=True):
        ours.setdefault(ids[label], []).append(name)
        if name in case.first.roles:
            true.setdefault(case.first.roles[name], []).append(name)
    inside = case.population.inside
    external = frozenset(role for role, names in ours.items() if not any(inside[name] for name in names))
    policy = build_policy(case.population, Roles(ours, external=external))
    reference = build_policy(case.population, Roles(true, external=frozenset(case.estate.externals)))
    later = case.second.edges[case.second.legitimate]
    placed = place_endpoints(model, ids, survey(case.second.edges))
    truth, rules = case.first.roles, case.estate.rules
    return PolicyResult(
        measure(policy, later, role_of=placed, truth=truth, intended=rules),
        measure(reference, later, role_of=case.second.roles, truth=truth, intended=rules),
        reach(policy, 1),
        reach(policy, 3),
    )


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} [{min(values):.3f}-{max(values):.3f}]"


def evaluate_family(
    family: Family, seeds: Sequence[int], *, baselines: bool = False, ablations: bool = False, policies: bool = True
) -> list[str]:
    """Lines with every figure of one family: what, mean, range; no oracle for ours, true K for baselines."""
    settings = RoleSettings()
    lines = [f"family {family.name}, seeds {','.join(map(str, seeds))}, settings {settings_hash(settings)}"]
    ours: list[Scores] = []
    others: dict[str, list[float]] = {}
    trades: list[PolicyResult] = []
    for seed in seeds:
        case = make_case(family, seed)
        scores, model = score_roles(case)
        ours.append(scores)
        if baselines:
            for name, value in score_baselines(case, model, seed).items():
                others.setdefault(name, []).append(value)
        if ablations:
            for name, changed in ABLATIONS.items():
                others.setdefault(f"ablation: {name}", []).append(score_roles(case, changed)[0].ari)
        if policies:
            trades.append(score_policy(case, model))
    for word in ("ari", "ami", "v", "pair_precision", "pair_recall"):
        lines.append(f"  ours, no labels, unknown K: {word} {_spread([getattr(s, word) for s in ours])}")
    lines += [f"  {name}: ari {_spread(values)}" for name, values in others.items()]
    for word, picked in (("ours", [t.ours for t in trades]), ("true roles", [t.true for t in trades])):
        if picked:
            lines.append(
                f"  policy of {word}: violation {_spread([t.violation for t in picked])}, over-permission "
                f"{_spread([t.over_permission for t in picked])}, rules {np.mean([t.rules for t in picked]):.0f}"
            )
    if trades:
        lines.append(
            f"  reach: 1 hop {_spread([t.reach_1 for t in trades])}, 3 hops {_spread([t.reach_3 for t in trades])}"
        )
    return lines
