"""A few pictures of the application, compared letter by letter; the documentation shows them.

``NL2NET_UPDATE_SNAPSHOTS=1`` writes them anew: look at them before they are committed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from textual.widgets import Input, Static, TabbedContent

from nl2net.tui.state import Remembered
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.widgets.picture import Picture
from tests.tui.driving import CHANGE, REMOVE, ROWS, WEIGH, Driven, Opener
from tests.tui.estates import NOTES, make_roles

FOLDER = Path(__file__).parent / "snapshots"
SCENES = {
    "ask-dark": ("nl2net-dark", (120, 36)),
    "ask-light": ("nl2net-light", (120, 36)),
    "ask-small": ("nl2net-dark", (80, 24)),
    "change-dark": ("nl2net-dark", (160, 40)),
}

# The other screens, on a real shop and on the given notes; paths and the clock are taken out.
SEGMENTS = ("segment-dark", "nl2net-dark", (120, 36))
CASES = ("cases-light", "nl2net-light", (120, 36))
QUESTION = "Were three or four cables cut in the Red Sea in February 2024? Explain the difference."


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
        compare(driven, name)


async def test_roles_look_as_they_did(opened: Opener, tmp_path: Path) -> None:
    name, theme, size = SEGMENTS
    memory = Remembered(toured=True, theme=theme, folders={"segment": str(make_roles(tmp_path))})
    async with opened(size=size, memory=memory) as driven:
        await driven.pilot.press("f5")
        grid = driven.app.screen.query_one("#segment-roles", Grid)
        await driven.until(lambda: len(grid.rows) == 13, "the folder was read")
        await driven.pilot.press("down", "down", "space")
        driven.app.screen.query_one("#segment-left").border_title = "roles"
        await driven.pilot.pause(0.5)
        compare(driven, name)


async def test_evidence_looks_as_it_did(opened: Opener) -> None:
    name, theme, size = CASES
    memory = Remembered(toured=True, theme=theme, folders={"corpus": str(NOTES)})
    async with opened(size=size, memory=memory) as driven:
        await driven.pilot.press("f6")
        screen = driven.app.screen
        await driven.until(lambda: "ready" in str(screen.query_one("#case-progress", Static).content))
        screen.query_one("#case-question", Input).value = QUESTION
        await driven.pilot.press("enter")
        past = screen.query_one("#case-past", Grid)
        await driven.until(lambda: len(past.rows) == 1, "the question was answered")
        await driven.pilot.press("ctrl+t")
        context = screen.query_one("#case-context > Static", Static)
        await driven.until(lambda: "Seacom failed at" in str(context.content), "the quote in its document")
        screen.query_one("#case-left").border_title = "incident/notes"
        await driven.pilot.pause(0.5)
        compare(driven, name)


def compare(driven: Driven, name: str) -> None:
    """The screen against its picture."""
    svg = driven.app.export_screenshot(title="nl2net", simplify=True)
    target = FOLDER / f"{name}.svg"
    if os.environ.get("NL2NET_UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        target.write_text(svg, encoding="utf-8")
    assert words(svg) == words(target.read_text(encoding="utf-8"))
