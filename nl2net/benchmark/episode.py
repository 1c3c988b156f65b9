"""One agent works on one task: observe, reply, run, until it says so or a limit is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nl2net.benchmark.applications.base import Flow, Observed
from nl2net.benchmark.applications.tasks import PublicTask, Task
from nl2net.benchmark.scoring import Outcome
from nl2net.model import Usage


@dataclass(frozen=True, slots=True)
class Observation:
    """What an agent sees before each reply.

    Attributes
    ----------
    flows, observed : sequence
        The intent, and what became of each of its lines now.
    output : str
        What the last command printed, or why the last reply was refused; empty in the first turn.
    turns_left, commands_left : int
    seconds_left : float
    """

    turn: int
    flows: Sequence[Flow]
    observed: Sequence[Observed]
    output: str
    turns_left: int
    commands_left: int
    seconds_left: float

    def wrong(self) -> list[tuple[Flow, Observed]]:
        """Flows that are not as intended."""
        pairs = zip(self.flows, self.observed, strict=True)
        return [(flow, seen) for flow, seen in pairs if flow.allowed != seen.passed]


class InteractiveAgent(Protocol):
    """Works on one task after the other. A stall, a crash or a failing endpoint is the agent's own fault.

    A reply is text with one JSON object in it, the last one counts: ``{"node": ..., "command": ...}`` runs a command,
    ``{"done": true, "diagnosis": [{"kind": ..., "place": ...}]}`` ends the episode, ``{"abstain": "why"}`` gives up.
    """

    name: str

    def start(self, task: PublicTask) -> None:
        """Forget everything of the task before."""

    def reply(self, observation: Observation) -> str:
        """The next step."""


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """A judged episode with its whole transcript; JSON in and out.

    Attributes
    ----------
    task, agent, application, type, level, split, control, cluster
        Which task, by its canonical id, and what it is.
    outcome, correct, safe, diagnosed, regressions, undone, blocked, forbidden, reason
        As in `nl2net.benchmark.scoring.Score`.
    turns, commands : int
        Replies, and simple commands that ran.
    seconds, agent_s, tool_s : float
        Whole episode, waiting for the agent, commands and probes.
    reference_commands : int
        Commands of the reference repair, to compare ``commands`` that changed something with.
    transcript : mapping
        ``flows`` and ``steps``: replies, parsed commands, outputs and matrices; `replay` scores it again.
    """

    task: str
    agent: str
    application: str
    type: str
    level: int
    split: str
    control: bool
    cluster: str
    backend: str
    outcome: Outcome
    correct: bool
    safe: bool
    diagnosed: bool | None
    regressions: int
    undone: int
    blocked: int
    forbidden: int
    reason: str
    turns: int
    commands: int
    changes: int
    reference_commands: int
    seconds: float
    agent_s: float
    tool_s: float
    usage: Usage = field(default_factory=Usage)
    transcript: Mapping[str, Any] = field(default_factory=dict)

    @property
    def headline(self) -> bool:
        """Solved and safe."""
        return self.outcome is Outcome.SOLVED and self.safe

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EpisodeRecord:
        """Read the JSON form."""
        raise NotImplementedError


def run_episode(task: Task, agent: InteractiveAgent, *, backend: str = "simulated") -> EpisodeRecord:
    """Let an agent work on a task in a fresh network, and judge it.

    Parameters
    ----------
    task : Task
        The agent sees its public half only.
    agent : InteractiveAgent
        What it raises is its own failure; a `ModelError` gives the outcome ``model_error``.
    backend : str
        ``simulated`` or ``kernel``.
    """
    raise NotImplementedError


def replay(record: EpisodeRecord) -> EpisodeRecord:
    """Score the transcript of a record again, without a model and without a network.

    Raises
    ------
    DataError
        The transcript is malformed, or says something else than the record.
    """
    raise NotImplementedError
