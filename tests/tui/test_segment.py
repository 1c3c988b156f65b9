"""The Segmentation screen on the roles of a real shop: look, ask why, answer, infer again, write, drop."""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TabbedContent

from nl2net.segmentation.hints import load_hints
from nl2net.tui import segments as tui_segments
from nl2net.tui.screens.segment import SegmentScreen
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.grid import Grid
from tests.tui.driving import Driven, Opener, text_of
from tests.tui.estates import make_policy, make_roles


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_roles(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def roles(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "roles"))


class Segments:
    """The screen, driven."""

    def __init__(self, driven: Driven) -> None:
        self.driven = driven

    @property
    def screen(self) -> SegmentScreen:
        screen = self.driven.app.base_screen()
        assert isinstance(screen, SegmentScreen)
        return screen

    def grid(self, name: str) -> Grid:
        return self.screen.query_one(f"#segment-{name}", Grid)

    def text(self) -> str:
        return text_of(self.screen, "#segment-text > Static")

    def line(self) -> str:
        return text_of(self.screen, "#segment-progress")

    async def to(self, name: str, start: str, *, column: int = 1) -> None:
        """Put the cursor on the row whose cell begins so."""
        grid = self.grid(name)
        grid.focus()
        grid.row = next(at for at, row in enumerate(grid.rows) if str(row[column]).startswith(start))
        await self.driven.pilot.pause()

    async def infer(self) -> None:
        await self.driven.pilot.press("c")
        await self.driven.until(lambda: "NOT written" in self.line(), "roles were inferred")


async def opened_on(driven: Driven, *, rows: int = 13) -> Segments:
    await driven.pilot.press("f5")
    segments = Segments(driven)
    await driven.until(lambda: len(segments.grid("roles").rows) == rows, "the folder was read")
    return segments


def remembering(folder: Path) -> Remembered:
    return Remembered(toured=True, folders={"segment": str(folder)})


def on_disk(folder: Path) -> dict[str, str]:
    with (folder / "roles.csv").open(newline="") as stream:
        return {row["ip"]: row["role"] for row in csv.DictReader(stream)}


async def test_a_folder_is_opened_looked_at_and_two_are_told_apart(opened: Opener, roles: Path) -> None:
    async with opened() as driven:
        await driven.pilot.press("f5")
        segments = Segments(driven)
        assert "nl2net segment roles FLOWS" in segments.text()
        await driven.pilot.press("o")
        await driven.until(lambda: driven.app.screen.query("#folder-path"), "a folder is asked for")
        driven.app.screen.query_one("#folder-path", Input).value = str(roles)
        await driven.pilot.press("enter")
        await driven.until(lambda: len(segments.grid("roles").rows) == 13, "the folder was read")
        assert driven.desk.memory.folders == {"segment": str(roles)}
        await segments.to("roles", "shop-cartservice")
        assert "tcp/7070" in segments.text() and "what sets it apart" in segments.text()
        assert len(segments.grid("members").rows) == 3
        await driven.pilot.press("space")
        await segments.to("roles", "shop-adservice")
        await driven.pilot.press("w")
        await driven.until(lambda: "why are these not one role?" in segments.text(), "two roles were compared")
        assert "calls tcp/6379 of shop-redis-cart" in segments.text() and "nats" in segments.text()
        # Two replicas of one service: nothing tells them apart, and the screen says so.
        await driven.pilot.press("space")
        segments.grid("members").focus()
        await driven.pilot.press("space", "down", "w")
        await driven.until(lambda: "both in shop-adservice" in segments.text(), "two endpoints were compared")
        assert "in favour of joining them" in segments.text()
        await driven.pilot.press("ctrl+t")
        assert len(segments.grid("rules").rows) == 28 and not segments.grid("members").display
        await segments.to("rules", "shop-redis-cart", column=1)
        assert "shop-cartservice" in segments.text() and "tcp/6379" in segments.text()
        assert "3, 100% of their role" in segments.text()
        await driven.pilot.press("ctrl+t")
        await driven.until(lambda: "Nothing is left" in segments.text(), "an empty list says so")
        await driven.pilot.press("ctrl+t")
        await driven.until(lambda: "--holdout" in segments.text(), "what would break needs a later window")
        await driven.pilot.press("q")
        assert "one role?" in segments.text()


