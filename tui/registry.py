"""The screens of the application. A new screen is one file in ``screens/`` with an ``ENTRY``; nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class ScreenEntry:
    """One screen: where it stands in the bar, its key, and how it is made.

    Attributes
    ----------
    name : str
        Identifier; also the mode of the application and ``screen.NAME`` as the id of its key.
    title, summary : str
        Word in the bar; one sentence for the palette and Help.
    key : str
        Function key that opens it.
    order : int
        Place in the bar, from the left.
    make : callable
        Makes the screen.
    """

    name: str
    title: str
    summary: str
    key: str
    order: int
    make: Callable[[], Screen[Any]]


@cache
def screens() -> tuple[ScreenEntry, ...]:
    """Every screen, in the order of the bar.

    Examples
    --------
    >>> from nl2net.tui.registry import screens
    >>> screens()[0].name
    'ask'
    """
    package = import_module("nl2net.tui.screens")
    found = []
    for module in iter_modules(package.__path__):
        entry = getattr(import_module(f"nl2net.tui.screens.{module.name}"), "ENTRY", None)
        if isinstance(entry, ScreenEntry):
            found.append(entry)
    return tuple(sorted(found, key=lambda entry: entry.order))
