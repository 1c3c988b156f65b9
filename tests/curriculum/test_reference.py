"""Our PPO beside stable-baselines3 on the same small case; needs the extra ``reference`` and takes about a minute."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nl2net.curriculum.arrays import AnyArray, Floats
from nl2net.curriculum.cases import load_case
from nl2net.curriculum.environments.cc import CongestionSimulator
from nl2net.curriculum.policies import NetworkPolicy, play
from nl2net.curriculum.ppo import Learner
from nl2net.curriculum.streams import generator, session_seeds

SESSIONS, EPISODES, SEEDS = 64, 10, 2
CASE = load_case("cc")
LEARNING = replace(CASE.learning, sessions=SESSIONS, rate=1e-3, entropy=0.02)


class _Blind(CongestionSimulator):
    """Without what the critic may see: stable-baselines3 has no such critic."""

    insight = 0

    def foresee(self) -> Floats:
        return np.empty((len(self.rate), 0))


def _score(policy: NetworkPolicy | _Theirs) -> float:
    points = CASE.space.values(generator(77, "reference").random((200, CASE.space.size)))
    return float(play(policy, CASE.make(), points, session_seeds(77, "reference", count=200)).scores.mean())


def _ours(seed: int) -> float:
    simulator = _Blind()
    learner = Learner(simulator, LEARNING, seed=seed)
    rng = generator(seed, "points")
    for episode in range(EPISODES):
        points = CASE.space.values(rng.random((SESSIONS, CASE.space.size)))
        rollout = learner.collect(simulator, points, session_seeds(seed, episode, count=SESSIONS))
        learner.update(rollout, progress=episode / EPISODES)
    return _score(NetworkPolicy(learner.policy))


class _Theirs:
    def __init__(self, model: object) -> None:
        self._model = model

    def start(self, simulator: object) -> None:
        pass

    def decide(self, simulator: object, features: Floats) -> AnyArray:
        chosen: AnyArray = self._model.predict(features.astype(np.float32), deterministic=True)[0]  # type: ignore[attr-defined]
        return chosen


def _reference(seed: int) -> float:
    from stable_baselines3 import PPO
    from torch import nn

    from nl2net.curriculum.environments.stable_baselines import SessionsVecEnv

    def shaped(rewards: Floats) -> Floats:
        scaled: Floats = np.clip(rewards, LEARNING.clip_low, LEARNING.clip_high) / LEARNING.scale
        return scaled

    steps = CASE.make().steps
    model = PPO(
        "MlpPolicy",
        SessionsVecEnv(CASE, SESSIONS, seed=seed, reward=shaped),
        learning_rate=lambda left: 1e-5 + (1e-3 - 1e-5) * left,
        n_steps=steps,
        batch_size=SESSIONS * steps // LEARNING.minibatches,
        n_epochs=LEARNING.epochs,
        gamma=LEARNING.gamma,
        gae_lambda=LEARNING.lam,
        ent_coef=LEARNING.entropy / 2,
        policy_kwargs={"net_arch": [LEARNING.hidden] * 2, "activation_fn": nn.Tanh},
        seed=seed,
        device="cpu",
    )
    model.learn(SESSIONS * steps * EPISODES)
    return _score(_Theirs(model))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")  # of torch and stable-baselines3
def test_our_learner_does_as_well_as_stable_baselines() -> None:
    pytest.importorskip("stable_baselines3", reason="the extra `reference` brings it")
    ours = [_ours(seed) for seed in range(SEEDS)]
    theirs = [_reference(seed) for seed in range(SEEDS)]
    print(f"ours {ours}, stable-baselines3 {theirs}")
    spread = np.sqrt(np.var(ours, ddof=1) + np.var(theirs, ddof=1))
    # Random rates score about -600 and the untrained policy about -200; both learners come to the same place.
    assert np.mean(ours) > np.mean(theirs) - max(2 * spread, 20)
    assert min(ours) > 0