async def test_answers_become_hints_roles_change_when_written(opened: Opener, roles: Path) -> None:
    before = on_disk(roles)
    async with opened(memory=remembering(roles)) as driven:
        segments = await opened_on(driven)
        await segments.to("roles", "shop-adservice")
        await driven.pilot.press("space")
        await segments.to("roles", "shop-emailservice")
        await driven.pilot.press("m")
        await segments.to("roles", "shop-frontend")
        segments.grid("members").focus()
        await driven.pilot.press("space", "p")
        await segments.to("roles", "shop-checkoutservice")
        await driven.pilot.press("a", "n")
        await driven.until(lambda: driven.app.screen.query("#value"), "a name is asked for")
        driven.app.screen.query_one("#value", Input).value = "till"
        await driven.pilot.press("enter")
        hints = load_hints(roles / "hints.json")
        assert len(hints.together) == 5 + 1 + 2 and len(hints.apart) == 1 and list(hints.names.values()) == ["till"]
        assert "Hints 5" in str(segments.screen.query_one(TabbedContent).get_tab("hints").label)
        await segments.infer()
        assert on_disk(roles) == before
        found = {str(row[1]): row[2] for row in segments.grid("roles").rows}
        assert found["till"] == 3 and 6 in found.values() and sorted(found.values())[0] == 1
        await driven.pilot.press("escape")
        assert len(segments.grid("roles").rows) == 13 and "dropped" in segments.text()
        await segments.infer()
        await driven.pilot.press("e")
        await driven.until(lambda: on_disk(roles) != before, "the roles were written")
        written = on_disk(roles)
        assert written["10.0.2.10"] == "till" and written["10.0.0.10"] == written["10.0.4.12"]
        assert len({written[f"10.0.5.{n}"] for n in (10, 11, 12)}) == 2
        await driven.pilot.press("u")
        assert not load_hints(roles / "hints.json").names


async def test_a_hint_is_taken_back_in_its_list(opened: Opener, roles: Path) -> None:
    async with opened(memory=remembering(roles), size=(80, 24)) as driven:
        segments = await opened_on(driven)
        await driven.pilot.press("a")
        assert load_hints(roles / "hints.json").together
        segments.screen.query_one(TabbedContent).active = "hints"
        segments.grid("hints").focus()
        await driven.until(lambda: "These are one role" in segments.text(), "the hint is shown")
        await driven.pilot.press("d")
        assert not load_hints(roles / "hints.json").together
        assert "No hints yet" in segments.text()


async def test_escape_stops_inferring_at_once_and_nothing_changes(
    opened: Opener, roles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = on_disk(roles)
    real = tui_segments.revise_estate

    def slow(estate: Any, hints: Any, stopped: Callable[[], bool]) -> Any:
        while not stopped():  # a small estate would be done before anybody could stop it
            time.sleep(0.005)
        return real(estate, hints, stopped)

    monkeypatch.setattr(tui_segments, "revise_estate", slow)
    async with opened(memory=remembering(roles)) as driven:
        segments = await opened_on(driven)
        await driven.pilot.press("a", "c")
        assert segments.screen.cancel is not None
        await driven.pilot.press("n")
        assert "Esc stops" in driven.said()
        assert await driven.seconds_to_cancel(segments.screen) < 0.2
        workers = [w for w in driven.app.workers if w.group == "roles"]
        await driven.until(lambda: all(w.is_finished for w in workers), "the thread ended")
        assert "stopped" in segments.line() and segments.screen.written is None
        assert on_disk(roles) == before


async def test_a_policy_is_looked_at_and_not_changed(opened: Opener, roles: Path, tmp_path: Path) -> None:
    policy = make_policy(roles, tmp_path)
    async with opened(memory=remembering(policy)) as driven:
        segments = await opened_on(driven)
        await driven.pilot.press("a")
        await driven.until(lambda: "open the folder of segment roles" in driven.said(), "why it cannot be changed")
        await driven.pilot.press("w")
        await driven.until(lambda: "has no edges to compare" in driven.said(), "why it cannot be told")
        assert not (policy / "hints.json").exists()
        segments.screen.query_one(TabbedContent).active = "breaks"
        await driven.until(lambda: "10.0.9.10" in segments.text(), "what would break is shown")
        assert "over-permission" in segments.text() and "violation" in segments.text()
        assert len(segments.grid("breaks").rows) == 1


async def test_errors_are_notices_and_every_key_is_safe_without_a_folder(
    opened: Opener, roles: Path, tmp_path: Path
) -> None:
    async with opened() as driven:
        await driven.pilot.press("f5")
        segments = Segments(driven)
        for binding in SegmentScreen.BINDINGS:
            key = binding.key  # type: ignore[union-attr]
            await driven.pilot.press(*([key, "escape"] if key == "o" else [key]))
        await driven.pilot.press("a")
        await driven.until(lambda: "open a folder of roles first" in driven.said(), "what to do first")
        for break_it, said in _faults(roles):
            break_it()
            segments.screen._chosen(roles)
            await driven.until(lambda said=said: said in driven.said(), said)  # type: ignore[misc]
        segments.screen._chosen(tmp_path)
        await driven.until(lambda: "no folder of roles" in driven.said(), "another folder is refused")
        assert driven.app.is_running


def _faults(roles: Path) -> Sequence[Any]:
    return (
        (lambda: (roles / "hints.json").write_text("{"), "not JSON"),
        (lambda: (roles / "roles.csv").write_text("ip,role\n"), "has no role for"),
        (lambda: (roles / "roles.json").write_text("[1"), "unexpected fault"),
    )
