"""The Ask screen: question, conversation, and the program beside its output."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from nl2net.display import clean_line
from nl2net.tui.recall import Shown
from nl2net.tui.registry import ScreenEntry
from nl2net.tui.screens.ask_actions import AskActions
from nl2net.tui.widgets.answer_tabs import AnswerTabs
from nl2net.tui.widgets.conversation import Conversation
from nl2net.tui.widgets.graph_badge import GraphBadge
from nl2net.tui.widgets.program import ProgramEditor
from nl2net.tui.widgets.schema_tree import SchemaTree
from nl2net.tui.words import status_words

_WIDE, _NARROW = 120, 64


class AskScreen(AskActions):
    """Where people live with the product."""

    NAME = "ask"
    AUTO_FOCUS = "#question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="ask.cancel", tooltip="Stop the question or the run", priority=True),
        Binding("ctrl+r", "run_program", "Run", id="ask.run", tooltip="Run the program as it stands, without a model"),
        Binding("ctrl+g", "pick_graph", "Graph", id="ask.graph", tooltip="Choose another graph"),
        Binding("ctrl+b", "sidebar", "Schema", id="ask.sidebar", tooltip="Show or hide the schema"),
        Binding("ctrl+n", "new_conversation", "New", id="ask.new", tooltip="Begin a new conversation"),
        Binding("ctrl+s", "act('save')", "Save", id="ask.save", tooltip="Save the program as a script"),
        Binding("ctrl+t", "next_tab", "Tab", id="ask.tab", tooltip="Next tab of the answer"),
        Binding("ctrl+l", "to_question", show=False, id="ask.question", tooltip="To the question"),
    ]

    class Streamed(Message):
        """More text of the reply."""

        def __init__(self, run: int, text: str) -> None:
            super().__init__()
            self.run, self.text = run, text

    class Stage(Message):
        """The run reached a stage."""

        def __init__(self, run: int, name: str) -> None:
            super().__init__()
            self.run, self.name = run, name

    def __init__(self) -> None:
        super().__init__()
        self._reply = ""

    def body(self) -> ComposeResult:
        """Schema at the left; conversation, answer and question at the right."""
        with Horizontal(id="ask-body"):
            with Vertical(id="sidebar"):
                yield GraphBadge()
                yield SchemaTree(id="schema")
            with Vertical(id="ask-main"):
                yield Conversation(id="conversation")
                with Horizontal(id="answer"):
                    with Vertical(id="program-pane"):
                        yield ProgramEditor(id="program")
                        yield Static("", id="program-note", markup=False)
                    yield AnswerTabs(id="answer-tabs")
                yield Static("", id="progress", markup=False)
                yield Input(placeholder="Ask a question about this network", id="question")

    def on_mount(self) -> None:
        """Titles of the panes; Textual calls the handler of the base class by itself."""
        self.query_one("#program-pane").border_title = "program"
        self.query_one("#answer-tabs").border_title = "answer"
        self.query_one("#conversation").border_title = "conversation"
        self.query_one("#sidebar").border_title = "graph"
        self.graph_changed()

    def on_resize(self, event: events.Resize) -> None:
        """Where there is little room, the schema goes and the answer is stacked."""
        self.set_class(event.size.width < _NARROW, "narrow")
        self.set_class(event.size.height < 32, "short")
        self.set_class(event.size.height < 20, "low")
        self._show_sidebar(event.size.width)

    def _show_sidebar(self, width: int) -> None:
        wanted = self.desk.memory.sidebar if width >= _WIDE else self.has_class("sidebar-over")
        self.query_one("#sidebar").display = wanted

    # ---- graph and conversation ---------------------------------------------------------------------------------

    def graph_changed(self) -> None:
        """Show the open graph, its conversation, and the newest answer."""
        graph = self.desk.graph
        if graph is None or not self.is_mounted:
            return
        self.query_one(GraphBadge).show_graph(graph)
        self.query_one(SchemaTree).show_schema(graph.schema)
        self.query_one(Conversation).show_turns(self.desk.shown)
        self.query_one(Conversation).display = bool(self.desk.shown)
        if not self.desk.shown:
            self.at = -1
            self.draw(None)
            self.query_one(AnswerTabs).show(None)
            self.query_one(ProgramEditor).show_program("")
            self.query_one(AnswerTabs).open_tab("picture")

    @on(OptionList.OptionHighlighted, "#conversation")
    def _turn_chosen(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self.cancel is None and event.option.id is not None:
            self.show_turn(int(event.option.id))

    def follow_graph(self) -> None:
        """Show the graph in the badge and the bar, if it is another version now."""
        if self.desk.graph is not None:
            self.query_one(GraphBadge).show_graph(self.desk.graph)
            self.network_app.state_changed()

    # ---- asking and running -------------------------------------------------------------------------------------

    @on(Input.Submitted, "#question")
    def _ask(self, event: Input.Submitted) -> None:
        question = event.value.strip()
        if not question:
            return
        if self.desk.session is None:
            self.notify("the graph is still being read", severity="warning")
            return
        if self.is_busy:
            return
        event.input.clear()
        run, cancel = self.begin_run("starting")
        editor = self.query_one(ProgramEditor)
        editor.show_program("")
        editor.read_only = True
        self._reply = ""

        from nl2net.assistant import Hooks

        hooks = Hooks(
            stage=lambda name: self.tell(self.Stage(run, name)),
            text=lambda text: self.tell(self.Streamed(run, text)),
            cancel=cancel,
        )
        self.in_thread(
            lambda: self.desk.ask(question, hooks),
            lambda shown: self._answered(run, shown),
            failed=lambda text: self.run_failed(run, text),
            group="run",
        )

    def on_ask_screen_stage(self, message: Stage) -> None:
        """Progress of the run."""
        if self.is_mine(message.run):
            self.stage = clean_line(message.name)

    def on_ask_screen_streamed(self, message: Streamed) -> None:
        """Text of the reply, as it comes."""
        if not self.is_mine(message.run):
            return
        self._reply += message.text
        editor = self.query_one(ProgramEditor)
        editor.show_program(_program_part(self._reply))
        editor.move_cursor(editor.document.end)

    def _answered(self, run: int, shown: Shown) -> None:
        at = self.desk.shown.index(shown)
        conversation = self.query_one(Conversation)
        conversation.display = True
        mine = self.is_mine(run)
        if mine:
            self.end_run(status_words(shown.answer))
        conversation.add_turn(shown, at)
        if shown.answer.message and not shown.answer.code:
            self.follow_graph()  # "undo" is understood without a model
        if mine:
            self.show_turn(at)
            self.query_one(AnswerTabs).open_tab("changes" if shown.answer.changes else "result")
            self.network_app.state_changed()

    def action_to_question(self) -> None:
        """Focus the question."""
        self.query_one("#question").focus()

    def action_new_conversation(self) -> None:
        """Begin anew about the same graph."""
        if self.desk.session is not None and not self.is_busy:
            self.desk.new_conversation()
            self.graph_changed()
            self.notify("new conversation; the old one stays in the history")

    @on(GraphBadge.Clicked)
    def action_pick_graph(self) -> None:
        """Choose another graph."""
        from nl2net.tui.dialogs.graph_picker import GraphPicker

        if not self.is_busy:
            self.app.push_screen(GraphPicker(self.desk), self._picked)

    def _picked(self, source: str | None) -> None:
        if source:
            self.network_app.open_graph(source)

    def action_sidebar(self) -> None:
        """Show or hide graph and schema."""
        if self.size.width >= _WIDE:
            self.desk.remember(sidebar=not self.desk.memory.sidebar)
        else:
            self.toggle_class("sidebar-over")
        self._show_sidebar(self.size.width)


def _program_part(reply: str) -> str:
    """The reply without its fence, while it is still growing."""
    text = reply.split("```", 1)[-1] if "```" in reply else reply
    head, _, rest = text.partition("\n")
    text = rest if head.strip() in {"python", "sql", "py"} else text
    return text.split("```", 1)[0]


def _make() -> Any:
    return AskScreen()


ENTRY = ScreenEntry("ask", "Ask", "Ask questions; program and output side by side", "f2", 10, _make)
