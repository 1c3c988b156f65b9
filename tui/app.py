"""The Textual application: screens as modes, themes, keys, palette, and what they all share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from nl2net.display import clean_line
from nl2net.tui.desk import FIRST_GRAPH, Desk
from nl2net.tui.registry import screens
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.themes import DARK, LIGHT
from nl2net.tui.widgets.top_bar import TopBar


class NetworkApp(App[None]):
    """nl2net in a terminal.

    Parameters
    ----------
    desk : Desk
        The working state.
    graph : str
        File, registered name or sample to open; by default the one of the last time.
    """

    TITLE = "nl2net"
    CSS_PATH = str(Path(__file__).with_name("nl2net.tcss"))
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", id="app.quit", tooltip="Leave; everything is saved already", priority=True),
        Binding("ctrl+o", "jump", "Jump", id="app.jump", tooltip="Jump to a part of the screen by a letter"),
        *(
            Binding(
                entry.key, f"open_screen('{entry.name}')", entry.title, id=f"screen.{entry.name}", show=False,
                tooltip=entry.summary, priority=True,
            )
            for entry in screens()
        ),
    ]  # fmt: skip

    def __init__(self, desk: Desk, *, graph: str = "", tour: bool | None = None) -> None:
        self.desk = desk
        super().__init__()
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = desk.memory.theme if desk.memory.theme in self.available_themes else DARK.name
        self.set_keymap(dict(desk.memory.keys))
        self._first = graph
        self._tour = not desk.memory.toured if tour is None else tour
        for entry in screens():
            self.add_mode(entry.name, _maker(entry.make))

    # ---- start and end ------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """First paint first; the graph is read in a thread after it."""
        self.switch_mode("ask")
        self.call_after_refresh(self._begin)
        self.theme_changed_signal.subscribe(self, lambda theme: self.desk.remember(theme=theme.name))

    def _begin(self) -> None:
        memory = self.desk.memory
        if self._first:
            self.open_graph(self._first)
        else:
            self.open_graph(memory.graph or FIRST_GRAPH, conversation=memory.conversation, fallback=True)
        if self._tour:
            from nl2net.tui.dialogs.tour import Tour

            self.push_screen(Tour(), lambda _: self.desk.remember(toured=True))

    def open_graph(self, source: str, *, conversation: str = "", fallback: bool = False) -> None:
        """Read a graph in a thread and show it everywhere."""
        screen = self.base_screen()
        screen.query_one(TopBar).show_state(f"reading {source} …")
        screen.in_thread(
            partial(self.desk.open, source, conversation=conversation),
            lambda _: self.state_changed(everywhere=True),
            failed=lambda text: self._unreadable(text, source, fallback=fallback),
            group="open",
        )

    def _unreadable(self, text: str, source: str, *, fallback: bool) -> None:
        self.base_screen().say_error(text)
        if fallback and source != FIRST_GRAPH:
            self.open_graph(FIRST_GRAPH)
        else:
            self.state_changed()

    def base_screen(self) -> BaseScreen:
        """The screen of the present mode, below any dialog."""
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                return screen
        raise RuntimeError("every mode begins with a BaseScreen")

    def state_changed(self, *, everywhere: bool = False) -> None:
        """Show graph and model in the bar; ``everywhere`` tells all screens that the graph is another."""
        for screen in self.screens_open():
            screen.query_one(TopBar).show_state(self._state_words())
            if everywhere:
                screen.graph_changed()

    def screens_open(self) -> list[BaseScreen]:
        """Every screen that was opened so far."""
        stacks = self._screen_stacks.values()
        return [screen for stack in stacks for screen in stack if isinstance(screen, BaseScreen) and screen.is_mounted]

    def _state_words(self) -> str:
        graph = self.desk.graph
        model = self.desk.settings.model or "automatic model"
        if graph is None:
            return model
        version = f" v{graph.provenance['working_copy']}" if "working_copy" in graph.provenance else ""
        return clean_line(f"{graph.name}{version} {graph.fingerprint[7:15]} · {model}")

    async def action_quit(self) -> None:
        """Leave."""
        self.exit()

    def on_unmount(self) -> None:
        """End workers and close the history."""
        self.desk.close()

    # ---- keys, palette ------------------------------------------------------------------------------------------

    def action_open_screen(self, name: str) -> None:
        """Open a screen; dialogs stay where they are."""
        if name != self.current_mode and len(self.screen_stack) == 1:
            self.switch_mode(name)
            self.call_after_refresh(self.state_changed)

    def action_jump(self) -> None:
        """Letters over the parts of the screen; the letter focuses."""
        from nl2net.tui.dialogs.jump import Jump

        if len(self.screen_stack) == 1:
            self.push_screen(Jump(self.screen))

    def key_of(self, identifier: str, default: str) -> str:
        """The key of a binding, as it is set now."""
        return self.desk.memory.keys.get(identifier, default)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """What the palette offers: screens, everything the footer shows, themes."""
        for entry in screens():
            call = partial(self.action_open_screen, entry.name)
            yield SystemCommand(f"Open {entry.title}", entry.summary, call)
        seen = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.id and binding.tooltip and binding.id not in seen and not binding.id.startswith("screen."):
                seen.add(binding.id)
                yield SystemCommand(
                    f"{binding.description or binding.id} ({self.get_key_display(binding)})", binding.tooltip,
                    partial(self._run_bound, active.node, binding.action),
                )  # fmt: skip
        yield SystemCommand("Dark theme", "Light on dark", partial(self._set_theme, DARK.name))
        yield SystemCommand("Light theme", "Dark on light", partial(self._set_theme, LIGHT.name))
        yield SystemCommand("Other themes", "All themes of Textual", self.action_change_theme)
        yield SystemCommand("Tour", "What is where, in a minute", self._show_tour)

    async def _run_bound(self, node: Any, action: str) -> None:
        await self.run_action(action, node)

    def _set_theme(self, name: str) -> None:
        self.theme = name

    def _show_tour(self) -> None:
        from nl2net.tui.dialogs.tour import Tour

        self.push_screen(Tour())


def _maker(make: Callable[[], Screen[Any]]) -> Callable[[], Screen[Any]]:
    return make
