"""What one run remembers: its seed, its printed text, its remarks, and the node names it was given.

A process runs one program at a time (one fork per question), so the guards find the state of the run here.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

PRINT_LIMIT = 64 * 1024
NOTES_LIMIT = 50


class RunState:
    """State of one run; made by ``run_restricted`` before the program starts."""

    def __init__(self, seed: int, arguments: Iterable[Any] = ()) -> None:
        self.seed = seed
        self.notes: dict[str, None] = {}
        self.printed: list[str] = []
        self.printed_size = 0
        self.random = random.Random(seed)  # noqa: S311 - reproducible on purpose
        self.graphs = tuple(a for a in arguments if isinstance(a, nx.Graph))
        self.known: frozenset[Any] = frozenset()
        self.parts: deque[Any] = deque(maxlen=256)  # connected parts that were handed out
        self.parts_used: dict[int, tuple[int, int]] = {}  # size of a part and of its network
        self.sorted: deque[tuple[Any, Callable[[Any], Any] | None]] = deque(maxlen=8)

    def remember_nodes(self) -> None:
        """Note the node names of the given graphs, before the program can change them."""
        self.known = frozenset(node for graph in self.graphs for node in graph)

    def note(self, text: str) -> None:
        """Add a caveat about this run, once."""
        if len(self.notes) < NOTES_LIMIT:
            self.notes.setdefault(text)

    def write(self, text: str) -> None:
        """Keep printed text up to the limit."""
        room = PRINT_LIMIT - self.printed_size
        if room > 0:
            kept = text[:room]
            self.printed.append(kept)
            self.printed_size += len(kept)
            if len(kept) < len(text):
                self.note("printed text was cut at 64 kB")


_current = [RunState(1)]


def current() -> RunState:
    """State of the run in progress."""
    return _current[0]


def start_run(state: RunState) -> None:
    """Make ``state`` the state of the run in progress."""
    _current[0] = state
