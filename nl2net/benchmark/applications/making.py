"""Makes tasks: each a pure function of version, seed, application, split, type and ordinal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nl2net.benchmark.applications.tasks import Task
from nl2net.golden.case import Split

LEVELS = (0, 1, 2, 3)


@dataclass(slots=True)
class Made:
    """Tasks that passed the gate, and why candidates were turned away."""

    tasks: list[Task] = field(default_factory=list)
    rejects: Counter[str] = field(default_factory=Counter)


def make_tasks(application: str, seed: str, split: Split, count: int, *, levels: Sequence[int] | None = None) -> Made:
    """Make validated tasks.

    Parameters
    ----------
    application : str
        ``routing`` or ``policy``.
    seed : str
        Any text; another one gives other networks, faults and tickets.
    split : Split
        Whose networks and wordings are used; no network and no wording is in both.
    count : int
        Number of tasks.
    levels : sequence of int, optional
        Numbers of faults wanted; 0 stands for healthy controls. By default all, about one control in eleven.

    Raises
    ------
    UserError
        The application or a level is unknown, or the types run out of distinct tasks.
    """
    raise NotImplementedError
