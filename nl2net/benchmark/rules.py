"""The agent ``rules``: an expert system that reads the network by commands and compares it with plan and intent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Protocol

from nl2net.benchmark.applications.tasks import PublicTask
from nl2net.benchmark.interactive import Observation
from nl2net.benchmark.scoring import Cause


class Expert(Protocol):
    """Knows one application: yields commands, gets what they printed, and collects causes."""

    causes: set[Cause]

    def steps(self, observation: Observation) -> Iterator[tuple[str, str]]:
        """Node and command line of each step."""

    def seen(self, observation: Observation) -> None:
        """What came of the step before."""


class RulesAgent:
    """Diagnosis without keys and without a model; gives up nothing, and says what it found."""

    name = "rules"

    def __init__(self) -> None:
        self._expert: Expert | None = None
        self._steps: Iterator[tuple[str, str]] | None = None
        self._task: PublicTask | None = None

    def start(self, task: PublicTask) -> None:
        """Choose the expert."""
        from nl2net.benchmark.rules_policy import PolicyExpert
        from nl2net.benchmark.rules_routing import RoutingExpert

        self._task = task
        self._steps = None
        self._expert = PolicyExpert(task) if task.application == "policy" else RoutingExpert(task)

    def reply(self, observation: Observation) -> str:
        """The next step of the expert, or the end when all is well or nothing is left to try."""
        assert self._expert is not None
        if self._steps is None:
            self._steps = self._expert.steps(observation)
        else:
            self._expert.seen(observation)
        step = next(self._steps, None) if observation.wrong() else None
        if step is None:
            causes = [{"kind": kind, "place": place} for kind, place in sorted(self._expert.causes)]
            return json.dumps({"done": True, "diagnosis": causes})
        return json.dumps({"node": step[0], "command": step[1]})
