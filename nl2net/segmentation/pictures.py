"""Pictures of the report: the graph of roles, and who reaches whom before and after."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nl2net.segmentation.policy.rules import Policy

_MOST_ROLES = 60
_OFFSETS = ((0, 9), (0, -9), (8, 0), (-8, 0), (8, 8), (-8, 8), (8, -8), (-8, -8), (0, 17), (0, -17), (0, 25), (0, -25))


def _canvas(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110)
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()


def largest_roles(policy: Policy, count: int = _MOST_ROLES) -> list[str]:
    """The roles with most members and rules."""
    load = dict.fromkeys(policy.members, 0)
    for rule in policy.rules:
        for name in (rule.client, rule.server):
            load[name] = load.get(name, 0) + (0 if rule.baseline else 1)
    ranked = sorted(load, key=lambda role: (-len(policy.members.get(role, ())), -load[role], role))
    return sorted(ranked[:count])


def draw_roles(policy: Policy, external: Sequence[str] = ()) -> bytes:
    """Roles as circles by size, rules as arrows; shared baselines are left out because they hide the rest."""
    return _png(role_figure(policy, external))


def role_figure(policy: Policy, external: Sequence[str] = ()) -> Any:
    """The figure of `draw_roles`: no label covers another; where there is no room a number stands, explained below."""
    import networkx as nx

    roles = set(largest_roles(policy))
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(sorted(roles))
    for rule in policy.rules:
        if not rule.baseline and {rule.client, rule.server} <= roles and rule.client != rule.server:
            graph.add_edge(rule.client, rule.server)
    busy = sorted(role for role in graph if graph.degree(role)) or sorted(graph)
    graph = graph.subgraph(busy)
    figure, axes = _canvas(11, 8)
    place = _spread(nx.spring_layout(graph, seed=1, k=2.2 / max(1, np.sqrt(len(graph)))))
    sizes = [60 + 45 * len(policy.members.get(role, ())) for role in graph]
    colours = ["#d98c3f" if role in external else "#3f7fbf" for role in graph]
    nx.draw_networkx_edges(graph, place, ax=axes, alpha=0.35, width=0.8, arrowsize=7, node_size=sizes)
    nx.draw_networkx_nodes(graph, place, ax=axes, node_size=sizes, node_color=colours, linewidths=0)
    axes.set_title("Rules between roles (shared services left out)", fontsize=10)
    axes.set_axis_off()
    axes.margins(0.12)
    numbered = _label(figure, axes, place)
    lines = [f"{number}  {role}" for number, role in enumerate(numbered, 1)]
    columns = 4
    for column in range(columns):
        part = lines[column::columns]
        figure.text(0.02 + column * 0.245, 0.02, "\n".join(part), fontsize=6, va="top")
    return figure


def _spread(place: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Positions drawn towards even ranks, so that far outliers do not press all others into a clump."""
    names = sorted(place)
    points = np.array([place[name] for name in names], dtype=float)
    reach = np.ptp(points, axis=0)
    even = points.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / max(1, len(names) - 1)
    mixed = 0.25 * (points - points.min(axis=0)) / np.where(reach > 0, reach, 1.0) + 0.75 * even
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, mixed, strict=True)}


def _label(figure: Any, axes: Any, place: Mapping[str, Any]) -> list[str]:
    """Write names where they are free of other names and of circles' centres; returns the roles that got a number."""
    renderer = figure.canvas.get_renderer()
    figure.draw_without_rendering()
    centres = {role: axes.transData.transform(point) for role, point in place.items()}
    taken: list[Any] = []
    numbered: list[str] = []
    for role in sorted(place, key=lambda name: (-centres[name][1], name)):
        for text, size, offsets in ((role, 6, _OFFSETS), (str(len(numbered) + 1), 5, ((0, 0),))):
            for dx, dy in offsets:
                side = "center" if dx == 0 else "left" if dx > 0 else "right"
                note = axes.annotate(
                    text, place[role], (dx, dy), textcoords="offset points", ha=side, va="center", fontsize=size
                )
                box = note.get_window_extent(renderer)
                crossed = any(box.overlaps(other) for other in taken)
                covered = any(box.contains(*centre) for name, centre in centres.items() if name != role)
                if text != role or not (crossed or covered):
                    break
                note.remove()
            else:
                continue
            taken.append(box)
            if text != role:
                note.set_color("white")
                numbered.append(role)
            break
    return numbered


def _grid(policy: Policy, roles: Sequence[str]) -> np.ndarray:
    at = {role: i for i, role in enumerate(roles)}
    grid = np.zeros((len(roles), len(roles)))
    for rule in policy.rules:
        if rule.client in at and rule.server in at:
            grid[at[rule.client], at[rule.server]] += rule.port_high - rule.port_low + 1
    return grid


def draw_heat(policy: Policy) -> bytes:
    """Before: everyone reaches everyone. After: services allowed per pair of roles."""
    roles = largest_roles(policy)
    grid = _grid(policy, roles)
    figure, _ = _canvas(12, 5.6)
    figure.clear()
    left, right = figure.subplots(1, 2)
    left.imshow(np.ones_like(grid), cmap="Reds", vmin=0, vmax=1.4, aspect="auto")
    left.set_title("before: flat network, every pair open", fontsize=9)
    shown = right.imshow(np.log1p(grid), cmap="Blues", aspect="auto")
    share = float((grid > 0).mean()) if grid.size else 0.0
    right.set_title(f"after: {share:.0%} of role pairs open (colour: number of services)", fontsize=9)
    for axes in (left, right):
        axes.set_xlabel("server role", fontsize=8)
        axes.set_ylabel("client role", fontsize=8)
        axes.tick_params(labelsize=5)
    step = max(1, len(roles) // 30)
    right.set_xticks(range(0, len(roles), step), roles[::step], rotation=90)
    right.set_yticks(range(0, len(roles), step), roles[::step])
    left.set_xticks([])
    left.set_yticks([])
    del shown
    return _png(figure)


def draw_trades(trades: Mapping[str, Mapping[str, float]]) -> bytes:
    """Violation against over-permission of the three modes: lower left is better."""
    figure, axes = _canvas(5, 3.6)
    for mode, trade in trades.items():
        x, y = 100 * trade["over_permission"], 100 * trade["violation"]
        axes.scatter([x], [y], s=50)
        axes.annotate(f"{mode} ({trade['rules']:.0f} rules)", (x, y), (5, 4), textcoords="offset points", fontsize=8)
    axes.set_xlabel("over-permission, %")
    axes.set_ylabel("violation, %")
    axes.margins(0.3)
    return _png(figure)
