"""A small map in SVG: a grid of the world and the places that evidence names."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_WIDTH, _HEIGHT = 720, 360


@cache
def place_table() -> dict[str, tuple[float, float]]:
    """Rough centre of each country, latitude and longitude."""
    table = {}
    for line in (files("nl2net.incident") / "data" / "places.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, latitude, longitude = line.split()
            table[name.replace("_", " ")] = (float(latitude), float(longitude))
    return table


def project(latitude: float, longitude: float) -> tuple[float, float]:
    """Place on the drawing, plate carrée.

    Examples
    --------
    >>> project(0.0, 0.0)
    (360.0, 180.0)
    """
    return (longitude + 180) * _WIDTH / 360, (90 - latitude) * _HEIGHT / 180


def map_svg(
    names: Sequence[str],
    *,
    points: Sequence[tuple[str, float, float]] = (),
    lines: Sequence[Sequence[tuple[float, float]]] = (),
) -> str:
    """A map of named countries, points and lines, ``""`` if there is nothing to draw.

    Parameters
    ----------
    names : sequence of str
        Countries.
    points : sequence of (str, float, float)
        Label, latitude and longitude in degrees.
    lines : sequence of sequences of (float, float)
        Routes; one that crosses the date line is drawn in two parts.
    """
    table = place_table()
    marks = [(name, *table[name]) for name in names if name in table] + list(points)
    if not marks and not lines:
        return ""
    parts = [f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='map'>"]
    for degrees in range(-150, 180, 30):
        x, _ = project(0, degrees)
        parts.append(f"<line x1='{x:.1f}' y1='0' x2='{x:.1f}' y2='{_HEIGHT}' stroke='#e4e9ee'/>")
    for degrees in range(-60, 90, 30):
        _, y = project(degrees, 0)
        parts.append(
            f"<line x1='0' y1='{y:.1f}' x2='{_WIDTH}' y2='{y:.1f}' stroke='{'#b8c4d0' if not degrees else '#e4e9ee'}'/>"
        )
    for line in lines:
        parts += [f"<polyline fill='none' stroke='#b3541e' points='{piece}'/>" for piece in _pieces(line)]
    for label, latitude, longitude in marks:
        x, y = project(latitude, longitude)
        parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='#0b6b3a'/>")
        parts.append(f"<text x='{x + 6:.1f}' y='{y + 4:.1f}' font-size='11' fill='#1c2733'>{html.escape(label)}</text>")
    return "".join([*parts, "</svg>"])


def _pieces(line: Sequence[tuple[float, float]]) -> list[str]:
    pieces: list[list[str]] = [[]]
    before: float | None = None
    for latitude, longitude in line:
        if before is not None and abs(longitude - before) > 180:
            pieces.append([])
        x, y = project(latitude, longitude)
        pieces[-1].append(f"{x:.1f},{y:.1f}")
        before = longitude
    return [" ".join(piece) for piece in pieces if len(piece) > 1]
