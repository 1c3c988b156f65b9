"""Where to cut the tree: one decision per branch, by the evidence of the tokens.

A single height does not fit all branches: replicas of a busy service differ in more tokens than two singletons of
different services do. So every merge of the tree is judged by itself. The members of a role show each token with one
probability of their own (Beta prior around the token's overall share, with few pseudo-observations, so that a role
mostly has a token or mostly lacks it). A branch stays whole when its members under one set of probabilities are more
likely than its parts with sets of their own.

References
----------
Heller and Ghahramani, "Bayesian hierarchical clustering", ICML 2005 (the merge test; the tree here is average linkage).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaln

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class CutSettings:
    """How branches are judged.

    Attributes
    ----------
    strength : float
        Pseudo-observations of the prior; small values expect a role to have a token nearly always or nearly never.
    bonus : float
        Nats in favour of each further role.
    height : float
        No role may be wider than this average cosine distance, whatever the tokens say: endpoints about which nothing
        is known would else flow together.
    """

    strength: float = 0.1
    bonus: float = 2.0
    height: float = 0.6


@dataclass(slots=True)
class TokenModel:
    """Marginal likelihood of a group's tokens, for groups of any size.

    Parameters
    ----------
    rows, tokens : ndarray of int
        Endpoint and token of each occurrence, without doubles.
    size : int
        Number of endpoints.
    strength : float
        See `CutSettings`.
    """

    rows: np.ndarray
    tokens: np.ndarray
    size: int
    strength: float
    _a: np.ndarray = field(init=False, repr=False)
    _b: np.ndarray = field(init=False, repr=False)
    _prior: np.ndarray = field(init=False, repr=False)
    _sorted: np.ndarray = field(init=False, repr=False)
    _bounds: np.ndarray = field(init=False, repr=False)
    _single: np.ndarray | None = field(default=None, init=False, repr=False)
    _absent: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        count = int(self.tokens.max()) + 1 if len(self.tokens) else 0
        share = (np.bincount(self.tokens, minlength=count) + 0.5) / (self.size + 1)
        self._a, self._b = self.strength * share, self.strength * (1 - share)
        self._prior = betaln(self._a, self._b)
        order = np.argsort(self.rows, kind="stable")
        self._sorted = self.tokens[order]
        self._bounds = np.searchsorted(self.rows[order], np.arange(self.size + 1))

    def single(self) -> np.ndarray:
        """Log likelihood of every endpoint as a group of its own."""
        if self._single is None:
            self._single = np.zeros(self.size)
            if len(self.tokens):
                absent = betaln(self._a, self._b + 1) - self._prior
                gained = betaln(self._a + 1, self._b) - self._prior - absent
                self._single = absent.sum() + np.bincount(self.rows, weights=gained[self.tokens], minlength=self.size)
        return self._single

    def of(self, endpoint: int) -> np.ndarray:
        """Tokens of one endpoint."""
        return self._sorted[self._bounds[endpoint] : self._bounds[endpoint + 1]]

    def log_likelihood(self, tokens: np.ndarray, counts: np.ndarray, members: int) -> float:
        """Of a group of ``members`` of which ``counts`` have the ``tokens`` and none has any other."""
        if members not in self._absent:
            lacking = betaln(self._a, self._b + members) - self._prior
            self._absent[members] = (lacking, float(lacking.sum()))
        lacking, total = self._absent[members]
        a, b = self._a[tokens], self._b[tokens]
        having = betaln(a + counts, b + members - counts) - self._prior[tokens] - lacking[tokens]
        return total + float(having.sum())

    def group(self, members: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Tokens that occur in a group, with the number of members that have each."""
        found = [self.of(member) for member in members]
        return np.unique(np.concatenate(found), return_counts=True) if found else (np.zeros(0, int), np.zeros(0))

    def gain(self, left: Sequence[int], right: Sequence[int]) -> float:
        """Nats in favour of one role instead of two; negative means two are more likely."""
        a, b = self.group(left), self.group(right)
        whole = _combine((a[0], a[1].astype(float)), (b[0], b[1].astype(float)))
        together = self.log_likelihood(*whole, len(left) + len(right))
        return together - self.log_likelihood(*a, len(left)) - self.log_likelihood(*b, len(right))


