"""Which graph is open: name, class and size, fingerprint, and the data-quality badge."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.graphs.loaded import LoadedGraph


def quality_badge(graph: LoadedGraph) -> tuple[str, str]:
    """Words and colour for the data-quality report."""
    errors = sum(finding.severity == "error" for finding in graph.report)
    warnings = sum(finding.severity == "warning" for finding in graph.report)
    if errors:
        return f"✗ {errors} errors, {warnings} warnings", "$text-error"
    if warnings:
        return f"▲ {warnings} warning{'s' if warnings > 1 else ''}", "$text-warning"
    return "✓ clean data", "$text-success"


class GraphBadge(Vertical, can_focus=False):
    """Shown above the schema; a click opens the picker."""

    DEFAULT_CSS = "GraphBadge { height: auto; } GraphBadge > Static { height: 1; text-overflow: ellipsis; }"

    class Clicked(Message):
        """Open the picker."""

    def compose(self) -> ComposeResult:
        """Four lines."""
        yield Static("no graph", id="badge-name", markup=False)
        yield Static("", id="badge-size", markup=False)
        yield Static("", id="badge-print", markup=False)
        yield Static("", id="badge-quality")

    def show_graph(self, graph: LoadedGraph) -> None:
        """Fill the lines."""
        copy = f" · version {graph.provenance['working_copy']}" if "working_copy" in graph.provenance else ""
        self.query_one("#badge-name", Static).update(f"{clean_line(graph.name, width=40)}{copy}")
        size = f"{graph.schema.graph_class.name} {graph.schema.nodes:,} nodes {graph.schema.edges:,} links"
        self.query_one("#badge-size", Static).update(size)
        self.query_one("#badge-print", Static).update(graph.fingerprint[:19] + "…")
        words, colour = quality_badge(graph)
        self.query_one("#badge-quality", Static).update(f"[{colour}]{words}[/]")

    def on_click(self) -> None:
        """Open the picker."""
        self.post_message(self.Clicked())
