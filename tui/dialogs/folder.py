"""Chooses a folder: recent ones first, then what lies below the path as it is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

_MOST = 40


class FolderDialog(ModalScreen[Path | None]):
    """A line for a path, and folders to choose from.

    Parameters
    ----------
    title : str
        What the folder is for.
    recent : sequence of str
        Folders opened before.
    kind : callable
        What a folder holds, in a word or two; empty for nothing of use. Those that hold something come first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", id="dialog.cancel"),
        Binding("down", "to_list", show=False),
        Binding("tab", "complete", show=False, priority=True),
    ]

    def __init__(self, title: str, recent: Sequence[str], kind: Callable[[Path], str]) -> None:
        super().__init__()
        self._title, self._kind = title, kind
        self._recent = [path for path in map(Path, dict.fromkeys(recent)) if path.is_dir()]

    def compose(self) -> ComposeResult:
        """Path, list, note."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(placeholder="path of a folder", id="folder-path")
            yield OptionList(id="folder-list")
            yield Static("Enter opens · Tab completes · ↓ to the list · Esc leaves", classes="dialog-note")

    def on_mount(self) -> None:
        """Recent folders, and those here."""
        self._fill("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, text: str) -> None:
        listing = self.query_one(OptionList)
        listing.clear_options()
        found = list(dict.fromkeys([*self._recent, *below(text)] if not text.strip() else below(text)))
        rows = [(path, self._kind(path)) for path in found[: 4 * _MOST]]
        rows.sort(key=lambda row: (row[0] not in self._recent, not row[1]))
        for path, kind in rows[:_MOST]:
            prompt = Content.assemble((f" {kind or '-':<9}", "$accent"), clean_line(str(path), width=120))
            listing.add_option(Option(prompt, id=str(path)))
        if listing.option_count:
            listing.highlighted = 0

    def action_to_list(self) -> None:
        """From the line into the list."""
        self.query_one(OptionList).focus()

    def action_complete(self) -> None:
        """Take the folder of the list into the line, to look below it."""
        listing = self.query_one(OptionList)
        if listing.highlighted is not None and listing.option_count:
            line = self.query_one(Input)
            line.value = f"{listing.get_option_at_index(listing.highlighted).id}/"
            line.cursor_position = len(line.value)
            line.focus()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        text, listing = event.value.strip(), self.query_one(OptionList)
        path = Path(text).expanduser()
        if text and path.is_dir():
            self.dismiss(path)
        elif listing.highlighted is not None and listing.option_count:
            self.dismiss(Path(str(listing.get_option_at_index(listing.highlighted).id)))
        else:
            self.notify("no such folder", severity="warning")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(Path(str(event.option.id)))


def below(text: str) -> Iterator[Path]:
    """Folders that a path may go on to; hidden ones only when asked for."""
    path = Path(text.strip() or ".").expanduser()
    base, start = (path, "") if not text.strip() or text.endswith("/") else (path.parent, path.name)
    try:
        names = sorted(entry for entry in base.iterdir() if entry.name.startswith(start))
    except OSError:
        return
    for entry in names:
        try:
            if entry.is_dir() and (start.startswith(".") or not entry.name.startswith(".")):
                yield entry
        except OSError:
            continue
