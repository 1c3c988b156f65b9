"""Jump mode: every part of the screen gets a letter; the letter focuses it."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

_LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class Jump(ModalScreen[None]):
    """Labels over the focusable parts of a screen."""

    DEFAULT_CSS = """
    Jump { background: $background 40%; align: left top; }
    Jump > .jump { position: absolute; width: 3; height: 1; background: $accent; color: $background; text-style: bold; }
    """

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        spots = [widget for widget in below.focus_chain if widget.region.area]
        self._targets = dict(zip(_LETTERS, spots, strict=False))

    def compose(self) -> ComposeResult:
        """One label each."""
        for letter, widget in self._targets.items():
            label = Static(f" {letter} ", classes="jump", markup=False)
            region = widget.region
            label.styles.offset = (region.x + min(1, region.width - 1), region.y)
            yield label

    @property
    def targets(self) -> dict[str, Widget]:
        """Letter to part."""
        return dict(self._targets)

    def on_key(self, event: events.Key) -> None:
        """A letter jumps; anything else leaves."""
        event.stop()
        event.prevent_default()
        target = self._targets.get(event.key)
        self.dismiss(None)
        if target is not None:
            self.app.call_later(target.focus)
