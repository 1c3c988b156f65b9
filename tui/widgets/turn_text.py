"""A question of the history as text: when, what, value, caveats, provenance."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from nl2net.display import clean, clean_line
from nl2net.tui.recall import Shown
from nl2net.tui.words import BADGES, answer_line, egress_words, provenance_words, status_words, usage_words


def turn_content(shown: Shown | None, *, note: str = "") -> Content:
    """Everything about a question but its program."""
    if shown is None:
        return Content(note or "no question")
    answer = shown.answer
    sign, colour = BADGES[answer.status]
    parts: list[Any] = [(f"{clean_line(note)}\n\n", "$accent")] if note else []
    parts += [(clean(answer.question), "bold"), "\n", (f"{sign} {status_words(answer)}\n\n", colour)]
    parts += [(answer_line(answer, width=2000), "$primary"), "\n\n"]
    for caveat in answer.caveats:
        parts += [("▲ ", "$text-warning"), clean(caveat), "\n"]
    if shown.tries[1:]:
        parts += [f"{len(shown.tries)} attempts\n"]
    parts += [(f"\n{usage_words(answer)}\n{egress_words(answer)}\n", "$text-muted")]
    for name, value in provenance_words(answer):
        parts += [(f"{name:<9}{value}\n", "$text-muted")]
    return Content.assemble(*parts)
