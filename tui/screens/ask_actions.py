"""What can be done with an answer: run again, compare, approve, mark as wrong, save, copy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual import on

from nl2net.model import Library
from nl2net.tui.recall import Shown
from nl2net.tui.screens.ask_pictures import AskPictures
from nl2net.tui.widgets.answer_tabs import TABS, AnswerTabs
from nl2net.tui.widgets.conversation import Conversation
from nl2net.tui.widgets.program import ProgramEditor
from nl2net.tui.words import answer_line, status_words


class AskActions(AskPictures):
    """Review: nothing here asks a model."""

    # ---- run again ----------------------------------------------------------------------------------------------

    def action_run_program(self) -> None:
        """Run the program as it stands in the editor."""
        program = self.query_one(ProgramEditor).text.strip()
        if not program or self.is_busy:
            return
        if self.desk.session is None:
            self.notify("the graph is still being read", severity="warning")
            return
        shown = self.current or self.desk.new_shown("")
        library = library_of(program, shown.answer.library)
        run, cancel = self.begin_run("checking and running")
        self.in_thread(
            lambda: self.desk.rerun(shown, program + "\n", library, cancel),
            lambda found: self._ran(run, found),
            failed=lambda text: self.run_failed(run, text),
            group="run",
        )

    @on(ProgramEditor.Run)
    def _run_wanted(self) -> None:
        self.action_run_program()

    def _ran(self, run: int, shown: Shown) -> None:
        conversation = self.query_one(Conversation)
        at = self.desk.shown.index(shown)
        if at < conversation.option_count:
            conversation.refresh_turn(shown, at)
        else:
            conversation.display = True
            conversation.add_turn(shown, at)
        if self.is_mine(run):
            self.end_run(f"run without a model · {status_words(shown.answer)}")
            self.show_turn(at)
            self.query_one(AnswerTabs).open_tab("changes" if shown.answer.changes else "result")

    # ---- verdicts and files -------------------------------------------------------------------------------------

    def action_next_tab(self) -> None:
        """The next tab of the answer."""
        tabs = self.query_one(AnswerTabs)
        tabs.open_tab(TABS[(TABS.index(tabs.active) + 1) % len(TABS)])

    @on(Conversation.Act)
    def _conversation_act(self, event: Conversation.Act) -> None:
        self.action_act(event.what)

    def action_act(self, what: str) -> None:
        """One of the actions on the turn in view."""
        shown = self.current
        if shown is None:
            self.notify("ask something first", severity="warning")
            return
        {
            "approve": self._approve, "wrong": self._wrong, "compare": self._compare, "save": self._save,
            "copy": self._copy, "again": self._again,
        }[what](shown)  # fmt: skip

    def _approve(self, shown: Shown) -> None:
        from nl2net.tui.review import approve

        session = self.desk.session
        if session is None or not shown.turn:
            self.notify("only an answered question can be approved", severity="warning")
            return
        self.in_thread(
            lambda: approve(session, self.desk.store, shown, self.desk.locations),
            lambda question: self._verdict(shown, f"in your library: {question}"),
        )

    def _wrong(self, shown: Shown) -> None:
        from nl2net.tui.drafts import mark_wrong

        program = self.query_one(ProgramEditor).text
        graph = self.desk.graph
        if graph is None or not shown.turn:
            return
        self.in_thread(
            lambda: mark_wrong(self.desk.store, shown, graph, program=program, locations=self.desk.locations),
            lambda path: self._verdict(shown, f"marked as wrong; the case draft is {path}"),
        )

    def _verdict(self, shown: Shown, said: str) -> None:
        self.query_one(Conversation).refresh_turn(shown, self.desk.shown.index(shown))
        self.query_one(AnswerTabs).show(shown)
        self.notify(said, markup=False)

    def _compare(self, shown: Shown) -> None:
        from nl2net.tui.dialogs.compare import CompareDialog

        if len(shown.tries) < 2:
            self.notify("there is only one attempt so far; edit the program and run it", severity="warning")
            return
        self.app.push_screen(CompareDialog(shown.tries))

    def _save(self, shown: Shown) -> None:
        from nl2net.tui.dialogs.file_name import FileDialog

        if not shown.program:
            self.notify("there is no program to save", severity="warning")
            return
        suffix = "sql" if shown.answer.library is Library.SQL else "py"
        self.app.push_screen(FileDialog("Save the program as", f"answer.{suffix}"), lambda path: self._saved(path))

    def _saved(self, path: Path | None) -> None:
        shown, graph = self.current, self.desk.graph
        if path is None or shown is None or graph is None:
            return
        from nl2net.assistant import save_script, script_header

        program = self.query_one(ProgramEditor).text
        library = library_of(program, shown.answer.library)
        header = script_header(replace(shown.answer, code=program, library=library), graph)

        def write() -> Path:
            save_script(path, program, library, header)
            return path

        self.in_thread(write, lambda written: self.notify(f"saved: {written}", markup=False))

    def _copy(self, shown: Shown) -> None:
        self.app.copy_to_clipboard(answer_line(shown.answer, width=10_000))
        self.notify("answer copied")

    def _again(self, shown: Shown) -> None:
        from textual.widgets import Input

        field = self.query_one("#question", Input)
        field.value = shown.answer.question
        field.focus()


def library_of(program: str, known: Library | None) -> Library:
    """What a program is written in; an edited one may have changed it.

    Examples
    --------
    >>> library_of("SELECT count(*) FROM nodes", None), library_of("def answer(nodes, edges):", Library.NETWORKX)
    (<Library.SQL: 'sql'>, <Library.PANDAS: 'pandas'>)
    """
    import re

    if re.search(r"^\s*def\s+answer\s*\(\s*nodes\b", program, re.MULTILINE):
        return Library.PANDAS
    if re.search(r"^\s*def\s+answer\b", program, re.MULTILINE):
        return Library.NETWORKX
    if re.match(r"\s*(?:--[^\n]*\s*)*(?:select|with)\b", program, re.IGNORECASE):
        return Library.SQL
    return known or Library.NETWORKX
