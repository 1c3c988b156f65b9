"""The training loop: warm up uniformly, then rounds of search and training on the mixture."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import Floats, Seeds
from nl2net.curriculum.cases import load_case
from nl2net.curriculum.environments.base import Case, Simulator
from nl2net.curriculum.environments.practice import PracticeSimulator, practice_traces
from nl2net.curriculum.evaluate import baseline_table, evaluate, oracle_table, rule_summary, validation_score
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Mixture, mixture_from_json
from nl2net.curriculum.network import Network
from nl2net.curriculum.policies import NetworkPolicy, load_policy, save_policy
from nl2net.curriculum.ppo import Learner, Lesson, Losses
from nl2net.curriculum.runs import Plan, job_folder, load_checkpoint, read_json, save_checkpoint, write_json
from nl2net.curriculum.strategies import History, load_strategy
from nl2net.curriculum.streams import derive, generator, session_seeds
from nl2net.curriculum.threads import one_thread

Say = Callable[[str], None]
_WARM_UP = 0.2
# Episodes after the imitation in which only the critic learns: advantages by a critic that knows nothing yet would
# undo what was imitated.
_CATCH_UP = 2
_AVERAGED = 0.08
# Of a round's budget, for the strategies that can search with less.
_SEARCH_SHARE = 0.25


def training_simulator(case: Case, *, generated: float, seed: int) -> Simulator:
    """The case's simulator as training uses it; for bitrate a share of the sessions runs on generated traces."""
    if case.name != "abr":
        return case.make()
    return PracticeSimulator(practice_traces(seed) if generated else (), share=generated)


