"""Paired gaps: how much a rule beats a policy on the same environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.environments.base import Case, Policy
from nl2net.curriculum.policies import play
from nl2net.curriculum.streams import session_seeds

# Sessions played side by side: enough to amortise Python, few enough to stay in the cache.
_BATCH = 2048


@dataclass(slots=True)
class Probe:
    """Scores points of a case's space for a policy, and counts what that costs.

    Parameters
    ----------
    case : Case
    policy : Policy
        The policy under test.
    seed : int
        Of the environments; the same seed and words give the same environments.
    baselines : sequence of str, optional
        The gap is to the best of these; default the case's cheap one.
    allowance : int, optional
        Environment steps that one search may use; the search counts towards a run's budget.
    relative : bool
        Divide by the baseline's distance from zero, so that settings with large rewards do not win by scale.
    """

    case: Case
    policy: Policy
    seed: int
    baselines: Sequence[str] = ()
    relative: bool = False
    spent: int = field(default=0)
    allowance: int | None = None

    def affordable(self, wanted: int, repeats: int) -> int:
        """Points that can be scored within the allowance, at least 16; all of them without one."""
        if self.allowance is None:
            return wanted
        steps = repeats * self.case.make().steps * (1 + max(1, len(self.baselines)))
        return int(np.clip(self.allowance // steps, min(16, wanted), wanted))

    def sessions(self, unit: Floats, repeats: int, *words: object) -> tuple[Floats, Floats]:
        """Scores of the best baseline and of the policy, both of shape (points, repeats)."""
        names = list(self.baselines) or [self.case.gap_baseline]
        values = np.repeat(self.case.space.values(unit), repeats, axis=0)
        seeds = session_seeds(self.seed, *words, count=len(values))
        best, mine = np.empty(len(values)), np.empty(len(values))
        simulator = self.case.make()
        for low in range(0, len(values), _BATCH):
            part = slice(low, low + _BATCH)
            mine[part] = play(self.policy, simulator, values[part], seeds[part]).scores
            rules = [play(self.case.baselines[n](), simulator, values[part], seeds[part]).scores for n in names]
            best[part] = np.max(rules, axis=0)
        self.spent += len(values) * simulator.steps * (1 + len(names))
        shape = (len(unit), repeats)
        return best.reshape(shape), mine.reshape(shape)

    def scores(self, unit: Floats, repeats: int, *words: object) -> Floats:
        """Scores of the policy alone, shape (points, repeats); half as dear as a gap."""
        values = np.repeat(self.case.space.values(unit), repeats, axis=0)
        seeds = session_seeds(self.seed, *words, count=len(values))
        simulator = self.case.make()
        self.spent += len(values) * simulator.steps
        return play(self.policy, simulator, values, seeds).scores.reshape(len(unit), repeats)

    def gaps(self, unit: Floats, repeats: int, *words: object) -> Floats:
        """Baseline minus policy, shape (points, repeats); positive where the policy loses."""
        best, mine = self.sessions(unit, repeats, *words)
        gap = best - mine
        if self.relative:
            gap = gap / np.maximum(np.abs(best).mean(axis=1, keepdims=True), 1e-9)
        return gap
