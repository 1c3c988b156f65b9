"""Proximal policy optimisation for batches of sessions, in numpy.

References
----------
.. [1] J. Schulman et al., "Proximal policy optimization algorithms", 2017.
.. [2] J. Schulman et al., "High-dimensional continuous control using generalized advantage estimation", ICLR 2016.
.. [3] H. Mao et al., "Variance reduction for reinforcement learning in input-driven environments", ICLR 2019 (a critic
   that sees what the environment is about to do; the policy does not).
.. [4] S. Ross, G. Gordon, D. Bagnell, "A reduction of imitation learning to no-regret online learning", AISTATS 2011
   (the student plays, the teacher says what it would have done).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Ints
from nl2net.curriculum.environments.base import Learning, Simulator
from nl2net.curriculum.network import Adam, Array, new_network
from nl2net.curriculum.streams import generator

_CLIP = 0.2
_LAST_RATE, _LAST_ENTROPY = 1e-5, 0.001
# Of the imitation: passes over all lessons so far, and rows of a step.
_PASSES, _LESSON_ROWS = 16, 1024


@dataclass(frozen=True, slots=True)
class Rollout:
    """One episode of all sessions; arrays have shape (steps, sessions, ...)."""

    features: Array
    insight: Array
    actions: Ints
    log_probs: Array
    rewards: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class Losses:
    """What one update reports."""

    policy: float
    value: float
    entropy: float


def log_softmax(logits: Array) -> Array:
    """Logarithms of probabilities, row by row."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


def policy_gradient(
    logits: Array, actions: Ints, old: Array, *, advantages: Array, entropy: float
) -> tuple[float, float, Array]:
    """Clipped loss, mean entropy, and the gradient of (loss - entropy bonus) with respect to the logits."""
    rows = np.arange(len(actions))
    logs = log_softmax(logits)
    probs = np.exp(logs)
    ratio = np.exp(logs[rows, actions] - old)
    plain, clipped = ratio * advantages, np.clip(ratio, 1 - _CLIP, 1 + _CLIP) * advantages
    active = plain <= clipped
    weight: Array = np.where(active, -ratio * advantages, 0.0).astype(np.float32) / np.float32(len(rows))
    gradient: Array = -probs * weight[:, None]
    gradient[rows, actions] += weight
    row_entropy = -(probs * logs).sum(axis=1, keepdims=True)
    gradient += np.float32(entropy / len(rows)) * probs * (logs + row_entropy)
    return float(-np.minimum(plain, clipped).mean()), float(row_entropy.mean()), gradient


@dataclass(frozen=True, slots=True)
class Lesson:
    """Rows that the student saw, and what the teacher would have done there."""

    features: Array
    choices: Ints