class Trainer:
    """One job: a strategy and a seed.

    A seed fixes the starting network, the environments and the search; it is the same for all strategies, so that
    their results are paired.
    """

    def __init__(self, plan: Plan, case: Case, strategy: str, *, seed: int) -> None:
        self.case, self.strategy_name, self.seed = case, strategy, seed
        learning = replace(case.learning, steps=plan.steps)
        traces = derive(seed, "practice")
        self.simulator = training_simulator(case, generated=plan.generated, seed=traces)
        self.learner = Learner(self.simulator, learning, seed=derive(seed, "learner"))
        self._strategy = load_strategy(strategy)
        self._rng = generator(seed, "settings")
        self._search_rng = generator(seed, "search")
        size = case.space.size
        empty = np.zeros((0, size))
        self.history = History(0, plan.rounds, Mixture(size), empty, np.zeros(0), empty)
        self.steps, self.search_steps, self.episodes = 0, 0, 0
        self.met = 0.0
        # Single updates scatter: what a run delivers is the average over the last episodes, a short part of the run.
        episodes = learning.steps / (learning.sessions * self.simulator.steps)
        self._averaging = np.float32(1 / max(1.0, _AVERAGED * episodes))
        self.average = [w.copy() for w in self.learner.policy.weights]
        self.best_score = -np.inf
        self.best: list[Any] = [w.copy() for w in self.learner.policy.weights]
        self.curve: list[dict[str, Any]] = []

    @property
    def progress(self) -> float:
        """Share of the budget used; the search's environment steps count as training does."""
        return min(1.0, (self.steps + self.search_steps) / self.learner.learning.steps)

    def run_round(self) -> None:
        """Search once training is warm, train until the round's share of the budget is used, and validate."""
        done, rounds = self.history.round, self.history.rounds
        if done > 0:
            self._search()
        else:
            self._school()
        target = _WARM_UP + (1 - _WARM_UP) * done / rounds
        played, surprise = [], []
        losses = Losses(0.0, 0.0, 0.0)
        while self.progress < target:
            points, weights, losses = self._episode()
            played.append(points)
            surprise.append(weights)
        if played:
            self.history.played, self.history.surprise = np.vstack(played), np.concatenate(surprise)
        self._validate(losses, moved=bool(played) or done == 0)
        self.history.round += 1

    def _school(self) -> None:
        """Imitate the case's rule on what the student itself runs into, then let the critic catch up."""
        learning = self.learner.learning
        if learning.teacher is None:
            return
        teacher = self.case.baselines[learning.teacher]()
        lessons: list[Lesson] = []
        affordable = int(_WARM_UP * learning.steps / (learning.sessions * self.simulator.steps))
        for number in range(min(learning.lessons, affordable)):
            points, _ = self.history.mixture.draw(learning.sessions, self._rng)
            features = self.simulator.reset(*self._environments(points))
            teacher.start(self.simulator)
            for _ in range(self.simulator.steps):
                choices = teacher.decide(self.simulator, features)
                lessons.append(Lesson(features.astype(np.float32), choices))
                played = choices if number == 0 else NetworkPolicy(self.learner.policy).decide(self.simulator, features)
                features, _ = self.simulator.step(played)
            self.steps += learning.sessions * self.simulator.steps
            self.met = self.learner.imitate(lessons)
        if lessons:
            self.average = [w.copy() for w in self.learner.policy.weights]
        for _ in range(_CATCH_UP if lessons else 0):
            self._episode(critic_only=True)

    def _environments(self, points: Floats) -> tuple[Floats, Seeds]:
        """Values and seeds of the next training episode."""
        seeds = session_seeds(self.seed, "training", self.episodes, count=len(points))
        self.episodes += 1
        return self.case.space.values(points), seeds

    def _search(self) -> None:
        probe = Probe(self.case, NetworkPolicy(self.learner.policy), derive(self.seed, "gap"))
        probe.allowance = int(_SEARCH_SHARE * (1 - _WARM_UP) * self.learner.learning.steps / self.history.rounds)
        parts = self._strategy.propose(probe, self.case, self.history, self._search_rng)
        self.search_steps += probe.spent
        self.history.mixture = Mixture(self.case.space.size, tuple(parts))

    def _episode(self, *, critic_only: bool = False) -> tuple[Any, Any, Losses]:
        points, _ = self.history.mixture.draw(self.learner.learning.sessions, self._rng)
        rollout = self.learner.collect(self.simulator, *self._environments(points))
        losses = self.learner.update(rollout, progress=self.progress, critic_only=critic_only)
        self.steps += rollout.actions.size
        for mean, weight in zip(self.average, self.learner.policy.weights, strict=True):
            mean += self._averaging * (weight - mean)
        known = self.simulator.from_space
        surprise = np.abs(self.learner.advantages(rollout)[0]).mean(axis=0)
        return points[:known], surprise[:known], losses

    def _validate(self, losses: Losses, *, moved: bool) -> None:
        last = self.curve[-1]["validation"] if self.curve else 0.0
        score = validation_score(self.case, NetworkPolicy(Network(self.average))) if moved else last
        if score > self.best_score:
            self.best_score = score
            self.best = [w.copy() for w in self.average]
        self.curve.append(
            {
                "round": self.history.round,
                "steps": self.steps,
                "search_steps": self.search_steps,
                "validation": score,
                "teacher_met": self.met,
                "uniform_share": self.history.mixture.uniform_share,
                "mixture": self.history.mixture.to_json(),
                **asdict(losses),
            }
        )

    def save(self, path: Path) -> None:
        """Write everything that the next round depends on."""
        history = self.history
        arrays = self.learner.arrays() | {f"best{k}": w for k, w in enumerate(self.best)}
        arrays |= {f"average{k}": w for k, w in enumerate(self.average)}
        for name in ("played", "surprise", "buffer", "buffer_scores", "buffer_rounds"):
            arrays[name] = getattr(history, name)
        state = {
            "learner": self.learner.state(),
            "rng": self._rng.bit_generator.state,
            "search_rng": self._search_rng.bit_generator.state,
            "round": history.round,
            "mixture": history.mixture.to_json(),
            "curve": self.curve,
            "best_score": self.best_score,
            "counts": [self.steps, self.search_steps, self.episodes],
            "met": self.met,
        }
        save_checkpoint(path, arrays, state)

    def load(self, path: Path) -> None:
        """Continue from a checkpoint: the rest of the run gives the same bytes as if it had never stopped."""
        arrays, state = load_checkpoint(path)
        self.learner.restore(arrays, state["learner"])
        self.best = [arrays[f"best{k}"] for k in range(len(self.best))]
        self.average = [arrays[f"average{k}"].copy() for k in range(len(self.average))]
        for name in ("played", "surprise", "buffer", "buffer_scores", "buffer_rounds"):
            setattr(self.history, name, arrays[name])
        self._rng.bit_generator.state = state["rng"]
        self._search_rng.bit_generator.state = state["search_rng"]
        self.history.round = state["round"]
        self.history.mixture = mixture_from_json(self.case.space.size, state["mixture"])
        self.curve, self.best_score = state["curve"], state["best_score"]
        self.steps, self.search_steps, self.episodes = state["counts"]
        self.met = state["met"]


