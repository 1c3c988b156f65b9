"""The simulators behind gymnasium's interfaces, for other people's learners (extra ``train``)."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.streams import generator, session_seeds


class _Batch:
    """Sessions of a case with their own stream of settings; shared by the single and the vector environment."""

    def __init__(self, case: Case, sessions: int) -> None:
        self.case, self.sessions, self.episode, self.place = case, sessions, 0, 0
        self.simulator = case.make()
        self.seed(0)

    def seed(self, seed: int) -> None:
        self._seed, self.episode = seed, 0

    def reset(self, options: dict[str, Any] | None) -> Any:
        """A new episode; ``options["point"]`` fixes the parameters by name instead of drawing them."""
        space = self.case.space
        rng = generator(self._seed, "gymnasium", self.episode)
        values = space.values(rng.random((self.sessions, space.size)))
        for name, value in ((options or {}).get("point") or {}).items():
            values[:, space.index(name)] = value
        seeds = session_seeds(self._seed, "gymnasium", self.episode, count=self.sessions)
        self.episode += 1
        self.place = 0
        return self.simulator.reset(values, seeds).astype(np.float32)

    def step(self, actions: Any) -> tuple[Any, Any, bool]:
        features, rewards = self.simulator.step(np.asarray(actions, dtype=np.int64))
        self.place += 1
        return features.astype(np.float32), rewards, self.place >= self.simulator.steps


class SessionEnv(gymnasium.Env[Any, Any]):
    """One session of a case; ``reset(options={"point": {...}})`` fixes parameters by name.

    Parameters
    ----------
    case : Case
        From `nl2net.curriculum.cases.load_case`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]  # gymnasium declares no class variable

    def __init__(self, case: Case) -> None:
        self._batch = _Batch(case, 1)
        simulator = self._batch.simulator
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (simulator.features,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(simulator.actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Features of a new session; a seed starts the sequence of sessions again."""
        super().reset(seed=seed)
        if seed is not None:
            self._batch.seed(seed)
        return self._batch.reset(options)[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One decision."""
        features, rewards, done = self._batch.step([action])
        return features[0], float(rewards[0]), done, False, {}


class SessionsEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Sessions side by side in numpy, without processes; they end together and restart at the step after.

    Parameters
    ----------
    case : Case
    sessions : int
    """

    def __init__(self, case: Case, sessions: int) -> None:
        self._batch = _Batch(case, sessions)
        simulator = self._batch.simulator
        self.num_envs = sessions
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (simulator.features,), np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(simulator.actions)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, sessions)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, sessions)
        self._ended = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Features of new sessions."""
        if seed is not None:
            self._batch.seed(seed)
        self._ended = False
        return self._batch.reset(options), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One decision in every session."""
        none = np.zeros(self.num_envs, dtype=bool)
        if self._ended:
            self._ended = False
            return self._batch.reset(None), np.zeros(self.num_envs), none, none, {}
        features, rewards, self._ended = self._batch.step(actions)
        return features, rewards, np.full(self.num_envs, self._ended), none, {}