class Learner:
    """Policy, value function and their optimisers.

    Parameters
    ----------
    simulator : Simulator
        Gives the numbers of features and actions.
    learning : Learning
        Settings of the case.
    seed : int
        Fixes the starting weights and every draw.
    """

    def __init__(self, simulator: Simulator, learning: Learning, *, seed: int) -> None:
        self.learning = learning
        rng = generator(seed, "network")
        hidden = (learning.hidden, learning.hidden)
        self.policy = new_network((simulator.features, *hidden, simulator.actions), rng=rng, last_scale=0.01)
        self.value = new_network((simulator.features + simulator.insight, *hidden, 1), rng=rng)
        self._policy_step, self._value_step = Adam(self.policy.weights), Adam(self.value.weights)
        self.rng = generator(seed, "actions")
        # The critic learns values in units of the first episode's: targets of -50 would take it thousands of steps.
        self._centre, self._spread = 0.0, 0.0

    def collect(self, simulator: Simulator, points: Floats, seeds: AnyArray) -> Rollout:
        """Play one episode by sampling."""
        features = simulator.reset(points, seeds).astype(np.float32)
        rows = np.arange(len(features))
        kept: list[tuple[Array, Array, Ints, Array, Floats, Floats]] = []
        for _ in range(simulator.steps):
            logs = log_softmax(self.policy.forward(features)[-1])
            noise = self.rng.random(logs.shape, dtype=np.float32)
            actions = (logs - np.log(-np.log(noise + np.float32(1e-12)) + np.float32(1e-12))).argmax(axis=1)
            insight = simulator.foresee().astype(np.float32)
            guess = self.value.forward(np.hstack([features, insight]))[-1][:, 0].astype(np.float64)
            values = self._centre + self._spread * guess
            following, rewards = simulator.step(actions)
            kept.append((features, insight, actions, logs[rows, actions], rewards, values))
            features = following.astype(np.float32)
        parts = [np.stack(part) for part in zip(*kept, strict=True)]
        return Rollout(*parts)  # in the order of the fields

    def advantages(self, rollout: Rollout) -> tuple[Floats, Floats]:
        """Advantages and value targets; an episode ends after its last step."""
        settings = self.learning
        rewards = self._scaled(rollout.rewards)
        found = np.zeros_like(rewards)
        running, following = np.zeros(rewards.shape[1]), np.zeros(rewards.shape[1])
        for k in range(len(rewards) - 1, -1, -1):
            error = rewards[k] + settings.gamma * following - rollout.values[k]
            running = error + settings.gamma * settings.lam * running
            found[k], following = running, rollout.values[k]
        return found, found + rollout.values

    def _scaled(self, rewards: Floats) -> Floats:
        """Rewards for the loss only; a scale of zero divides by each episode's own mean."""
        settings = self.learning
        clipped = np.clip(rewards, settings.clip_low, settings.clip_high)
        result: Floats = clipped / (settings.scale or np.abs(clipped).mean(axis=0) + 1e-9)
        return result

    def update(self, rollout: Rollout, *, progress: float, critic_only: bool = False) -> Losses:
        """Several passes over the episode; step size and entropy weight fall with ``progress`` from 0 to 1."""
        advantages, targets = self.advantages(rollout)
        if not self._spread:
            self._centre, self._spread = float(targets.mean()), float(targets.std()) + 1e-6
        targets = (targets - self._centre) / self._spread
        count = advantages.size
        features = rollout.features.reshape(count, -1)
        flat = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        flat_advantages = flat.reshape(count).astype(np.float32)
        flat_targets = targets.reshape(count).astype(np.float32)
        actions, old = rollout.actions.reshape(count), rollout.log_probs.reshape(count)
        both = np.hstack([features, rollout.insight.reshape(count, -1)])
        settings = self.learning
        rate = settings.rate + (_LAST_RATE - settings.rate) * progress
        entropy = settings.entropy + (_LAST_ENTROPY - settings.entropy) * progress
        losses = Losses(0.0, 0.0, 0.0)
        for _ in range(settings.epochs):
            order = self.rng.permutation(count)
            for part in np.array_split(order, settings.minibatches):
                seen = self.policy.forward(features[part])
                loss, spread, gradient = policy_gradient(
                    seen[-1], actions[part], old[part], advantages=flat_advantages[part], entropy=entropy
                )
                if not critic_only:
                    self._policy_step.apply(self.policy.weights, self.policy.backward(seen, gradient), rate)
                guess = self.value.forward(both[part])
                error = guess[-1] - flat_targets[part, None]
                # Half the squared error, averaged.
                step = self.value.backward(guess, error / np.float32(len(part)))
                self._value_step.apply(self.value.weights, step, rate)
                losses = Losses(loss, float((error**2).mean()), spread)
        return losses

    def imitate(self, lessons: Sequence[Lesson]) -> float:
        """Passes over what the teacher said, by cross-entropy; returns the share of its choices that are met."""
        features = np.vstack([lesson.features for lesson in lessons])
        choices = np.concatenate([lesson.choices for lesson in lessons])
        met = 0
        for _ in range(_PASSES):
            order = self.rng.permutation(len(choices))
            met = 0
            for low in range(0, len(order), _LESSON_ROWS):
                part = order[low : low + _LESSON_ROWS]
                seen = self.policy.forward(features[part])
                met += int((seen[-1].argmax(axis=1) == choices[part]).sum())
                gradient: Array = np.exp(log_softmax(seen[-1]))
                gradient[np.arange(len(part)), choices[part]] -= 1.0
                gradient /= np.float32(len(part))
                step = self.policy.backward(seen, gradient)
                self._policy_step.apply(self.policy.weights, step, self.learning.rate)
        return met / len(choices)

    def arrays(self) -> dict[str, AnyArray]:
        """Everything that a checkpoint keeps, except the generator."""
        found: dict[str, AnyArray] = {f"policy{k}": w for k, w in enumerate(self.policy.weights)}
        found |= {f"value{k}": w for k, w in enumerate(self.value.weights)}
        return found | self._policy_step.arrays("policy_") | self._value_step.arrays("value_")

    def state(self) -> dict[str, Any]:
        """Numbers that go into the checkpoint's JSON."""
        counts = [self._policy_step.count, self._value_step.count]
        scale = [self._centre, self._spread]
        return {"updates": counts, "value_scale": scale, "generator": self.rng.bit_generator.state}

    def restore(self, arrays: Mapping[str, AnyArray], state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.policy.weights = [arrays[f"policy{k}"].copy() for k in range(len(self.policy.weights))]
        self.value.weights = [arrays[f"value{k}"].copy() for k in range(len(self.value.weights))]
        self._policy_step.restore(arrays, "policy_", state["updates"][0])
        self._value_step.restore(arrays, "value_", state["updates"][1])
        self._centre, self._spread = state["value_scale"]
        self.rng.bit_generator.state = state["generator"]
