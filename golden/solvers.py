"""The second solver of each intent: plain Python over rows, written apart from the reference program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Mode
from nl2net.golden.catalogue import Intent
from nl2net.model import Changes

Values = Mapping[str, str]
Solver = Callable[[BuiltGraph, Values], Any]
_SOLVERS: dict[tuple[str, str], Solver] = {}


@dataclass(frozen=True, slots=True)
class Solved:
    """What the second solver found.

    ``value`` is the answer; for mode ``any_of`` the list of all right ones, for ``top_k`` the whole ranking with the
    key last. ``parameters`` are those of a predicate, ``changes`` the wanted difference; with a value it is the state
    that the steps before the question must leave. ``idle`` are wrong answers that a lazy agent would give.
    """

    values: Values
    value: Any = None
    changes: Changes | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    idle: tuple[Any, ...] = ()


def solver(application: str, *names: str) -> Callable[[Solver], Solver]:
    """Register the second solver of one or more intents."""

    def register(function: Solver) -> Solver:
        for name in names:
            _SOLVERS[application, name] = function
        return function

    return register


def solve(intent: Intent, built: BuiltGraph, values: Values) -> Solved:
    """Answer an intent a second way."""
    _load()
    found = _SOLVERS[intent.application, intent.name](built, values)
    if isinstance(found, Solved):
        return found
    if intent.mode is Mode.CHANGE:
        return Solved(values, changes=found)
    if intent.mode is Mode.PREDICATE:
        return Solved(values, parameters=found)
    return Solved(values, value=found)


def has_solver(intent: Intent) -> bool:
    """Whether the intent has a second solver."""
    _load()
    return (intent.application, intent.name) in _SOLVERS


def _load() -> None:
    from nl2net.golden import (  # noqa: F401  (they register their solvers)
        chains,
        solvers_planning,
        solvers_planning_changes,
        solvers_traffic,
        solvers_traffic_changes,
        solvers_traffic_hard,
    )
