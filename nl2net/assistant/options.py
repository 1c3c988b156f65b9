"""What one question may be asked with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from nl2net.assistant.masking import Masker
from nl2net.prompts import Example


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of one question; ``None`` means the default of the model.

    Attributes
    ----------
    library : str
        ``auto``, ``networkx``, ``pandas`` or ``sql``.
    samples, repairs : int
        Programs to draw; repairs of each.
    mask, assume, dry_run : bool
        Replace names before sending; take the first choice instead of asking back; stop before running.
    threshold : float, optional
        Least confidence of a delivered answer.
    examples : int
        Library programs shown to the model.
    borrow : bool
        Let the nearest library program vote.
    unseen_wording : bool
        Leave out library entries of the same wording, for measurements on questions that the library was made from.
    """

    library: str = "auto"
    samples: int | None = None
    repairs: int = 1
    mask: bool = True
    assume: bool = False
    dry_run: bool = False
    threshold: float | None = None
    examples: int = 4
    borrow: bool = True
    unseen_wording: bool = False
    use_cache: bool = True


@dataclass(slots=True)
class Conversation:
    """Questions that belong together: one masker, earlier turns without results, and the parent turn."""

    id: str
    masker: Masker | None = None
    turns: list[Example] = field(default_factory=list)
    parent: int | None = None

    def history(self, limit: int = 2) -> tuple[Example, ...]:
        """The newest turns, oldest first."""
        return tuple(self.turns[-limit:])

    def reset(self) -> None:
        """Forget what was said; placeholders stay."""
        self.turns.clear()
        self.parent = None


@dataclass(frozen=True, slots=True)
class Hooks:
    """How a front end follows a question. ``stage`` gets the name of each stage, ``text`` the streamed reply."""

    stage: Callable[[str], None] = lambda _: None
    text: Callable[[str], None] | None = None
    cancel: threading.Event | None = None
