"""How likely a verified program of the library is the program for a question: boosted trees over what search found.

The trees are fitted on the development questions by ``python -m nl2net.benchmark.ranking`` and kept as data, so that
asking needs no learning library.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nl2net.assistant.entries import Entry

LISTS = frozenset({"list", "table", "path"})
GROUPS = 10  # programs that are looked at, best first
_FEW = 0.02  # taken off the mean likeness of a program with fewer than three wordings


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry beside a question; ``score`` is what entries are sorted by, ``like`` its part of likeness alone.

    ``mismatch`` counts the words that decide a meaning and stand on one side only; ``covered`` is the share of the
    question's words that the entry has, ``returned`` the share of the entry's words that the question has, both by
    rarity; ``fit`` is the structural likeness; ``program`` and ``question`` are adapted to the schema; ``bound`` is the
    program with the question's names and numbers, if each has a certain place.
    """

    entry: Entry
    score: float
    like: float
    lexical: float
    mismatch: int
    covered: float
    returned: float
    fit: float
    same_class: bool
    words: frozenset[str]
    program: str
    question: str
    bound: str | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """All wordings of one program, best first; ``probability`` that the bound program of ``best`` is the right one."""

    best: Hit
    hits: tuple[Hit, ...]
    probability: float


def rank(groups: Sequence[Sequence[Hit]], words: Counter[str], kind: str, *, fitted: bool = True) -> list[Ranked]:
    """Order programs by the probability that they are right.

    Parameters
    ----------
    groups : sequence of sequence of Hit
        The hits of each program.
    words : Counter
        Words of the question.
    kind : str
        Asked result type, ``""`` if unknown.
    fitted : bool
        Use the trees; without them the likeness of the words alone decides, and hardly any program is sure.
    """
    ordered = sorted((sorted(group, key=lambda h: -h.score) for group in groups), key=lambda g: -g[0].score)[:GROUPS]
    sure = [probability(row) for row in features(ordered, words, kind)] if fitted else [_plain(g) for g in ordered]
    ranked = [
        Ranked(leader(group), tuple(group), value if leader(group).bound is not None else 0.0)
        for group, value in zip(ordered, sure, strict=True)
    ]
    return sorted(ranked, key=lambda r: (-r.probability, -r.best.score))


def leader(group: Sequence[Hit]) -> Hit:
    """The wording that lends its binding: the best that binds, else the best."""
    return next((hit for hit in group if hit.bound is not None), group[0])


def _plain(group: Sequence[Hit]) -> float:
    """A cautious stand-in where there are no sentence vectors: nearly the same words, and none that decides missing."""
    hit = leader(group)
    same = hit.mismatch == 0 and hit.covered >= 0.5
    return (0.9 if hit.like >= 0.85 else 0.6 * hit.like) if same else 0.2 * hit.like


NAMES = (
    "score", "like", "lexical", "mean_of_three", "mismatch", "least_mismatch", "covered", "returned", "all_covered",
    "fit", "margin", "margin_of_three", "bound", "type_same", "type_differs", "same_class", "wordings", "place",
    "gap_to_best",
)  # fmt: skip


def features(groups: Sequence[Sequence[Hit]], words: Counter[str], kind: str) -> list[list[float]]:
    """One row of numbers per program, named by `NAMES`; groups and the hits in them are sorted, best first."""
    best = [group[0].score for group in groups]
    three = [_mean_of_three(group) for group in groups]
    rows = []
    for place, group in enumerate(groups):
        hit = leader(group)
        union = frozenset[str]().union(*(h.words for h in group))
        differs = bool(kind) and kind != hit.entry.result_type and not {kind, hit.entry.result_type} <= LISTS
        rows.append(
            [
                best[place],
                hit.like,
                hit.lexical,
                three[place],
                min(hit.mismatch, 3),
                min(min(h.mismatch for h in group), 3),
                hit.covered,
                hit.returned,
                len(union & words.keys()) / max(1, len(words)),
                hit.fit,
                best[place] - _best_other(best, place),
                three[place] - _best_other(three, place),
                float(hit.bound is not None),
                float(bool(kind) and kind == hit.entry.result_type),
                float(differs),
                float(hit.same_class),
                min(len(group), 6),
                place,
                group[0].score - hit.score,
            ]
        )
    return rows


def _mean_of_three(group: Sequence[Hit]) -> float:
    likes = sorted((hit.like for hit in group), reverse=True)[:3]
    return sum(likes) / len(likes) - (_FEW if len(likes) < 3 else 0.0)


def _best_other(values: Sequence[float], place: int) -> float:
    return max((v for n, v in enumerate(values) if n != place), default=0.3)


@cache
def _model() -> tuple[float, tuple[tuple[tuple[float, ...], ...], ...]]:
    data = json.loads(files("nl2net.assistant").joinpath("data/ranking.json").read_text("utf-8"))
    if tuple(data["features"]) != NAMES:
        raise ValueError("data/ranking.json was fitted for other features; run python -m nl2net.benchmark.ranking")
    return float(data["bias"]), tuple(tuple(tuple(node) for node in tree) for tree in data["trees"])


def probability(row: Sequence[float]) -> float:
    """Probability of one row of features.

    Notes
    -----
    A node of a tree is ``[feature, threshold, left, right]``, a leaf ``[value]``; a value at most the threshold goes
    left.
    """
    total, trees = _model()
    for tree in trees:
        node = tree[0]
        while len(node) == 4:
            node = tree[int(node[2] if row[int(node[0])] <= node[1] else node[3])]
        total += node[0]
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
