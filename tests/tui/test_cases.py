"""The Investigations screen on the given notes: ask, look at the evidence, reopen, export, cancel, and errors."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from textual.widgets import Input, Select, Static, TabbedContent

from nl2net.incident.store import Knowledge
from nl2net.locations import Locations
from nl2net.tui.cases import open_ledger
from nl2net.tui.screens.cases import CasesScreen
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.grid import Grid
from tests.tui.driving import Driven, Opener, text_of
from tests.tui.estates import NOTES

CONFLICT = "Were three or four cables cut in the Red Sea in February 2024? Explain the difference."
NO_ANSWER = "What was the exact depth in metres of the cut on the Seacom cable in February 2024?"


class Cases:
    """The screen, driven."""

    def __init__(self, driven: Driven) -> None:
        self.driven = driven

    @property
    def screen(self) -> CasesScreen:
        screen = self.driven.app.base_screen()
        assert isinstance(screen, CasesScreen)
        return screen

    def grid(self, name: str) -> Grid:
        return self.screen.query_one(f"#case-{name}", Grid)

    def text(self, name: str) -> str:
        return text_of(self.screen, f"#case-{name} > Static")

    async def type(self, question: str) -> None:
        line = self.screen.query_one("#case-question", Input)
        line.focus()
        line.value = question
        await self.driven.pilot.press("enter")

    async def ask(self, question: str) -> None:
        await self.type(question)
        await self.driven.until(
            lambda: self.screen.cancel is None and self.screen.case and self.screen.case.report.question == question,
            question,
        )

    async def tab(self, name: str) -> None:
        while self.screen.query_one(TabbedContent).active != name:
            await self.driven.pilot.press("ctrl+t")


async def opened_on_notes(driven: Driven) -> Cases:
    await driven.pilot.press("f6")
    cases = Cases(driven)
    await driven.until(lambda: cases.screen.folder == NOTES.resolve(), "the corpus was opened")
    return cases


def memory(folder: Path = NOTES) -> Remembered:
    return Remembered(toured=True, folders={"corpus": str(folder)})


async def test_a_question_is_answered_with_evidence_reopened_and_exported(opened: Opener, tmp_path: Path) -> None:
    async with opened(memory=memory()) as driven:
        cases = await opened_on_notes(driven)
        await cases.ask(CONFLICT)
        answer = cases.text("answer")
        assert "the sources disagree" in answer and re.search(r"confidence 0\.\d\d", answer) and "no model" in answer
        assert "Three cables were cut" in answer and "[E1, E2, E3]" in answer
        await cases.tab("evidence")
        assert [row[0] for row in cases.grid("evidence").rows] == ["E1", "E2", "E3"]
        await driven.pilot.press("down", "down")
        await driven.until(lambda: "so three cables and not four" in cases.text("context"), "text around the quote")
        assert "HGC of Hong Kong" in cases.text("context") and "news" in cases.text("context")
        await cases.tab("conflicts")
        sides = [str(side.content) for side in cases.screen.query(".side").results(Static)]
        assert len(sides) == 2 and "Three  preferred" in sides[0] and "four" in sides[1] and "E3" in sides[1]
        await cases.ask(NO_ANSWER)
        await cases.tab("missing")
        assert "not enough evidence" in cases.text("answer") and "a survey or route data" in cases.text("missing")
        await driven.until(lambda: len(cases.grid("past").rows) == 2, "both questions are listed")
        cases.grid("past").focus()
        await driven.pilot.press("down", "enter")
        await driven.until(lambda: cases.text("answer") == answer, "the first answer is back as it was")
        for name, part in (("r.md", "## Conflicts"), ("r.html", "<h2>Conflicts</h2>"), ("r.doc", "")):
            await driven.pilot.press("ctrl+s")
            await driven.until(lambda: driven.app.screen.query("#file-name"), "a name is asked for")
            driven.app.screen.query_one("#file-name", Input).value = str(tmp_path / name)
            await driven.pilot.press("enter")
            if part:
                await driven.until((tmp_path / name).exists, f"{name} was written")
                assert part in (tmp_path / name).read_text()
        await driven.until(lambda: "reports go to .md or .html" in driven.said(), "another suffix is refused")


async def test_escape_cancels_and_nothing_is_kept(opened: Opener, tmp_path: Path) -> None:
    # So many notes that the first question is still reading when Esc comes.
    for at in range(40):
        shutil.copytree(NOTES, tmp_path / "notes" / str(at))
    async with opened(memory=memory(tmp_path / "notes")) as driven:
        await driven.pilot.press("f6")
        cases = Cases(driven)
        await driven.until(lambda: cases.screen.folder is not None, "the corpus was opened")
        cases.screen.post_message(Input.Submitted(cases.screen.query_one("#case-question", Input), CONFLICT))
        await driven.until(lambda: cases.screen.cancel is not None, "the investigation began")
        assert await driven.seconds_to_cancel(cases.screen) < 0.2
        assert "cancelled" in text_of(cases.screen, "#case-progress")
        workers = [w for w in driven.app.workers if w.group == "investigation"]
        await driven.until(lambda: all(w.is_finished for w in workers), "the thread ended")
        assert cases.screen.case is None and not open_ledger(driven.desk, tmp_path / "notes", refresh=False).past
        await cases.ask(CONFLICT)


async def test_gaps_and_errors_are_said_and_the_question_is_not_lost(opened: Opener, tmp_path: Path) -> None:
    async with opened(size=(80, 24)) as driven:
        await driven.pilot.press("f6")
        cases = Cases(driven)
        assert "Ctrl+G chooses the folder" in cases.text("answer")
        await cases.type(CONFLICT)
        await driven.until(lambda: "with Ctrl+G" in driven.said(), "no folder yet")
        await driven.pilot.press("ctrl+t", "ctrl+b", "ctrl+b", "escape", "ctrl+s")
        await driven.until(lambda: "ask something first" in driven.said(), "nothing to save yet")
        (tmp_path / "empty").mkdir()
        await driven.pilot.press("ctrl+g")
        await driven.until(lambda: driven.app.screen.query("#folder-path"), "a folder is asked for")
        driven.app.screen.query_one("#folder-path", Input).value = str(tmp_path / "empty")
        await driven.pilot.press("enter")
        await driven.until(lambda: "no document in this folder" in text_of(cases.screen, "#case-progress"))
        await cases.ask(CONFLICT)
        assert "not enough evidence" in cases.text("answer")
        cases.screen.query_one("#case-date", Input).value = "yesterday"
        await cases.type(NO_ANSWER)
        await driven.until(lambda: "yesterday: no date" in driven.said(), "a date that is none")
        assert cases.screen.query_one("#case-question", Input).value == NO_ANSWER
        cases.screen.query_one("#case-date", Input).value = ""
        # No weights lie in the folders of this test, so the built-in model cannot be had.
        cases.screen.query_one(Select).value = "builtin"
        await cases.type(NO_ANSWER)
        await driven.until(lambda: "nl2net model pull" in driven.said(), "how to get the model")
        assert cases.screen.cancel is None


async def test_a_changed_document_and_a_revoked_answer_are_marked(
    opened: Opener, tmp_path: Path, locations: Locations
) -> None:
    note = tmp_path / "notes" / "a.md"
    note.parent.mkdir()
    note.write_text("# Vega outage\n- The Vega exchange failed at 10:00 UTC on 3 May 2031.\n")
    async with opened(memory=memory(note.parent)) as driven:
        await driven.pilot.press("f6")
        cases = Cases(driven)
        await driven.until(lambda: cases.screen.folder is not None)
        await cases.ask("When did the Vega exchange fail?")
        await cases.tab("evidence")
        await driven.until(lambda: "Vega outage" in cases.text("context"), "the quote in its document")
        await cases.tab("times")
        assert "2031" in cases.text("times")
        note.write_text("# Vega outage\n- Nothing is known.\n")
        await cases.ask("Who was affected?")
        await driven.until(lambda: len(cases.grid("past").rows) == 2)
        _revoke(driven, note.parent)
        cases.screen._open(note.parent, refresh=False)
        await driven.until(lambda: cases.grid("past").rows[1][0] == "⊘", "the revoked answer is marked")
        cases.grid("past").focus()
        await driven.pilot.press("end", "enter")
        await driven.until(lambda: "has changed since" in cases.text("context"), "the change is said")
        assert "10:00 UTC" in cases.text("context")


def _revoke(driven: Driven, folder: Path) -> None:
    from nl2net.incident.corpus import Corpus

    with Corpus(folder, locations=driven.desk.locations) as corpus:
        assert Knowledge(corpus.index.connection).revoke("a.md").answers == 1
