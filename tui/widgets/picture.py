"""A scene drawn in braille dots; the same picture as PNG on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from nl2net.display import clean_line
from nl2net.tui.braille import Canvas
from nl2net.tui.scenes import Scene

_COLOURS: Mapping[str, str] = {
    "node": "primary", "group": "primary", "marked": "accent", "marked-link": "accent", "added": "success",
    "removed": "error", "changed": "warning", "link": "picture-link", "label": "foreground", "note": "secondary",
    "title": "accent", "bar": "primary",
}  # fmt: skip
_MARGIN = 2  # cells at each side, for the marks at the edge


class Picture(Widget, can_focus=True):
    """Topology, change or chart; resizing draws it anew, at once."""

    DEFAULT_CSS = "Picture { height: 1fr; } Picture:focus { background-tint: $foreground 3%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "png", "PNG", id="picture.png", tooltip="Save this picture as PNG and show its path"),
        Binding("m", "names", "Names", id="picture.names", tooltip="Show or hide the names"),
    ]

    class Png(Message):
        """The operator wants a file."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.scene: Scene | None = None
        self._names = True
        self._canvas: Canvas | None = None

    def show(self, scene: Scene | None) -> None:
        """Show a scene."""
        self.scene = scene
        self._canvas = None
        self.refresh()

    def action_png(self) -> None:
        """Ask for a PNG file."""
        self.post_message(self.Png())

    def action_names(self) -> None:
        """Show or hide the names."""
        self._names = not self._names
        self._canvas = None
        self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        """Draw anew in the new size."""
        self._canvas = None

    def render_line(self, y: int) -> Strip:
        """One line of cells."""
        width, height = self.size
        if self.scene is None:
            text = "drawing …" if y == height // 2 else ""
            return Strip([Segment(text.center(width), self.rich_style)])
        if self._canvas is None:
            self._canvas = draw_scene(self.scene, width, height, names=self._names)
        return Strip([Segment(character, self._style(role)) for character, role in self._canvas.row(y)])

    def _style(self, role: str) -> Style:
        if not role:
            return self.rich_style
        colours = self.app.theme_variables
        # Other themes than ours have no colour for links.
        colour = colours.get(_COLOURS.get(role, "foreground")) or colours.get("secondary", "")
        style = self.rich_style + Style.parse(colour) if colour.startswith("#") else self.rich_style
        return style + Style(bold=True) if role in {"title", "marked"} else style


def draw_scene(scene: Scene, width: int, height: int, *, names: bool = True) -> Canvas:
    """Draw a scene into cells: lines first, then marks, then names where there is room, the busiest first."""
    canvas = Canvas(max(width, 1), max(height, 1))
    notes = scene.notes if width >= 70 else ()
    wide = width - (max(map(len, notes)) + 2 if notes else 0)
    canvas.text(0, 0, scene.title[:width], "title")
    if scene.bars:
        _draw_bars(canvas, scene, width, height)
        return canvas
    dots_across = max(2 * (wide - 2 * _MARGIN) - 1, 1)
    dots_down = max(4 * (height - 3) - 1, 1)
    spots = [(2 * _MARGIN + mark.x * dots_across, 6 + mark.y * dots_down) for mark in scene.marks]
    for a, b, colour in scene.lines:
        canvas.line(*spots[a], *spots[b], colour)
    for mark, (x, y) in zip(scene.marks, spots, strict=True):
        sign = "●" if mark.size == 1 else "◉"
        canvas.text(int(x) // 2, int(y) // 4, sign, mark.colour)
    if names:
        order = sorted(range(len(spots)), key=lambda at: (scene.marks[at].colour == "node", -scene.marks[at].weight))
        for at in order:
            _write_name(canvas, scene, spots[at], at, wide)
    for row, note in enumerate(notes, 2):
        canvas.text(wide, row, note, "note")
    return canvas


def _write_name(canvas: Canvas, scene: Scene, spot: tuple[float, float], at: int, wide: int) -> None:
    mark = scene.marks[at]
    column, row = int(spot[0]) // 2, int(spot[1]) // 4
    colour = mark.colour if mark.colour in {"marked", "added", "removed", "changed"} else "label"
    for start, line in ((column + 2, row), (column - 1 - len(mark.label), row), (column - 2, row + 1)):
        fits = start >= 0 and start + len(mark.label) <= wide
        if fits and canvas.text(start, line, mark.label, colour, over=False):
            return


def _draw_bars(canvas: Canvas, scene: Scene, width: int, height: int) -> None:
    """Horizontal bars with eighths of a cell; names at the left, numbers at the right end."""
    names = max(len(clean_line(name, width=24)) for name, _ in scene.bars)
    largest = max((abs(value) for _, value in scene.bars), default=0.0) or 1.0
    room = max(width - names - 14, 4)
    rows = height - 2
    for row, (name, value) in enumerate(scene.bars[:rows], 2):
        eighths = round(8 * room * abs(value) / largest)
        bar = "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
        canvas.text(0, row, clean_line(name, width=24).rjust(names), "label")
        canvas.text(names + 1, row, bar, "bar" if value >= 0 else "removed")
        canvas.text(names + 2 + len(bar), row, f"{value:,.6g}", "note")
    if len(scene.bars) > rows and height > 2:
        canvas.text(0, height - 1, f"{len(scene.bars) - rows + 1} more", "note")
