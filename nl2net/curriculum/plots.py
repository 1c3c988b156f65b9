"""Pictures of searches and of training."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nl2net.curriculum.cases import load_case
from nl2net.curriculum.diagnose import Diagnosis
from nl2net.curriculum.runs import job_folder, load_plan, read_json
from nl2net.curriculum.search import strongest_axes
from nl2net.curriculum.spaces import Axis, Space
from nl2net.locations import atomic_write

_BINS = 12


def _label(axis: Axis) -> str:
    return f"{axis.label or axis.name}{f' ({axis.unit})' if axis.unit else ''}"


def draw_gaps(diagnosis: Diagnosis, space: Space, path: Path) -> None:
    """Heat map of the gap over the two strongest parameters; boxes found are framed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    points, gaps = diagnosis.findings.points, diagnosis.findings.gaps
    x, y = strongest_axes(points, gaps)
    cells = np.minimum((points[:, [x, y]] * _BINS).astype(int), _BINS - 1)
    totals, counts = np.zeros((_BINS, _BINS)), np.zeros((_BINS, _BINS))
    np.add.at(totals, (cells[:, 1], cells[:, 0]), gaps)
    np.add.at(counts, (cells[:, 1], cells[:, 0]), 1)
    means = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    figure = Figure(figsize=(7, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    limit = float(np.nanpercentile(np.abs(means), 98)) or 1.0
    image = axes.imshow(
        means, origin="lower", extent=(0, 1, 0, 1), aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit
    )
    for spot in diagnosis.findings.weak:
        low, high = spot.region.low, spot.region.high
        axes.add_patch(Rectangle((low[x], low[y]), high[x] - low[x], high[y] - low[y], fill=False, lw=1.8, ec="black"))
    ticks = np.linspace(0, 1, 6)
    axes.set_xticks(ticks, [f"{v:.3g}" for v in space.axes[x].value(ticks)])
    axes.set_yticks(ticks, [f"{v:.3g}" for v in space.axes[y].value(ticks)])
    axes.set_xlabel(_label(space.axes[x]))
    axes.set_ylabel(_label(space.axes[y]))
    axes.set_title(
        f"{diagnosis.baseline} minus {Path(diagnosis.policy).name}; red: the policy loses; frames: weak spots",
        fontsize=10,
    )
    figure.colorbar(image, label=f"gap {diagnosis.unit}")
    with atomic_write(path) as stream:
        figure.savefig(stream, format="png", dpi=120)


def draw_curves(run: Path, path: Path) -> None:
    """Validation score over environment steps, search included; one line per job, one colour per strategy."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    plan = load_plan(run)
    load_case(plan.case)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, strategy in enumerate(plan.strategies):
        label: str | None = strategy
        for seed in range(1, plan.seeds + 1):
            file = job_folder(run, strategy, seed) / "curve.json"
            if not file.exists():
                continue
            curve = read_json(file)["curve"]
            steps = [(point["steps"] + point["search_steps"]) / 1e6 for point in curve]
            axes.plot(steps, [point["validation"] for point in curve], color=f"C{number}", alpha=0.8, label=label)
            label = None
    axes.set_xlabel("million environment steps, search included")
    axes.set_ylabel("validation score (means + worst deciles)")
    axes.set_title(f"{plan.case}: learning curves")
    if axes.lines:
        axes.legend()
    with atomic_write(path) as stream:
        figure.savefig(stream, format="png", dpi=120)
