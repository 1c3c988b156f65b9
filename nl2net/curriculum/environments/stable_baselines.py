"""Sessions side by side as stable-baselines3 wants them (its package comes with the extra ``reference``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.environments.gym import _Batch


class SessionsVecEnv(VecEnv):  # type: ignore[misc]  # untyped where the extra is not installed
    """All sessions in one numpy batch; they end together and start again in the same step.

    Parameters
    ----------
    case : Case
    sessions : int
    seed : int
        Of the settings and environments.
    reward : callable, optional
        Applied to the rewards of a step, such as clipping; scores are not touched.
    """

    def __init__(
        self, case: Case, sessions: int, *, seed: int, reward: Callable[[Floats], Floats] | None = None
    ) -> None:
        self._batch = _Batch(case, sessions)
        self._batch.seed(seed)
        self._reward = reward
        simulator = self._batch.simulator
        seen = gymnasium.spaces.Box(-np.inf, np.inf, (simulator.features,), np.float32)
        self._actions: Any = None
        super().__init__(sessions, seen, gymnasium.spaces.Discrete(simulator.actions))

    def reset(self) -> Any:
        """Features of new sessions."""
        return self._batch.reset(None)

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """One decision in every session."""
        features, rewards, done = self._batch.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done:
            for info, last in zip(infos, features, strict=True):
                info["terminal_observation"] = last
            features = self._batch.reset(None)
        given = rewards if self._reward is None else self._reward(rewards)
        return features, given.astype(np.float32), np.full(self.num_envs, done), infos

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same for every session."""
        value = getattr(self, attr_name, None)
        return [value] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: sessions have no attributes of their own."""
        raise NotImplementedError("sessions have no attributes of their own")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Refused: sessions have no methods of their own."""
        raise NotImplementedError("sessions have no methods of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Iterable[int] | None = None) -> list[bool]:
        """Never."""
        return [False] * self.num_envs
