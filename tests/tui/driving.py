"""What the tests of the application share: replies of the scripted model, and driving a running application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from scripted_server import ScriptedServer
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from nl2net.tui import NetworkApp
from nl2net.tui.screens.ask import AskScreen

COUNT = "```python\ndef answer(graph):\n    return graph.number_of_edges()\n```"
ROWS = (
    "```python\ndef answer(graph):\n"
    "    return sorted([[n, d] for n, d in graph.degree], key=lambda row: (-row[1], row[0]))\n```"
)
# Questions that the shipped programs do not know, so that the scripted model is asked.
ASK = "What is the frobnication index of this network?"
# The change is one that the shipped programs know; the model agrees with them.
CHANGE = (
    "```python\ndef answer(graph):\n    changed = graph.copy()\n"
    "    changed.remove_node('NODE_1')\n    return changed\n```"
)
REMOVE = "Remove node Denver"
WEIGH = "Weigh the nodes by their frobnication"


class Driven:
    """A running application with what tests do all the time."""

    def __init__(self, app: NetworkApp, pilot: Pilot[None], server: ScriptedServer) -> None:
        self.app, self.pilot, self.server = app, pilot, server
        self.desk = app.desk

    @property
    def ask_screen(self) -> AskScreen:
        screen = self.app.base_screen()
        assert isinstance(screen, AskScreen)
        return screen

    async def until(self, condition: Callable[[], object], what: str = "", *, seconds: float = 60) -> None:
        for _ in range(int(seconds / 0.02)):
            await self.pilot.pause(0.02)
            if condition():
                return
        said = [notification.message for notification in self.app._notifications]
        raise AssertionError(f"never happened: {what}; said {said}")

    async def type_question(self, question: str) -> None:
        field = self.app.screen.query_one("#question", Input)
        field.focus()
        field.value = question
        await self.pilot.press("enter")

    async def ask(self, question: str) -> None:
        count = len(self.desk.shown)
        await self.type_question(question)
        await self.until(lambda: len(self.desk.shown) > count and self.ask_screen.cancel is None, question)
        await self.pilot.pause()

    async def seconds_to_cancel(self, screen: Any = None) -> float:
        """Press Esc and see how long the run goes on.

        Processor time of this process: on a busy machine the clock on the wall says how long others were served.
        The pilot's own waiting for an idle screen is left out.
        """
        screen = screen or self.ask_screen
        started = time.process_time()
        self.app.post_message(Key("escape", None))
        while screen.cancel is not None:
            await asyncio.sleep(0.002)
        return time.process_time() - started

    def said(self) -> str:
        return "\n".join(notification.message for notification in self.app._notifications)


Opener = Callable[..., AbstractAsyncContextManager[Driven]]


def text_of(screen: Screen[Any], selector: str) -> str:
    """What a text widget shows."""
    return str(screen.query_one(selector, Static).content)
