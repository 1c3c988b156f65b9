"""What a person says about roles: accept, rename, split, merge, take back; and inferring again under it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.errors import Nl2netError
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.segments import Estate

if TYPE_CHECKING:
    from nl2net.segmentation.hints import Hints


class SegmentHints(BaseScreen):
    """Every answer is saved as a hint at once; roles change only when they are inferred again and written."""

    def __init__(self) -> None:
        super().__init__()
        self.estate: Estate | None = None
        self.written: Estate | None = None  # as it lies on disk, while inferred roles are only looked at
        self.hints: Hints | None = None
        self.before: list[Hints] = []
        self.marked: frozenset[str] = frozenset()
        self.cancel: threading.Event | None = None

    # ---- what the screen tells ----------------------------------------------------------------------------------

    @property
    def role(self) -> str:
        """Role in view."""
        raise NotImplementedError

    @property
    def member(self) -> str:
        """Endpoint under the cursor."""
        raise NotImplementedError

    def show_estate(self, estate: Estate, *, said: str = "") -> None:
        """Show a folder, from its beginning."""
        raise NotImplementedError

    def hints_changed(self, said: str) -> None:
        """Show the hints anew."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """A line below the lists."""
        self.query_one("#segment-progress", Static).update(clean_line(text, width=300))

    # ---- answers ------------------------------------------------------------------------------------------------

    def keep(self, change: Callable[[Hints], Hints], said: str) -> None:
        """Save the hints with a change; a contradiction is said and nothing is saved."""
        from nl2net.segmentation.revise import save_hints

        if not self.can_change() or self.hints is None or self.estate is None:
            return
        try:
            changed = change(self.hints)
            save_hints(changed, self.estate.folder)
        except Nl2netError as error:
            self.say_error(f"{error}\n{error.hint}".strip())
            return
        except OSError as error:
            self.say_error(f"the hints cannot be saved: {error}")
            return
        self.before.append(self.hints)
        self.hints, self.marked = changed, frozenset()
        self.hints_changed(said)

    def can_change(self) -> bool:
        """Whether there are roles that may be changed; says why not."""
        if self.estate is None:
            self.notify("open a folder of roles first, with o", severity="warning")
        elif self.estate.workspace is None:
            self.notify("this is a policy; open the folder of segment roles to change roles", severity="warning")
        elif self.cancel is not None:
            self.notify("roles are being inferred; Esc stops that", severity="warning")
        else:
            return True
        return False

    def action_accept(self) -> None:
        """The role in view stands."""
        from nl2net.segmentation.revise import accept_role

        if self.can_change() and self.estate is not None:
            role, names = self.role, self.estate.names(self.role)
            self.keep(lambda hints: accept_role(hints, names), f"{role} is accepted")

    def action_rename(self) -> None:
        """Ask for a name."""
        from nl2net.tui.dialogs.value import ValueDialog

        if self.can_change() and self.role:
            note = "letters, digits, dots, dashes, underscores; used in rules and policies"
            self.app.push_screen(ValueDialog(f"Name of {self.role}", self.role, note), self._named)

    def _named(self, name: str | None) -> None:
        from nl2net.segmentation.revise import rename_role

        if name and name.strip() != self.role and self.estate is not None:
            role, taken = self.role, self.estate.roles
            self.keep(
                lambda hints: rename_role(hints, role, name.strip(), taken=taken), f"{role} will be {name.strip()}"
            )

    def action_merge(self) -> None:
        """The marked roles and the one in view are one."""
        from nl2net.segmentation.revise import merge_roles

        if self.can_change() and self.estate is not None:
            roles = [role for role in self.estate.roles if role in self.marked or role == self.role]
            groups = [self.estate.names(role) for role in roles]
            self.keep(lambda hints: merge_roles(hints, groups), f"{' and '.join(roles)} will be one role")

    def action_split(self) -> None:
        """The marked endpoints leave their role."""
        from nl2net.segmentation.revise import split_role

        if self.can_change() and self.estate is not None:
            names = self.estate.names(self.role)
            chosen = self.marked or frozenset([self.member])
            leaving = [name for name in names if name in chosen]
            staying = [name for name in names if name not in chosen]
            many = f"{len(leaving)} endpoint{'s' * (len(leaving) != 1)}"
            self.keep(lambda hints: split_role(hints, leaving, staying), f"{many} will leave {self.role}")

    def action_undo(self) -> None:
        """Take back the answer given last."""
        if self.before:
            last = self.before.pop()
            self.keep(lambda _: last, "taken back")
            del self.before[-1:]
        else:
            self.notify("nothing to take back; the tab Hints has all of them", severity="warning")

    # ---- infer again --------------------------------------------------------------------------------------------

    def action_compute(self) -> None:
        """Infer the roles again, in a thread."""
        from nl2net.tui.segments import revise_estate

        if not self.can_change() or self.hints is None:
            return
        estate, hints, stop = self.written or self.estate, self.hints, threading.Event()
        assert estate is not None
        self.cancel = stop
        self.add_class("running")
        self.say("inferring roles under the hints … · Esc stops")

        def work() -> tuple[Estate, list[str]] | None:
            from nl2net.segmentation.revise import Cancelled

            try:
                return revise_estate(estate, hints, stop.is_set)
            except Cancelled:
                return None

        self.in_thread(
            work, lambda found: self._computed(stop, found), failed=lambda text: self._failed(stop, text), group="roles"
        )

    def _computed(self, stop: threading.Event, found: tuple[Estate, list[str]] | None) -> None:
        if self.cancel is not stop or found is None:
            return  # the person did not wait
        self._end()
        fresh, changes = found
        self.written = self.written or self.estate
        self.show_estate(fresh, said="\n".join(changes) or "No endpoint changed its role.")

    def _failed(self, stop: threading.Event, text: str) -> None:
        if self.cancel is stop:
            self._end()
            self.say("failed; the roles are as they were")
            self.say_error(text)

    def _end(self) -> None:
        self.cancel = None
        self.remove_class("running")

    def action_cancel(self) -> None:
        """Stop inferring, or drop what was inferred and not written."""
        if self.cancel is not None:
            self.cancel.set()
            self._end()
            self.say("stopped; the roles are as they were")
        elif self.written is not None:
            back, self.written = self.written, None
            self.show_estate(back, said="dropped; the hints are kept")

    def action_write(self) -> None:
        """Write the inferred roles into the folder."""
        from nl2net.tui.segments import write_estate

        estate = self.estate
        if estate is None or estate.run is None:
            self.notify("nothing to write; c infers the roles again under the hints", severity="warning")
            return
        self.in_thread(lambda: write_estate(estate), self._written)

    def _written(self, estate: Estate) -> None:
        self.written = None
        self.show_estate(estate, said=f"written: {estate.folder / 'roles.csv'}")
