"""The bar on top: the screens with their keys, and which graph and model are in use."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.tui.registry import screens


class TopBar(Horizontal):
    """One line; a click on a title opens its screen."""

    DEFAULT_CSS = """
    TopBar { height: 1; background: $panel; }
    TopBar > #bar-tabs { width: auto; }
    TopBar > #bar-state {
      width: 1fr; text-align: right; color: $text-muted; padding-right: 1; text-overflow: ellipsis;
    }
    """

    class Open(Message):
        """Open a screen."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, current: str) -> None:
        super().__init__()
        self._current = current

    def compose(self) -> ComposeResult:
        """Titles at the left, state at the right."""
        yield Static(self._titles(wide=True), id="bar-tabs")
        yield Static("", id="bar-state", markup=False)

    def on_resize(self) -> None:
        """Short titles where there is little room."""
        self.query_one("#bar-tabs", Static).update(self._titles(wide=self.size.width >= 110))

    def show_state(self, text: str) -> None:
        """Graph and model in use."""
        self.query_one("#bar-state", Static).update(clean_line(text))

    def _titles(self, *, wide: bool) -> Content:
        parts: list[Content | str | tuple[str, str]] = [(" nl2net ", "bold $primary")]
        for entry in screens():
            key = self.app.key_of(f"screen.{entry.name}", entry.key)  # type: ignore[attr-defined]
            here = entry.name == self._current
            style = "bold reverse" if here else f"@click=screen.open_screen('{entry.name}')"
            parts.append((f" {key.upper()} {entry.title} " if wide or here else f" {key.upper()} ", style))
        return Content.assemble(*parts)
