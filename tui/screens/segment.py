"""The Segmentation screen: roles with reasons, answers as hints, rules with evidence, what is left to decide."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static, TabbedContent, TabPane

from nl2net.display import clean
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.segment_hints import SegmentHints
from nl2net.tui.segment_words import (
    COLUMNS,
    EMPTY,
    breaks_text,
    card_text,
    contrast_text,
    estate_line,
    hint_text,
    mark,
    member_rows,
    questions_text,
    rule_text,
    table_rows,
)  # fmt: skip
from nl2net.tui.segments import Contrast, Estate, folder_kind
from nl2net.tui.widgets.answer_tabs import Scrolled
from nl2net.tui.widgets.grid import Grid
from nl2net.tui.words import path_tail

TABS = {"roles": "Roles", "rules": "Rules", "review": "Review", "breaks": "Breaks", "hints": "Hints"}


class SegmentScreen(SegmentHints):
    """Lists at the left; members and reasons of what is under the cursor at the right."""

    NAME = "segment"
    AUTO_FOCUS = "#segment-roles"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open", id="segment.open", tooltip="Open a folder of segment roles or segment policy"),
        Binding("space", "mark", "Mark", id="segment.mark", tooltip="Mark this role or endpoint"),
        Binding("w", "why", "Why two", id="segment.why", tooltip="Why are the two marked not one role?"),
        Binding("a", "accept", "Accept", id="segment.accept", tooltip="The role stands: a hint keeps it together"),
        Binding("n", "rename", "Name", id="segment.name", tooltip="Give the role a name, as a hint"),
        Binding("m", "merge", "Merge", id="segment.merge", tooltip="The marked roles and this one are one, as a hint"),
        Binding("p", "split", "Part", id="segment.split", tooltip="The marked endpoints leave their role, as a hint"),
        Binding("c", "compute", "Infer", id="segment.infer", tooltip="Infer the roles again under the hints"),
        Binding("e", "write", "Write", id="segment.write", tooltip="Write the inferred roles into the folder"),
        Binding("u", "undo", "Undo", id="segment.undo", tooltip="Take back the answer given last"),
        Binding("d", "drop", "Drop", id="segment.drop", show=False, tooltip="Take back the hint under the cursor"),
        Binding("q", "questions", "Questions", id="segment.questions", tooltip="Questions whose answers change most"),
        Binding("ctrl+t", "next_tab", "Tab", id="segment.tab", tooltip="Roles, rules, review, what would break, hints"),
        Binding("escape", "cancel", "Stop", id="segment.cancel", show=False, tooltip="Stop, or drop what is new"),
    ]

    def body(self) -> ComposeResult:
        """Five lists; members and text."""
        with Horizontal(classes="split"):
            with Vertical(classes="pane", id="segment-left"):
                with TabbedContent(initial="roles", id="segment-tabs"):
                    for name, title in TABS.items():
                        with TabPane(title, id=name):
                            yield Grid(id=f"segment-{name}")
                yield Static("", id="segment-progress", markup=False)
            with Vertical(classes="pane", id="segment-right"):
                yield Grid(id="segment-members")
                yield Scrolled(id="segment-text")

    def on_mount(self) -> None:
        """Titles, and the folder of the last time."""
        self.query_one("#segment-left").border_title = "segmentation"
        self.query_one("#segment-right").border_title = "reasons"
        for name in TABS:
            self.watch(self.grid(name), "row", self._moved, init=False)
        self._text(Content(EMPTY[""]))
        self.query_one("#segment-members").display = False
        self.say("o opens a folder of roles")
        last = self.desk.memory.folders.get("segment", "")
        if last and Path(last).is_dir():
            self._read(Path(last))

    def on_resize(self, event: events.Resize) -> None:
        """Where there is little room, lists go above reasons."""
        self.set_class(event.size.width < 100, "narrow")
        self.set_class(event.size.height < 32, "short")

    # ---- parts --------------------------------------------------------------------------------------------------

    def grid(self, name: str) -> Grid:
        """One of the lists, or ``members``."""
        return self.query_one(f"#segment-{name}", Grid)

    @property
    def tab(self) -> str:
        """The list in view."""
        return self.query_one(TabbedContent).active

    @property
    def role(self) -> str:
        """Role under the cursor."""
        grid = self.grid("roles")
        return str(grid.rows[grid.source_row(grid.row)][1]) if grid.rows else ""

    @property
    def member(self) -> str:
        """Endpoint under the cursor."""
        grid = self.grid("members")
        return str(grid.rows[grid.source_row(grid.row)][1]) if grid.rows else ""

    def _text(self, content: Content) -> None:
        self.query_one("#segment-text", Scrolled).update(content)

    # ---- open ---------------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Choose a folder."""
        from nl2net.tui.dialogs.folder import FolderDialog

        recent = [self.desk.memory.folders[key] for key in ("segment", "policy") if key in self.desk.memory.folders]
        self.app.push_screen(FolderDialog("Open roles or a policy", recent, folder_kind), self._chosen)

    def _chosen(self, folder: Path | None) -> None:
        if folder is not None:
            self.action_cancel()
            self._read(folder.resolve())

    def _read(self, folder: Path) -> None:
        from nl2net.tui.segments import open_estate

        self.say(f"reading {folder} …")
        self.in_thread(partial(open_estate, folder), self._opened, failed=self._unreadable, group="roles")

    def _unreadable(self, text: str) -> None:
        self.say("o opens a folder of roles" if self.estate is None else "")
        self.say_error(text)

    def _opened(self, estate: Estate) -> None:
        from nl2net.errors import Nl2netError
        from nl2net.segmentation.hints import Hints
        from nl2net.segmentation.revise import hints_of

        self.written, self.before = None, []
        try:
            self.hints = hints_of(estate.folder)
        except Nl2netError as error:
            self.hints = Hints()
            self.say_error(f"{error}\n{error.hint}\nThe next answer would write this file anew.".strip())
        kind = "segment" if estate.workspace is not None else "policy"
        self.desk.remember(folders={**self.desk.memory.folders, kind: str(estate.folder)})
        self.show_estate(estate)

    def show_estate(self, estate: Estate, *, said: str = "") -> None:
        """Show a folder, from its beginning."""
        self.estate, self.marked = estate, frozenset()
        self.query_one("#segment-left").border_title = path_tail(estate.folder)
        for name in TABS:
            self._fill(name)
        self._status()
        self._moved()
        if said:
            self._text(Content.assemble(("roles, inferred again\n\n", "bold $primary"), clean(said)))

    def _fill(self, name: str) -> None:
        from nl2net.segmentation.revise import grouped_hints

        assert self.estate is not None
        hints = grouped_hints(self.hints) if name == "hints" and self.hints is not None else ()
        rows = table_rows(self.estate, name, hints, self.marked)
        self.grid(name).show_rows(COLUMNS[name], rows, keep_cursor=True)
        label = f"{TABS[name]} {len(rows)}" if rows and name != "roles" else TABS[name]
        self.query_one(TabbedContent).get_tab(name).label = Content(label)

    def _status(self) -> None:
        from nl2net.segmentation.revise import grouped_hints

        if self.estate is not None:
            count = len(grouped_hints(self.hints)) if self.hints is not None else 0
            self.say(estate_line(self.estate, count))

    def hints_changed(self, said: str) -> None:
        """Show marks and hints anew."""
        self._marks()
        self._fill("hints")
        self.say(f"{said} · c infers the roles again · u takes it back")
        if self.tab == "hints":
            self._moved()

    # ---- what is under the cursor -------------------------------------------------------------------------------

    @on(TabbedContent.TabActivated, "#segment-tabs")
    def _tab_changed(self) -> None:
        if self.estate is not None:
            self._moved()

    @on(Grid.Chosen)
    def _enter(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.grid.id == "segment-roles":
            self.grid("members").focus()

    def _moved(self, *_: Any) -> None:
        if self.estate is None:
            return
        tab, grid = self.tab, self.grid(self.tab)
        self.grid("members").display = tab == "roles" and bool(grid.rows)
        if not grid.rows:
            self._text(Content(EMPTY[tab] if tab in EMPTY else EMPTY[""]))
            return
        at = grid.source_row(grid.row)
        if tab == "roles":
            rows = member_rows(self.estate, self.role, self.marked)
            self.grid("members").show_rows(("", "endpoint", "conf", "reason"), rows)
            self._text(card_text(self.role, self.estate.cards.get(self.role), len(rows)))
        else:
            self._text(self._beside(self.estate, tab, at))

    def _beside(self, estate: Estate, tab: str, at: int) -> Content:
        from nl2net.segmentation.revise import grouped_hints

        if tab == "hints" and self.hints is not None:
            return hint_text(grouped_hints(self.hints)[at])
        if tab == "breaks":
            return breaks_text(estate, at)
        assert estate.policy is not None
        return rule_text(estate.policy.rules[at] if tab == "rules" else estate.policy.review[at])

    # ---- marks, pairs, lists ------------------------------------------------------------------------------------

    def action_mark(self) -> None:
        """Mark, or take the mark away; roles and endpoints are not mixed."""
        if self.estate is None or self.tab != "roles":
            return
        on_members = self.grid("members").has_focus
        name = self.member if on_members else self.role
        kept = {m for m in self.marked if (m in self.estate.members) != on_members}
        self.marked = frozenset(kept ^ {name})
        self._marks()

    def _marks(self) -> None:
        for name in ("roles", "members"):
            grid = self.grid(name)
            for row in grid.rows:
                row[0] = mark(str(row[1]), self.marked)  # type: ignore[index]
            grid.refresh()

    def action_why(self) -> None:
        """Compare the two marked, or the marked one with the one under the cursor, or a role with its nearest."""
        from nl2net.tui.segments import contrast

        estate = self.estate
        if estate is None or self.tab != "roles":
            return
        members = self.grid("members").has_focus or not all(name in estate.members for name in self.marked)
        here = self.member if members else self.role
        pair = sorted(self.marked) if len(self.marked) > 1 else [*self.marked, *({here} - self.marked)]
        card = estate.cards.get(here)
        if len(pair) == 1 and not members and card is not None and card.nearest:
            pair = [here, card.nearest]
        if len(pair) != 2:
            self.notify("mark one with Space and go to another", severity="warning")
            return
        self.in_thread(
            partial(contrast, estate, *pair, members=members), lambda found: self._contrasted(found), group="why"
        )

    def _contrasted(self, found: Contrast) -> None:
        self._text(contrast_text(found))

    def action_questions(self) -> None:
        """Questions and notes of the run."""
        if self.estate is not None:
            self._text(questions_text(self.estate))

    def action_drop(self) -> None:
        """Take back the hint under the cursor."""
        from nl2net.segmentation.revise import grouped_hints, without_hint

        grid = self.grid("hints")
        if self.tab == "hints" and grid.rows and self.hints is not None:
            hint = grouped_hints(self.hints)[grid.source_row(grid.row)]
            self.keep(lambda hints: without_hint(hints, hint), "taken back")

    def action_next_tab(self) -> None:
        """The next list."""
        tabs, names = self.query_one(TabbedContent), list(TABS)
        tabs.active = names[(names.index(tabs.active) + 1) % len(names)]
        self.grid(tabs.active).focus()

    @on(Grid.Export)
    def _export(self, event: Grid.Export) -> None:
        event.stop()
        self.export_grid(event.grid)


ENTRY = ScreenEntry("segment", "Segments", "Roles from flow logs: reasons, hints, rules", "f5", 40, SegmentScreen)
