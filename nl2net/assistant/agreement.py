"""Several samples: group their results by typed equality, pick the largest group, say how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nl2net.assistant.attempts import Candidate
from nl2net.model import Severity

Equal = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen candidate; ``votes`` of ``drawn`` programs agree with it; ``tied`` when no group is largest.

    ``borrowed`` is the probability of a library program among those that agree, 0 without one.
    """

    candidate: Candidate
    votes: int
    drawn: int
    tied: bool = False
    borrowed: float = 0.0

    @property
    def consistency(self) -> float:
        """Share of the samples that gave this result."""
        return self.votes / self.drawn


def choose(candidates: Sequence[Candidate], equal: Equal) -> Choice:
    """Pick the candidate of the largest group of equal results.

    Parameters
    ----------
    candidates : sequence of Candidate
        In the order drawn; a library program comes first.
    equal : callable
        Typed equality of two reports.

    Notes
    -----
    Candidates that failed count as drawn, so that one success among many failures is no certainty.
    """
    groups: list[list[Candidate]] = []
    for candidate in candidates:
        if not candidate.ok:
            continue
        home = next((group for group in groups if equal(group[0].report, candidate.report)), None)
        if home is None:
            groups.append([candidate])
        else:
            home.append(candidate)
    if not groups:
        spoke = [c for c in candidates if c.report is not None] or list(candidates)
        return Choice(spoke[0], 0, len(candidates))
    largest = max(groups, key=_weight)
    tied = sum(math.isclose(_weight(group), _weight(largest)) for group in groups) > 1
    best = min(largest, key=lambda c: (_serious(c), c.repairs))
    return Choice(best, len(largest), len(candidates), tied, max(c.score for c in largest))


def _serious(candidate: Candidate) -> int:
    return sum(f.severity is not Severity.CAVEAT for f in candidate.findings)


def _weight(group: Sequence[Candidate]) -> float:
    """Votes: less for programs that keep findings, and for a library program by how likely it is the right one.

    One of probability 0.75 outweighs two of three samples of the built-in model that agree, one of 0.2 hardly more
    than one of them.
    """
    return sum(_vote(candidate) for candidate in group)


def _vote(candidate: Candidate) -> float:
    if candidate.origin == "library":
        return 1.0 + 2.0 * candidate.score
    return 1.0 if _serious(candidate) == 0 else 0.5
