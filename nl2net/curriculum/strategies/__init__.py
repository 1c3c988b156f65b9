"""Curricula behind one small protocol; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from nl2net.curriculum.strategies.base import History, Strategy
from nl2net.curriculum.strategies.batch_gap import BatchGap
from nl2net.curriculum.strategies.genet import Genet
from nl2net.curriculum.strategies.handcrafted import Handcrafted
from nl2net.curriculum.strategies.learnability import Learnability
from nl2net.curriculum.strategies.plr import PrioritisedReplay
from nl2net.curriculum.strategies.progress import Progress
from nl2net.curriculum.strategies.tail import Tail
from nl2net.curriculum.strategies.uniform import RandomRegions, Uniform
from nl2net.errors import UserError

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "uniform": Uniform,
    "random": RandomRegions,
    "handcrafted": Handcrafted,
    "genet": Genet,
    "batch_gap": BatchGap,
    "plr": PrioritisedReplay,
    "learnability": Learnability,
    "progress": Progress,
    "tail": Tail,
}


def load_strategy(name: str) -> Strategy:
    """A strategy by name.

    Raises
    ------
    UserError
        Unknown name.
    """
    if name not in STRATEGIES:
        raise UserError(f"no strategy {name!r}", hint=f"One of {', '.join(STRATEGIES)}.")
    return STRATEGIES[name]()


__all__ = ["STRATEGIES", "History", "Strategy", "load_strategy"]
