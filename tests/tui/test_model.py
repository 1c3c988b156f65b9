"""The application with the real local model."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from nl2net.config import Settings
from nl2net.locations import Locations, default_locations
from nl2net.tui import Desk, NetworkApp
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.program import ProgramEditor

pytestmark = [pytest.mark.model, pytest.mark.slow]


@pytest.mark.timeout(280)
async def test_the_built_in_model_streams_a_program_that_is_shown(tmp_path: Path) -> None:
    places = Locations(tmp_path / "config", tmp_path / "data", default_locations().cache, tmp_path / "run")
    desk = Desk(Settings(model="builtin-small"), places, environ={}, memory=Remembered(toured=True))
    app = NetworkApp(desk, graph="abilene")
    streamed: set[str] = set()
    async with app.run_test(size=(120, 40)) as pilot:
        while desk.graph is None:
            await pilot.pause(0.1)
        field = app.screen.query_one("#question", Input)
        field.value = "Which nodes have a frobnication of three links?"
        await pilot.press("enter")
        for _ in range(2000):
            await pilot.pause(0.1)
            streamed.add(app.screen.query_one(ProgramEditor).text)
            if desk.shown:
                break
        answer = desk.shown[0].answer
        # Whether the small model is right is measured elsewhere; here it must speak, and all of it must be shown.
        assert answer.bodies and answer.provenance.model and len(streamed) > 3
        assert answer.code or answer.message
    from nl2net.llm.local import stop_server

    stop_server("builtin-small", locations=places)
