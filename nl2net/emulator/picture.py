"""A reachability matrix as text for the terminal and as a picture."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from nl2net.emulator.results import Matrix, Probe
from nl2net.locations import atomic_write

MAX_TEXT, MAX_LOSSES = 40, 20
_CORNER = "from / to"
_OK, _SELF, _UNASKED = "#", "-", " "
_LETTERS = {
    "timeout": ".",
    "net-unreachable": "n",
    "host-unreachable": "h",
    "admin-prohibited": "x",
    "port-unreachable": "p",
    "frag-needed": "m",
    "ttl-exceeded": "t",
    "filtered": "f",
    "blackhole": "b",
    "refused": "r",
    "name-not-resolved": "?",
    "wrong-answer": "!",
}


def _axes(matrix: Matrix) -> tuple[list[str], list[str], dict[tuple[str, str], Probe]]:
    cells = {(p.source, _column(p)): p for p in matrix.probes}
    sources = list(dict.fromkeys(source for source, _ in cells))
    place = {name: position for position, name in enumerate(sources)}
    targets = sorted(dict.fromkeys(target for _, target in cells), key=lambda name: place.get(name, len(place)))
    return sources, targets, cells


def _column(probe: Probe) -> str:
    return f"{probe.target}:{probe.port}" if probe.port else probe.target


def matrix_text(matrix: Matrix) -> str:
    """The matrix with one character per pair and a legend; a list of the losses where it is too wide.

    Examples
    --------
    >>> from nl2net.emulator.results import Reason
    >>> print(matrix_text(Matrix((Probe("a", "b", True), Probe("b", "a", False, Reason.TIMEOUT, "")), "simulated")))
    from / to   1 2
    a           - #  1 a
    b           . -  2 b
    1 of 2 pairs reach (50.0 %), simulated backend
    # reaches  . timeout
    """
    sources, targets, cells = _axes(matrix)
    reached = len(matrix.probes) - len(matrix.failed)
    share = 100 * reached / len(matrix.probes) if matrix.probes else 100.0
    total = f"{reached} of {len(matrix.probes)} pairs reach ({share:.1f} %), {matrix.backend} backend"
    if len(targets) > MAX_TEXT:
        lines = [f"{p.source} -> {_column(p)}: {p.reason} {p.place}".rstrip() for p in matrix.failed[:MAX_LOSSES]]
        more = len(matrix.failed) - MAX_LOSSES
        if more > 0:
            lines.append(f"... and {more} more losses (--png draws all, --json lists them)")
        counts = Counter(str(probe.reason) for probe in matrix.failed).most_common()
        return "\n".join([*lines, total, *([", ".join(f"{n} x {reason}" for reason, n in counts)] if counts else [])])
    width = max(10, *(len(name) for name in sources)) if sources else 10
    digits = len(str(len(targets)))
    numbers = " ".join(str(i + 1).rjust(digits) for i in range(len(targets)))
    lines = [f"{_CORNER:<{width}}  {numbers}".rstrip()]
    used: set[str] = set()
    for row in range(max(len(sources), len(targets))):
        name = sources[row] if row < len(sources) else ""
        marks = [_mark(cells.get((name, target)), name, target, used) if name else " " for target in targets]
        label = f"  {row + 1} {targets[row]}" if row < len(targets) else ""
        lines.append(f"{name:<{width}}  {' '.join(mark.rjust(digits) for mark in marks)}{label}".rstrip())
    legend = ["# reaches", *(f"{_LETTERS[reason]} {reason}" for reason in sorted(used))]
    return "\n".join([*lines, total, "  ".join(legend)])


def _mark(probe: Probe | None, source: str, target: str, used: set[str]) -> str:
    if probe is None:
        return _SELF
    if probe.ok:
        return _OK
    used.add(str(probe.reason))
    return _LETTERS[str(probe.reason)]


def draw_matrix(matrix: Matrix, path: Path, *, title: str) -> None:
    """Write a PNG: sources down, targets across, one colour per outcome, with a legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    sources, targets, cells = _axes(matrix)
    outcomes = ["ok", *sorted({str(probe.reason) for probe in matrix.failed})]
    colours = ["#2c7fb8", "#d7301f", "#fc8d59", "#fdcc8a", "#7a0177", "#525252", "#969696", "#000000"]
    palette = [colours[i % len(colours)] for i in range(len(outcomes))] + ["#f0f0f0"]
    grid = [[_level(cells.get((s, t)), outcomes) for t in targets] for s in sources]
    size = min(max(4.0, 0.32 * len(targets) + 3.2), 22.0), min(max(3.0, 0.3 * len(sources) + 2.2), 22.0)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    norm = BoundaryNorm([i - 0.5 for i in range(len(palette) + 1)], len(palette))
    axes.imshow(grid, cmap=ListedColormap(palette), norm=norm, aspect="equal", interpolation="nearest")
    _label(axes, sources, targets)
    axes.set_title(
        f"{title}: {1 - matrix.loss:.1%} of {len(matrix.probes)} pairs reach ({matrix.backend})", fontsize=10
    )
    names = [("reaches" if name == "ok" else name) for name in outcomes] + ["not asked"]
    handles = [
        Patch(facecolor=colour, edgecolor="#999999", label=name) for colour, name in zip(palette, names, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), fontsize=8, frameon=False)
    with atomic_write(path) as stream:
        figure.savefig(stream, format="png", dpi=120)


def _level(probe: Probe | None, outcomes: list[str]) -> int:
    return len(outcomes) if probe is None else outcomes.index(str(probe.reason))


def _label(axes: Any, sources: list[str], targets: list[str]) -> None:
    if len(targets) <= 60:
        axes.set_xticks(range(len(targets)), targets, rotation=90, fontsize=7)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(targets)} targets")
    if len(sources) <= 60:
        axes.set_yticks(range(len(sources)), sources, fontsize=7)
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(sources)} sources")
    axes.tick_params(length=0)
    for position in range(1, max(len(sources), len(targets))):
        if max(len(sources), len(targets)) <= 60:
            axes.axhline(position - 0.5, color="white", linewidth=0.6)
            axes.axvline(position - 0.5, color="white", linewidth=0.6)