def train_job(plan: Plan, run: Path, strategy: str, *, seed: int, say: Say = lambda _: None) -> Path:
    """Train one strategy with one seed, from its checkpoint if there is one; returns the policy's path."""
    folder = job_folder(run, strategy, seed)
    policy, checkpoint = folder / "policy.npz", folder / "checkpoint.npz"
    if policy.exists():
        return policy
    case = load_case(plan.case, plan.space)
    trainer = Trainer(plan, case, strategy, seed=seed)
    if checkpoint.exists():
        trainer.load(checkpoint)
    began = time.process_time()
    while trainer.history.round <= plan.rounds:
        trainer.run_round()
        trainer.save(checkpoint)
        last = trainer.curve[-1]
        say(
            f"{strategy} seed {seed}: round {last['round']} of {plan.rounds}, {trainer.steps:,} steps"
            f" + {trainer.search_steps:,} of search, validation {last['validation']:.3f}"
        )
    cpu = time.process_time() - began
    write_json(folder / "curve.json", {"curve": trainer.curve, "cpu_s_this_call": cpu, "case": plan.case})
    save_policy(Network(trainer.best), policy, case=plan.case)
    return policy


def evaluate_job(
    plan: Plan, run: Path, strategy: str, *, seed: int, table: Mapping[str, Mapping[str, Floats]]
) -> dict[str, Any]:
    """Measures of a trained policy on the test sets, kept beside it; ``table`` holds the rules' scores."""
    folder = job_folder(run, strategy, seed)
    kept = folder / "measures.json"
    if kept.exists():
        return dict(read_json(kept))
    case = load_case(plan.case, plan.space)
    policy = load_policy(folder / "policy.npz", simulator=case.make(), case=case.name)
    found = {name: asdict(value) for name, value in evaluate(case, policy, table).items()}
    write_json(kept, found)
    return found


def train_all(plan: Plan, run: Path, *, say: Say = lambda _: None) -> None:
    """Train and evaluate every job of a plan; finished ones are passed over."""
    with one_thread():
        _train_all(plan, run, say)


def _train_all(plan: Plan, run: Path, say: Say) -> None:
    if all((job_folder(run, strategy, seed) / "measures.json").exists() for strategy, seed in plan.jobs()):
        return
    table = baseline_table(load_case(plan.case, plan.space))
    if not (run / "baselines.json").exists():
        knowing = oracle_table(load_case(plan.case, plan.space))
        both = {key: rules | {f"{n} (knows)": s for n, s in knowing[key].items()} for key, rules in table.items()}
        kept = {key: {n: rule_summary(s) for n, s in rules.items()} for key, rules in both.items()}
        write_json(run / "baselines.json", kept)
    for strategy, seed in plan.jobs():
        train_job(plan, run, strategy, seed=seed, say=say)
        found = evaluate_job(plan, run, strategy, seed=seed, table=table)
        said = "; ".join(f"{k}: mean {v['mean']:.3f}, worst decile {v['worst_decile']:.3f}" for k, v in found.items())
        say(f"{strategy} seed {seed}: {said}")
