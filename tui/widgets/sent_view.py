"""What left this machine: the exact bytes of every request."""

from __future__ import annotations

import json

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static, TextArea

from nl2net.assistant.answer import Answer
from nl2net.display import clean
from nl2net.tui.words import egress_words


class SentView(Vertical):
    """Bodies of the requests; a first line says how many bytes they are and where the log lies."""

    DEFAULT_CSS = "SentView > Static { height: auto; padding: 0 1; } SentView > TextArea { height: 1fr; }"

    def compose(self) -> ComposeResult:
        """Summary and bodies."""
        yield Static("", markup=False)
        yield TextArea("", read_only=True, soft_wrap=True, compact=True)

    def show(self, answer: Answer | None) -> None:
        """Show the requests of an answer."""
        words = "" if answer is None else egress_words(answer)
        log = "" if answer is None else str(answer.egress.get("log", ""))
        self.query_one(Static).update(clean(f"{words}\nlog: {log}") if log else words)
        bodies = () if answer is None else answer.bodies
        self.query_one(TextArea).load_text("\n\n".join(_body(n, body) for n, body in enumerate(bodies, 1)))


def _body(number: int, body: str) -> str:
    """The raw bytes, and the messages in them with their line breaks for reading."""
    size = len(body.encode())
    return f"request {number}, {size:,} bytes, as sent:\n{clean(body)}\n\n{_readable(body)}"


def _readable(body: str) -> str:
    try:
        messages = json.loads(body)["messages"]
        return "\n".join(clean(f"--- {message['role']} ---\n{message['content']}") for message in messages)
    except (ValueError, KeyError, TypeError):
        return ""
