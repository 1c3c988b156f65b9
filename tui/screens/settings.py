"""The Settings screen: what is in force, where it comes from, and changing it for this user."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from nl2net.config import Settings
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid


class SettingsScreen(BaseScreen):
    """Enter changes a value; it is written to the user's file and used from the next question on."""

    NAME = "settings"
    AUTO_FOCUS = "#settings-grid"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "toggle_theme", "Theme", id="settings.theme", tooltip="Dark or light"),
        Binding("m", "check_model", "Model", id="settings.model", tooltip="Which model a question would go to"),
        Binding("d", "check_sandbox", "Sandbox", id="settings.sandbox", tooltip="Which layers of the sandbox hold"),
    ]

    def body(self) -> ComposeResult:
        """Settings at the left, state at the right."""
        with Horizontal(classes="split"):
            with Vertical(classes="pane", id="settings-list"):
                yield Grid(id="settings-grid")
                yield Static("Enter changes · t theme · m model · d sandbox", classes="dialog-note")
            with Vertical(classes="pane", id="settings-state"):
                yield Scrolled(id="settings-text")

    def on_mount(self) -> None:
        """Fill both."""
        self.query_one("#settings-list").border_title = "settings"
        self.query_one("#settings-state").border_title = "state"
        self._show()
        self._places()

    def _show(self) -> None:
        settings = self.desk.settings
        rows = [
            [name, getattr(settings, name), field.default, field.description or ""]
            for name, field in Settings.model_fields.items()
        ]
        self.query_one(Grid).show_rows(("setting", "value", "default", "meaning"), rows, keep_cursor=True)

    def _places(self) -> None:
        locations = self.desk.locations
        names = ("config", "data", "cache", "runtime", "store", "egress_log", "library", "figures")
        lines = [f"{name:<11}{getattr(locations, name)}" for name in names]
        lines += [
            "",
            f"user file  {locations.config / 'config.toml'}",
            "environment variables NL2NET_NAME come before it",
        ]
        self._say("\n".join(lines))

    def _say(self, text: str) -> None:
        self.query_one(Scrolled).update(Content(text))

    @on(Grid.Chosen)
    def _change(self, event: Grid.Chosen) -> None:
        from nl2net.tui.dialogs.value import ValueDialog

        row = event.grid.rows[event.row]
        name, value = str(row[0]), row[1]
        dialog = ValueDialog(name, "" if value is None else str(value), str(row[3]) or "empty: the default")
        self.app.push_screen(dialog, partial(self._changed, name))

    def _changed(self, name: str, value: str | None) -> None:
        if value is None:
            return
        from nl2net.tui.preferences import change_setting

        def done(settings: Settings) -> None:
            self._show()
            self.network_app.state_changed()
            self.notify(f"{name} = {getattr(settings, name)}", markup=False)

        self.in_thread(partial(change_setting, self.desk, name, value), done)

    def action_toggle_theme(self) -> None:
        """Dark or light."""
        self.app.theme = "nl2net-light" if self.app.current_theme.dark else "nl2net-dark"

    def action_check_model(self) -> None:
        """Which endpoint a question would use."""
        from nl2net.llm import status

        self._say("looking …")
        check = partial(status, self.desk.locations, settings=self.desk.settings, environ=self.desk.environ)
        self.in_thread(check, self._tell)

    def action_check_sandbox(self) -> None:
        """Which layers hold on this machine."""
        self._say("trying …")
        self.in_thread(
            lambda: self.desk.sandbox.layers(),
            lambda report: self._tell({"level": str(report.level), **report.layers}),
        )

    def _tell(self, facts: dict[str, Any]) -> None:
        from nl2net.display import clean

        self._say(clean("\n".join(_lines(facts))))


def _lines(facts: dict[str, Any], indent: str = "") -> list[str]:
    lines = []
    for name, value in facts.items():
        if isinstance(value, dict):
            lines += [f"{indent}{name}", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name:<14} {value}")
    return lines


ENTRY = ScreenEntry("settings", "Settings", "Model, limits, theme, and where files lie", "f9", 90, SettingsScreen)
