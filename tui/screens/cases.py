"""The Investigations screen: ask a folder of documents; answer, evidence, conflicts, gaps, timeline."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Select, Static, TabbedContent, TabPane

from nl2net.display import clean_line
from nl2net.tui.case_words import NO_CASE, PAST_COLUMNS, ledger_line, past_row
from nl2net.tui.cases import NO_MODEL, Case, Ledger, Stopped, investigate, open_ledger, reopen
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.case_report import TABS, CaseReport
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.words import path_tail


class CasesScreen(CaseReport):
    """Former questions at the left; the one in view at the right; the next question below."""

    NAME = "cases"
    AUTO_FOCUS = "#case-question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="cases.cancel", tooltip="Stop the investigation", priority=True),
        Binding("ctrl+g", "open", "Folder", id="cases.open", tooltip="Choose the folder of documents to ask"),
        Binding("ctrl+t", "next_tab", "Tab", id="cases.tab", tooltip="Answer, evidence, conflicts, gaps, timeline"),
        Binding("ctrl+s", "export", "Save", id="cases.save", tooltip="Write the report as Markdown or HTML"),
        Binding("ctrl+b", "past", "Past", id="cases.past", tooltip="Show or hide the questions asked before"),
        Binding("ctrl+l", "to_question", show=False, id="cases.question", tooltip="To the question"),
    ]

    class Step(Message):
        """An investigation came further."""

        def __init__(self, asked: threading.Event, text: str) -> None:
            super().__init__()
            self.asked, self.text = asked, text

    def __init__(self) -> None:
        super().__init__()
        self.cancel: threading.Event | None = None
        self._ledger: Ledger | None = None
        self._stage, self._began = "", 0.0
        self._timer: Timer | None = None

    def body(self) -> ComposeResult:
        """Past questions, the report in tabs, options, the question."""
        from nl2net.tui.widgets.conflicts_view import ConflictsView

        with Horizontal(classes="split", id="case-body"):
            with Vertical(classes="pane", id="case-left"):
                yield Grid(id="case-past")
                yield Static("", id="case-corpus", markup=False)
            with Vertical(classes="pane", id="case-right"), TabbedContent(initial="answer", id="case-tabs"):
                with TabPane(TABS["answer"], id="answer"):
                    yield Scrolled(id="case-answer")
                with TabPane(TABS["evidence"], id="evidence"), Vertical(id="case-ledger"):
                    yield Grid(id="case-evidence")
                    yield Scrolled(id="case-context")
                with TabPane(TABS["conflicts"], id="conflicts"):
                    yield ConflictsView()
                with TabPane(TABS["missing"], id="missing"):
                    yield Scrolled(id="case-missing")
                with TabPane(TABS["times"], id="times"):
                    yield Scrolled(id="case-times")
        with Horizontal(id="case-options"):
            yield Select(self._models(), value=NO_MODEL, allow_blank=False, compact=True, id="case-model")
            yield Input(placeholder="as of YYYY-MM-DD", compact=True, id="case-date")
            yield Static("", id="case-progress", markup=False)
        yield Input(placeholder="Ask a question about an incident", id="case-question")

    def _models(self) -> list[tuple[str, str]]:
        named = self.desk.settings.model
        own = [(named, named)] if named and named not in {NO_MODEL, "builtin"} else []
        return [("no model", NO_MODEL), ("built-in model", "builtin"), *own]

    def on_mount(self) -> None:
        """Titles, and the corpus of the last time."""
        self._timer = self.set_interval(0.1, self._tick, pause=True)
        self.query_one("#case-left").border_title = "asked before"
        self.show_case(None)
        last = self.desk.memory.folders.get("corpus", "")
        if last and Path(last).is_dir():
            self._open(Path(last), refresh=True)

    def on_resize(self, event: events.Resize) -> None:
        """Where there is little room, former questions go above the report."""
        self.set_class(event.size.width < 100, "narrow")
        self.set_class(event.size.height < 32, "short")
        self.set_class(event.size.width >= 150, "wide")

    # ---- the corpus ---------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Choose a folder."""
        from nl2net.tui.dialogs.folder import FolderDialog

        if not self.is_busy:
            recent = [self.desk.memory.folders["corpus"]] if "corpus" in self.desk.memory.folders else []
            self.app.push_screen(FolderDialog("Open a folder of documents", recent, folder_kind), self._chosen)

    def _chosen(self, folder: Path | None) -> None:
        if folder is not None:
            self._open(folder.resolve(), refresh=True)

    def _open(self, folder: Path, *, refresh: bool) -> None:
        self.say(f"reading {folder} …")
        self.in_thread(
            partial(open_ledger, self.desk, folder, refresh=refresh), self._opened, failed=self._failed_to_read
        )

    def _failed_to_read(self, text: str) -> None:
        self.say("")
        self.say_error(text)

    def _opened(self, ledger: Ledger) -> None:
        if self.folder != ledger.folder:
            self.show_case(None)
        self.folder = ledger.folder
        self.desk.remember(folders={**self.desk.memory.folders, "corpus": str(ledger.folder)})
        self._show_ledger(ledger)
        if self.case is None:
            self.query_one("#case-answer", Scrolled).update(Content(NO_CASE))
        self.say(f"{ledger.documents} documents are ready" if ledger.documents else "no document in this folder")

    def _show_ledger(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.query_one("#case-left").border_title = path_tail(ledger.folder, width=24)
        self.query_one("#case-corpus", Static).update(ledger_line(ledger))
        self.query_one("#case-past", Grid).show_rows(PAST_COLUMNS, [past_row(past) for past in ledger.past])

    # ---- asking -------------------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether an investigation is under way; says so if it is."""
        if self.cancel is not None:
            self.notify("one investigation at a time; Esc stops the running one", severity="warning")
        return self.cancel is not None

    @on(Input.Submitted, "#case-question")
    def _ask(self, event: Input.Submitted) -> None:
        event.stop()
        question, folder = event.value.strip(), self.folder
        if not question or self.is_busy:
            return
        if folder is None:
            self.notify("choose a folder of documents first, with Ctrl+G", severity="warning")
            return
        stop = self.cancel = threading.Event()
        self._began, self._stage = time.monotonic(), "starting"
        self.add_class("running")
        if self._timer is not None:
            self._timer.resume()
        work = partial(
            investigate, self.desk, folder, question, model=str(self.query_one(Select).value),
            as_of=self.query_one("#case-date", Input).value, stop=stop, progress=lambda text: self._step(stop, text),
        )  # fmt: skip

        def guarded() -> Case | None:
            try:
                return work()
            except Stopped:
                return None

        event.input.clear()
        self.in_thread(
            guarded,
            lambda case: self._answered(stop, case),
            failed=lambda text: self._failed(stop, question, text),
            group="investigation",
        )

    @on(Input.Submitted, "#case-date")
    def _date_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_to_question()

    def _step(self, stop: threading.Event, text: str) -> None:
        if self.app.is_running and self.is_attached:
            self.post_message(self.Step(stop, text))

    def on_cases_screen_step(self, message: Step) -> None:
        """Progress, as it comes."""
        if self.cancel is message.asked:
            self._stage = message.text
            self._tick()

    def _tick(self) -> None:
        self.say(f"{self._stage} · {time.monotonic() - self._began:.1f} s · Esc cancels")

    def say(self, text: str) -> None:
        """A line beside the options."""
        self.query_one("#case-progress", Static).update(clean_line(text, width=200))

    def _answered(self, stop: threading.Event, case: Case | None) -> None:
        if self.cancel is not stop or case is None or self.folder is None:
            return
        self._end("")
        self.show_case(case)
        self.query_one(TabbedContent).active = "answer"
        self.in_thread(partial(open_ledger, self.desk, self.folder, refresh=False), self._show_ledger)

    def _failed(self, stop: threading.Event, question: str, text: str) -> None:
        if self.cancel is stop:
            self._end("failed; the question is back in its line")
            self.query_one("#case-question", Input).value = question
            self.say_error(text)

    def _end(self, said: str) -> None:
        self.cancel = None
        self.remove_class("running")
        if self._timer is not None:
            self._timer.pause()
        self.say(said)

    def action_cancel(self) -> None:
        """Stop the investigation; the screen is free at once, the thread ends at its next step."""
        if self.cancel is not None:
            self.cancel.set()
            self._end("cancelled; nothing was kept")
        else:
            self.action_to_question()

    def action_to_question(self) -> None:
        """Focus the question."""
        self.query_one("#case-question").focus()

    @on(Grid.Chosen, "#case-past")
    def _reopen(self, event: Grid.Chosen) -> None:
        event.stop()
        if self._ledger is not None and self.folder is not None and not self.is_busy:
            past = self._ledger.past[event.row]
            self.in_thread(partial(reopen, self.desk, self.folder, past.id), self.show_case, group="reopen")


def folder_kind(folder: Path) -> str:
    """Whether a folder holds documents."""
    kinds = {".md", ".txt", ".html", ".pdf", ".jsonl", ".xml", ".eml", ".mbox", ".csv", ".bz2"}
    try:
        return "documents" if any(entry.suffix in kinds for entry in folder.iterdir()) else ""
    except OSError:
        return ""


ENTRY = ScreenEntry("cases", "Incidents", "Investigations: answers with cited evidence", "f6", 50, CasesScreen)
