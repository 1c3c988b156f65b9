"""The History screen: search what was asked, look at it, run it again on any graph, export it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from nl2net.assistant.store import Turn
from nl2net.model import Library
from nl2net.tui.recall import Shown, recall_turn
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.widgets.program import ProgramEditor
from nl2net.tui.widgets.turn_text import turn_content

_MOST = 2000
COLUMNS = ("no", "when", "status", "graph", "question", "verdict")


class HistoryScreen(BaseScreen):
    """Every question of this user; newest first."""

    NAME = "history"
    AUTO_FOCUS = "#history-grid"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", id="history.search", tooltip="Narrow the list by a text"),
        Binding("o", "open", "Open", id="history.open", tooltip="Open its conversation on the Ask screen"),
        Binding("r", "replay", "Replay", id="history.replay", tooltip="Run its program on the open graph, no model"),
        Binding("ctrl+g", "replay_on", "Replay on", id="history.replay_on", tooltip="Run it on another graph"),
        Binding("e", "export", "Export", id="history.export", tooltip="Write a script, or the record as .json"),
        Binding("escape", "back", "Back", id="history.back", tooltip="To the list"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._turns: list[Turn] = []

    def body(self) -> ComposeResult:
        """Search and list at the left, the question in view at the right."""
        with Horizontal(classes="split"):
            with Vertical(classes="pane", id="history-list"):
                yield Input(placeholder="search questions, graphs, programs", id="history-search")
                yield Grid(id="history-grid")
            with Vertical(classes="pane", id="history-turn"):
                yield Scrolled(id="history-text")
                yield ProgramEditor(id="history-program", read_only=True)

    def on_mount(self) -> None:
        """Titles."""
        self.query_one("#history-list").border_title = "history"
        self.query_one("#history-turn").border_title = "question"
        self.watch(self.query_one("#history-grid"), "row", self._moved, init=False)

    def on_screen_resume(self) -> None:
        """New questions may have come."""
        self._load(self.query_one("#history-search", Input).value)

    def _load(self, text: str) -> None:
        self.in_thread(partial(self.desk.store.turns, limit=_MOST, search=text), self._show_turns)

    def _show_turns(self, turns: list[Turn]) -> None:
        self._turns = turns
        rows = [
            [t.id, t.created[:16].replace("T", " "), t.status or "unfinished", t.graph, t.question, t.approved or ""]
            for t in turns
        ]
        self.query_one("#history-grid", Grid).show_rows(COLUMNS, rows)
        self._moved()

    @on(Input.Changed, "#history-search")
    def _search_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._load(event.value)

    @on(Input.Submitted, "#history-search")
    def _search_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_back()

    @property
    def turn(self) -> Turn | None:
        """The question in view."""
        grid = self.query_one("#history-grid", Grid)
        return self._turns[grid.source_row(grid.row)] if self._turns and grid.rows else None

    def _moved(self, *_: Any) -> None:
        turn = self.turn
        if turn is None:
            self._show(None)
        else:
            self.in_thread(lambda: recall_turn(turn, self.desk.store.events(turn.id)), self._show, group="recall")

    def _show(self, shown: Shown | None) -> None:
        turn = self.turn
        if shown is not None and (turn is None or turn.id != shown.turn):
            return
        self.query_one("#history-text", Scrolled).update(turn_content(shown))
        sql = shown is not None and shown.answer.library is Library.SQL
        self.query_one(ProgramEditor).show_program(shown.program if shown else "", sql=sql)

    def action_search(self) -> None:
        """To the search line."""
        self.query_one("#history-search").focus()

    def action_back(self) -> None:
        """To the list."""
        self.query_one("#history-grid").focus()

    @on(Grid.Chosen)
    def action_open(self) -> None:
        """Take up the conversation of this question."""
        turn = self.turn
        if turn is not None:
            self.network_app.action_open_screen("ask")
            self.network_app.open_graph(turn.graph, conversation=turn.conversation)

    def action_replay(self) -> None:
        """Run its program on the open graph."""
        self._replay("")

    def action_replay_on(self) -> None:
        """Choose a graph and run the program on it."""
        from nl2net.tui.dialogs.graph_picker import GraphPicker

        self.app.push_screen(GraphPicker(self.desk), lambda source: self._replay(source) if source else None)

    def _replay(self, source: str) -> None:
        turn = self.turn
        if turn is None or not turn.bound:
            self.notify("this question has no program", severity="warning")
            return
        self.query_one("#history-text", Scrolled).update(turn_content(None, note="running …"))
        self.in_thread(
            partial(self.desk.replay, turn, source), lambda shown: self._replayed(shown), failed=self.say_error
        )

    def _replayed(self, shown: Shown) -> None:
        note = f"replayed on {shown.answer.graph['name']}, without a model"
        self.query_one("#history-text", Scrolled).update(turn_content(shown, note=note))

    def action_export(self) -> None:
        """Ask for a file."""
        from nl2net.tui.dialogs.file_name import FileDialog

        if self.turn is not None:
            hint = "a script (.py, .sql), or the whole record (.json)"
            self.app.push_screen(FileDialog("Export to", f"question-{self.turn.id}.py", hint), self._export)

    @on(Grid.Export)
    def _export_rows(self, event: Grid.Export) -> None:
        event.stop()
        self.action_export()

    def _export(self, path: Path | None) -> None:
        from nl2net.tui.export import export_turn

        turn = self.turn
        if path is not None and turn is not None:
            self.in_thread(
                partial(export_turn, self.desk.store, turn, path),
                lambda written: self.notify(f"written: {written}", markup=False),
            )


ENTRY = ScreenEntry("history", "History", "Search, replay and export what was asked", "f3", 20, HistoryScreen)
