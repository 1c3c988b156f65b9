"""A picture of the topology: on coordinates where there are any, large graphs by their communities."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from nl2net.display import clean_line
from nl2net.locations import atomic_write

_LARGE = 300  # nodes beyond which single nodes cannot be told apart on a page
_GROUPS = 24
_LABELS = 80
_COORDINATES = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("x", "y"))

Place = tuple[float, float]


def coordinates(graph: Any) -> dict[str, Place]:
    """Longitude and latitude (or x and y) of the nodes that have them, x first.

    Examples
    --------
    >>> graph = nx.Graph()
    >>> graph.add_node("a", Latitude=48.1, Longitude=11.6)
    >>> coordinates(graph)
    {'a': (11.6, 48.1)}
    """
    found: dict[str, Place] = {}
    for node, data in graph.nodes(data=True):
        pair: Any = data.get("pos")
        for across, up in _COORDINATES:
            if across in data and up in data:
                pair = (data[across], data[up])
        if (
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and all(isinstance(value, (int, float)) for value in pair)
        ):
            found[node] = (float(pair[0]), float(pair[1]))
    return found


def _simple(graph: Any) -> Any:
    plain: Any = nx.Graph()
    plain.add_nodes_from(graph)
    plain.add_edges_from((u, v) for u, v in graph.edges() if u != v)
    return plain


def _layout(plain: Any, known: dict[str, Place]) -> tuple[dict[str, Place], list[str]]:
    """Places of all nodes, and those that were placed without coordinates of their own."""
    if len(known) * 2 >= len(plain) and len(set(known.values())) > 1:
        rest = [node for node in plain if node not in known]
        places = dict(known)
        for position, node in enumerate(rest):
            near = [known[other] for other in plain[node] if other in known]
            places[node] = _beside(near, known, position)
        return places, rest
    rest = []
    if len(plain) <= 1 or not plain.number_of_edges():
        return {n: (float(p[0]), float(p[1])) for n, p in nx.circular_layout(plain).items()}, rest
    return {node: (float(p[0]), float(p[1])) for node, p in _parts_layout(plain).items()}, rest


def _beside(near: list[Place], known: dict[str, Place], position: int) -> Place:
    """Near the neighbours, moved a little; without any, in a row below the map."""
    xs, ys = zip(*known.values(), strict=True)
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    if near:
        turn = 2.4 * position
        x, y = np.mean(near, axis=0)
        return float(x + 0.04 * wide * np.cos(turn)), float(y + 0.04 * high * np.sin(turn))
    return min(xs) + wide * (position % 20) / 20, min(ys) - high * (0.1 + 0.06 * (position // 20))


def _parts_layout(plain: Any) -> dict[str, Any]:
    """Each part by itself, side by side; single nodes in a row below."""
    parts = sorted(nx.connected_components(plain), key=len, reverse=True)
    places: dict[str, Any] = {}
    left = 0.0
    singles = [next(iter(part)) for part in parts if len(part) == 1]
    for part in parts:
        if len(part) == 1:
            continue
        scale = max(len(part), 2) ** 0.5
        inner = (
            nx.kamada_kawai_layout(plain.subgraph(part))
            if len(part) <= 120
            else nx.spring_layout(plain.subgraph(part), seed=1, iterations=60)
        )
        for node, point in inner.items():
            places[node] = np.array([left + scale + scale * point[0], scale * point[1]])
        left += 2.4 * scale
    low = min((point[1] for point in places.values()), default=0.0)
    wide = max(left, 1.0)
    columns = 12
    for number, node in enumerate(singles):
        across = wide * (number % columns + 0.5) / columns
        places[node] = np.array([across, low - 0.08 * wide * (1 + number // columns)])
    return places


def _communities(plain: Any) -> list[set[str]]:
    """Communities, the smallest joined to the neighbour with most links to it until they fit on a page."""
    groups: dict[int, set[str]] = dict(enumerate(nx.community.louvain_communities(plain, seed=1)))
    of = {node: number for number, group in groups.items() for node in group}
    while len(groups) > _GROUPS:
        for number in sorted(groups, key=lambda number: (len(groups[number]), number)):
            near = Counter(of[other] for node in groups[number] for other in plain[node] if of[other] != number)
            if near:
                break
        else:
            break
        chosen = max(near, key=lambda other: (near[other], -len(groups[other]), -other))
        of.update(dict.fromkeys(groups[number], chosen))
        groups[chosen] |= groups.pop(number)
    return sorted(groups.values(), key=lambda group: (-len(group), min(group)))


def _grouped(plain: Any, names: dict[str, str]) -> tuple[Any, dict[str, int]]:
    """A graph of the communities, parts that are too many taken together, with their sizes."""
    groups = _communities(plain)
    cut = len(groups) > _GROUPS
    if cut:
        groups = [*groups[: _GROUPS - 1], set().union(*groups[_GROUPS - 1 :])]
    degree = dict(plain.degree)
    of: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for number, group in enumerate(groups, start=1):
        busiest = max(group, key=lambda node: (degree[node], node))
        rest = cut and number == len(groups)
        around = "all others" if rest else clean_line(names.get(busiest, busiest), width=20)
        title = f"{number}: {around}\n{len(group)} nodes"
        sizes[title] = len(group)
        of.update(dict.fromkeys(group, title))
    summary: Any = nx.Graph()
    summary.add_nodes_from(sizes)
    for u, v in plain.edges():
        a, b = of[u], of[v]
        if a != b:
            weight = summary.get_edge_data(a, b, {"weight": 0})["weight"]
            summary.add_edge(a, b, weight=weight + 1)
    return summary, sizes


def draw_graph(graph: Any, path: Path, *, title: str = "") -> str:
    """Draw a graph to a PNG file.

    Parameters
    ----------
    graph : networkx graph
        In normal form.
    path : Path
        The file, written whole or not at all.
    title : str
        Heading of the picture.

    Returns
    -------
    str
        What was drawn: "40 nodes on a map", or "34 communities of 6133 nodes".
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 9), dpi=110, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_axis_off()
    plain = _simple(graph)
    said = _draw(axes, graph, plain)
    heading = clean_line(f"{title}: {said}" if title else said).replace("$", r"\$")
    axes.set_title(heading, fontsize=13)
    buffer = BytesIO()
    canvas.print_png(buffer)
    with atomic_write(path) as stream:
        stream.write(buffer.getvalue())
    return said


