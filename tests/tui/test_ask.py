"""Real flows on the Ask screen: ask, stream, cancel, edit and run, compare, approve, mark as wrong, save, errors."""

from __future__ import annotations

import json
import time
from pathlib import Path

from scripted_server import Fault, Scripted
from textual.widgets import Input, Static, TabbedContent, TextArea

from nl2net.model import Status
from nl2net.tui.recall import recall_conversation
from nl2net.tui.widgets.answer_tabs import AnswerTabs, Scrolled
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.widgets.program import ProgramEditor
from tests.tui.driving import ASK, COUNT, ROWS, WEIGH, Opener, text_of


async def test_an_answer_stands_beside_its_program_and_every_byte_is_shown(opened: Opener) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        screen = driven.app.screen
        assert "number_of_edges" in screen.query_one(ProgramEditor).text
        assert "14" in text_of(screen, "#result-text > Static")
        assert "answered · confidence" in text_of(screen, "#result-head")
        assert "sent " in text_of(screen, "#result-foot")
        why = text_of(screen, "#why-text > Static")
        assert "scripted" in why and "sandbox" in why and "template" in why
        sent = screen.query_one("SentView TextArea", TextArea).text
        assert driven.server.chats[0].body.decode() in sent
        assert driven.desk.shown[0].answer.bodies[0] == driven.server.chats[0].body.decode()


async def test_rows_are_shown_in_a_grid_sorted_and_exported(opened: Opener, tmp_path: Path) -> None:
    async with opened([ROWS]) as driven:
        await driven.ask(WEIGH)
        grid = driven.app.screen.query_one("#result-grid", Grid)
        assert len(grid.rows) == 11
        grid.focus()
        await driven.pilot.press("right", "s")
        assert grid.rows[grid.source_row(0)][1] == 2
        await driven.pilot.press("s")
        assert grid.rows[grid.source_row(0)][1] == 3
        target = tmp_path / "rows.csv"
        await driven.pilot.press("x")
        driven.app.screen.query_one("#file-name", Input).value = str(target)
        await driven.pilot.press("enter")
        await driven.until(target.exists, "the rows were written")
        assert len(target.read_text().splitlines()) == 12


async def test_escape_cancels_a_stream_within_200_ms_and_the_app_never_blocks(opened: Opener) -> None:
    async with opened([Fault.SLOW_STREAM, COUNT]) as driven:
        await driven.type_question(ASK)
        await driven.until(lambda: "x" in driven.app.screen.query_one(ProgramEditor).text, "text was streamed")
        assert await driven.seconds_to_cancel() < 0.2
        assert "cancelled" in text_of(driven.app.screen, "#progress")
        await driven.until(lambda: driven.desk.shown, "the cancelled question was kept")
        assert driven.desk.shown[0].answer.message == "cancelled"
        await driven.ask(ASK)
        assert driven.desk.shown[-1].answer.status is Status.ANSWERED


async def test_escape_kills_a_running_program(opened: Opener) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        editor = driven.app.screen.query_one(ProgramEditor)
        editor.text = "def answer(graph):\n    total = 0\n    while True:\n        total += 1\n"
        await driven.pilot.press("ctrl+r")
        await driven.until(lambda: driven.ask_screen.cancel is not None, "the run began")
        await driven.pilot.pause(1.0)
        assert await driven.seconds_to_cancel() < 0.2
        workers = [w for w in driven.app.workers if w.group == "run"]
        await driven.until(lambda: all(w.is_finished for w in workers), "the thread ended", seconds=5)


async def test_an_edited_program_runs_without_a_model_and_attempts_are_kept(opened: Opener) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        requests = len(driven.server.requests)
        editor = driven.app.screen.query_one(ProgramEditor)
        editor.text = "def answer(graph):\n    return graph.number_of_nodes() * 1000\n"
        await driven.pilot.press("ctrl+r")
        await driven.until(lambda: len(driven.desk.shown[0].tries) == 2 and driven.ask_screen.cancel is None)
        await driven.pilot.pause()
        assert "11000" in text_of(driven.app.screen, "#result-text > Static")
        assert len(driven.server.requests) == requests
        editor.text = "import os\n\ndef answer(graph):\n    return os.listdir('/')\n"
        await driven.pilot.press("ctrl+r")
        await driven.until(lambda: len(driven.desk.shown[0].tries) == 3 and driven.ask_screen.cancel is None)
        await driven.pilot.pause()
        assert driven.desk.shown[0].answer.status is Status.REFUSED
        assert driven.desk.shown[0].answer.findings and editor.findings
        assert "line 1" in text_of(driven.app.screen, "#program-note")
        tries = text_of(driven.app.screen, "#tries-text > Static")
        assert "number_of_edges" in tries and "os.listdir" in tries
        driven.app.screen.query_one("#conversation").focus()
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.screen.query("#compare-text"), "the comparison opened")
        await driven.pilot.pause()
        assert "+import os" in text_of(driven.app.screen, "#compare-text > Static")
        await driven.pilot.press("escape")
        again = recall_conversation(driven.desk.store, driven.desk.memory.conversation)
        assert [attempt.code for attempt in again[0].tries] == [a.code for a in driven.desk.shown[0].tries]
        assert again[0].program == driven.desk.shown[0].program


