"""PPO's gradients, learning, resuming to the same bytes, curricula and their mixtures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nl2net.curriculum.cases import load_case
from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.environments.practice import PracticeSimulator, practice_traces
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Mixture, Region, mixture_from_json, neighbourhood
from nl2net.curriculum.network import new_network
from nl2net.curriculum.policies import NetworkPolicy, load_policy, play
from nl2net.curriculum.ppo import Learner, Lesson, log_softmax, policy_gradient
from nl2net.curriculum.runs import Plan, job_folder, load_checkpoint, open_run
from nl2net.curriculum.spaces import shipped_space
from nl2net.curriculum.strategies import STRATEGIES, History, load_strategy
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.curriculum.traces.normal import build_trace
from nl2net.curriculum.train import Trainer, train_job
from nl2net.errors import DataError, UserError


def test_network_gradients_equal_finite_differences() -> None:
    rng = np.random.default_rng(1)
    net = new_network((5, 7, 6, 3), rng=rng)
    net.weights = [w.astype(np.float64) for w in net.weights]
    x, target = rng.standard_normal((11, 5)), rng.standard_normal((11, 3))
    seen = net.forward(x)  # type: ignore[arg-type]
    found = net.backward(seen, seen[-1] - target)  # type: ignore[arg-type]
    for weight, gradient in zip(net.weights, found, strict=True):
        place = tuple(rng.integers(0, n) for n in weight.shape)
        losses = []
        for step in (1e-6, -2e-6):
            weight[place] += step
            losses.append(0.5 * ((net.forward(x)[-1] - target) ** 2).sum())  # type: ignore[arg-type]
        weight[place] += 1e-6
        assert (losses[0] - losses[1]) / 2e-6 == pytest.approx(gradient[place], rel=1e-5, abs=1e-7)


def _small() -> Case:
    """Load balancing with few sessions, so that a lesson and some training fit into few steps."""
    case = load_case("lb")
    return replace(case, learning=replace(case.learning, sessions=64, minibatches=4))


def test_imitation_meets_a_teacher_that_can_be_met() -> None:
    case = load_case("lb")
    learner = Learner(case.make(), case.learning, seed=1)
    rng = np.random.default_rng(3)
    features = rng.standard_normal((2000, 9)).astype(np.float32)
    unseen = rng.standard_normal((500, 9)).astype(np.float32)

    def met() -> float:
        chosen = learner.policy.forward(unseen)[-1].argmax(axis=1)
        return float((chosen == unseen[:, :3].argmax(axis=1)).mean())

    assert met() < 0.6
    for _ in range(4):
        said = learner.imitate([Lesson(features, features[:, :3].argmax(axis=1))])
    assert met() > 0.9
    assert said > 0.9


def test_lessons_count_as_steps_and_lead_to_the_rule() -> None:
    case = _small()
    plan = Plan("lb", case.space, ("uniform",), 70_000, 1, rounds=10)
    trainer = Trainer(plan, case, "uniform", seed=1)
    trainer._school()
    # One lesson fits into a fifth of the budget, and the critic takes two more episodes.
    assert trainer.steps == 3 * 64 * 200
    points, seeds = case.space.values(generator(9, "p").random((60, case.space.size))), session_seeds(9, "s", count=60)
    taught, sed, llf = (
        play(policy, case.make(), points, seeds).scores.mean()
        for policy in (NetworkPolicy(trainer.learner.policy), case.baselines["sed"](), case.baselines["llf"]())
    )
    assert taught > llf
    assert sed - taught < 0.5 * (sed - llf)


def test_what_the_critic_sees_is_what_comes() -> None:
    abr = load_case("abr").make()
    abr.reset_on([build_trace("two", np.array([0.0, 10.0, 20.0]), np.array([1.0, 3.0]))])  # type: ignore[attr-defined]
    now = float(abr._time[0])  # type: ignore[attr-defined]
    ahead = np.expm1(2 * abr.foresee()[0]) / 4
    for span, found in zip((2.0, 5.0, 10.0, 20.0, 40.0), ahead, strict=False):
        times = np.arange(now, now + span, 0.001) % 20
        assert found == pytest.approx(np.where(times < 10, 1.0, 3.0).mean(), rel=0.01)
    lb = load_case("lb").make()
    lb.begin(np.array([[1.0, 1.0, 2.0]]), np.full((1, 9), 8.0), np.full((1, 9), 3.0))  # type: ignore[attr-defined]
    # Three jobs ahead: 24 of work at a total rate of 4, and 9 s, both in units of 2 s.
    np.testing.assert_allclose(np.expm1(2 * lb.foresee()[0])[[1, 6]], [24 / 4 / 2, 9 / 2])


def test_practice_follows_its_points_and_borrows_the_rest() -> None:
    case = load_case("abr")
    points, seeds = case.space.values(generator(4, "p").random((8, case.space.size))), session_seeds(4, "s", count=8)
    practice = PracticeSimulator(practice_traces(1, each=3), share=0.5)
    plain = PracticeSimulator((), share=0.0)
    practice.reset(points, seeds)
    plain.reset(points, seeds)
    assert (practice.from_space, plain.from_space) == (4, 8)
    for level in (3, 1, 5):
        practice.step(np.full(8, level))
        plain.step(np.full(8, level))
    np.testing.assert_allclose(practice.rewards[:4], plain.rewards[:4], rtol=1e-9, atol=1e-9)
    assert not np.allclose(practice.rewards[4:], plain.rewards[4:])
    assert ((practice.limit_s[4:] >= 30) & (practice.limit_s[4:] <= 70)).all()


def test_policy_gradient_equals_finite_differences() -> None:
    rng = np.random.default_rng(2)
    logits = rng.standard_normal((40, 4)).astype(np.float32)
    actions = rng.integers(0, 4, 40)
    old = log_softmax(rng.standard_normal((40, 4)).astype(np.float32) * 0.3)[np.arange(40), actions]
    advantages = rng.standard_normal(40).astype(np.float32)

    def value(at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        logs = at - np.log(np.exp(at).sum(axis=1, keepdims=True))
        ratio = np.exp(logs[np.arange(40), actions] - old)
        gain = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages).mean()
        return float(-gain + 0.05 * (np.exp(logs) * logs).sum(axis=1).mean())

    _, _, gradient = policy_gradient(logits, actions, old, advantages=advantages, entropy=0.05)
    for row, column in ((0, 0), (7, 2), (21, 3), (39, 1)):
        high, low = logits.astype(np.float64), logits.astype(np.float64)
        high[row, column] += 1e-5
        low[row, column] -= 1e-5
        assert (value(high) - value(low)) / 2e-5 == pytest.approx(float(gradient[row, column]), rel=1e-3, abs=1e-6)


def test_training_beats_the_untrained_policy_by_far() -> None:
    case = load_case("cc")
    plan = Plan("cc", case.space, ("uniform",), 90_000, 1, rounds=2)
    trainer = Trainer(plan, case, "uniform", seed=1)
    points, seeds = case.space.values(generator(9, "p").random((60, case.space.size))), session_seeds(9, "s", count=60)
    before = play(NetworkPolicy(trainer.learner.policy), case.make(), points, seeds).scores.mean()
    for _ in range(3):
        trainer.run_round()
    after = play(NetworkPolicy(trainer.learner.policy), case.make(), points, seeds).scores.mean()
    assert after > before + 100


@pytest.mark.parametrize("strategy", ["genet", "plr"])
def test_a_resumed_run_gives_the_same_bytes(tmp_path: Path, strategy: str) -> None:
    case = _small()
    plan = Plan("lb", case.space, (strategy,), 70_000, 1, rounds=2)
    whole = Trainer(plan, case, strategy, seed=1)
    for _ in range(3):
        whole.run_round()
    whole.save(tmp_path / "whole.npz")
    first = Trainer(plan, case, strategy, seed=1)
    first.run_round()
    first.save(tmp_path / "cut.npz")
    again = Trainer(plan, case, strategy, seed=1)
    again.load(tmp_path / "cut.npz")
    for _ in range(2):
        again.run_round()
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "whole.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_runs_refuse_other_plans_and_pass_over_what_is_done(tmp_path: Path) -> None:
    plan = Plan("lb", shipped_space("lb"), ("uniform",), 60_000, 1, rounds=1)
    open_run(tmp_path / "run", plan, resume=False)
    with pytest.raises(UserError, match="already holds"):
        open_run(tmp_path / "run", plan, resume=False)
    other = Plan("lb", shipped_space("lb"), ("uniform",), 70_000, 1, rounds=1)
    with pytest.raises(UserError, match="another plan"):
        open_run(tmp_path / "run", other, resume=True)
    with pytest.raises(UserError, match="holds no run"):
        open_run(tmp_path / "nothing", plan, resume=True)
    path = train_job(plan, tmp_path / "run", "uniform", seed=1)
    stamp = path.stat().st_mtime_ns
    assert train_job(plan, tmp_path / "run", "uniform", seed=1).stat().st_mtime_ns == stamp
    simulator = load_case("lb").make()
    assert load_policy(path, simulator=simulator, case="lb") is not None
    with pytest.raises(DataError, match="not for 'abr'"):
        load_policy(path, simulator=load_case("abr").make(), case="abr")


def test_damaged_files_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "policy.npz"
    bad.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(DataError, match="not a policy file"):
        load_policy(bad, simulator=load_case("lb").make(), case="lb")
    with pytest.raises(DataError, match="damaged checkpoint"):
        load_checkpoint(bad)
    assert job_folder(tmp_path, "plr", 3).name == "plr-seed03"


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_proposes_a_mixture(name: str) -> None:
    case = load_case("lb")
    learner = Learner(case.make(), case.learning, seed=1)
    size = case.space.size
    rng = generator(1, "test", name)
    played = rng.random((200, size))
    history = History(1, 10, Mixture(size), played, rng.random(200), np.zeros((0, size)))
    probe = Probe(case, NetworkPolicy(learner.policy), 1)
    strategy = load_strategy(name)
    strategy.propose(probe, case, history, rng)
    history.round = 2
    learner.policy.weights[-1][:] = [5, 0, 0]
    mixture = Mixture(size, tuple(strategy.propose(probe, case, history, rng)))
    points, density = mixture.draw(500, rng)
    assert points.shape == (500, size)
    assert ((points >= 0) & (points <= 1)).all()
    assert (density > 0).all()
    assert 0 <= mixture.uniform_share <= 1
    if name in ("batch_gap", "plr"):
        assert mixture.parts, "an untrained policy has gaps everywhere"
        assert mixture.uniform_share >= 0.5
    if name == "tail":
        assert mixture.uniform_share == pytest.approx(0.6)
        # In load balancing the lowest scores lie where the workers are slow for the work that comes.
        rate, gap = case.space.index("rate"), case.space.index("gap")
        middles = [(np.array(region.low) + np.array(region.high)) / 2 for region, _ in mixture.parts]
        assert np.mean(middles, axis=0)[[rate, gap]].max() < 0.5
    assert mixture_from_json(size, mixture.to_json()) == mixture


def test_genet_shrinks_the_uniform_part_as_published() -> None:
    case = load_case("lb")
    learner = Learner(case.make(), case.learning, seed=1)
    size = case.space.size
    history = History(0, 10, Mixture(size), np.zeros((0, size)), np.zeros(0), np.zeros((0, size)))
    strategy, rng = load_strategy("genet"), generator(1, "genet")
    for number in range(3):
        history.round = number
        parts = strategy.propose(Probe(case, NetworkPolicy(learner.policy), 1), case, history, rng)
        history.mixture = Mixture(size, tuple(parts))
    assert history.mixture.uniform_share == pytest.approx(0.7**3)
    assert all(region.volume == 0 for region, _ in history.mixture.parts)


def test_logged_densities_restore_uniform_averages() -> None:
    rng = generator(1, "density")
    mixture = Mixture(2, ((neighbourhood(np.array([0.2, 0.9])), 0.4), (Region((0.0, 0.0), (0.5, 1.0)), 0.2)))
    points, density = mixture.draw(40_000, rng)
    assert (points[:, 0] ** 2 / density).mean() == pytest.approx(1 / 3, abs=0.01)
    assert (points[:, 0] ** 2).mean() < 0.25


def test_gaps_are_paired_and_counted() -> None:
    case = load_case("lb")
    probe = Probe(case, case.baselines["sed"](), 1)
    points = generator(1, "p").random((20, case.space.size))
    np.testing.assert_array_equal(probe.gaps(points, 3, "x"), 0.0)
    assert probe.spent == 20 * 3 * 200 * 2
    best = Probe(case, case.baselines["llf"](), 1, baselines=["llf", "sed"])
    assert (best.gaps(points, 3, "x") >= 0).all()


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(UserError) as caught:
        load_strategy("nothing")
    assert "batch_gap" in caught.value.hint
    with pytest.raises(UserError):
        load_case("dns")
