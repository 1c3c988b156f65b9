"""What one question gathers on its way through the loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from nl2net.assistant.entries import Found
from nl2net.assistant.masking import MaskedQuestion
from nl2net.assistant.speaking import ModelSpeaker
from nl2net.model import Library
from nl2net.sandbox.outcome import Facts


@dataclass(slots=True)
class AskState:
    """Filled stage by stage.

    Attributes
    ----------
    question, masked : str, MaskedQuestion
        As typed, and as it may be sent.
    started : float
        ``time.perf_counter()`` at the start.
    found : list of Found
        Retrieved examples, best last.
    refusal : str
        What was refused when only a half of the question is answered.
    turn : int
        Number in the history, 0 without one.
    """

    question: str
    masked: MaskedQuestion
    started: float
    library: Library = Library.NETWORKX
    facts: Facts = field(default_factory=Facts)
    caveats: list[str] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    speaker: ModelSpeaker | None = None
    sandbox_s: float = 0.0
    refusal: str = ""
    turn: int = 0