async def test_approved_programs_answer_without_a_model(opened: Opener) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        driven.app.screen.query_one("#conversation").focus()
        await driven.pilot.press("a")
        await driven.until(driven.desk.locations.library.exists, "the library was written")
        await driven.until(lambda: driven.desk.shown[0].approved == "approved")
        requests = len(driven.server.requests)
        await driven.pilot.press("ctrl+n")
        await driven.ask(ASK)
        assert driven.desk.shown[0].answer.provenance.origin == "library"
        assert len(driven.server.requests) == requests


async def test_a_wrong_answer_becomes_a_case_draft_with_the_corrected_program(opened: Opener) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        editor = driven.app.screen.query_one(ProgramEditor)
        editor.text = "def answer(graph):\n    return 7\n"
        await driven.pilot.press("ctrl+r")
        await driven.until(lambda: len(driven.desk.shown[0].tries) == 2 and driven.ask_screen.cancel is None)
        driven.app.screen.query_one("#conversation").focus()
        await driven.pilot.press("w")
        path = driven.desk.locations.data / "golden-drafts" / "case-1.json"
        await driven.until(path.exists, "the draft was written")
        draft = json.loads(path.read_text())
        assert draft["expected"]["data"] == 7 and "return 7" in draft["reference"]
        assert draft["wrong_result"]["data"] == 14
        assert driven.desk.store.get(1).approved == "wrong"


async def test_a_saved_script_is_what_nl2net_run_reads(opened: Opener, tmp_path: Path) -> None:
    from nl2net.assistant import load_script

    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        await driven.pilot.press("ctrl+s")
        target = tmp_path / "links.py"
        driven.app.screen.query_one("#file-name", Input).value = str(target)
        await driven.pilot.press("enter")
        await driven.until(target.exists, "the script was written")
        script = load_script(target)
        assert "number_of_edges" in script.program and script.header["question"] == ASK


async def test_a_failing_endpoint_and_a_broken_program_are_said_not_raised(opened: Opener) -> None:
    broken = "```python\ndef answer(graph):\n    return graph.nodes['nobody']['x']\n```"
    async with opened([Scripted(status=401, error="no"), broken]) as driven:
        await driven.ask(ASK)
        assert "refused the key" in text_of(driven.app.screen, "#result-text > Static")
        await driven.ask(WEIGH)
        assert driven.desk.shown[1].answer.status is not Status.ANSWERED
        assert driven.app.is_running


async def test_hostile_values_reach_the_screen_as_replacements(opened: Opener) -> None:
    evil = '```python\ndef answer(graph):\n    return ["\\x1b[31mred\\u202e", "=cmd()"] * 3\n```'
    async with opened([evil]) as driven:
        await driven.ask(WEIGH)
        if driven.desk.shown[0].answer.result is None:
            await driven.pilot.press("ctrl+r")
            await driven.until(lambda: driven.desk.shown[0].answer.result is not None)
            await driven.pilot.pause()
        svg = driven.app.export_screenshot()
        assert "\x1b" not in svg and "\u202e" not in svg and "\N{REPLACEMENT CHARACTER}" in svg


async def test_a_huge_result_stays_quick(opened: Opener) -> None:
    many = "```python\ndef answer(graph):\n    return [[i, i * 7 % 1000, 'row'] for i in range(50000)]\n```"
    async with opened([many]) as driven:
        await driven.ask(WEIGH)
        if driven.desk.shown[0].answer.result is None:
            await driven.pilot.press("ctrl+r")
            await driven.until(lambda: driven.desk.shown[0].answer.result is not None and not driven.ask_screen.cancel)
            await driven.pilot.pause()
        grid = driven.app.screen.query_one("#result-grid", Grid)
        assert len(grid.rows) > 10_000
        grid.focus()
        start = time.perf_counter()
        for _ in range(10):
            await driven.pilot.press("pagedown")
        assert (time.perf_counter() - start) / 10 < 1.0
        await driven.pilot.press("end")
        assert grid.row == len(grid.rows) - 1


async def test_tiny_terminals_show_program_and_output(opened: Opener) -> None:
    async with opened([COUNT], size=(40, 12)) as driven:
        await driven.ask(ASK)
        assert driven.app.screen.has_class("narrow") and driven.app.screen.has_class("low")
        for size in ((20, 6), (200, 60), (80, 24)):
            await driven.pilot.resize_terminal(*size)
            await driven.pilot.pause()
        assert driven.app.screen.query_one(AnswerTabs).region.width > 20
        assert driven.app.screen.query_one(ProgramEditor).region.width > 20
        assert driven.app.screen.query_one(TabbedContent).active == "result"
        assert driven.app.screen.query_one("#why-text", Scrolled)
        assert driven.app.screen.query_one("#progress", Static)
