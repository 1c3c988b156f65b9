"""What the learner, the search and the rules know of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nl2net.curriculum.arrays import AnyArray, Floats, Seeds
from nl2net.curriculum.spaces import Space


class Simulator(Protocol):
    """Sessions side by side; all take the same number of steps, so an episode ends for all at once.

    Attributes
    ----------
    steps : int
        Decisions in a session.
    features, actions : int
        Width of what a learned policy sees, number of its choices.
    insight : int
        Width of `foresee`.
    from_space : int
        So many of the first sessions follow the given points; the others are generated traces.
    observe : bool
        Rules read the simulator's state; switched off, no time is spent on features.
    """

    steps: int
    features: int
    actions: int
    insight: int
    from_space: int
    observe: bool

    def reset(self, points: Floats, seeds: Seeds) -> Floats:
        """Start one session per row of parameter values; returns features, shape (sessions, features)."""
        ...

    def step(self, actions: AnyArray) -> tuple[Floats, Floats]:
        """Act in every session; returns features and rewards."""
        ...

    def foresee(self) -> Floats:
        """What is about to come, shape (sessions, insight): for the critic in training, never for a policy."""
        ...

    def score(self) -> Floats:
        """Score of every session once it is over; higher is better."""
        ...

    def parts(self) -> Mapping[str, Floats]:
        """The score's terms; they add up to it where the score is a sum."""
        ...


class Policy(Protocol):
    """Decides for all sessions of a simulator at once."""

    def start(self, simulator: Any) -> None:
        """A new batch of sessions begins; forget the last one."""

    def decide(self, simulator: Any, features: Floats) -> AnyArray:
        """Actions, one per session."""
        ...


@dataclass(frozen=True, slots=True)
class Learning:
    """Settings of the learner that differ by case.

    Attributes
    ----------
    teacher : str, optional
        Rule that the network imitates before it learns by reward; none for a cold start.
    lessons : int
        Episodes of imitation; each of them counts as environment steps like any other.
    """

    hidden: int = 128
    gamma: float = 0.99
    lam: float = 0.95
    epochs: int = 4
    clip_low: float = -30.0
    clip_high: float = 10.0
    scale: float = 5.0
    steps: int = 3_000_000
    sessions: int = 256
    minibatches: int = 4
    rate: float = 1e-3
    entropy: float = 0.05
    teacher: str | None = None
    lessons: int = 4


@dataclass(frozen=True, slots=True)
class Case:
    """One decision problem with everything the engine needs.

    Attributes
    ----------
    baselines : mapping
        Rule-based policies by name; ``gap_baseline`` is the cheap one that the search compares with.
    handcrafted : (str, bool)
        Axis along which the hand-made curriculum goes from easy to hard, and whether high values are the easy ones.
    """

    name: str
    space: Space
    make: Callable[[], Simulator]
    baselines: Mapping[str, Callable[[], Policy]]
    gap_baseline: str
    handcrafted: tuple[str, bool]
    learning: Learning = field(default_factory=Learning)
    unit: str = ""
