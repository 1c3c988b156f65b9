"""Conflicts of an investigation: the values of a slot side by side, with who says so."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.incident.records import Conflict, ConflictValue, Report
from nl2net.tui.words import MUTED


class ConflictsView(VerticalScroll):
    """One block per conflict; the preferred value has a frame in colour."""

    DEFAULT_CSS = """
    ConflictsView { padding: 0 1; }
    ConflictsView .conflict { height: auto; margin-bottom: 1; }
    ConflictsView .sides { height: auto; }
    ConflictsView .side { width: 1fr; height: auto; border: round $border-blurred; padding: 0 1; }
    ConflictsView .side.preferred { border: round $success; }
    """

    def compose(self) -> ComposeResult:
        """Nothing yet."""
        yield Static("", id="conflicts-none", markup=False)

    def show(self, report: Report | None) -> None:
        """Show the conflicts of a report."""
        self.query(".conflict").remove()
        found = report.conflicts if report else ()
        none = "" if report is None else "The sources do not disagree."
        self.query_one("#conflicts-none", Static).update("" if found else none)
        self.mount_all(_block(conflict) for conflict in found)
        self.scroll_home(animate=False)


def _block(conflict: Conflict) -> Vertical:
    live = "" if conflict.live else " (the rival value is disowned by its own source)"
    head = Content.assemble(
        (clean_line(conflict.slot), "bold $primary"), f"  {clean_line(conflict.kind)}{live}\n",
        (clean_line(conflict.reason), MUTED),
    )  # fmt: skip
    sides = [_side(value, preferred=value.value == conflict.preferred) for value in conflict.values]
    # Three beside each other are readable in a narrow terminal, more are not.
    rows = [Horizontal(*sides[at : at + 3], classes="sides") for at in range(0, len(sides), 3)]
    return Vertical(Static(head), *rows, classes="conflict")


def _side(value: ConflictValue, *, preferred: bool) -> Static:
    origins = "one independent origin" if value.origins == 1 else f"{value.origins} independent origins"
    text = Content.assemble(
        (clean_line(value.value), "bold"), ("  preferred" if preferred else "", "$text-success"),
        f"\n{origins}, {value.copies} document{'s' * (value.copies != 1)}\n{value.source_class}\n",
        (", ".join(value.evidence), "$accent"),
    )  # fmt: skip
    return Static(text, classes="side preferred" if preferred else "side")
