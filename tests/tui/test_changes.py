"""Changes: a difference, approval into the working copy, undo, export, and coming back after a kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_server import ScriptedServer
from textual.widgets import Input, TabbedContent

from nl2net.locations import Locations
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.changes_view import ChangesView
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.widgets.picture import Picture
from tests.tui.driving import ASK, CHANGE, COUNT, REMOVE, Driven, Opener, text_of


async def propose(driven: Driven) -> None:
    await driven.ask(REMOVE)
    assert driven.desk.shown[-1].answer.changes, driven.desk.shown[-1].answer


async def act(driven: Driven, key: str) -> None:
    driven.app.screen.query_one(TabbedContent).active = "changes"
    await driven.pilot.pause()
    driven.app.screen.query_one("#changes-grid", Grid).focus()
    await driven.pilot.press(key)


async def test_approve_undo_and_export(opened: Opener, tmp_path: Path) -> None:
    async with opened([CHANGE]) as driven:
        await propose(driven)
        screen = driven.app.screen
        assert screen.query_one(TabbedContent).active == "changes"
        rows = screen.query_one("#changes-grid", Grid).rows
        assert ["-", "node", "6", "", "", ""] in [list(row) for row in rows]
        await driven.until(lambda: screen.query_one(Picture).scene is not None, "the picture was drawn")
        scene = screen.query_one(Picture).scene
        assert scene is not None and any(mark.colour == "removed" for mark in scene.marks)
        await act(driven, "a")
        await driven.until(lambda: driven.desk.graph and driven.desk.graph.schema.nodes == 10, "approved")
        await driven.until(lambda: "10 nodes" in text_of(screen, "#badge-size"))
        target = tmp_path / "changed.json"
        await act(driven, "e")
        driven.app.screen.query_one("#file-name", Input).value = str(target)
        await driven.pilot.press("enter")
        await driven.until(target.exists, "the working copy was written")
        assert len(json.loads(target.read_text())["nodes"]) == 10
        await act(driven, "u")
        await driven.until(lambda: driven.desk.graph and driven.desk.graph.schema.nodes == 11, "undone")


async def test_a_dropped_proposal_cannot_be_approved(opened: Opener) -> None:
    async with opened([CHANGE]) as driven:
        await propose(driven)
        await act(driven, "d")
        await driven.until(lambda: "dropped" in driven.said(), "dropped")
        await act(driven, "a")
        await driven.until(lambda: "no proposed change" in driven.said(), "refused")
        assert driven.desk.graph is not None and driven.desk.graph.schema.nodes == 11
        assert driven.app.screen.query_one(ChangesView)


async def test_the_conversation_and_the_working_copy_come_back(opened: Opener, locations: Locations) -> None:
    async with opened([COUNT, CHANGE]) as driven:
        await driven.ask(ASK)
        await propose(driven)
        await act(driven, "a")
        await driven.until(lambda: driven.desk.graph and driven.desk.graph.schema.nodes == 10, "approved")
    async with opened([COUNT], memory=Remembered.load(locations), graph="") as driven:
        assert [shown.answer.question for shown in driven.desk.shown] == [ASK, REMOVE]
        assert driven.desk.shown[0].answer.bodies
        assert driven.desk.graph is not None and driven.desk.graph.schema.nodes == 10
        assert driven.desk.session is not None and len(driven.desk.session.versions) == 1
        await driven.until(lambda: "10 nodes" in text_of(driven.app.screen, "#badge-size"))


CHILD = """
import asyncio, sys
from pathlib import Path
from nl2net.config import Settings
from nl2net.locations import Locations
from nl2net.tui import Desk, NetworkApp
from nl2net.tui.state import Remembered
root = Path(sys.argv[1])
settings = Settings(model="scripted", base_url=sys.argv[2], probe_local_servers=False)
async def main():
    places = Locations(root / "config", root / "data", root / "cache", root / "run")
    desk = Desk(settings, places, environ={"OPENAI_API_KEY": "k"}, memory=Remembered(toured=True))
    app = NetworkApp(desk, graph="abilene")
    async with app.run_test() as pilot:
        while app.desk.graph is None:
            await pilot.pause(0.05)
        field = app.screen.query_one("#question")
        field.value = "Remove node Denver"
        field.focus()
        await pilot.press("enter")
        while not app.desk.shown or app.screen.cancel is not None:
            await pilot.pause(0.05)
        print("READY", flush=True)
        await pilot.pause(60)
asyncio.run(main())
"""


@pytest.mark.slow
async def test_kill_minus_nine_loses_nothing(opened: Opener, locations: Locations, tmp_path: Path) -> None:
    with ScriptedServer([CHANGE]) as server:
        command = [sys.executable, "-c", CHILD, str(tmp_path), server.base_url]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        line = await asyncio.to_thread(child.stdout.readline)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert line.strip() == "READY"
    async with opened(memory=Remembered.load(locations), graph="") as driven:
        assert [shown.answer.question for shown in driven.desk.shown] == [REMOVE]
        assert driven.desk.shown[0].answer.changes
