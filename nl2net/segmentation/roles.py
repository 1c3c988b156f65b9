"""Roles of endpoints from typed edges: no labels, no number of roles, no model.

Round 0 clusters on the endpoints' own service tokens; refinement adds tokens that name the role of the peer instead of
the peer, clusters again, and cuts every branch by the evidence (`nl2net.segmentation.cut`). Two rounds of refinement:
the first one works on fine groups, so that hubs of one site or environment still tell their clients apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nl2net.segmentation.adopt import adopt_small
from nl2net.segmentation.cluster import DENSE_LIMIT, build_tree, leiden, mutual, sparse_similarity
from nl2net.segmentation.cut import CutSettings, TokenModel, best_partition
from nl2net.segmentation.endpoints import Population
from nl2net.segmentation.hints import Hints
from nl2net.segmentation.settle import settle
from nl2net.segmentation.tokens import ROLE, TokenTable, Vectors, Weights, edge_tokens, role_tokens, token_codes, weigh

_BATCH = 300


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """Frozen settings of role inference.

    Attributes
    ----------
    first_cut : float
        Height of the fixed cut of round 0, on purpose a fine one.
    cut : CutSettings
        How branches are judged in refinement.
    unique : str
        Treatment of tokens that one endpoint alone has.
    refinements : int
        Rounds with role tokens.
    fixed : float, optional
        Height of one cut for all branches instead of `cut` (for ablations).
    settling : float, optional
        Nats by which another role must explain an endpoint better before it moves there; None leaves it where the cut
        put it.
    """

    first_cut: float = 0.5
    cut: CutSettings = field(default_factory=CutSettings)
    unique: str = "length"
    idf: bool = True
    ports: bool = True
    refinements: int = 2
    adoption: bool = True
    fixed: float | None = None
    settling: float | None = 2.0
    seed: int = 1


@dataclass(slots=True)
class RoleModel:
    """Endpoints with their group, and what is needed to explain and extend it.

    ``names[i]`` is endpoint i, ``labels[i]`` its group from 0; ``table`` holds all tokens including role tokens of the
    last round, ``model`` their likelihood, ``vectors`` the weighted form.
    """

    population: Population
    names: tuple[str, ...]
    labels: np.ndarray
    table: TokenTable
    model: TokenModel
    vectors: Vectors
    settings: RoleSettings
    silent: frozenset[str] = frozenset()

    def groups(self) -> dict[int, list[str]]:
        """Members of every group."""
        found: dict[int, list[str]] = {}
        for name, label in zip(self.names, self.labels.tolist(), strict=True):
            found.setdefault(label, []).append(name)
        return found


def infer_roles(
    population: Population,
    settings: RoleSettings | None = None,
    hints: Hints | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> RoleModel:
    """Group the endpoints of a population into roles.

    Parameters
    ----------
    population : Population
        From `nl2net.segmentation.endpoints.survey`.
    settings : RoleSettings, optional
        Frozen settings.
    hints : Hints, optional
        Soft hints vote for the cut; hard ones constrain it.
    check : callable, optional
        Called before each cut that is tried; may raise to end the work.

    Returns
    -------
    RoleModel
        Scanners are not part of it; endpoints without a clean edge are alone and listed as ``silent``.
    """
    settings, hints = settings or RoleSettings(), hints or Hints()
    scanners = set(population.scanners)
    names = tuple(name for name in population.inside if name not in scanners)
    index = {name: at for at, name in enumerate(names)}
    table = edge_tokens(population.edges[population.learn], index)
    numbers = {label: at for at, label in enumerate(sorted(set(hints.soft.values())))}
    soft = np.array([numbers[hints.soft[name]] if name in hints.soft else -1 for name in names], dtype=np.int64)
    best: tuple[float, RoleModel] | None = None
    for candidate in _candidates(settings, hints):
        check()
        model = _infer(population, names, table, settings=candidate, hints=hints.indexed(index), soft=soft)
        vote = hints.agreement(names, model.labels)
        if best is None or vote > best[0] + 1e-9:
            best = vote, model
    if best is None:
        raise AssertionError("there is always one candidate")
    return best[1]


def _candidates(settings: RoleSettings, hints: Hints) -> list[RoleSettings]:
    """Soft hints vote among neighbouring cuts; without hints the frozen setting stands."""
    if not hints.soft or settings.fixed is not None:
        return [settings]
    from dataclasses import replace

    heights = (0.0, -0.1, 0.1, -0.25, -0.4, -0.55)
    return [
        replace(settings, cut=replace(settings.cut, height=settings.cut.height + shift, strength=strength))
        for shift in heights
        for strength in (settings.cut.strength, settings.cut.strength / 4)
    ]


def _infer(
    population: Population,
    names: tuple[str, ...],
    table: TokenTable,
    *,
    settings: RoleSettings,
    hints: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]],
    soft: np.ndarray,
) -> RoleModel:
    first = Weights(unique=settings.unique, idf=settings.idf, ports=settings.ports)
    later = Weights(peer=0.5, unique=settings.unique, idf=settings.idf, ports=settings.ports)
    vectors = weigh(table, first)
    labels = _cut_all(vectors, None, settings, hints, height=settings.first_cut)
    full = role_tokens(table, labels)
    model = _token_model(full, settings)
    for _ in range(settings.refinements):
        full = role_tokens(table, labels)
        model = _token_model(full, settings)
        vectors = weigh(full, later)
        labels = _cut_all(vectors, model, settings, hints, height=settings.fixed)
    if settings.adoption:
        labels = adopt_small(full, labels)
    if settings.settling is not None:
        labels = settle(full, labels, margin=settings.settling, soft=soft)
    labels = _honour(labels, hints)
    seen = set(table.frame["endpoint"].tolist())
    labels = _alone(labels, [at for at in range(len(names)) if at not in seen])
    return model_with(population, labels, settings)


def _alone(labels: np.ndarray, members: list[int]) -> np.ndarray:
    """Endpoints about which nothing is known do not form a role."""
    labels = labels.copy()
    labels[members] = labels.max(initial=-1) + 1 + np.arange(len(members))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _honour(labels: np.ndarray, hints: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]) -> np.ndarray:
    """Hard hints hold after adoption, too; who is to be apart takes along those who are to be with him."""
    labels = labels.copy()
    for a, b in hints[0]:
        labels[labels == labels[b]] = labels[a]
    for a, b in hints[1]:
        if labels[a] == labels[b]:
            labels[_tied(b, hints[0])] = labels.max() + 1
    return labels


def _tied(member: int, together: Sequence[tuple[int, int]]) -> list[int]:
    """An endpoint with all that chains of ``together`` tie to it."""
    found, waiting = {member}, [member]
    while waiting:
        one = waiting.pop()
        for a, b in together:
            other = b if a == one else a if b == one else one
            if other not in found:
                found.add(other)
                waiting.append(other)
    return sorted(found)


def _token_model(table: TokenTable, settings: RoleSettings) -> TokenModel:
    roles = table.frame[table.frame["kind"] == ROLE]
    codes, _ = token_codes(roles)
    return TokenModel(roles["endpoint"].to_numpy(), codes, table.size, settings.cut.strength)


def _cut_all(
    vectors: Vectors,
    model: TokenModel | None,
    settings: RoleSettings,
    hints: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]],
    *,
    height: float | None,
) -> np.ndarray:
    """Labels over one tree, or over one tree per community when there are too many endpoints for all pairs."""
    size = vectors.matrix.shape[0]
    together, apart = hints
    labels = np.zeros(size, dtype=np.int64)
    fresh = 0
    for part in _communities(vectors, settings.seed):
        if len(part) == 1:
            labels[part], fresh = fresh, fresh + 1
            continue
        tree = build_tree(vectors.matrix[part], _constraints(part, together))
        if height is not None or model is None:
            found = tree.cut(height if height is not None else settings.first_cut)
        else:
            found = best_partition(tree.linkage, model, settings.cut, subset=part, together=together, apart=apart)
        labels[part] = found + fresh
        fresh += int(found.max(initial=-1)) + 1
    return labels


def _constraints(part: np.ndarray, together: Sequence[tuple[int, int]]) -> np.ndarray | None:
    if not together:
        return None
    at = {int(endpoint): index for index, endpoint in enumerate(part)}
    pairs = [(at[a], at[b]) for a, b in together if a in at and b in at]
    if not pairs:
        return None
    wanted = np.full((len(part), len(part)), np.nan, dtype=np.float32)
    for a, b in pairs:
        wanted[a, b] = wanted[b, a] = 0.0
    return wanted


def _communities(vectors: Vectors, seed: int) -> list[np.ndarray]:
    size = vectors.matrix.shape[0]
    if size <= DENSE_LIMIT:
        return [np.arange(size)]
    graph = mutual(sparse_similarity(vectors.matrix))
    parts: list[np.ndarray] = []
    waiting = [(np.arange(size), 0.05)]
    while waiting:
        part, resolution = waiting.pop()
        groups = leiden(graph[part][:, part], resolution, seed=seed)
        order = np.argsort(groups, kind="stable")
        for piece in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            if len(piece) > DENSE_LIMIT and resolution < 0.9:
                waiting.append((part[piece], resolution * 2))
            else:
                parts.append(part[piece])
    return _batches(parts)


def _batches(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Small communities share a tree: a thousand trees of four endpoints cost more than ten of four hundred."""
    batches: list[np.ndarray] = []
    waiting: list[np.ndarray] = []
    for part in sorted(parts, key=lambda piece: int(piece[0])):
        if len(part) >= _BATCH:
            batches.append(part)
            continue
        waiting.append(part)
        if sum(map(len, waiting)) >= _BATCH:
            batches.append(np.concatenate(waiting))
            waiting = []
    return batches + ([np.concatenate(waiting)] if waiting else [])


def model_with(population: Population, labels: np.ndarray, settings: RoleSettings | None = None) -> RoleModel:
    """A model with given groups, such as those of an edited ``roles.csv``.

    Parameters
    ----------
    population : Population
        Edges and endpoints.
    labels : ndarray of int
        Group of every endpoint that is no scanner, in the order of ``population.inside``.
    """
    settings = settings or RoleSettings()
    scanners = set(population.scanners)
    names = tuple(name for name in population.inside if name not in scanners)
    table = edge_tokens(population.edges[population.learn], {name: at for at, name in enumerate(names)})
    full = role_tokens(table, labels)
    seen = set(table.frame["endpoint"].tolist())
    silent = frozenset(name for at, name in enumerate(names) if at not in seen)
    vectors = weigh(full, Weights(peer=0.5, unique=settings.unique, idf=settings.idf, ports=settings.ports))
    return RoleModel(population, names, labels, full, _token_model(full, settings), vectors, settings, silent)
