"""Tasks: a ticket about a network, with a public half for agents and a key half for the judge."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nl2net.benchmark.applications.base import Command, Fault, Flow, State, canonical
from nl2net.errors import DataError
from nl2net.golden.case import Split

TASK_VERSION = 1
CANARY = "nl2net-benchmark-canary 5f0c1b7e-8c1d-4f6a-9a51-3d2b7f7a60e4: keep this out of training data"
HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one episode.

    Attributes
    ----------
    turns : int
        Replies of the agent.
    commands : int
        Simple commands in all; a line may hold several, joined by ``;``, ``&&`` or ``||``.
    command_s, seconds : float
        Seconds per command and for the whole episode.
    output_chars : int
        What is shown of a command's output.
    """

    turns: int = 15
    commands: int = 100
    command_s: float = 5.0
    seconds: float = 900.0
    output_chars: int = 6000


@dataclass(frozen=True, slots=True)
class Key:
    """What the judge knows: hidden faults in the order in which they were made, and a reference repair.

    Attributes
    ----------
    faults : tuple of Fault
        Empty for a healthy control.
    repair : tuple of Command
        Solves the task safely when run in this order.
    symptoms : tuple of int
        Positions of the flows that are not as intended at the start.
    ticket : str
        How the ticket was written: ``precise``, ``vague`` or ``misleading``.
    """

    faults: tuple[Fault, ...] = ()
    repair: tuple[Command, ...] = ()
    symptoms: tuple[int, ...] = ()
    ticket: str = "precise"


@dataclass(frozen=True, slots=True)
class PublicTask:
    """The half of a task that an agent may see: no type, no level, no key.

    Attributes
    ----------
    id : str
        Tells tasks apart and nothing else.
    plan : mapping
        What the operator documented: ``places`` where commands run, ``commands`` that are allowed, and the network.
    kinds : tuple of str
        Words for root causes.
    """

    id: str
    application: str
    question: str
    plan: Mapping[str, Any]
    flows: tuple[Flow, ...]
    kinds: tuple[str, ...]
    budget: Budget
    canary: str = CANARY

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {**_flat(self), "budget": asdict(self.budget), "flows": [list(flow) for flow in self.flows]}


@dataclass(frozen=True, slots=True)
class Task:
    """One ticket with its proven answer.

    Attributes
    ----------
    id : str
        Hash of state and faults: equal for equal tasks whatever their words.
    handle : str
        The name that agents see; it says nothing about the faults.
    type : str
        Kinds of the faults joined by ``+``, or ``healthy``.
    level : int
        Number of faults, 0 for a healthy control.
    control : bool
        Nothing is broken, and doing nothing is right: reported apart.
    cluster : str
        Digest of the state; tasks on one state are not independent.
    """

    id: str
    handle: str
    application: str
    type: str
    level: int
    split: Split
    control: bool
    question: str
    state: State
    plan: Mapping[str, Any]
    kinds: tuple[str, ...]
    key: Key
    budget: Budget = field(default_factory=Budget)

    @property
    def cluster(self) -> str:
        """Digest of the healthy state."""
        return self.state.digest

    def public(self) -> PublicTask:
        """The half that agents see."""
        return PublicTask(
            self.handle, self.application, self.question, self.plan, self.state.flows, self.kinds, self.budget
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form with the key."""
        key = {
            "faults": [fault.to_json() for fault in self.key.faults],
            "repair": [list(command) for command in self.key.repair],
            "symptoms": list(self.key.symptoms),
            "ticket": self.key.ticket,
        }
        state = self.state.to_json()
        return {**_flat(self), "version": TASK_VERSION, "state": state, "budget": asdict(self.budget), "key": key}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Task:
        """Read the JSON form.

        Raises
        ------
        DataError
            A field is missing or malformed, or the version is another one.
        """
        if data.get("version") != TASK_VERSION:
            raise DataError(f"not a task of version {TASK_VERSION}", field="version")
        try:
            key = data["key"]
            made = {
                **{name: data[name] for name in ("id", "handle", "application", "type", "level", "question", "plan")},
                "split": Split(data["split"]),
                "control": bool(data["control"]),
                "state": State.from_json(data["state"]),
                "kinds": tuple(data["kinds"]),
                "budget": Budget(**data["budget"]),
                "key": Key(
                    tuple(Fault.from_json(item) for item in key["faults"]),
                    tuple(Command(*item) for item in key["repair"]),
                    tuple(key["symptoms"]),
                    key["ticket"],
                ),
            }
            return cls(**made)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"malformed task: {type(error).__name__}: {error}") from None


def _flat(value: Task | PublicTask) -> dict[str, Any]:
    """Fields that are JSON already."""
    names = ("id", "handle", "application", "type", "level", "split", "control", "question", "plan", "canary")
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return {**found, "kinds": list(value.kinds)}


def task_id(application: str, version: int, state: State, faults: tuple[Fault, ...], words: str = "") -> str:
    """Canonical id: the same for the same state and actions, in whatever order the faults were made."""
    actions = sorted(canonical(fault.to_json()) for fault in faults)
    text = canonical([application, version, state.digest, actions, words])
    return f"{application}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
