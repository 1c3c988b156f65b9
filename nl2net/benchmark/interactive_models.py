"""Agents that ask a model for each step: ``step_by_step``, ``few_shot`` and ``react``.

They show the network to the model, so they are for generated tasks only; nothing of an operator's own can get here,
because a `PublicTask` is made by the generator.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from nl2net.benchmark.applications.base import Flow, Observed
from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.applications.tasks import PublicTask, Task
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive import Observation
from nl2net.benchmark.transcripts import read_flows, unpack_matrix
from nl2net.golden.case import Split
from nl2net.model import Usage
from nl2net.prompts import Message, render

Complete = Callable[[list[Message]], str]
EXAMPLES = 2
SHOWN = 20
_PLACES = {"policy": "NAMESPACE/POLICY", "routing": "a router, or ROUTER:PORT for a port"}


class ModelAgent:
    """One conversation per task.

    Parameters
    ----------
    style : str
        ``step_by_step``, ``few_shot`` or ``react``.
    complete : callable
        From messages to the reply of a model. It may raise `nl2net.errors.ModelError`, and it owns client and limits;
        where it has an attribute ``usage``, what one task added to it goes into the record.
    keep : int
        Messages of the conversation that are sent beside the first two; older ones are left out.
    """

    def __init__(self, style: str, complete: Complete, *, keep: int = 16) -> None:
        self.name = style
        self._complete = complete
        self._keep = keep
        self._head: list[Message] = []
        self._tail: list[Message] = []
        self._before = self._spent()

    def _spent(self) -> Usage:
        usage = getattr(self._complete, "usage", None)
        return usage if isinstance(usage, Usage) else Usage()

    @property
    def usage(self) -> Usage:
        """What the model cost since the start of the task."""
        now, then = self._spent(), self._before
        cost = None if now.cost_usd is None else now.cost_usd - (then.cost_usd or 0.0)
        requests = now.requests - then.requests
        prompt, completion = now.prompt_tokens - then.prompt_tokens, now.completion_tokens - then.completion_tokens
        return Usage(requests, prompt, completion, cost, now.estimated)

    def start(self, task: PublicTask) -> None:
        """Begin a conversation."""
        self._before = self._spent()
        self._head = [{"role": "system", "content": system_text(task, self.name)}]
        if self.name == "few_shot":
            self._head += [dict(message) for message in example_messages(task.application)]
        self._tail = []

    def reply(self, observation: Observation) -> str:
        """Show the observation, return what the model says."""
        seen = observation_text(observation)
        self._tail.append({"role": "user", "content": seen})
        said = self._complete([*self._head, *self._tail[-self._keep - 1 :]])
        self._tail.append({"role": "assistant", "content": said})
        return said


def system_text(task: PublicTask, style: str) -> str:
    """The first message of a task."""
    plan = task.plan
    return render(
        "episode_system.j2",
        question=task.question,
        network=plan["network"],
        places=plan["places"],
        repair_at=plan["repair_at"],
        commands=plan["commands"],
        budget=task.budget,
        kinds=task.kinds,
        place_form=_PLACES.get(task.application, "one of the places"),
        style=style,
    )


def observation_text(observation: Observation) -> str:
    """An observation in words: wrong flows with reason and place, the last output, and what is left."""
    return render(
        "episode_observation.j2",
        output=observation.output.strip(),
        wrong=[flow_text(flow, seen) for flow, seen in observation.wrong()],
        total=len(observation.flows),
        shown=SHOWN,
        turns_left=observation.turns_left,
        commands_left=observation.commands_left,
    )


def flow_text(flow: Flow, seen: Observed) -> str:
    """One wrong flow.

    Examples
    --------
    >>> flow_text(Flow("a", "b", 0, True), Observed(False, "timeout", "r1"))
    'a cannot reach b (timeout, reported by r1)'
    """
    target = f"{flow.target}:{flow.port}" if flow.port else flow.target
    if not flow.allowed:
        return f"{flow.source} reaches {target} but must not"
    where = f", reported by {seen.place}" if seen.place else ""
    return f"{flow.source} cannot reach {target} ({seen.reason}{where})"


@cache
def example_messages(application: str) -> tuple[Message, ...]:
    """Solved tasks of the development split as finished turns; made and run here, so that they work."""
    messages: list[Message] = []
    for task in example_tasks(application):
        messages += _conversation(task)
    return tuple(messages)


def example_tasks(application: str) -> list[Task]:
    """The tasks of the examples, on networks of a seed of their own."""
    return make_tasks(application, "few-shot examples", Split.DEV, EXAMPLES, levels=[1]).tasks


def _conversation(task: Task) -> list[Message]:
    from nl2net.benchmark.interactive_agents import OracleAgent

    record = run_episode(task, OracleAgent([task]))
    flows = read_flows(record.transcript)
    seen = unpack_matrix(record.transcript["start"])
    messages: list[Message] = []
    output = f"(Another network.) Complaint: {task.question}"
    left = task.budget.turns
    for turn, step in enumerate(record.transcript["steps"], start=1):
        observation = Observation(turn, flows, seen, output, left, task.budget.commands, task.budget.seconds)
        messages.append({"role": "user", "content": observation_text(observation)})
        messages.append({"role": "assistant", "content": json.dumps(json.loads(step["reply"]))})
        output, left = step["output"], left - 1
        seen = unpack_matrix(step["matrix"]) if step["matrix"] else seen
    return messages
