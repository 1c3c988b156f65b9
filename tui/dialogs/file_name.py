"""Asks for a file name; an existing file is only overwritten after a second Enter."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class FileDialog(ModalScreen[Path | None]):
    """One line for a path."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", id="dialog.cancel")]

    def __init__(self, title: str, suggestion: str, hint: str = "") -> None:
        super().__init__()
        self._title, self._suggestion, self._hint = title, suggestion, hint
        self._warned: Path | None = None

    def compose(self) -> ComposeResult:
        """Title, path, note."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(self._suggestion, id="file-name")
            yield Static(self._hint or f"in {Path.cwd()}", id="file-note", markup=False)

    @on(Input.Changed)
    def _changed(self) -> None:
        self._warned = None

    @on(Input.Submitted)
    def _chosen(self, event: Input.Submitted) -> None:
        event.stop()
        path = Path(event.value.strip()).expanduser()
        note = self.query_one("#file-note", Static)
        if not event.value.strip() or path.is_dir():
            note.update("give the name of a file")
        elif path.exists() and self._warned != path:
            self._warned = path
            note.update("this file exists; Enter again overwrites it")
        else:
            self.dismiss(path)
