"""The conversation: each question with its answer in one line below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from nl2net.display import clean_line
from nl2net.tui.recall import Shown
from nl2net.tui.words import BADGES, answer_line


class Conversation(OptionList):
    """Turns, oldest first; moving through them shows their answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("a", "act('approve')", "Approve", id="turn.approve", tooltip="Put this program into your library"),
        Binding("w", "act('wrong')", "Wrong", id="turn.wrong", tooltip="Mark as wrong: keep it as a golden case"),
        Binding("c", "act('compare')", "Compare", id="turn.compare", tooltip="Compare two attempts"),
        Binding("s", "act('save')", "Save", id="turn.save", tooltip="Save the program as a script"),
        Binding("y", "act('copy')", "Copy", id="turn.copy", show=False, tooltip="Copy the answer"),
        Binding("r", "act('again')", "Ask again", id="turn.again", show=False, tooltip="Put the question back"),
    ]

    class Act(Message):
        """Something to do with the turn in view."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def show_turns(self, turns: Sequence[Shown]) -> None:
        """Fill the list; the newest turn is in view."""
        self.clear_options()
        self.add_options([Option(_prompt(shown), id=str(at)) for at, shown in enumerate(turns)])
        if turns:
            self.highlighted = len(turns) - 1
            self.call_after_refresh(self.scroll_end, animate=False)

    def add_turn(self, shown: Shown, at: int) -> None:
        """Append a turn and show it."""
        self.add_option(Option(_prompt(shown), id=str(at)))
        self.highlighted = self.option_count - 1
        self.call_after_refresh(self.scroll_end, animate=False)

    def refresh_turn(self, shown: Shown, at: int) -> None:
        """Write a turn anew, after a run or a verdict."""
        self.replace_option_prompt(str(at), _prompt(shown))

    def action_act(self, what: str) -> None:
        """Tell the screen."""
        self.post_message(self.Act(what))


def _prompt(shown: Shown) -> Content:
    answer = shown.answer
    sign, colour = BADGES[answer.status]
    mark = {"approved": " ✓ approved", "wrong": " ✗ marked wrong"}.get(shown.approved, "")
    edited = " ✎" if shown.edited else ""
    sure = "" if answer.confidence is None else f"  {answer.confidence:.2f}"
    return Content.assemble(
        ("› ", "$accent"),
        (clean_line(answer.question, width=400) or "(program)", "bold"),
        "\n",
        (f"{sign} ", colour),
        answer_line(answer, width=400),
        (f"{sure}{edited}{mark}", "$text-muted"),
    )
