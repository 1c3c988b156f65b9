"""Chooses a graph: registered ones, shipped samples, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from nl2net.display import clean_line
from nl2net.tui.desk import Desk, GraphChoice


class GraphPicker(ModalScreen[str | None]):
    """Typing narrows the list; a path of a file opens that file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", id="dialog.cancel"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._choices: list[GraphChoice] = []

    def compose(self) -> ComposeResult:
        """Search line and list."""
        with Vertical(classes="dialog"):
            yield Static("Open a graph", classes="dialog-title")
            yield Input(placeholder="name, or path of a file", id="picker-search")
            yield OptionList(id="picker-list")
            yield Static("Enter opens · Esc leaves", classes="dialog-note")

    def on_mount(self) -> None:
        """Fill the list."""
        self._choices = self._desk.choices()
        self._fill("")

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def _fill(self, text: str) -> None:
        listing = self.query_one(OptionList)
        listing.clear_options()
        words = text.casefold().split()
        for choice in self._choices:
            if all(word in f"{choice.name} {choice.summary}".casefold() for word in words):
                listing.add_option(Option(_prompt(choice), id=choice.name))
        if listing.option_count:
            listing.highlighted = 0

    def action_to_list(self) -> None:
        """From the search line into the list."""
        self.query_one(OptionList).focus()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        listing = self.query_one(OptionList)
        path = Path(event.value.strip()).expanduser()
        if event.value.strip() and path.exists():
            self.dismiss(str(path))
        elif listing.highlighted is not None and listing.option_count:
            self.dismiss(listing.get_option_at_index(listing.highlighted).id)
        else:
            self.notify("no such graph or file", severity="warning")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id)


def _prompt(choice: GraphChoice) -> Content:
    return Content.assemble(
        (f"{clean_line(choice.name, width=24):<14}", "bold"),
        (f" {choice.origin:<7}", "$accent"),
        (clean_line(choice.summary, width=90), "$text-muted"),
    )
