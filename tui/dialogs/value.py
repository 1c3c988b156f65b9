"""Asks for one value."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class ValueDialog(ModalScreen[str | None]):
    """A line of text; Enter takes it, Esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", id="dialog.cancel")]

    def __init__(self, title: str, value: str, note: str) -> None:
        super().__init__()
        self._title, self._value, self._note = title, value, note

    def compose(self) -> ComposeResult:
        """Title, value, note."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(self._value, id="value")
            yield Static(self._note, classes="dialog-note", markup=False)

    @on(Input.Submitted)
    def _chosen(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)
