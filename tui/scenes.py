"""What a picture shows, apart from how it is drawn: places, lines and texts in a unit square."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nl2net.display import clean_line

_SINGLE = 300  # beyond this, single nodes cannot be told apart in a terminal
_QUICK = 120  # Kamada-Kawai is cubic

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A node, or a group of them. ``size`` is 1 for a node; ``colour`` names a role: node, group, marked, added ..."""

    x: float
    y: float
    label: str = ""
    colour: str = "node"
    size: int = 1
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Marks and the lines between them, by index; or bars; ``notes`` are lines of text beside the picture."""

    title: str
    marks: tuple[Mark, ...] = ()
    lines: tuple[tuple[int, int, str], ...] = ()
    notes: tuple[str, ...] = ()
    bars: tuple[tuple[str, float], ...] = ()


def topology_scene(graph: Any, *, marked: Collection[str] = (), name: str = "") -> Scene:
    """The network: on coordinates where it has them, large ones as regions around their busiest nodes.

    Parameters
    ----------
    graph : networkx graph
        In normal form.
    marked : collection of str
        Nodes to stand out, such as those of a result.
    name : str
        Of the graph.
    """
    if len(graph) > _SINGLE:
        from nl2net.tui.regions import region_scene

        return region_scene(graph, name=name)
    places, how = places_of(graph)
    return _scene(graph, places, dict.fromkeys(marked, "marked"), title=f"{name}: {len(graph)} nodes{how}")


def change_scene(before: Any, after: Any, name: str = "") -> Scene:
    """Both versions in one picture: added and removed nodes and links in their colours.

    Links and nodes that stay are drawn plain; on large graphs only what changed and its neighbours are shown.
    """
    import networkx as nx

    both: Any = nx.Graph()
    both.add_nodes_from(before.nodes(data=True))
    both.add_nodes_from(after.nodes(data=True))
    colours: dict[str, str] = dict.fromkeys((node for node in after if node not in before), "added")
    colours |= {node: "removed" for node in before if node not in after}
    colours |= {node: "changed" for node in after if node in before and after.nodes[node] != before.nodes[node]}
    old, new = {frozenset(ends) for ends in before.edges()}, {frozenset(ends) for ends in after.edges()}
    both.add_edges_from(tuple(ends) * (3 - len(ends)) for ends in old | new)
    links = dict.fromkeys(new - old, "added") | dict.fromkeys(old - new, "removed")
    if len(both) > _SINGLE:
        near = set(colours) | {node for ends in links for node in ends}
        near |= {other for node in list(near)[:50] for other in both[node]}
        both = both.subgraph(sorted(near, key=str)[:_SINGLE])
    places, _ = places_of(both)
    return _scene(both, places, colours, links=links, title=f"{name}: proposed change")


def _scene(
    graph: Any,
    places: Mapping[Any, Place],
    colours: Mapping[Any, str],
    *,
    links: Mapping[frozenset[Any], str] | None = None,
    title: str,
) -> Scene:
    nodes = list(graph)
    number = {node: at for at, node in enumerate(nodes)}
    degree = dict(graph.degree)
    marks = tuple(
        Mark(*places[node], _label(graph, node), colours.get(node, "node"), weight=degree[node]) for node in nodes
    )
    lines = {
        (number[u], number[v]): (links or {}).get(frozenset((u, v)), _link_colour(u, v, colours))
        for u, v in graph.edges()
        if u != v
    }
    return Scene(clean_line(title), marks, tuple((a, b, colour) for (a, b), colour in lines.items()))


def _link_colour(u: Any, v: Any, colours: Mapping[Any, str]) -> str:
    return "marked-link" if colours.get(u) == "marked" and colours.get(v) == "marked" else "link"


def _label(graph: Any, node: Any) -> str:
    return clean_line(str(graph.nodes[node].get("name", node)), width=18)


def places_of(graph: Any) -> tuple[dict[Any, Place], str]:
    """A place in the unit square for every node, and how it was found."""
    from nl2net.graphs.drawing import coordinates

    known = coordinates(graph)
    if known and len(known) * 2 >= len(graph) and len(set(known.values())) > 1:
        return _unit(_with_rest(graph, known)), " on a map"
    return _unit(_computed(graph)), ""


def _with_rest(graph: Any, known: Mapping[Any, Place]) -> dict[Any, Place]:
    """Nodes without coordinates stand a little beside a neighbour, or below the map."""
    places = dict(known)
    xs, ys = [x for x, _ in known.values()], [y for _, y in known.values()]
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    for number, node in enumerate(node for node in graph if node not in known):
        near = next((known[other] for other in graph[node] if other in known), None)
        if near is None:
            places[node] = (min(xs) + wide * (number % 20) / 20, min(ys) - 0.1 * high)
        else:
            places[node] = (near[0] + 0.03 * wide * (1 + number % 3), near[1] - 0.03 * high)
    return places


def _computed(graph: Any) -> dict[Any, Place]:
    import networkx as nx

    plain: Any = nx.Graph()
    plain.add_nodes_from(graph)
    plain.add_edges_from((u, v) for u, v in graph.edges() if u != v)
    places: dict[Any, Place] = {}
    left = 0.0
    for part in sorted(nx.connected_components(plain), key=len, reverse=True):
        inner = plain.subgraph(part)
        scale = len(part) ** 0.5
        if len(part) == 1:
            found: Mapping[Any, Iterable[float]] = {next(iter(part)): (0.0, 0.0)}
        elif len(part) <= _QUICK:
            found = nx.kamada_kawai_layout(inner)
        else:
            found = nx.spring_layout(inner, seed=1, iterations=50)
        for node, (x, y) in found.items():
            places[node] = (left + scale * (1 + float(x)), scale * float(y))
        left += 2.3 * scale
    return places


def _unit(places: Mapping[Any, Place]) -> dict[Any, Place]:
    """Stretch to the unit square, y downwards."""
    if not places:
        return {}
    xs, ys = [x for x, _ in places.values()], [y for _, y in places.values()]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    return {
        node: ((x - min(xs)) / wide if wide else 0.5, (max(ys) - y) / high if high else 0.5)
        for node, (x, y) in places.items()
    }
