"""One question or run at a time: progress, cancelling, and the turn in view."""

from __future__ import annotations

import threading
import time

from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from nl2net.display import clean_line
from nl2net.model import Library
from nl2net.tui.recall import Shown
from nl2net.tui.screens.base import BaseScreen
from nl2net.tui.widgets.answer_tabs import AnswerTabs
from nl2net.tui.widgets.program import ProgramEditor

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Running(BaseScreen):
    """A screen with a conversation of which one turn is in view and at most one run is under way."""

    def __init__(self) -> None:
        super().__init__()
        self.at = -1
        self.run_number = 0
        self.cancel: threading.Event | None = None
        self.stage = ""
        self._began = 0.0
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """The timer only runs while something is under way."""
        self._timer = self.set_interval(0.1, self._tick, pause=True)

    @property
    def current(self) -> Shown | None:
        """The turn in view."""
        return self.desk.shown[self.at] if 0 <= self.at < len(self.desk.shown) else None

    @property
    def is_busy(self) -> bool:
        """Whether something is under way; says so if it is."""
        if self.cancel is not None:
            self.notify("one thing at a time; Esc stops the running one", severity="warning")
        return self.cancel is not None

    def begin_run(self, stage: str) -> tuple[int, threading.Event]:
        """Mark that something is under way; Esc sets the event."""
        self.run_number += 1
        self.cancel = threading.Event()
        self._began, self.stage = time.monotonic(), stage
        self.add_class("running")
        if self._timer is not None:
            self._timer.resume()
        self._tick()
        return self.run_number, self.cancel

    def is_mine(self, run: int) -> bool:
        """Whether this run is the one under way; a cancelled one is not."""
        return run == self.run_number and self.cancel is not None

    def end_run(self, note: str = "") -> None:
        """Nothing is under way any more."""
        self.cancel = None
        self.remove_class("running")
        if self._timer is not None:
            self._timer.pause()
        self.query_one(ProgramEditor).read_only = False
        self.query_one("#progress", Static).update(clean_line(note))

    def _tick(self) -> None:
        elapsed = time.monotonic() - self._began
        sign = _SPINNER[int(elapsed * 10) % len(_SPINNER)]
        self.query_one("#progress", Static).update(f"{sign} {self.stage} · {elapsed:.1f} s · Esc cancels")

    def run_failed(self, run: int, text: str) -> None:
        """A run ended with an error that is no answer."""
        if self.is_mine(run):
            self.end_run("failed")
        self.say_error(text)

    def action_cancel(self) -> None:
        """Stop the question or the run; the screen is free at once, the thread ends within a moment."""
        if self.cancel is None:
            self.query_one("#question").focus()
            return
        self.cancel.set()
        self.end_run("cancelled")
        if self.current is not None:
            self.show_turn(self.at)

    def tell(self, message: Message) -> None:
        """Post a message from a thread; the screen may be gone by then."""
        if self.app.is_running and self.is_attached:
            self.post_message(message)

    # ---- the turn in view ---------------------------------------------------------------------------------------

    def show_turn(self, at: int) -> None:
        """Show one turn of the conversation."""
        if not 0 <= at < len(self.desk.shown):
            return
        self.at = at
        shown = self.desk.shown[at]
        sql = shown.answer.library is Library.SQL
        self.query_one(ProgramEditor).show_program(shown.program, sql=sql, findings=shown.answer.findings)
        self.query_one(AnswerTabs).show(shown)
        self._note(shown)

    def _note(self, shown: Shown) -> None:
        """One line below the program: where it comes from and what was found in it."""
        made_by = shown.answer.provenance.origin or ("program library" if shown.answer.code else "no program")
        origin = "edited here" if shown.edited else made_by
        parts = [f"{shown.answer.library} · {origin}" if shown.answer.library else origin]
        parts += [f"line {f.line}: {f.message}" for f in shown.answer.findings if f.line][:2]
        self.query_one("#program-note", Static).update(clean_line(" · ".join(parts)))
