"""How many tasks are needed: what ``nl2net bench plan`` computes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from nl2net.benchmark.sequential import boundaries, simulate_overlap
from nl2net.benchmark.stats import cases_for_paired, cases_for_width, cases_to_separate, cases_to_touch
from nl2net.errors import UserError

# Correctness of five published agents on 5,000 planning questions: what agents of today lie apart.
PUBLISHED = (0.465, 0.356, 0.383, 0.219, 0.173)
_SIZES = (30, 100, 300, 1000, 3000, 5000)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of the planner.

    Attributes
    ----------
    rates : tuple of float
        Expected rates of the agents.
    width, rate : float
        Wanted width of one interval, and the rate at which it is wanted.
    power : float
        Chance of telling two agents apart.
    disagreement : float, optional
        Share of cases on which they differ; by default half of what independent agents would show.
    looks : int, optional
        Planned looks of a sequential test.
    """

    rates: tuple[float, ...] = ()
    width: float | None = None
    rate: float = 0.5
    power: float = 0.8
    disagreement: float | None = None
    looks: int | None = None
    spending: str = "obrien-fleming"
    simulate: bool = False
    trials: int = 200
    seed: int = 1


def make_plan(plan: Plan) -> dict[str, Any]:
    """Numbers of tasks for what the plan asks.

    Raises
    ------
    UserError
        Nothing is asked, or rates are out of range or equal.

    Examples
    --------
    >>> make_plan(Plan((0.465, 0.383)))["pairs"][0]["paired"]
    285
    """
    if plan.width is None and not plan.rates and plan.looks is None and not plan.simulate:
        raise UserError("nothing to plan", hint="Give --width 0.05, --rates 0.465 0.383, --looks 4 or --simulate.")
    found: dict[str, Any] = {"power": plan.power}
    if plan.width is not None:
        tasks = cases_for_width(plan.width, rate=plan.rate)
        found["width"] = {"width": plan.width, "rate": plan.rate, "tasks": tasks}
    if plan.rates and not (plan.simulate and len(plan.rates) == 1):
        found["pairs"] = _pairs(plan)
    if plan.looks is not None:
        times = [(number + 1) / plan.looks for number in range(plan.looks)]
        limits = boundaries(times, kind=plan.spending)
        looks = [{"share": round(t, 4), "z": round(limit, 4)} for t, limit in zip(times, limits, strict=True)]
        found["looks"] = {"spending": plan.spending, "limits": looks}
    if plan.simulate:
        skills = {f"agent {number}": rate for number, rate in enumerate(plan.rates or PUBLISHED, start=1)}
        shares = simulate_overlap(skills, _SIZES, trials=plan.trials, seed=plan.seed)
        overlap = [{"tasks": size, "overlapping_pairs": round(share, 4)} for size, share in shares.items()]
        found["simulation"] = {"skills": list(skills.values()), "trials": plan.trials, "overlap": overlap}
    return found


def _pairs(plan: Plan) -> list[dict[str, Any]]:
    if len(plan.rates) < 2 or any(not 0 < rate < 1 for rate in plan.rates):
        raise UserError("--rates takes two or more numbers between 0 and 1", hint="For one rate use --width.")
    pairs = []
    for first, second in combinations(plan.rates, 2):
        if first == second:
            raise UserError(f"two agents of the same rate {first} cannot be told apart")
        independent = first * (1 - second) + second * (1 - first)
        # Agents of rates far apart differ at least on the difference.
        usual = max(0.5 * independent, abs(first - second))
        psi = usual if plan.disagreement is None else plan.disagreement
        if not abs(first - second) <= psi <= 1:
            raise UserError(f"agents of {first} and {second} differ on {abs(first - second):.3f} of the cases at least")
        pairs.append(
            {
                "rates": [first, second],
                "touch": cases_to_touch(first, second),
                "separate": cases_to_separate(first, second, power=plan.power),
                "paired": cases_for_paired(abs(first - second), psi, power=plan.power),
                "disagreement": round(psi, 4),
            }
        )
    return pairs


def render_plan(found: dict[str, Any]) -> str:
    """A plan for the terminal."""
    lines = []
    if "width" in found:
        part = found["width"]
        lines.append(f"interval no wider than {part['width']:g} at a rate of {part['rate']:g}: {part['tasks']} tasks")
    if "pairs" in found:
        percent = f"{100 * found['power']:g} %"
        lines.append(f"rates           intervals touch  separate ({percent})  paired test ({percent}, they differ on)")
        for pair in found["pairs"]:
            rates = ", ".join(f"{rate:g}" for rate in pair["rates"])
            paired = f"{pair['paired']:>10,} ({pair['disagreement']:.3f})"
            lines.append(f"{rates:<15} {pair['touch']:>15,}  {pair['separate']:>15,}  {paired}")
    if "looks" in found:
        lines.append(f"planned looks, {found['looks']['spending']} spending, two-sided 5 %: stop where |z| reaches")
        lines += [f"  {look['share']:.0%} of the tasks: {look['z']:.3f}" for look in found["looks"]["limits"]]
    if "simulation" in found:
        part = found["simulation"]
        skills = ", ".join(f"{skill:g}" for skill in part["skills"])
        lines.append(f"simulated agents of skill {skills}; {part['trials']} suites per size")
        lines += [
            f"  {row['tasks']:>5} tasks: {row['overlapping_pairs']:.3f} of the pairs of intervals overlap"
            for row in part["overlap"]
        ]
    return "\n".join(lines) + "\n"
