"""The application over the sample network and a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from scripted_server import ReplyScript, ScriptedServer

from nl2net.config import Settings
from nl2net.locations import Locations
from nl2net.tui import Desk, NetworkApp
from nl2net.tui.state import Remembered
from tests.tui.driving import COUNT, Driven, Opener


@pytest.fixture
def opened(locations: Locations) -> Opener:
    """Opens the application; give replies, size, remembered state, and the graph."""

    @asynccontextmanager
    async def open_app(
        replies: Sequence[ReplyScript] = (COUNT,),
        *,
        size: tuple[int, int] = (120, 40),
        memory: Remembered | None = None,
        graph: str = "abilene",
    ) -> AsyncIterator[Driven]:
        with ScriptedServer(replies) as server:
            settings = Settings(model="scripted", base_url=server.base_url, probe_local_servers=False)
            memory = memory or Remembered(toured=True)
            desk = Desk(settings, locations, environ={"OPENAI_API_KEY": "k"}, memory=memory)
            app = NetworkApp(desk, graph=graph)
            async with app.run_test(size=size, notifications=True) as pilot:
                driven = Driven(app, pilot, server)
                await driven.until(lambda: desk.graph is not None, "the graph was read")
                yield driven

    return open_app