def _combine(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    tokens = np.concatenate([left[0], right[0]])
    counts = np.concatenate([left[1], right[1]])
    if not len(tokens):
        return tokens, counts
    unique, inverse = np.unique(tokens, return_inverse=True)
    return unique, np.bincount(inverse, weights=counts)


@dataclass(slots=True)
class _Node:
    table: tuple[np.ndarray, np.ndarray]
    members: int
    best: float
    whole: bool
    left: int = -1
    right: int = -1
    ids: frozenset[int] = frozenset()


def best_partition(
    linkage: np.ndarray,
    model: TokenModel,
    settings: CutSettings,
    *,
    subset: np.ndarray | None = None,
    together: Pairs = (),
    apart: Pairs = (),
) -> np.ndarray:
    """The most likely partition that the tree contains.

    Parameters
    ----------
    linkage : ndarray, (n - 1, 4)
        As `scipy.cluster.hierarchy.linkage` returns it.
    model : TokenModel
        Likelihood of groups.
    settings : CutSettings
        How branches are judged.
    subset : ndarray of int, optional
        Endpoints that are the leaves of the tree; default all.
    together, apart : sequence of pairs of int
        Endpoints (not leaves) that an operator wants in one role, or in two.

    Returns
    -------
    ndarray of int
        A label per endpoint, from 0.
    """
    watched = frozenset(i for pair in (*together, *apart) for i in pair)
    nodes: list[_Node] = []
    leaves = np.arange(model.size) if subset is None else subset
    scores = model.single()
    for index in leaves.tolist():
        tokens = model.of(index)
        table = (tokens, np.ones(len(tokens)))
        nodes.append(_Node(table, 1, float(scores[index]) + settings.bonus, True, ids=watched & {index}))
    for left, right, height, _ in linkage:
        a, b = nodes[int(left)], nodes[int(right)]
        if height > settings.height and not together:
            # Heights only grow towards the root: nothing above can stay whole either.
            empty = (np.zeros(0, dtype=np.int64), np.zeros(0))
            ids = a.ids | b.ids
            nodes.append(_Node(empty, a.members + b.members, a.best + b.best, False, int(left), int(right), ids))
            continue
        table = _combine(a.table, b.table)
        members = a.members + b.members
        parts = a.best + b.best
        whole = model.log_likelihood(*table, members) + settings.bonus
        keep = whole >= parts and height <= settings.height
        if _crosses(a.ids, b.ids, together):
            keep = True
        if _inside(a.ids | b.ids, apart):
            keep = False
        best = whole if keep else parts
        nodes.append(_Node(table, members, best, keep, int(left), int(right), a.ids | b.ids))
        empty = (np.zeros(0, dtype=np.int64), np.zeros(0))
        a.table = b.table = empty
    return _labels(nodes, len(leaves))


def _crosses(left: frozenset[int], right: frozenset[int], pairs: Pairs) -> bool:
    return any((a in left and b in right) or (b in left and a in right) for a, b in pairs)


def _inside(ids: frozenset[int], pairs: Pairs) -> bool:
    return any(a in ids and b in ids for a, b in pairs)


def _labels(nodes: list[_Node], size: int) -> np.ndarray:
    labels = np.full(size, -1, dtype=np.int64)
    stack: list[tuple[int, int]] = [(index, -1) for index in _roots(nodes)]
    fresh = 0
    while stack:
        index, label = stack.pop()
        node = nodes[index]
        if label < 0 and node.whole:
            label, fresh = fresh, fresh + 1
        if node.left < 0:
            labels[index] = label
        else:
            stack += [(node.left, label), (node.right, label)]
    return labels


def _roots(nodes: list[_Node]) -> Iterable[int]:
    children = {child for node in nodes for child in (node.left, node.right)}
    return (index for index in range(len(nodes)) if index not in children)
