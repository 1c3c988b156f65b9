"""The usual set-up of RestrictedPython, in the shape of wall one: for the runs with the operating system alone."""

from __future__ import annotations

from typing import Any

from tests.escape.naive import run_naively
from tests.escape.plain_wall import AskUser, CannotAnswer, Ran, lint, validate

__all__ = ["AskUser", "CannotAnswer", "Ran", "lint", "run_restricted", "validate"]

_WARM_MARK = "sorted(nx.pagerank"


def run_restricted(source: str, arguments: tuple[Any, ...], *, library: Any, bindings: Any, seed: int) -> Ran:
    if _WARM_MARK in source:  # the worker's own warm-up program uses more than this set-up offers
        return Ran(None, "", (), source)
    value, printed = run_naively(source, arguments[0])
    return Ran(value, printed, (), source)
