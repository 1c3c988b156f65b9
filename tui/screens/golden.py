"""The Golden screen: run a suite with live progress, drill into failures, compare two runs."""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from nl2net.display import clean, clean_line
from nl2net.tui.golden_runs import RunLine, Stopped, compare_text, list_runs, parse_run, run_text, start_run
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from nl2net.benchmark.runs import Record


class GoldenScreen(BaseScreen):
    """Runs at the left; report and questions of the chosen one at the right."""

    NAME = "golden"
    AUTO_FOCUS = "#golden-runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new_run", "Run", id="golden.run", tooltip="Run a suite; a run that exists is gone on with"),
        Binding("m", "mark", "Mark", id="golden.mark", tooltip="Mark this run as A of a comparison"),
        Binding("c", "compare", "Compare", id="golden.compare", tooltip="Compare the marked run with this one"),
        Binding("escape", "stop", "Stop", id="golden.stop", tooltip="Stop the run after the question in work"),
    ]

    class Judged(Message):
        """One question of the run under way was judged."""

        def __init__(self, record: Record) -> None:
            super().__init__()
            self.record = record

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[RunLine] = []
        self._records: list[Record] = []
        self._counts: Counter[str] = Counter()
        self._marked: Path | None = None
        self._stop: threading.Event | None = None

    def body(self) -> ComposeResult:
        """Runs, report, questions."""
        with Horizontal(classes="split"):
            with Vertical(classes="pane", id="golden-left"):
                yield Grid(id="golden-runs")
                yield Static("n runs a suite · Enter opens a run", id="golden-progress", markup=False)
            with Vertical(classes="pane", id="golden-right"):
                yield Scrolled(id="golden-text")
                yield Grid(id="golden-records")

    def on_mount(self) -> None:
        """Titles."""
        self.query_one("#golden-left").border_title = "golden runs"
        self.query_one("#golden-right").border_title = "report"
        self.query_one("#golden-text", Scrolled).update(Content("choose a run, or make one with n"))

    def on_screen_resume(self) -> None:
        """Runs of the command line may have come."""
        self._load()

    def _load(self) -> None:
        self.in_thread(partial(list_runs, self.desk.locations), self._show_runs)

    def _show_runs(self, lines: list[RunLine]) -> None:
        self._lines = lines
        rows = [
            ["A" if line.path == self._marked else "", line.path.name, line.answered,
             f"{line.correct / line.answered:.3f}" if line.answered else "-", line.wrong]
            for line in lines
        ]  # fmt: skip
        self.query_one("#golden-runs", Grid).show_rows(("", "run", "n", "correct", "wrong"), rows, keep_cursor=True)

    @property
    def line(self) -> RunLine | None:
        """The run under the cursor."""
        grid = self.query_one("#golden-runs", Grid)
        return self._lines[grid.source_row(grid.row)] if self._lines else None

    # ---- one run ------------------------------------------------------------------------------------------------

    @on(Grid.Chosen, "#golden-runs")
    def _open(self) -> None:
        if self.line is not None:
            self.in_thread(partial(run_text, self.line.path), self._show_run)

    def _show_run(self, found: tuple[str, list[Record]]) -> None:
        text, self._records = found
        self.query_one("#golden-text", Scrolled).update(Content(clean(text)))
        rows = [[str(r.outcome), f"{r.seconds:.1f}", r.question, r.case] for r in self._records]
        self.query_one("#golden-records", Grid).show_rows(("outcome", "s", "question", "case"), rows)

    @on(Grid.Chosen, "#golden-records")
    def _drill(self, event: Grid.Chosen) -> None:
        record = self._records[event.row]
        answer = f"\n{record.outcome}: {record.reason}\n\nanswer: {record.answer}\n{record.message}\n\n"
        parts: list[str | tuple[str, str]] = [
            (clean(record.question), "bold"),
            clean(answer),
            (clean(record.program), "$text-muted"),
        ]
        self.query_one("#golden-text", Scrolled).update(Content.assemble(*parts))

    def action_mark(self) -> None:
        """Mark this run."""
        if self.line is not None:
            self._marked = self.line.path
            self._show_runs(self._lines)

    def action_compare(self) -> None:
        """Compare the marked run with this one."""
        if self._marked is None or self.line is None or self.line.path == self._marked:
            self.notify("mark one run with m, then choose another", severity="warning")
            return
        self.in_thread(
            partial(compare_text, self._marked, self.line.path),
            lambda text: self.query_one("#golden-text", Scrolled).update(Content(clean(text))),
        )

    # ---- a new run ----------------------------------------------------------------------------------------------

    def action_new_run(self) -> None:
        """Ask what to run."""
        from nl2net.golden.suite import shipped_suites
        from nl2net.tui.dialogs.value import ValueDialog

        if self._stop is not None:
            self.notify("a run is under way; Esc stops it", severity="warning")
            return
        note = f"SUITE AGENT COUNT; suites {', '.join(shipped_suites())}; agents assistant, oracle, noop"
        self.app.push_screen(ValueDialog("Run a golden suite", "traffic-dev assistant 20", note), self._start)

    def _start(self, text: str | None) -> None:
        if not text:
            return
        self._stop, self._counts = threading.Event(), Counter()
        self.query_one("#golden-progress", Static).update("starting …")
        stop = self._stop

        def work() -> str:
            try:
                options = parse_run(text)
                start_run(options, self.desk.locations, progress=self._judged, stop=stop)
            except Stopped:
                return "stopped; the same run goes on where it was"
            return "finished"

        self.in_thread(work, self._ended, failed=self._failed, group="golden")

    def _judged(self, record: Record) -> None:
        if self.app.is_running:
            self.post_message(self.Judged(record))

    def on_golden_screen_judged(self, message: Judged) -> None:
        """Progress, as it comes."""
        self._counts[str(message.record.outcome)] += 1
        counts = ", ".join(f"{name} {count}" for name, count in self._counts.most_common())
        line = f"{sum(self._counts.values())} answered: {counts} · {message.record.question}"
        self.query_one("#golden-progress", Static).update(clean_line(line, width=300))

    def _ended(self, said: str) -> None:
        self._stop = None
        self.query_one("#golden-progress", Static).update(f"{said}: {sum(self._counts.values())} answered")
        self._load()

    def _failed(self, text: str) -> None:
        self._ended("failed")
        self.say_error(text)

    def action_stop(self) -> None:
        """Stop after the question in work."""
        if self._stop is not None:
            self._stop.set()
            self.query_one("#golden-progress", Static).update("stopping after this question …")


ENTRY = ScreenEntry("golden", "Golden", "Run suites of proven questions, look into failures", "f4", 30, GoldenScreen)
