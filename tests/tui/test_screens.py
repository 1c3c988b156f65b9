"""The other screens and the frame: history, settings, help, golden, palette, jump, keys, themes, tour."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from textual.widgets import Input, OptionList, Static

from nl2net.config import load_settings
from nl2net.locations import Locations
from nl2net.tui.registry import screens
from nl2net.tui.screens.help import all_bindings
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.grid import Grid
from tests.tui.driving import ASK, COUNT, Opener, text_of


def has_rows(grid: Grid, count: int) -> bool:
    return len(grid.rows) == count


async def test_history_is_searched_replayed_exported_and_opened(opened: Opener, tmp_path: Path) -> None:
    async with opened([COUNT]) as driven:
        await driven.ask(ASK)
        await driven.pilot.press("f3")
        grid = driven.app.screen.query_one("#history-grid", Grid)
        await driven.until(lambda: len(grid.rows) == 1, "the history was read")
        await driven.until(lambda: ASK in text_of(driven.app.screen, "#history-text > Static"))
        requests = len(driven.server.requests)
        await driven.pilot.press("ctrl+g")
        picker = driven.app.screen.query_one("#picker-search", Input)
        picker.value = "geant"
        await driven.pilot.press("enter")
        await driven.until(lambda: "replayed on geant2012" in text_of(driven.app.screen, "#history-text > Static"))
        assert "61" in text_of(driven.app.screen, "#history-text > Static")
        assert len(driven.server.requests) == requests
        target = tmp_path / "record.json"
        await driven.pilot.press("e")
        driven.app.screen.query_one("#file-name", Input).value = str(target)
        await driven.pilot.press("enter")
        await driven.until(target.exists, "the record was written")
        await driven.pilot.press("slash")
        driven.app.screen.query_one("#history-search", Input).value = "nothing like that"
        await driven.until(lambda: len(grid.rows) == 0, "the search narrows")
        driven.app.screen.query_one("#history-search", Input).value = "frobnication"
        await driven.until(lambda: len(grid.rows) == 1)
        grid.focus()
        await driven.pilot.press("o")
        await driven.until(lambda: driven.app.current_mode == "ask" and len(driven.desk.shown) == 1)


async def test_settings_keys_themes_palette_and_jump(opened: Opener, locations: Locations) -> None:
    async with opened([COUNT]) as driven:
        await driven.pilot.press("f9")
        grid = driven.app.screen.query_one("#settings-grid", Grid)
        grid.row = [row[0] for row in grid.rows].index("repairs")
        await driven.pilot.press("enter")
        driven.app.screen.query_one("#value", Input).value = "2"
        await driven.pilot.press("enter")
        await driven.until(lambda: driven.desk.settings.repairs == 2, "the setting is in force")
        assert load_settings(environ={}, locations=locations, folder=locations.data).repairs == 2
        await driven.pilot.press("enter")
        driven.app.screen.query_one("#value", Input).value = "99"
        await driven.pilot.press("enter")
        await driven.until(lambda: "repairs:" in driven.said(), "a value out of range is refused")
        await driven.pilot.press("t")
        await driven.until(lambda: Remembered.load(locations).theme == "nl2net-light", "the theme is remembered")
        await driven.pilot.press("f1")
        keys = driven.app.screen.query_one("#help-grid", Grid)
        keys.row = [row[3] for row in keys.rows].index("screen.history")
        await driven.pilot.press("enter")
        driven.app.screen.query_one("#value", Input).value = "f7"
        await driven.pilot.press("enter", "f7")
        await driven.until(lambda: driven.app.current_mode == "history", "the new key works")
        await driven.pilot.press("f2", "ctrl+o")
        labels = [str(label.content) for label in driven.app.screen.query(".jump").results(Static)]
        assert " a " in labels and len(labels) >= 4
        await driven.pilot.press("a")
        await driven.pilot.press("ctrl+p")
        await driven.pilot.pause(0.5)
        assert driven.app.screen.query(OptionList)
        await driven.pilot.press("escape")


async def test_the_tour_runs_offline_and_is_shown_once(opened: Opener, locations: Locations) -> None:
    async with opened(memory=Remembered()) as driven:
        await driven.until(lambda: driven.app.screen.query("#tour-title"), "the tour began")
        for _ in range(5):
            await driven.pilot.press("enter")
        await driven.until(lambda: Remembered.load(locations).toured, "it is remembered")
        assert not driven.server.requests


async def test_golden_runs_with_progress_reports_drills_and_compares(opened: Opener) -> None:
    async with opened() as driven:
        await driven.pilot.press("f4")
        runs = driven.app.screen.query_one("#golden-runs", Grid)
        for count, agent in enumerate(("oracle", "noop"), 1):
            await driven.pilot.press("n")
            driven.app.screen.query_one("#value", Input).value = f"traffic-dev {agent} 3"
            await driven.pilot.press("enter")
            await driven.until(partial(has_rows, runs, count), f"the run of {agent} ended")
        assert "3 answered" in text_of(driven.app.screen, "#golden-progress")
        runs.focus()
        await driven.pilot.press("home", "enter")
        records = driven.app.screen.query_one("#golden-records", Grid)
        await driven.until(lambda: len(records.rows) == 3, "the questions are listed")
        records.focus()
        await driven.pilot.press("enter")
        assert str(records.rows[0][2])[:20] in text_of(driven.app.screen, "#golden-text > Static")
        runs.focus()
        await driven.pilot.press("m", "down", "c")
        await driven.until(lambda: "McNemar" in text_of(driven.app.screen, "#golden-text > Static"))


def test_every_key_has_an_id_and_a_tooltip_and_none_is_taken_twice() -> None:
    bindings = all_bindings()
    identifiers = [binding.id for binding in bindings]
    assert len(identifiers) == len(set(identifiers)) > 30
    assert not [b.id for b in bindings if not b.tooltip and not (b.id or "").startswith(("dialog.", "tour."))]
    keys = [entry.key for entry in screens()]
    assert len(keys) == len(set(keys))
