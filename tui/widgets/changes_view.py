"""A proposed change of the network, as a difference by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.model import Changes
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.words import value_text

COLUMNS = ("", "what", "id", "attribute", "old", "new")


class ChangesView(Vertical):
    """Added, removed and changed nodes and links; approve, reject, undo and export from here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "act('approve_change')", "Approve", id="change.approve", tooltip="Make it the working copy"),
        Binding("d", "act('reject_change')", "Drop", id="change.reject", tooltip="Drop the proposal"),
        Binding("u", "act('undo')", "Undo", id="change.undo", tooltip="Back to the version before"),
        Binding("e", "act('export_graph')", "Export", id="change.export", tooltip="Write the working copy to a file"),
    ]
    DEFAULT_CSS = "ChangesView > Static { height: auto; padding: 0 1; }"

    class Act(Message):
        """Something to do with the change."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def compose(self) -> ComposeResult:
        """Counts and rows."""
        yield Static("no change is proposed", id="changes-head", markup=False)
        yield Grid(id="changes-grid")

    def show(self, changes: Changes | None) -> None:
        """Show the difference."""
        rows = list(change_rows(changes)) if changes else []
        head = self.query_one("#changes-head", Static)
        head.update(
            f"{_counts(changes)} · a approve, d drop; nothing is written before that"
            if changes
            else "no change is proposed · u undo, e export the working copy"
        )
        self.query_one(Grid).show_rows(COLUMNS, rows)

    def action_act(self, what: str) -> None:
        """Tell the screen."""
        self.post_message(self.Act(what))


def _counts(changes: Changes) -> str:
    added = len(changes.nodes_added) + len(changes.edges_added)
    removed = len(changes.nodes_removed) + len(changes.edges_removed)
    changed = len(changes.nodes_changed) + len(changes.edges_changed)
    return f"{added} added, {removed} removed, {changed} changed"


def change_rows(changes: Changes) -> Iterator[list[Any]]:
    """One row per added or removed node or link, and one per changed attribute.

    Examples
    --------
    >>> list(change_rows(Changes(nodes_removed=("a",), nodes_changed={"b": {"site": ["x", None]}})))
    [['-', 'node', 'a', '', '', ''], ['~', 'node', 'b', 'site', 'x', 'none']]
    """
    for node in changes.nodes_added:
        rest = {name: value for name, value in node.items() if name != "id"}
        yield ["+", "node", str(node["id"]), "", "", value_text(rest)]
    for name in changes.nodes_removed:
        yield ["-", "node", str(name), "", "", ""]
    for name, parts in changes.nodes_changed.items():
        yield from _parts("node", str(name), parts)
    for edge in changes.edges_added:
        rest = {name: value for name, value in edge.items() if name not in {"source", "target", "key"}}
        yield ["+", "link", _ends(edge), "", "", value_text(rest)]
    for edge in changes.edges_removed:
        yield ["-", "link", _ends(edge), "", "", ""]
    for edge in changes.edges_changed:
        yield from _parts("link", _ends(edge), edge["changed"])


def _parts(what: str, name: str, parts: Mapping[str, Any]) -> Iterator[list[Any]]:
    for attribute, (old, new) in parts.items():
        yield ["~", what, name, clean_line(str(attribute)), value_text(old), value_text(new)]


def _ends(edge: Mapping[str, Any]) -> str:
    key = f" [{edge['key']}]" if "key" in edge else ""
    return f"{edge['source']} - {edge['target']}{key}"
