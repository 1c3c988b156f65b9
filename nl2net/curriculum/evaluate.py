"""Measures of a policy on fixed test sets that no choice ever depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from nl2net.curriculum.arrays import Floats, Seeds
from nl2net.curriculum.cases import ORACLES
from nl2net.curriculum.environments.abr import BitrateSimulator
from nl2net.curriculum.environments.base import Case, Policy
from nl2net.curriculum.environments.cc import CongestionSimulator
from nl2net.curriculum.environments.practice import KINDS
from nl2net.curriculum.policies import finish, play
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.curriculum.traces.generators import generate
from nl2net.curriculum.traces.normal import Trace
from nl2net.errors import UserError

_TEST_SEED = 20_261
_VALIDATION_SEED = 77_003
# What a mean is compared with: the best rule that a real sender could run.
REFERENCE = {"abr": "robustmpc", "cc": "bbr", "lb": "sed"}


@dataclass(frozen=True, slots=True)
class Measures:
    """Scores over settings; higher is better.

    Attributes
    ----------
    worst_decile : float
        Mean of the lowest tenth of the settings.
    below_baseline, shortfall : float
        Share of settings below the best rule, and the mean amount by which they are (0 where not).
    """

    mean: float
    worst_decile: float
    below_baseline: float
    shortfall: float
    settings: int


def lowest_tenth(scores: Floats) -> float:
    """Mean of the lowest tenth, one at least.

    Examples
    --------
    >>> lowest_tenth(np.arange(20.0))
    0.5
    """
    return float(np.sort(scores)[: max(1, len(scores) // 10)].mean())


def measure(scores: Floats, baseline: Floats) -> Measures:
    """All measures, paired with the best rule on the same environments."""
    behind = baseline - scores
    return Measures(
        float(scores.mean()),
        lowest_tenth(scores),
        float((behind > 0).mean()),
        float(np.maximum(behind, 0).mean()),
        len(scores),
    )


def rule_summary(scores: Floats) -> dict[str, float]:
    """Mean and worst decile of a rule."""
    return {"mean": float(scores.mean()), "worst_decile": lowest_tenth(scores)}


def uniform_set(case: Case, *, settings: int = 400, seed: int = _TEST_SEED) -> tuple[Floats, Seeds]:
    """Settings drawn uniformly from the case's space, always the same ones."""
    points = generator(seed, "settings", case.name, case.space.name).random((settings, case.space.size))
    return case.space.values(points), session_seeds(seed, "environments", case.name, count=settings)


def default_set(case: Case, *, sessions: int = 100, seed: int = _TEST_SEED) -> tuple[Floats, Seeds]:
    """Environments of the published default scenario."""
    return np.repeat(case.space.default(), sessions, axis=0), session_seeds(seed, "default", case.name, count=sessions)


def rule_scores(case: Case, points: Floats, seeds: Seeds, *, names: Sequence[str]) -> dict[str, Floats]:
    """Scores of rules on given environments."""
    return {name: play(case.baselines[name](), case.make(), points, seeds).scores for name in names}


def evaluate(case: Case, policy: Policy, baselines: Mapping[str, Mapping[str, Floats]]) -> dict[str, Measures]:
    """Measures on every test set of the case.

    Parameters
    ----------
    case : Case
    policy : Policy
    baselines : mapping
        Of test set to the scores of the rules on it, as `baseline_table` gives them.
    """
    found = {}
    for name, (points, seeds) in test_sets(case).items():
        best = np.max(list(baselines[name].values()), axis=0)
        found[name] = measure(play(policy, case.make(), points, seeds).scores, best)
    return found


def test_sets(case: Case) -> dict[str, tuple[Floats, Seeds]]:
    """Named sets of environments for the final figures."""
    return {"uniform": uniform_set(case), "default": default_set(case)}


def oracle_table(case: Case) -> dict[str, dict[str, Floats]]:
    """Scores of the rules that know what is to come, on every test set; empty where a case has none."""
    names = [name for name in case.baselines if name in ORACLES]
    return {key: rule_scores(case, *sets, names=names) for key, sets in test_sets(case).items()}


def baseline_table(case: Case) -> dict[str, dict[str, Floats]]:
    """Scores of every rule that a real sender could run, on every test set."""
    names = [name for name in case.baselines if name not in (*ORACLES, "lowest")]
    return {key: rule_scores(case, *sets, names=names) for key, sets in test_sets(case).items()}


def validation_score(case: Case, policy: Policy) -> float:
    """Mean plus worst decile on validation settings, for choosing a checkpoint; disjoint from every test."""
    points, seeds = uniform_set(case, settings=200, seed=_VALIDATION_SEED)
    default = default_set(case, sessions=40, seed=_VALIDATION_SEED)
    wide = play(policy, case.make(), points, seeds).scores
    usual = play(policy, case.make(), *default).scores
    sets = [wide, usual, *(play_traces(policy, case, traces) for traces in validation_traces(case.name))]
    return float(sum(scores.mean() + lowest_tenth(scores) for scores in sets))


@cache
def validation_traces(case: str) -> tuple[Sequence[Trace], ...]:
    """Generated traces of every kind that bitrate trains on, with seeds of their own; none for the other cases."""
    if case != "abr":
        return ()
    return tuple(generate(kind, seed=_VALIDATION_SEED, count=40) for kind in KINDS)


def play_traces(policy: Policy, case: Case, traces: Sequence[Trace]) -> Floats:
    """Scores on given traces: 80 ms and a buffer of 60 s for bitrate; the file's delay and queue for congestion."""
    simulator = case.make()
    if isinstance(simulator, BitrateSimulator | CongestionSimulator):
        return finish(policy, simulator, simulator.reset_on(traces)).scores
    raise UserError(f"{case.name} has no traces", hint="Traces serve abr and cc.")
