"""Where a policy loses to a baseline: boxes in plain words, terms of the reward, examples to replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.environments.base import Case, Policy
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.policies import play
from nl2net.curriculum.search import Findings, Settings, Spot, find_weak_spots
from nl2net.curriculum.streams import derive, session_seeds


@dataclass(frozen=True, slots=True)
class Example:
    """One session that can be played again by its parameters and seed."""

    parameters: Mapping[str, float]
    seed: int
    policy_score: float
    baseline_score: float


@dataclass(frozen=True, slots=True)
class Described:
    """A box with everything that a reader wants to know of it."""

    words: str
    share: float
    effect: float
    low: float
    high: float
    p: float
    terms: Mapping[str, float]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A report on one policy against one baseline."""

    case: str
    policy: str
    baseline: str
    unit: str
    seed: int
    mean_gap: float
    detectable: float
    weak: tuple[Described, ...]
    strong: tuple[Described, ...]
    findings: Findings

    def to_json(self) -> dict[str, Any]:
        """A table and its context; `ask` can answer questions on it."""
        rows = []
        for kind, spots in (("loses", self.weak), ("wins", self.strong)):
            rows += [{"kind": kind, **asdict(spot)} for spot in spots]
        keys = ("case", "policy", "baseline", "unit", "seed", "mean_gap", "detectable")
        return {"version": 1, **{key: getattr(self, key) for key in keys}, "regions": rows}

    def text(self) -> str:
        """The report in sentences."""
        lines = [f"{self.policy} against {self.baseline} ({self.case}), mean gap {self.mean_gap:+.3g} {self.unit}"]
        for spot in self.weak:
            lines.append(_sentence("Loses to", spot, self.baseline, unit=self.unit))
        if not self.weak:
            lines.append(f"No weak spot found down to an effect of {self.detectable:.2g} {self.unit}.")
        for spot in self.strong[:3]:
            lines.append(_sentence("Beats", spot, self.baseline, unit=self.unit))
        for spot in self.weak[:3]:
            for example in spot.examples:
                values = " ".join(f"{name}={value:.4g}" for name, value in example.parameters.items())
                scores = f"policy {example.policy_score:.3g}, {self.baseline} {example.baseline_score:.3g}"
                lines.append(f"  replay: {values} seed={example.seed}  ({scores})")
        return "\n".join(lines)


def _sentence(verb: str, spot: Described, baseline: str, *, unit: str) -> str:
    low, high = sorted((abs(spot.low), abs(spot.high)))
    name, value = max(spot.terms.items(), key=lambda item: item[1] * np.sign(spot.effect))
    where = "everywhere" if spot.words == "anywhere" else f"when {spot.words}"
    amount = f"{abs(spot.effect):.3g} {unit} (95 % {low:.3g} to {high:.3g})"
    side = "less" if spot.effect > 0 else "more"
    return (
        f"{verb} {baseline} {where} ({spot.share:.0%} of the space): {amount} {side}, mostly {name}: {abs(value):.3g}."
    )


def diagnose(
    case: Case,
    policy: Policy,
    *,
    name: str,
    baseline: str,
    seed: int = 1,
    settings: Settings | None = None,
) -> Diagnosis:
    """Search the case's space for boxes in which the policy loses to the baseline, and test them.

    Parameters
    ----------
    case : Case
    policy : Policy
        Trained or hand-written.
    name, baseline : str
        Name of the policy for the report; name of a rule of the case.
    seed : int
        The same seed gives the same report.
    settings : Settings, optional
    """
    probe = Probe(case, policy, derive(seed, "diagnose"), baselines=[baseline])
    findings = find_weak_spots(probe.gaps, case.space.size, seed=seed, settings=settings)
    weak, strong = (
        tuple(_describe(spot, case, policy, baseline=baseline, seed=seed) for spot in spots)
        for spots in (findings.weak, findings.strong)
    )
    return Diagnosis(
        case=case.name,
        policy=name,
        baseline=baseline,
        unit=case.unit,
        seed=seed,
        mean_gap=findings.mean_gap,
        detectable=findings.detectable,
        weak=weak,
        strong=strong,
        findings=findings,
    )


def _describe(spot: Spot, case: Case, policy: Policy, *, baseline: str, seed: int) -> Described:
    low, high = np.array(spot.region.low), np.array(spot.region.high)
    rng = np.random.default_rng(derive(seed, "terms"))
    unit = low + rng.random((500, len(low))) * (high - low)
    seeds = session_seeds(seed, "terms", count=500)
    rule = case.baselines[baseline]
    values = case.space.values(unit)
    theirs = play(rule(), case.make(), values, seeds).parts
    mine = play(policy, case.make(), values, seeds).parts
    terms = {term: float((theirs[term] - mine[term]).mean()) for term in mine}
    examples = _examples(np.array(spot.worst), case, policy, baseline=baseline, seed=seed)
    words = spot.region.words(case.space)
    return Described(words, spot.share, spot.effect, spot.low, spot.high, spot.p, terms, examples)


def _examples(unit: Floats, case: Case, policy: Policy, *, baseline: str, seed: int) -> tuple[Example, ...]:
    """The clearest session out of sixteen at each point."""
    found = []
    for number, point in enumerate(unit):
        values = np.repeat(case.space.values(point), 16, axis=0)
        seeds = session_seeds(seed, "example", number, count=16)
        theirs = play(case.baselines[baseline](), case.make(), values, seeds).scores
        mine = play(policy, case.make(), values, seeds).scores
        k = int(np.argmax(theirs - mine))
        named = {axis.name: float(value) for axis, value in zip(case.space.axes, values[0], strict=True)}
        found.append(Example(named, int(seeds[k]), float(mine[k]), float(theirs[k])))
    return tuple(found)