def _draw(axes: Any, graph: Any, plain: Any) -> str:
    if len(plain) <= _LARGE:
        return _draw_nodes(axes, graph, plain)
    linked = [node for node, degree in graph.degree if degree]
    if not 1 < len(linked) <= _LARGE:
        return _draw_groups(axes, graph, plain)
    said = _draw_nodes(axes, graph.subgraph(linked), plain.subgraph(linked))
    return f"{said}; {len(plain) - len(linked)} nodes without any link left out"


def _fit(axes: Any, known: dict[str, Place]) -> None:
    """True proportions for a map, a degree of longitude being shorter away from the equator, and a page to match."""
    xs, ys = zip(*known.values(), strict=True)
    stretch = 1 / max(float(np.cos(np.radians(np.mean(ys)))), 0.2) if _earth(known) else 1.0
    axes.set_aspect(stretch)
    wide, high = max(xs) - min(xs), (max(ys) - min(ys)) * stretch
    axes.figure.set_size_inches(12, float(np.clip(11 * high / wide if wide else 9, 5, 12)) + 0.8)


def _draw_groups(axes: Any, graph: Any, plain: Any) -> str:
    names = {node: str(data["name"]) for node, data in graph.nodes(data=True) if "name" in data}
    summary, sizes = _grouped(plain, names)
    places = {node: (float(p[0]), float(p[1])) for node, p in _parts_layout(summary).items()}
    largest = max(sizes.values())
    area = [200 + 3000 * sizes[node] / largest for node in summary]
    heaviest = max((weight for _, _, weight in summary.edges(data="weight")), default=1)
    widths = [0.4 + 5 * weight / heaviest for _, _, weight in summary.edges(data="weight")]
    nx.draw_networkx_edges(summary, places, ax=axes, width=widths, edge_color="#9aa5b1")
    nx.draw_networkx_nodes(summary, places, ax=axes, node_size=area, node_color="#c9dff2", edgecolors="#33658a")
    _labels(axes, {node: node for node in summary}, places, size=8, gap=14)
    return f"{len(summary)} communities of {len(plain)} nodes (number of nodes as area, links between them as width)"


