"""A few pictures of the application, compared letter by letter; the documentation shows them.

``NL2NET_UPDATE_SNAPSHOTS=1`` writes them anew: look at them before they are committed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from textual.widgets import Static, TabbedContent

from nl2net.tui.state import Remembered
from nl2net.tui.widgets.picture import Picture
from tests.tui.driving import CHANGE, REMOVE, ROWS, WEIGH, Driven, Opener

FOLDER = Path(__file__).parent / "snapshots"
SCENES = {
    "ask-dark": ("nl2net-dark", (120, 36)),
    "ask-light": ("nl2net-light", (120, 36)),
    "ask-small": ("nl2net-dark", (80, 24)),
    "change-dark": ("nl2net-dark", (160, 40)),
}


def words(svg: str) -> list[str]:
    """The text of a picture; identifiers and the order of style rules are not compared."""
    return [line for line in re.findall(r">([^<>]+)</text>", svg) if line.strip("\xa0 ")]


async def settle(driven: Driven) -> None:
    """Take the clock and the cursor out of the picture."""
    screen = driven.app.screen
    screen.query_one("#result-foot", Static).display = False
    screen.query_one("#progress", Static).update("")
    screen.query_one("#conversation").focus()
    await driven.until(lambda: screen.query_one(Picture).scene is not None, "the picture was drawn")
    await driven.pilot.pause(0.5)


@pytest.mark.parametrize("name", SCENES)
async def test_the_screen_looks_as_it_did(opened: Opener, name: str) -> None:
    theme, size = SCENES[name]
    changing = name.startswith("change")
    async with opened([CHANGE if changing else ROWS], size=size, memory=Remembered(toured=True, theme=theme)) as driven:
        await driven.ask(REMOVE if changing else WEIGH)
        if changing:
            driven.app.screen.query_one(TabbedContent).active = "picture"
        await settle(driven)
        svg = driven.app.export_screenshot(title="nl2net", simplify=True)
    target = FOLDER / f"{name}.svg"
    if os.environ.get("NL2NET_UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        target.write_text(svg, encoding="utf-8")
    assert words(svg) == words(target.read_text(encoding="utf-8"))
