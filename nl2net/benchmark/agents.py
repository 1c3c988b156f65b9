"""What answers the questions of a suite: the protocol, and the two agents that prove a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nl2net.golden.case import Case, Mode
from nl2net.golden.graph_comparison import changes_from_json
from nl2net.model import Changes, Status, Usage


@dataclass(frozen=True, slots=True)
class PublicCase:
    """The half of a case that an agent may see: no key, no program, no intent.

    ``generated`` says that the graph is made up; agents that show data to a model work on no other.
    """

    id: str
    application: str
    question: str
    generated: bool = False


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What an agent made of a question.

    Attributes
    ----------
    result : TypedResult or any Python value
        The answer; a changed graph for a change.
    changes : Changes, optional
        The difference to the original, where the agent knows it; it is then judged in place of ``result``.
    message : str
        Why it was not answered, or the clarifying question.
    signals : mapping of str to float
        What the confidence was computed from; used to fit it.
    tool_s : float
        The part of ``seconds`` in which programs ran.
    turns, programs : int
        Replies of a model, and programs that were run.
    messages : sequence of mappings
        The whole conversation, for the transcript.
    """

    status: Status
    result: Any = None
    program: str = ""
    message: str = ""
    changes: Changes | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    confidence: float | None = None
    signals: Mapping[str, float] = field(default_factory=dict)
    tool_s: float = 0.0
    turns: int = 0
    programs: int = 0
    messages: Sequence[Mapping[str, str]] = ()


class Agent(Protocol):
    """Answers one question after the other. A stall, a crash or a failing endpoint is the agent's own fault."""

    name: str

    def start(self, case: PublicCase) -> None:
        """Forget everything of the case before."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Answer on a graph that is the agent's to change."""


class OracleAgent:
    """Answers from the keys: must score 1.000, or the suite or the comparison is wrong."""

    name = "oracle"

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = {case.id: case for case in cases}

    def start(self, case: PublicCase) -> None:
        """Nothing to forget."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """The key, in the form an agent would hand it over."""
        key = self._cases[case.id]
        if key.outcome is not Status.ANSWERED:
            return AgentAnswer(key.outcome, message=" ".join(key.missing))
        if key.comparison.mode is Mode.CHANGE:
            return AgentAnswer(Status.ANSWERED, changes=changes_from_json(key.expected))
        first_of_many = key.comparison.mode is Mode.ANY_OF
        return AgentAnswer(Status.ANSWERED, result=key.expected[0] if first_of_many else key.expected)


class NoopAgent:
    """Hands back the graph as it is, which for anything but a change is no answer: must score 0.000."""

    name = "noop"

    def start(self, case: PublicCase) -> None:
        """Nothing to forget."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """The unchanged graph."""
        return AgentAnswer(Status.ANSWERED, result=graph)
