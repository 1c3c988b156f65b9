"""Wall one: the language. Which programs may run, and what they may reach while they do."""

from __future__ import annotations

from nl2net.sandbox.language.linting import lint
from nl2net.sandbox.language.locating import locate
from nl2net.sandbox.language.prelude import AskUser, CannotAnswer
from nl2net.sandbox.language.running import Ran, run_restricted
from nl2net.sandbox.language.validation import validate

__all__ = ["AskUser", "CannotAnswer", "Ran", "lint", "locate", "run_restricted", "validate"]
