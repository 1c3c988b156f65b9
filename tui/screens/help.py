"""The Help screen: every key with its meaning, and changing a key."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.dom import DOMNode

from nl2net.tui.registry import ScreenEntry, screens
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid

_TEXT = """\
[b]Asking[/b]
Type a question, press Enter. Only the schema and the question, names masked, go to the model; the program it writes \
runs here, sealed from files and network. [b]Sent[/b] shows every byte that left.

[b]Judging[/b]
The printed value is what the program returned, never prose of a model. Read the program; change it and run it again \
with Ctrl+R. [b]Why[/b] has caveats, confidence and provenance, [b]Tries[/b] every attempt with its findings.

[b]Changing the network[/b]
A change is a proposal: a difference under [b]Changes[/b], both versions under [b]Picture[/b]. [b]a[/b] approves it \
for this conversation, [b]u[/b] undoes, [b]e[/b] writes a new file. Your source is never overwritten.

[b]Roles (F5) and incidents (F6)[/b]
A folder of `nl2net segment roles` opens with [b]o[/b]. Space marks, [b]w[/b] says why two are not one role; accept, \
name, merge and part are kept as hints, [b]c[/b] infers the roles again, [b]e[/b] writes them. Incidents: Ctrl+G \
chooses a folder of documents; every finding leads to its quote in the document.

[b]Signs[/b]
[$text-success]●[/] answered   [$text-warning]◌[/] cannot be answered   [$text-warning]?[/] asks back   \
[$text-error]✗[/] failed   [$text-error]⊘[/] refused

[b]Without a screen[/b]
`nl2net ask QUESTION --graph GRAPH` says the same in plain text, for screen readers, scripts and pipes.
"""


class HelpScreen(BaseScreen):
    """Keys at the left, words at the right; Enter on a key changes it."""

    NAME = "help"
    AUTO_FOCUS = "#help-grid"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "tour", "Tour", id="help.tour", tooltip="What is where, in a minute"),
        Binding("r", "reset", "Reset keys", id="help.reset", tooltip="All keys as they were"),
    ]

    def body(self) -> ComposeResult:
        """Keys and words."""
        with Horizontal(classes="split"):
            with Vertical(classes="pane", id="help-keys"):
                yield Grid(id="help-grid")
            with Vertical(classes="pane", id="help-words"):
                yield Scrolled()

    def on_mount(self) -> None:
        """Fill both."""
        self.query_one("#help-keys").border_title = "keys (Enter changes one)"
        self.query_one("#help-words").border_title = "help"
        self.query_one(Scrolled).update(Content.from_markup(_TEXT))
        self._show()

    def _show(self) -> None:
        own = self.desk.memory.keys
        rows = [[own.get(b.id or "", b.key), b.description, b.tooltip, b.id] for b in all_bindings()]
        self.query_one(Grid).show_rows(("key", "name", "meaning", "id"), rows, keep_cursor=True)

    @on(Grid.Chosen)
    def _change(self, event: Grid.Chosen) -> None:
        from nl2net.tui.dialogs.value import ValueDialog

        row = event.grid.rows[event.row]
        note = "a key such as f5, ctrl+e or x; several with commas; empty for the default"
        self.app.push_screen(ValueDialog(f"Key for {row[1]}", str(row[0]), note), partial(self._changed, str(row[3])))

    def _changed(self, identifier: str, key: str | None) -> None:
        if key is None:
            return
        keys = {name: value for name, value in self.desk.memory.keys.items() if name != identifier}
        if key.strip():
            keys[identifier] = key.strip()
        self._use(keys)

    def _use(self, keys: dict[str, str]) -> None:
        self.desk.remember(keys=keys)
        self.app.set_keymap(keys)
        self._show()

    def action_reset(self) -> None:
        """All keys as they were."""
        self._use({})

    def action_tour(self) -> None:
        """What is where."""
        from nl2net.tui.dialogs.tour import Tour

        self.app.push_screen(Tour())


def all_bindings() -> list[Binding]:
    """Every binding with an identifier, of the application, its screens and their widgets."""
    from nl2net.tui.app import NetworkApp

    found: dict[str, Binding] = {}
    owners: list[type[Any]] = [NetworkApp, *_subclasses(BaseScreen), *_subclasses(DOMNode)]
    for owner in owners:
        if not owner.__module__.startswith("nl2net."):
            continue
        for binding in owner.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in found:
                found[binding.id] = binding
    order = {entry.name: entry.order for entry in screens()}
    return sorted(found.values(), key=lambda b: (order.get((b.id or "").split(".")[0], 50), b.id or ""))


def _subclasses(owner: type[Any]) -> list[type[Any]]:
    found = []
    for kind in owner.__subclasses__():
        found += [kind, *_subclasses(kind)]
    return found


ENTRY = ScreenEntry("help", "Help", "Every key, what it does, and how to change it", "f1", 100, HelpScreen)
