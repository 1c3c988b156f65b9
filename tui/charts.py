"""Charts: bars, lines, points and histograms as a scene, and as a PNG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from nl2net.display import clean_line
from nl2net.locations import atomic_write
from nl2net.tui.scenes import Mark, Scene
from nl2net.tui.words import value_text

_BARS = 40
_BINS = 20


def points_of(data: Mapping[str, Any]) -> tuple[list[str], list[float], str]:
    """Names and numbers of the table of a figure, and what the numbers are called.

    The first column with numbers gives the heights; the column before it, or the row number, the names.

    Examples
    --------
    >>> points_of({"table": {"columns": ["site", "links"], "rows": [["a", 3], ["b", 1]]}})
    (['a', 'b'], [3.0, 1.0], 'links')
    """
    table = data.get("table") or {}
    columns, rows = list(table.get("columns", ())), list(table.get("rows", ()))
    numeric = [at for at in range(len(columns)) if any(_is_number(row[at]) for row in rows if at < len(row))]
    if not numeric:
        return [], [], ""
    at = numeric[-1]
    names_at = next((other for other in range(len(columns)) if other != at), None)
    kept = [row for row in rows if at < len(row) and _is_number(row[at])]
    names = [value_text(row[names_at]) if names_at is not None else str(n) for n, row in enumerate(kept, 1)]
    return names, [float(row[at]) for row in kept], clean_line(str(columns[at]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def histogram(values: Sequence[float], bins: int = _BINS) -> tuple[list[str], list[float]]:
    """Ranges and how many values fall into each.

    Examples
    --------
    >>> histogram([0, 1, 1, 2], bins=2)
    (['0 to 1', '1 to 2'], [1.0, 3.0])
    """
    import numpy as np

    counts, edges = np.histogram(values, bins=bins)
    names = [f"{value_text(float(a))} to {value_text(float(b))}" for a, b in pairwise(edges)]
    return names, [float(count) for count in counts]


def chart_scene(data: Mapping[str, Any]) -> Scene:
    """A figure as bars of text, or as points and lines."""
    kind = str(data.get("kind", "bar"))
    names, values, what = points_of(data)
    title = clean_line(str(data.get("title") or f"{kind} of {what or 'nothing'}"))
    if not values:
        return Scene(title, notes=("nothing to draw: the table has no numbers",))
    if kind == "histogram":
        names, values = histogram(values)
    if kind in {"bar", "histogram"}:
        return bar_scene(title, names, values)
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    step = max(len(values) - 1, 1)
    marks = tuple(Mark(at / step, 1 - (value - low) / span, "", "node") for at, value in enumerate(values))
    lines = tuple((at, at + 1, "marked-link") for at in range(len(values) - 1)) if kind == "line" else ()
    notes = (f"{what}", f"highest {value_text(high)}", f"lowest  {value_text(low)}", f"{len(values)} points")
    return Scene(title, marks, lines, notes)


def bar_scene(title: str, names: Sequence[str], values: Sequence[float]) -> Scene:
    """Bars as rows of text; the longest fills the width when drawn."""
    shown = list(zip(names, values, strict=True))[:_BARS]
    rest = len(names) - len(shown)
    notes = (f"{rest} more in the table",) if rest > 0 else ()
    return Scene(title, bars=tuple(shown), notes=notes)


def write_chart(data: Mapping[str, Any], path: Path) -> None:
    """Draw a figure to a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kind = str(data.get("kind", "bar"))
    names, values, what = points_of(data)
    figure = Figure(figsize=(10, 6), dpi=110, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places = range(len(values))
    if kind == "histogram":
        axes.hist(values, bins=_BINS, color="#33658a")
    elif kind == "line":
        axes.plot(places, values, color="#33658a", marker="o", markersize=3)
    elif kind == "scatter":
        axes.scatter(places, values, color="#33658a", s=18)
    else:
        axes.bar(places, values, color="#33658a")
    if kind != "histogram" and len(names) <= _BARS:
        axes.set_xticks(list(places), [_plain(name) for name in names], rotation=60, ha="right", fontsize=8)
    axes.set_ylabel(_plain(what))
    axes.set_title(_plain(str(data.get("title") or "")))
    buffer = BytesIO()
    canvas.print_png(buffer)
    with atomic_write(path) as stream:
        stream.write(buffer.getvalue())


def _plain(text: str) -> str:
    # Dollar signs would start mathematics.
    return clean_line(text, width=60).replace("$", r"\$")
