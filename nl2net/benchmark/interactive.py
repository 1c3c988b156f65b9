"""What an interactive agent sees and says, and the judged record of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from nl2net.benchmark.applications.base import Flow, Observed
from nl2net.benchmark.applications.tasks import PublicTask
from nl2net.benchmark.scoring import Outcome, Score, score
from nl2net.benchmark.transcripts import trace_of
from nl2net.errors import DataError
from nl2net.model import Usage


@dataclass(frozen=True, slots=True)
class Observation:
    """What an agent sees before each reply.

    Attributes
    ----------
    flows, observed : sequence
        The intent, and what became of each of its lines now, with reason and place of each loss.
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

    def to_json(self) -> dict[str, Any]:
        """JSON form, for agents that are programs of their own."""
        return {
            "turn": self.turn,
            "flows": [
                [*flow, seen.passed, seen.reason, seen.place]
                for flow, seen in zip(self.flows, self.observed, strict=True)
            ],
            "output": self.output,
            "left": {"turns": self.turns_left, "commands": self.commands_left, "seconds": round(self.seconds_left, 1)},
        }


class InteractiveAgent(Protocol):
    """Works on one task after the other. A stall, a crash or a failing endpoint is the agent's own fault.

    A reply is text with one JSON object in it, the last one counts: ``{"node": ..., "command": ...}`` runs a command,
    ``{"done": true, "diagnosis": [{"kind": ..., "place": ...}]}`` ends the episode, ``{"abstain": "why"}`` gives up.
    An attribute ``usage`` (`nl2net.model.Usage`), where there is one, is recorded after the episode.
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
    outcome, correct, safe, diagnosed, progress, regressions, undone, reason
        As in `nl2net.benchmark.scoring.Score`.
    turns, commands, changes, blocked, forbidden : int
        Replies, simple commands that ran, those that may change the network, and those that did not run.
    reference_changes : int
        Commands of the reference repair, to compare ``changes`` with.
    seconds, agent_s, tool_s : float
        Whole episode, waiting for the agent, commands and probes.
    transcript : mapping
        ``flows`` and ``steps``: replies, commands, outputs and matrices; `replay` judges it again.
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
    progress: float
    regressions: int
    undone: int
    blocked: int
    forbidden: int
    reason: str
    turns: int
    commands: int
    changes: int
    reference_changes: int
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
        return {**asdict(self), "usage": self.usage.to_json(), "transcript": dict(self.transcript)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EpisodeRecord:
        """Read the JSON form.

        Raises
        ------
        DataError
            A field is missing, unknown or malformed.
        """
        try:
            return cls(**{**data, "outcome": Outcome(data["outcome"]), "usage": Usage(**data["usage"])})
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"malformed record: {type(error).__name__}: {error}") from None


def replay(record: EpisodeRecord) -> EpisodeRecord:
    """Judge the transcript of a record again, without a model and without a network.

    Raises
    ------
    DataError
        The transcript is malformed, or leads to another judgement than the record holds.
    """
    again = _judged(record, score(trace_of(record.transcript)))
    for name in ("outcome", "correct", "safe", "regressions"):
        if getattr(again, name) != getattr(record, name):
            raise DataError(f"the transcript of {record.task} says {name} {getattr(again, name)}", field=name)
    return again


def _judged(record: EpisodeRecord, found: Score) -> EpisodeRecord:
    why = str(record.transcript.get("why", ""))
    return replace(
        record,
        outcome=found.outcome,
        correct=found.correct,
        safe=found.safe,
        diagnosed=found.diagnosed,
        progress=found.progress,
        regressions=found.regressions,
        undone=found.undone,
        reason="; ".join(part for part in (found.reason, why) if part),
    )