def _draw_nodes(axes: Any, graph: Any, plain: Any) -> str:
    known = coordinates(graph)
    places, guessed = _layout(plain, known)
    on_map = len(places) > 0 and len(known) * 2 >= len(plain) and len(set(known.values())) > 1
    counts: dict[frozenset[str], int] = {}
    for u, v in graph.edges():
        counts[frozenset((u, v))] = counts.get(frozenset((u, v)), 0) + 1
    widths = [min(1 + 0.5 * (counts[frozenset((u, v))] - 1), 6) for u, v in plain.edges()]
    if graph.is_directed():
        nx.draw_networkx_edges(
            graph, places, edgelist=[(u, v) for u, v in graph.edges() if u != v], ax=axes, edge_color="#9aa5b1",
            arrowsize=9, node_size=90,
        )  # fmt: skip
    else:
        nx.draw_networkx_edges(plain, places, ax=axes, width=widths, edge_color="#9aa5b1")
    kinds = {node: str(data["kind"]) for node, data in graph.nodes(data=True) if "kind" in data}
    listed = sorted(set(kinds.values()))[:9]
    palette = ("#33658a", "#f26419", "#2f9c95", "#a23b72", "#758e4f", "#f6ae2d", "#55505c", "#86bbd8", "#d62839")
    colour = dict(zip(listed, palette, strict=False))
    colours = [colour.get(kinds.get(node, ""), "#33658a") for node in plain]
    nx.draw_networkx_nodes(plain, places, ax=axes, node_size=70, node_color=colours, edgecolors="white")
    if len(listed) > 1:
        from matplotlib.lines import Line2D

        marks = [
            Line2D([], [], marker="o", linestyle="", color=colour[kind], label=clean_line(kind, width=24))
            for kind in listed
        ]
        axes.legend(handles=marks, loc="best", fontsize=8, frameon=False)
    if on_map:
        _fit(axes, {node: place for node, place in places.items() if node in known or node in guessed})
    degree = dict(graph.degree)
    shown = sorted(plain, key=lambda node: -degree[node])[:_LABELS]
    _labels(axes, {node: str(graph.nodes[node].get("name", node)) for node in shown}, places, size=8, gap=6)
    hidden = f", {len(plain) - len(shown)} without label" if len(shown) < len(plain) else ""
    beside = f", {len(guessed)} of them without coordinates beside their neighbours" if on_map and guessed else ""
    return f"{len(plain)} nodes{' on a map' if on_map else ''}{beside}{hidden}"


def _earth(known: dict[str, Place]) -> bool:
    return all(-180 <= x <= 180 and -90 <= y <= 90 for x, y in known.values())


def _labels(axes: Any, texts: dict[str, str], places: dict[str, Place], *, size: int, gap: int) -> None:
    """Labels beside their nodes; one that would cover an earlier one is moved, and left out if that does not help."""
    from matplotlib.transforms import Bbox

    figure = axes.figure
    figure.canvas.draw()
    centres = axes.transData.transform(list(places.values()))
    taken: list[Any] = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in centres]
    renderer = figure.canvas.get_renderer()
    offsets = ((0, gap), (0, -gap - 7), (gap + 2, -3), (-gap - 2, -3))
    for node, text in texts.items():
        # Dollar signs would start mathematics.
        safe = "\n".join(clean_line(line, width=26) for line in text.split("\n")).replace("$", r"\$")
        for dx, dy in offsets:
            across = "left" if dx > 0 else "right" if dx < 0 else "center"
            label = axes.annotate(
                safe, places[node], xytext=(dx, dy), textcoords="offset points", ha=across,
                va="bottom" if dy > 0 else "top" if dy < -gap else "center", fontsize=size, color="#1d2731",
            )  # fmt: skip
            box = label.get_window_extent(renderer)
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()
