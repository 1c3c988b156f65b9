"""The terminal application."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.tui.app import NetworkApp
    from nl2net.tui.desk import Desk

_EXPORTS = {"Desk": "desk", "NetworkApp": "app"}

__all__ = ["Desk", "NetworkApp"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(f"nl2net.tui.{_EXPORTS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
