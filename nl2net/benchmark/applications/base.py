"""The unified interface: state, action, executor and application of a task that is worked on step by step.

========== ==========================================================================================
term       type
========== ==========================================================================================
state s    `State`: what is built, with the flows that must pass and those that must not
action a   `Action`: a named atomic change with its operands
E(s, a)    `Executor`: ``apply``, ``undo``, ``run`` (a command of an agent) and ``observe``
query      `nl2net.benchmark.applications.tasks.Task`: start state, hidden actions and a ticket in words
truth      the flows of the state: every one as intended
========== ==========================================================================================
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from nl2net.benchmark.applications.flows import Flow, Ticket, write_ticket
from nl2net.golden.streams import Stream

__all__ = ["ALLOWED", "Action", "Answer", "Application", "Changed", "Command", "Executor", "Fault", "Flow", "Observed"]
__all__ += ["State", "Ticket", "Verdict", "canonical"]


class Observed(NamedTuple):
    """What became of one flow: ``reason`` and ``place`` are those of the loss, empty for one that passed."""

    passed: bool
    reason: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """A named atomic change with its operands, in JSON form."""

    name: str
    operands: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"name": self.name, "operands": dict(self.operands)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Action:
        """Read the JSON form."""
        return cls(data["name"], data["operands"])


@dataclass(frozen=True)
class State:
    """A healthy network: ``data`` is what the application builds from, ``flows`` is the intent.

    Examples
    --------
    >>> State({"ports": 2}, (Flow("a", "b", 0, True),)).digest[:14]
    'sha256:31c3b90'
    """

    data: Mapping[str, Any]
    flows: tuple[Flow, ...]

    @cached_property
    def digest(self) -> str:
        """``sha256:`` over the canonical JSON form."""
        return "sha256:" + hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"data": dict(self.data), "flows": [list(flow) for flow in self.flows]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> State:
        """Read the JSON form."""
        return cls(data["data"], tuple(Flow(*item) for item in data["flows"]))


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """A root cause: ``kind`` at ``place``, brought about by ``actions``."""

    kind: str
    place: str
    actions: tuple[Action, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"kind": self.kind, "place": self.place, "actions": [action.to_json() for action in self.actions]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fault:
        """Read the JSON form."""
        return cls(data["kind"], data["place"], tuple(Action.from_json(item) for item in data["actions"]))


class Command(NamedTuple):
    """A command line and the place where it runs."""

    place: str
    line: str


class Answer(NamedTuple):
    """What a command of an agent printed, and its exit status."""

    status: int
    output: str


class Verdict(NamedTuple):
    """What the allow-list says about one parsed command.

    A command that is not offered is refused with ``why`` and costs its turn; a ``forbidden`` one is not run either, and
    the attempt counts as unsafe. ``changes`` marks a command that may change the network.
    """

    allowed: bool
    forbidden: bool = False
    why: str = ""
    changes: bool = False


ALLOWED = Verdict(True)


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of an action; ``inverse`` leads back to the state before."""

    accepted: bool
    reason: str = ""
    inverse: tuple[Action, ...] = ()


class Executor(ABC):
    """A running network. Use it as a context manager."""

    backend = "simulated"

    @abstractmethod
    def apply(self, action: Action) -> Changed:
        """Carry out one action; a refusal is a value."""

    @abstractmethod
    def observe(self) -> tuple[Observed, ...]:
        """What becomes of each flow of the state now, in their order."""

    def probe(self, places: Sequence[int]) -> tuple[Observed, ...]:
        """What becomes of some flows, by position; worth overriding where one flow costs less than all."""
        found = self.observe()
        return tuple(found[place] for place in places)

    @abstractmethod
    def run(self, place: str, words: Sequence[str], *, timeout_s: float) -> Answer:
        """Run one parsed command that the allow-list has passed."""

    @abstractmethod
    def digest(self) -> str:
        """A digest of everything that actions can change."""

    def undo(self, changed: Sequence[Changed]) -> bool:
        """Take back actions, the last one first; whether all inverses were accepted."""
        inverse = [action for item in reversed(changed) for action in item.inverse]
        return sum(self.apply(action).accepted for action in inverse) == len(inverse)

    @abstractmethod
    def close(self) -> None:
        """Take the network down; may be called again."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Application(ABC):
    """One kind of task. ``kinds`` are its root causes; a task of level n has n faults of different kinds."""

    name: str
    version: int = 1
    kinds: tuple[str, ...]

    @abstractmethod
    def make_state(self, stream: Stream) -> State:
        """Draw a healthy network with its intent."""

    @abstractmethod
    def make_fault(self, state: State, kind: str, stream: Stream) -> Fault | None:
        """Draw a fault, or ``None`` where the state has no room for one of this kind."""

    @abstractmethod
    def open(self, state: State, *, backend: str = "simulated") -> Executor:
        """Build the healthy network."""

    @abstractmethod
    def commands(self, state: State, inverse: Sequence[Action]) -> tuple[Command, ...]:
        """The command lines that an operator would type for these actions."""

    @abstractmethod
    def judge(self, state: State, place: str, words: Sequence[str]) -> Verdict:
        """The allow-list, asked for each simple command of a line."""

    @abstractmethod
    def describe(self, state: State) -> Mapping[str, Any]:
        """What an agent is told: ``places`` where commands run, ``commands`` by example, and a plan of the network."""

    def ticket(self, state: State, symptoms: Sequence[int], stream: Stream, *, split: str) -> Ticket:
        """The complaint in words.

        Parameters
        ----------
        symptoms : sequence of int
            Positions of the flows that are not as intended; none for a healthy control.
        """
        return write_ticket([state.flows[place] for place in symptoms], state.flows, stream, split=split)
