"""A canvas of braille dots: two by four dots in a cell, each cell with one colour, and texts over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.cells import cell_len

# Bit of each dot by its place in the cell: [row][column].
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(slots=True)
class Canvas:
    """A grid of ``width`` by ``height`` cells; dots have coordinates up to ``2 * width`` and ``4 * height``.

    Examples
    --------
    >>> canvas = Canvas(4, 1)
    >>> canvas.line(0, 0, 7, 3, "link")
    >>> canvas.text(3, 0, "x", "label")
    True
    >>> "".join(character for character, _ in canvas.row(0))
    '⠉⠑⠢x'
    """

    width: int
    height: int
    _dots: dict[tuple[int, int], int] = field(default_factory=dict)
    _colours: dict[tuple[int, int], str] = field(default_factory=dict)
    _texts: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def dot(self, x: float, y: float, colour: str) -> None:
        """Set one dot; outside of the canvas nothing happens."""
        across, down = int(x), int(y)
        if not (0 <= across < 2 * self.width and 0 <= down < 4 * self.height):
            return
        cell = (across // 2, down // 4)
        self._dots[cell] = self._dots.get(cell, 0) | _BITS[down % 4][across % 2]
        self._colours[cell] = colour

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: str) -> None:
        """A straight line of dots."""
        steps = max(int(max(abs(x1 - x0), abs(y1 - y0))), 1)
        for step in range(steps + 1):
            part = step / steps
            self.dot(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, colour)

    def text(self, column: int, row: int, text: str, colour: str, *, over: bool = True) -> bool:
        """Characters in cells; with ``over=False`` only where no text is yet. Says whether it was written."""
        if not 0 <= row < self.height:
            return False
        cells: list[tuple[tuple[int, int], str]] = []
        for character in text:
            wide = cell_len(character)
            # A wide character fills two cells; the second one stays empty.
            cells += [((column + at, row), character if at == 0 else "") for at in range(wide)]
            column += wide
        if not over and any(cell in self._texts for cell, _ in cells):
            return False
        for cell, character in cells:
            if 0 <= cell[0] < self.width:
                self._texts[cell] = (character, colour)
        return any(0 <= cell[0] < self.width for cell, _ in cells)

    def row(self, row: int) -> Iterator[tuple[str, str]]:
        """Character and colour of every cell of a row."""
        for column in range(self.width):
            cell = (column, row)
            if cell in self._texts:
                yield self._texts[cell]
            elif cell in self._dots:
                yield chr(0x2800 + self._dots[cell]), self._colours[cell]
            else:
                yield " ", ""
