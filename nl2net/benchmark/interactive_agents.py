"""Agents for interactive tasks that need no model, and the way to all agents by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from nl2net.benchmark.applications.tasks import PublicTask, Task
from nl2net.benchmark.interactive import InteractiveAgent, Observation
from nl2net.benchmark.interactive_models import Complete, ModelAgent
from nl2net.benchmark.rules import RulesAgent
from nl2net.errors import UserError
from nl2net.golden.streams import Stream

__all__ = ["MODEL_AGENTS", "PLAIN_AGENTS", "Complete", "ModelAgent", "NoopAgent", "OracleAgent", "RandomAgent"]
__all__ += ["RulesAgent", "ScriptedAgent", "make_interactive_agent"]

PLAIN_AGENTS = ("oracle", "noop", "random", "rules")
MODEL_AGENTS = ("step_by_step", "few_shot", "react")


def make_interactive_agent(
    name: str, tasks: Iterable[Task] = (), *, complete: Complete | None = None, seed: str = "1", **options: Any
) -> InteractiveAgent:
    """An agent by name.

    Parameters
    ----------
    name : str
        One of `PLAIN_AGENTS`, or of `MODEL_AGENTS`, which need ``complete``.
    tasks : iterable of Task
        Needed by ``oracle`` alone, which answers from their keys.
    complete : callable, optional
        From chat messages to the reply of a model; the caller owns client, limits and usage.
    seed : str
        Of ``random``.
    **options
        Of `ModelAgent`.

    Raises
    ------
    UserError
        There is no agent of that name, or ``complete`` is missing.
    """
    match name:
        case "oracle":
            return OracleAgent(tasks)
        case "noop":
            return NoopAgent()
        case "random":
            return RandomAgent(seed)
        case "rules":
            return RulesAgent()
    if name not in MODEL_AGENTS:
        raise UserError(f"unknown agent {name!r}", hint=f"Known are {', '.join((*PLAIN_AGENTS, *MODEL_AGENTS))}.")
    if complete is None:
        raise UserError(f"agent {name!r} needs a model")
    return ModelAgent(name, complete, **options)


class OracleAgent:
    """Repairs from the keys: must score 1.000, solved and safe, or suite, harness or judge is wrong."""

    name = "oracle"

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = {task.handle: task for task in tasks}
        self._replies: list[str] = []

    def start(self, task: PublicTask) -> None:
        """Prepare the replies."""
        key = self._tasks[task.id].key
        self._replies = [json.dumps({"node": place, "command": line}) for place, line in key.repair]
        causes = [{"kind": fault.kind, "place": fault.place} for fault in key.faults]
        self._replies.append(json.dumps({"done": True, "diagnosis": causes}))

    def reply(self, observation: Observation) -> str:
        """The next line of the reference repair."""
        return self._replies.pop(0)


class NoopAgent:
    """Says at once that all is well: must score 0.000 but for healthy controls."""

    name = "noop"

    def start(self, task: PublicTask) -> None:
        """Nothing to forget."""

    def reply(self, observation: Observation) -> str:
        """The end."""
        return '{"done": true}'


class ScriptedAgent:
    """Gives fixed replies, the last one again and again: for tests, and to run a transcript on another backend."""

    name = "scripted"

    def __init__(self, replies: Sequence[str]) -> None:
        self._all = list(replies)
        self._left = list(replies)

    def start(self, task: PublicTask) -> None:
        """Begin with the first reply."""
        self._left = list(self._all)

    def reply(self, observation: Observation) -> str:
        """The next reply."""
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


class RandomAgent:
    """Tries commands at random, from those that a repair may need."""

    name = "random"

    def __init__(self, seed: str = "1") -> None:
        self._seed = seed
        self._task: PublicTask | None = None
        self._stream = Stream("random agent", seed)

    def start(self, task: PublicTask) -> None:
        """Seed by the task, so that the order of tasks has no influence."""
        self._task = task
        self._stream = Stream("random agent", self._seed, task.id)

    def reply(self, observation: Observation) -> str:
        """A random command; the end when all flows are as intended or with the last turn."""
        assert self._task is not None
        if not observation.wrong() or observation.turns_left <= 1:
            return '{"done": true}'
        draw = self._stream
        node = draw.pick(self._task.plan["repair_at"])
        command = _random_policy(self._task, draw) if self._task.application == "policy" else _random_routing(draw)
        return json.dumps({"node": node, "command": command})


def _random_routing(draw: Stream) -> str:
    port = draw.pick(["lan1", "lan2", "up0", "up1"])
    chain = draw.pick(["INPUT", "OUTPUT", "FORWARD"])
    lines = [
        "sysctl -w net.ipv4.ip_forward=1",
        f"ip link set dev {port} up mtu 1500",
        f"ip link set dev {port} down",
        f"iptables -P {chain} ACCEPT",
        f"iptables -D {chain} 1",
        f"iptables -F {chain}",
        "ip rule del pref 0 prohibit",
        f"ip route del 10.{draw.below(256)}.{draw.below(256)}.0/24",
        f"ip addr flush dev {port}",
    ]
    return draw.pick(lines)


def _random_policy(task: PublicTask, draw: Stream) -> str:
    pod = draw.pick([item["pod"] for item in task.plan["network"]["pods"]])
    space, _, name = pod.partition("/")
    spec = draw.pick(['{"ingress": [{}]}', '{"egress": [{}]}', '{"ingress": []}'])
    patch = f"kubectl patch networkpolicy {name} -n {space} --type merge -p '{{\"spec\": {spec}}}'"
    return draw.pick([patch, patch, f"kubectl delete networkpolicy {name} -n {space}"])
