"""Agents for interactive tasks: what proves a suite, what needs no model, and the base of those that use one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nl2net.benchmark.applications.tasks import Task
from nl2net.benchmark.episode import InteractiveAgent

Complete = Callable[[list[dict[str, str]]], str]
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

    Raises
    ------
    UserError
        There is no agent of that name, or ``complete`` is missing.
    """
    raise NotImplementedError
