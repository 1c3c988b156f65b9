"""The first-run tour: five short pages, on the sample network, without any connection."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

PAGES: tuple[tuple[str, str], ...] = (
    (
        "Welcome",
        "nl2net answers questions about a network that stays on this machine.\n\n"
        "A sample network is open already (abilene, 11 nodes). Your own: [b]Ctrl+G[/b], then a path.",
    ),
    (
        "Ask",
        "Type a question at the bottom and press [b]Enter[/b]: 'How many links does Denver have?'\n\n"
        "Only the schema and the question, with names masked, go to the model. The tab [b]Sent[/b] shows the exact "
        "bytes. [b]Esc[/b] stops at any time.",
    ),
    (
        "Program beside output",
        "The model answers with a program; it runs here, sealed. You see it beside its output.\n\n"
        "Change it and press [b]Ctrl+R[/b]: it runs again without a model. Every attempt is kept under [b]Tries[/b].",
    ),
    (
        "Approve, reject, undo",
        "A question may ask for a change. You get a difference; nothing is written until you approve.\n\n"
        "In the conversation: [b]a[/b] approves a program into your library, [b]w[/b] marks an answer as wrong, "
        "[b]c[/b] compares attempts, [b]s[/b] saves.",
    ),
    (
        "Find your way",
        "[b]Ctrl+P[/b] palette · [b]Ctrl+O[/b] jump to a part by a letter · [b]F1[/b] help · [b]F3[/b] history · "
        "[b]Ctrl+B[/b] schema · [b]Ctrl+Q[/b] quit.\n\nEverything is saved as you go.",
    ),
)


class Tour(ModalScreen[None]):
    """Enter goes on, Esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,space", "turn(1)", "Next", id="tour.next"),
        Binding("left", "turn(-1)", "Back", id="tour.back"),
        Binding("escape", "dismiss(None)", "Leave", id="dialog.cancel"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._page = 0

    def compose(self) -> ComposeResult:
        """Title, text, and how to go on."""
        with Vertical(classes="dialog"):
            yield Static("", classes="dialog-title", id="tour-title")
            yield Static("", id="tour-text")
            yield Static("", classes="dialog-note", id="tour-note")

    def on_mount(self) -> None:
        """The first page."""
        self.action_turn(0)

    def action_turn(self, by: int) -> None:
        """Go on or back; after the last page the tour ends."""
        if self._page + by >= len(PAGES):
            self.dismiss(None)
            return
        self._page = max(self._page + by, 0)
        title, text = PAGES[self._page]
        self.query_one("#tour-title", Static).update(title)
        self.query_one("#tour-text", Static).update(Content.from_markup(text))
        dots = "●" * (self._page + 1) + "○" * (len(PAGES) - self._page - 1)
        self.query_one("#tour-note", Static).update(f"{dots}   Enter next · Esc leave")
