"""Compares two attempts of a question, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Select, Static

from nl2net.assistant.answer import Attempt
from nl2net.display import clean
from nl2net.tui.review import compare_programs

_COLOURS = {"+": "$text-success", "-": "$text-error"}


class CompareDialog(ModalScreen[None]):
    """Two attempts, chosen above, and their difference below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="dialog.cancel")]

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        super().__init__()
        self._attempts = list(attempts)

    def compose(self) -> ComposeResult:
        """Two choices and the difference."""
        options = [(f"{n}  {attempt.outcome}", n - 1) for n, attempt in enumerate(self._attempts, 1)]
        last = len(options) - 1
        with Vertical(classes="dialog wide"):
            yield Static("Compare two attempts", classes="dialog-title")
            with Horizontal(id="compare-choice"):
                yield Select(options, value=last - 1, allow_blank=False, id="compare-left", compact=True)
                yield Select(options, value=last, allow_blank=False, id="compare-right", compact=True)
            with VerticalScroll(id="compare-text"):
                yield Static("", markup=False)

    def on_mount(self) -> None:
        """The newest two."""
        self._show()

    @on(Select.Changed)
    def _show(self) -> None:
        left = self._attempts[_number(self.query_one("#compare-left", Select).value)]
        right = self._attempts[_number(self.query_one("#compare-right", Select).value)]
        parts = [
            (f"{clean(line)}\n", _COLOURS.get(line[:1], "")) for line in compare_programs(left.code, right.code)
        ]  # fmt: skip
        for title, attempt in (("left", left), ("right", right)):
            said = clean(attempt.error.strip() or attempt.outcome)
            parts.append((f"\n{title}: {said}", "$text-muted"))
        self.query_one("#compare-text > Static", Static).update(Content.assemble(*parts))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
