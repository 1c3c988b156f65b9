"""Finds the model that an option names."""

from __future__ import annotations

from nl2net.errors import UserError
from nl2net.incident.model_use import Model


def connect_model(name: str) -> Model | None:
    """A client for a model, ``None`` for ``none``.

    Raises
    ------
    UserError
        No client is installed.

    Examples
    --------
    >>> connect_model("none") is None
    True
    """
    if name == "none":
        return None
    raise UserError(f"no client for the model {name!r} in this installation", hint="Use --model none.")
