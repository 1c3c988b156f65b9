"""Interactive applications of the benchmark: something was broken, and an agent finds and repairs it by commands.

The types of the unified interface are in `base`, tasks in `tasks`, their generation in `making`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from nl2net.benchmark.applications.base import Application
from nl2net.errors import UserError

INTERACTIVE = ("routing", "policy")

__all__ = ["INTERACTIVE", "application"]


@cache
def application(name: str) -> Application:
    """The application of that name.

    Raises
    ------
    UserError
        There is none.

    Examples
    --------
    >>> application("routing").kinds[0]
    'forwarding_off'
    """
    if name not in INTERACTIVE:
        raise UserError(f"unknown application {name!r}", hint=f"Interactive are {', '.join(INTERACTIVE)}.")
    made: Application = import_module(f"nl2net.benchmark.applications.{name}").make()
    return made
