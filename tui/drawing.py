"""Which picture belongs to an answer, and the same as a PNG file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nl2net.assistant.answer import Answer
from nl2net.errors import UserError
from nl2net.graphs.loaded import LoadedGraph
from nl2net.model import ResultType
from nl2net.tui.charts import chart_scene, write_chart
from nl2net.tui.scenes import Scene, change_scene, topology_scene

_MARKED = 200


def scene_of(graph: LoadedGraph, answer: Answer | None) -> Scene:
    """The change, chart or network of an answer; else the topology with the nodes of the answer marked."""
    if answer is not None and answer.changes:
        try:
            return change_scene(graph.graph, _changed(graph, answer), graph.name)
        except UserError:
            pass  # approved already, or made for another version: the network as it is now
    result = answer.result if answer is not None else None
    if result is not None and result.type is ResultType.FIGURE and isinstance(result.data, dict):
        return chart_scene(result.data)
    if result is not None and result.type is ResultType.GRAPH and not (answer and answer.changes):
        return topology_scene(_graph_of(result.data), name="result")
    return topology_scene(graph.graph, marked=marked_nodes(graph.graph, answer), name=graph.name)


def marked_nodes(graph: Any, answer: Answer | None) -> list[str]:
    """Nodes of the graph that stand in a result; none if it is most of them.

    Examples
    --------
    >>> marked_nodes(["a", "b"], None)
    []
    """
    if answer is None or answer.result is None:
        return []
    found: list[str] = []
    stack = [answer.result.data]
    while stack and len(found) <= _MARKED:
        value = stack.pop()
        if isinstance(value, str) and value in graph:
            found.append(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
            stack.extend(value.keys())
        elif isinstance(value, list | tuple):
            stack.extend(value[:_MARKED])
    unique = list(dict.fromkeys(found))
    return unique if len(unique) < len(graph) else []


def write_png(graph: LoadedGraph, answer: Answer | None, folder: Path) -> Path:
    """Draw the picture of an answer to a new file in ``folder``; returns its path."""
    from nl2net.graphs.drawing import draw_graph

    result = answer.result if answer is not None else None
    path = _free(folder, graph.name, answer.turn if answer else 0)
    if result is not None and result.type is ResultType.FIGURE:
        if not isinstance(result.data, dict):
            return Path(str(result.data))
        write_chart(result.data, path)
    elif answer is not None and answer.changes:
        draw_graph(_changed(graph, answer), path, title=f"{graph.name}, changed")
    elif result is not None and result.type is ResultType.GRAPH:
        draw_graph(_graph_of(result.data), path, title="result")
    else:
        draw_graph(graph.graph, path, title=graph.name)
    return path


def _free(folder: Path, name: str, turn: int) -> Path:
    stem = "".join(letter if letter.isalnum() else "-" for letter in name)[:60] + (f"-{turn}" if turn else "")
    number = 1
    while (path := folder / f"{stem}-{number}.png").exists():
        number += 1
    return path


def _changed(graph: LoadedGraph, answer: Answer) -> Any:
    from nl2net.sandbox import apply_changes

    assert answer.changes is not None
    return apply_changes(graph.graph, answer.changes)


def _graph_of(data: Any) -> Any:
    import networkx as nx

    return nx.node_link_graph(data, edges="links")
