"""A table of any length: only the rows in view are made into text, and sorting happens on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nl2net.tui.ordering import sorted_rows
from nl2net.tui.words import value_text

_WIDEST = 48
_MEASURED = 200  # rows that decide the width of a column
_COPIED = 10_000


class Grid(ScrollView, can_focus=True):
    """Rows of values; ids are shown with their display names."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"grid--head", "grid--cursor", "grid--cell", "grid--odd", "grid--sign"}
    DEFAULT_CSS = """
    Grid { height: 1fr; scrollbar-size: 1 1; }
    Grid > .grid--head { text-style: bold; color: $primary; }
    Grid > .grid--cursor { background: $panel; }
    Grid > .grid--cell { background: $block-cursor-background; color: $block-cursor-foreground; }
    Grid > .grid--odd { background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1,0)", show=False),
        Binding("down,j", "move(1,0)", show=False),
        Binding("left,h", "move(0,-1)", show=False),
        Binding("right,l", "move(0,1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "jump(0)", show=False),
        Binding("end,G", "jump(-1)", show=False),
        Binding("s", "sort", "Sort", id="grid.sort", tooltip="Sort by this column; again for the other direction"),
        Binding("y", "copy_cell", "Copy", id="grid.copy", tooltip="Copy this cell"),
        Binding("Y", "copy_all", "Copy all", id="grid.copy_all", show=False, tooltip="Copy the table as text"),
        Binding("x", "export", "Export", id="grid.export", tooltip="Export all rows to CSV or Parquet"),
    ]

    row = reactive(0)
    column = reactive(0)

    class Chosen(Message):
        """Enter on a row."""

        def __init__(self, grid: Grid, row: int) -> None:
            super().__init__()
            self.grid, self.row = grid, row

        @property
        def control(self) -> Grid:
            """For handlers that name one grid."""
            return self.grid

    class Export(Message):
        """The operator wants these rows in a file."""

        def __init__(self, grid: Grid) -> None:
            super().__init__()
            self.grid = grid

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.columns: list[str] = []
        self.rows: Sequence[Sequence[Any]] = ()
        self.labels: Mapping[str, str] = {}
        self._order: list[int] | None = None
        self._sorted: tuple[int, bool] | None = None
        self._widths: list[int] = []

    def show_rows(
        self,
        columns: Sequence[Any],
        rows: Sequence[Sequence[Any]],
        labels: Mapping[str, str] | None = None,
        *,
        keep_cursor: bool = False,
    ) -> None:
        """Show a table; nothing is copied. ``keep_cursor`` for the same rows with other values."""
        self.columns = [value_text(str(name)) for name in columns]
        self.rows, self.labels = rows, labels or {}
        self._order = self._sorted = None
        self._widths = [
            max(
                cell_len(name) + 2,
                *(min(cell_len(self._text(row, at)), _WIDEST) for row in rows[:_MEASURED]),
                3,
            )
            for at, name in enumerate(self.columns)
        ]
        keep_cursor = keep_cursor and self.row < len(rows)
        if not keep_cursor:
            self.row = self.column = 0
        self.virtual_size = Size(sum(self._widths) + 2 * len(self._widths), len(rows) + 1)
        if not keep_cursor:
            self.scroll_to(0, 0, animate=False)
        self.refresh()

    def source_row(self, shown: int) -> int:
        """Index in ``rows`` of a row on the screen."""
        return self._order[shown] if self._order is not None else shown

    def _text(self, row: Sequence[Any], at: int) -> str:
        return value_text(row[at], self.labels) if at < len(row) else ""

    # ---- drawing ------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the head stays, the rows scroll."""
        width = self.size.width
        left, top = self.scroll_offset
        if y == 0:
            return self._line(self._heads(), "grid--head", None).crop(left, left + width)
        shown = y - 1 + top
        if shown >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        record = self.rows[self.source_row(shown)]
        texts = [self._text(record, at) for at in range(len(self.columns))]
        at_cursor = shown == self.row
        name = "grid--cursor" if at_cursor else "grid--odd" if shown % 2 else ""
        strip = self._line(texts, name, self.column if at_cursor and self.has_focus else None)
        return strip.crop(left, left + width).extend_cell_length(width, self._style(name))

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name) if name else self.rich_style

    def _heads(self) -> list[str]:
        if self._sorted is None:
            return self.columns
        at, down = self._sorted
        sign = " ↓" if down else " ↑"
        return [name + sign if number == at else name for number, name in enumerate(self.columns)]

    def _line(self, texts: Sequence[str], name: str, cursor: int | None) -> Strip:
        style = self._style(name)
        segments = []
        for at, (text, width) in enumerate(zip(texts, self._widths, strict=False)):
            fitted = text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
            cell = self._style("grid--cell") if at == cursor else style
            segments += [Segment(set_cell_size(fitted, width), cell), Segment("  ", style)]
        return Strip(segments)

    # ---- keys and mouse -----------------------------------------------------------------------------------------

    def action_move(self, down: int, across: int) -> None:
        """Move the cursor."""
        self.row = max(0, min(len(self.rows) - 1, self.row + down))
        self.column = max(0, min(len(self.columns) - 1, self.column + across))
        self._keep_in_view()

    def action_page(self, direction: int) -> None:
        """Move by a screenful."""
        self.action_move(direction * max(self.size.height - 2, 1), 0)

    def action_jump(self, row: int) -> None:
        """To the first or the last row."""
        self.row = row if row >= 0 else max(len(self.rows) - 1, 0)
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        left = sum(self._widths[: self.column]) + 2 * self.column
        width = self._widths[self.column] if self._widths else 0
        # The head covers the first line, so the region reaches one line above the row.
        self.scroll_to_region(Region(left, self.row, width, 2), animate=False, force=True)
        self.refresh()

    def action_sort(self) -> None:
        """Sort by the column of the cursor."""
        down = self._sorted == (self.column, False)
        self._order = sorted_rows(self.rows, self.column, descending=down)
        self._sorted = (self.column, down)
        self.refresh()

    def action_copy_cell(self) -> None:
        """Copy the cell under the cursor."""
        if self.rows:
            self.app.copy_to_clipboard(self._text(self.rows[self.source_row(self.row)], self.column))
            self.notify("cell copied")

    def action_copy_all(self) -> None:
        """Copy the first rows as tab-separated text."""
        count = min(len(self.rows), _COPIED)
        lines = ["\t".join(self.columns)]
        for shown in range(count):
            record = self.rows[self.source_row(shown)]
            lines.append("\t".join(self._text(record, at) for at in range(len(self.columns))))
        self.app.copy_to_clipboard("\n".join(lines))
        self.notify(f"{count} rows copied" + ("" if count == len(self.rows) else f" of {len(self.rows)}"))

    def action_export(self) -> None:
        """Ask for a file."""
        self.post_message(self.Export(self))

    def on_key(self, event: events.Key) -> None:
        """Enter chooses the row."""
        if event.key == "enter" and self.rows:
            event.stop()
            self.post_message(self.Chosen(self, self.source_row(self.row)))

    def on_click(self, event: events.Click) -> None:
        """The cursor follows the mouse; a click on the head sorts, a double click chooses."""
        left, across = 0, event.x + self.scroll_offset.x
        for at, width in enumerate(self._widths):
            if left <= across < left + width + 2:
                self.column = at
            left += width + 2
        if event.y == 0:
            self.action_sort()
        elif event.y - 1 + self.scroll_offset.y < len(self.rows):
            self.row = event.y - 1 + self.scroll_offset.y
            if event.chain == 2:
                self.post_message(self.Chosen(self, self.source_row(self.row)))
        self.refresh()
