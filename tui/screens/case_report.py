"""The report of an investigation in its tabs: reopened, looked through, exported."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.content import Content
from textual.widgets import TabbedContent

from nl2net.tui.case_words import (
    EMPTY,
    EVIDENCE_COLUMNS,
    NO_CASE,
    answer_text,
    computation_text,
    context_text,
    evidence_row,
    missing_text,
    timeline_text,
)
from nl2net.tui.cases import Case, context_of, export_case
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from nl2net.incident.asking import Context
    from nl2net.incident.records import Evidence

TABS = {"answer": "Answer", "evidence": "Evidence", "conflicts": "Conflicts", "missing": "Missing", "times": "Timeline"}

_FOCUS = {name: f"#case-{name}" for name in TABS} | {"conflicts": "ConflictsView"}


class CaseReport(BaseScreen):
    """A screen with one investigation in view."""

    def __init__(self) -> None:
        super().__init__()
        self.folder: Path | None = None
        self.case: Case | None = None

    def on_mount(self) -> None:
        """The context follows the evidence under the cursor; Textual calls this beside the handler of the screen."""
        self.query_one("#case-right").border_title = "report"
        self.watch(self.query_one("#case-evidence"), "row", self._evidence_moved, init=False)

    def show_case(self, case: Case | None) -> None:
        from nl2net.tui.widgets.conflicts_view import ConflictsView

        self.case = case
        report = case.report if case else None
        texts = {
            "answer": answer_text(report) if report else Content(EMPTY if self.folder is None else NO_CASE),
            "missing": missing_text(report) if report else Content(""),
            "times": timeline_text(report.timeline) if report else Content(""),
        }
        for name, content in texts.items():
            self.query_one(f"#case-{name}", Scrolled).update(content)
        rows = [evidence_row(item) for item in report.evidence] if report else []
        self.query_one("#case-evidence", Grid).show_rows(EVIDENCE_COLUMNS, rows)
        self.query_one(ConflictsView).show(report)
        counts = {"evidence": len(rows), "conflicts": len(report.conflicts) if report else 0,
                  "missing": len(report.missing) if report else 0}  # fmt: skip
        for name, title in TABS.items():
            count = counts.get(name, 0)
            self.query_one(TabbedContent).get_tab(name).label = Content(f"{title} {count}" if count else title)
        self._evidence_moved()

    @property
    def evidence(self) -> Evidence | None:
        """The evidence under the cursor."""
        grid = self.query_one("#case-evidence", Grid)
        return self.case.report.evidence[grid.source_row(grid.row)] if self.case and grid.rows else None

    def _evidence_moved(self, *_: Any) -> None:
        item, case, folder = self.evidence, self.case, self.folder
        text = self.query_one("#case-context", Scrolled)
        if item is None or case is None or folder is None:
            text.update(Content("No evidence." if case else ""))
        elif item.kind != "quote":
            text.update(computation_text(item))
        else:
            text.update(context_text(item, None))
            work = partial(context_of, self.desk, folder, case, item)
            self.in_thread(work, lambda found: self._show_context(item, found), group="context")

    def _show_context(self, item: Evidence, found: Context) -> None:
        if self.evidence is item:
            text = self.query_one("#case-context", Scrolled)
            text.update(context_text(item, found))
            # The quote a few lines below the top, with what stands before it.
            above = context_text(item, found).plain.split(found.quote)[0] if found.before else ""
            width = max(text.size.width - 2, 20)
            lines = sum(1 + len(line) // width for line in above.split("\n"))
            text.scroll_to(0, max(lines - 6, 0), animate=False)

    def action_next_tab(self) -> None:
        """The next tab of the report; the focus goes along, or it would draw the old tab back."""
        tabs, names = self.query_one(TabbedContent), list(TABS)
        tabs.active = names[(names.index(tabs.active) + 1) % len(names)]
        self.query_one(_FOCUS[tabs.active]).focus()

    def action_past(self) -> None:
        """Show or hide former questions."""
        left = self.query_one("#case-left")
        left.display = not left.display

    def action_export(self) -> None:
        """Ask for a file."""
        from nl2net.tui.dialogs.file_name import FileDialog

        if self.case is None:
            self.notify("ask something first", severity="warning")
            return
        hint = "the report: Markdown (.md), or one page with timeline and map (.html)"
        name = f"investigation-{self.case.number}.md"
        self.app.push_screen(FileDialog("Export to", name, hint), self._export)

    def _export(self, path: Path | None) -> None:
        case = self.case
        if path is not None and case is not None:
            self.in_thread(partial(export_case, case, path), lambda done: self.notify(f"written: {done}", markup=False))

    @on(Grid.Export)
    def _export_rows(self, event: Grid.Export) -> None:
        event.stop()
        self.export_grid(event.grid)
