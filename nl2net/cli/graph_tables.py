"""Graphs and reports as text tables; everything from data is cleaned on the way."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nl2net.display import clean_line

_COLUMNS = 6
_WIDTH = 28
_ID_WIDTH = 60


def _cell(value: Any, width: int) -> Text:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        value = ", ".join(f"{key} {item}" for key, item in value.items())
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    text = "" if value is None else f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
    return Text(clean_line(text, width=width))


def _rows(console: Console, title: str, records: list[dict[str, Any]], total: int) -> None:
    names = list(dict.fromkeys(name for record in records for name in record))
    names.sort(key=lambda name: name.startswith("file_"))  # renamed reserved words of the file come last
    table = Table(title=Text(clean_line(title)), title_justify="left", box=None, pad_edge=False)
    for name in names[:_COLUMNS]:
        # Ends and ids are shown whole; other cells give way.
        whole = name in ("id", "source", "target")
        longest = max(len(_cell(record.get(name), _ID_WIDTH)) for record in records)
        table.add_column(
            Text(clean_line(name, width=_WIDTH)),
            overflow="fold" if whole else "ellipsis",
            no_wrap=not whole,
            min_width=min(longest, _ID_WIDTH // 2) if whole else 4,
        )
    for record in records:
        table.add_row(
            *(
                _cell(record.get(name), _ID_WIDTH if name in ("id", "source", "target") else _WIDTH)
                for name in names[:_COLUMNS]
            )
        )
    console.print(table)
    left = [] if total == len(records) else [f"{total - len(records)} more rows"]
    if len(names) > _COLUMNS:
        left.append(f"more columns: {', '.join(clean_line(name) for name in names[_COLUMNS:])}")
    if left:
        console.print(Text(f"({'; '.join(left)})"))
    console.print()


def print_graph(loaded: Any, rows: int) -> None:
    """Print a summary and the first nodes and links."""
    console = Console(soft_wrap=True, highlight=False)
    schema, graph = loaded.schema, loaded.graph
    parts = f"{schema.components} part{'s' if schema.components != 1 else ''}"
    head = f"{loaded.name}: {schema.graph_class.name}, {schema.nodes} nodes, {schema.edges} edges, {parts}"
    console.print(Text(clean_line(head)))
    console.print(Text(clean_line(f"{loaded.provenance['file']} ({loaded.provenance['format']})")))
    console.print(Text(loaded.fingerprint))
    console.print()
    degree = dict(graph.degree)
    busiest = sorted(graph, key=lambda node: -degree[node])[:rows]
    first = ("name", "kind")
    records = [
        {
            "id": node,
            "links": degree[node],
            **{name: graph.nodes[node][name] for name in first if name in graph.nodes[node]},
            **graph.nodes[node],
        }
        for node in busiest
    ]
    _rows(console, "nodes, most links first", records, schema.nodes)
    links = [{"source": u, "target": v, **data} for u, v, data in islice(graph.edges(data=True), rows)]
    if links:
        _rows(console, "links", links, schema.edges)


def print_report(loaded: Any) -> None:
    """Print the findings, warnings first."""
    console = Console(soft_wrap=True, highlight=False)
    order = {"error": 0, "warning": 1, "info": 2}
    for finding in sorted(loaded.report, key=lambda finding: order.get(finding.severity, 3)):
        console.print(
            Text(f"{finding.severity:<8} " + clean_line(f"{finding.rule} ({finding.count}): {finding.message}"))
        )
        if finding.examples:
            console.print(Text("         " + clean_line(f"such as {', '.join(finding.examples)}")))
        if finding.advice:
            console.print(Text("         " + clean_line(finding.advice)))
    if not loaded.report:
        console.print("no findings")
