"""What the screens work on: the open graph, its session, the history. Nothing here knows of Textual.

Every method may take seconds, so screens call them in threads; only one question or run is under way at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nl2net.config import Settings
from nl2net.errors import Nl2netError, UserError
from nl2net.locations import Locations
from nl2net.tui.state import Remembered

if TYPE_CHECKING:
    from nl2net.assistant import Answer, Assistant, Hooks, Store
    from nl2net.assistant.session import Session
    from nl2net.assistant.store import Turn
    from nl2net.graphs import LoadedGraph, ReadOptions
    from nl2net.model import Library
    from nl2net.sandbox import Sandbox
    from nl2net.tui.recall import Shown

FIRST_GRAPH = "abilene"


@dataclass(frozen=True, slots=True)
class GraphChoice:
    """One line of the graph picker."""

    name: str
    summary: str
    origin: str  # "yours" or "sample"


@dataclass(slots=True)
class Desk:
    """Working state of one run of the application.

    Parameters
    ----------
    settings, locations : Settings, Locations
    environ : mapping, optional
        Environment for the model client, default ``os.environ``.
    accept_unsealed : bool
        ``--i-accept-unsealed-execution`` of the command line.
    """

    settings: Settings
    locations: Locations
    environ: Mapping[str, str] | None = None
    accept_unsealed: bool = False
    read_options: ReadOptions | None = None
    memory: Remembered = field(default_factory=Remembered)
    session: Session | None = None
    source: str = ""
    shown: list[Shown] = field(default_factory=list)
    _store: Store | None = None
    _sandbox: Sandbox | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # ---- shared parts -------------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The history."""
        with self._lock:
            if self._store is None:
                from nl2net.assistant import Store

                self._store = Store(self.locations.store)
            return self._store

    @property
    def sandbox(self) -> Sandbox:
        """One sandbox for all graphs."""
        with self._lock:
            if self._sandbox is None:
                from nl2net.sandbox import Limits, Sandbox

                seconds = self.settings.timeout_s
                limits = Limits(wall_s=seconds, cpu_s=seconds, memory_mb=self.settings.memory_mb)
                self._sandbox = Sandbox(limits=limits, accept_unsealed=self.accept_unsealed)
            return self._sandbox

    @property
    def graph(self) -> LoadedGraph | None:
        """The graph in view: the working copy of the session."""
        return self.session.graph if self.session is not None else None

    def close(self) -> None:
        """End the workers and close the history."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
            store, self._store = self._store, None
        if sandbox is not None:
            sandbox.close()
        if store is not None:
            store.close()

    def remember(self, **changes: Any) -> None:
        """Save small things for the next start."""
        self.memory = self.memory.updated(self.locations, **changes)

    # ---- graphs -------------------------------------------------------------------------------------------------

    def choices(self) -> list[GraphChoice]:
        """Registered graphs first, then the shipped samples."""
        from nl2net.graphs import all_samples, list_registered

        own = [GraphChoice(entry.name, str(entry.path), "yours") for entry in list_registered(self.locations)]
        return [*own, *(GraphChoice(sample.name, sample.summary, "sample") for sample in all_samples())]

    def open(self, source: str, *, conversation: str = "") -> LoadedGraph:
        """Load a graph and take up a conversation about it, or begin one."""
        from nl2net.graphs import ReadOptions, load_graph

        options = self.read_options or ReadOptions()
        graph = load_graph(source, options, locations=self.locations, settings=self.settings)
        self._take_up(graph, source, conversation)
        return graph

    def _take_up(self, graph: LoadedGraph, source: str, conversation: str) -> None:
        from nl2net.assistant.session import Session
        from nl2net.tui.copies import reopen_copy
        from nl2net.tui.recall import recall_conversation

        session = Session(self._assistant, graph)
        shown = recall_conversation(self.store, conversation) if conversation else []
        if shown:
            session.resume(conversation, self.store.turns(limit=8, conversation=conversation)[::-1])
            reopen_copy(session, self.locations, conversation)
        self.session, self.source, self.shown = session, source, shown
        path = Path(source)
        kept = str(path.resolve()) if path.exists() else source
        self.remember(graph=kept, conversation=conversation if shown else "")

    def _assistant(self, graph: LoadedGraph) -> Assistant:
        from nl2net.assistant import Assistant
        from nl2net.assistant.opening import open_client, open_library

        environ = dict(os.environ if self.environ is None else self.environ)
        return Assistant(
            graph,
            sandbox=self.sandbox,
            settings=self.settings,
            locations=self.locations,
            client_factory=lambda gate: open_client(gate, self.settings, self.locations, environ),
            library=open_library(self.locations),
            store=self.store,
        )

    def new_conversation(self) -> None:
        """Begin anew about the same graph; the old turns stay in the history."""
        session = self._needed()
        session.conversation = None
        session.reject()
        self.shown = []
        self.remember(conversation="")

    def _needed(self) -> Session:
        if self.session is None:
            raise UserError("no graph is open", hint="Choose one with the graph picker.")
        return self.session

    def set_settings(self, settings: Settings) -> None:
        """New settings; graph and conversation stay, workers and client are made anew."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()
        self.settings = settings
        if self.session is not None:
            self.session.renew()

    # ---- questions ----------------------------------------------------------------------------------------------

    def ask(self, question: str, hooks: Hooks) -> Shown:
        """Ask in the conversation; failures of the endpoint or a cancelled run are kept as turns, too."""
        from nl2net.assistant import AskOptions
        from nl2net.tui.copies import drop_copy
        from nl2net.tui.recall import SENT, Shown

        session = self._needed()
        settings = self.settings
        options = AskOptions(
            library=settings.library, samples=settings.samples, repairs=settings.repairs, mask=settings.mask,
            threshold=settings.threshold,
        )  # fmt: skip
        try:
            answer = session.ask(question, options=options, hooks=hooks)
        except Nl2netError as error:
            answer = self._failure(question, error, cancelled=bool(hooks.cancel and hooks.cancel.is_set()))
        drop_copy(session, self.locations)  # "undo" may have been asked for in words
        shown = Shown(answer, answer.turn, list(answer.attempts))
        if answer.bodies and answer.turn:
            self.store.event(answer.turn, SENT, {"bodies": list(answer.bodies)})
        self.shown.append(shown)
        if session.conversation is not None and answer.turn:
            self.remember(conversation=session.conversation.id)
        return shown

    def _failure(self, question: str, error: Nl2netError, *, cancelled: bool) -> Answer:
        from nl2net.tui.recall import answer_of

        session = self._needed()
        conversation = session.conversation
        turns = self.store.turns(limit=1, conversation=conversation.id) if conversation else []
        text = "cancelled" if cancelled else f"{error} {error.hint}".strip()
        if turns and turns[0].question == question:
            egress = session.assistant.gate.egress
            return replace(answer_of(turns[0], tuple(egress.bodies)), message=text)
        from nl2net.assistant import Answer
        from nl2net.model import Status

        facts = {"name": session.graph.name, "fingerprint": session.graph.fingerprint}
        return Answer(Status.FAILED, error.exit_code, question, "", facts, message=text)

    def new_shown(self, question: str) -> Shown:
        """A turn for a program that nobody asked a question for."""
        from nl2net.assistant import Answer
        from nl2net.model import Status
        from nl2net.tui.recall import Shown

        session = self._needed()
        facts = {"name": session.graph.name, "fingerprint": session.graph.fingerprint}
        shown = Shown(Answer(Status.ANSWERED, 0, question, "", facts))
        self.shown.append(shown)
        return shown

    def rerun(self, shown: Shown, program: str, library: Library, cancel: threading.Event) -> Shown:
        """Run an edited program without a model; the attempt is kept with its findings."""
        from nl2net.tui.review import run_edited

        return run_edited(self._needed(), self.store, shown, program=program, library=library, cancel=cancel)

    def replay(self, turn: Turn, source: str = "") -> Shown:
        """Run the program of a turn on the open graph, or on another one, without a model."""
        from nl2net.assistant import Script, run_script
        from nl2net.graphs import load_graph
        from nl2net.model import Library
        from nl2net.tui.recall import Shown

        if source:
            graph = load_graph(source, locations=self.locations, settings=self.settings)
            assistant = self._assistant(graph)
        else:
            assistant = self._needed().assistant
        header = {"question": turn.question, "schema": turn.schema_hash}
        answer = run_script(assistant, Script(turn.bound or "", Library(turn.library or "networkx"), header))
        return Shown(answer, turn.id, list(answer.attempts))

    # ---- changes ------------------------------------------------------------------------------------------------

    def approve_change(self) -> str:
        """Make the proposed change the working copy, and keep it on disk."""
        from nl2net.tui.copies import keep_copy

        session = self._needed()
        turn = session.pending.turn if session.pending else 0
        session.approve()
        keep_copy(session, self.locations)
        if turn:
            self.store.event(turn, "tui.change", {"approved": session.graph.fingerprint})
        return f"approved: version {len(session.versions)} is the graph of the next questions"

    def reject_change(self) -> str:
        """Drop the proposal."""
        session = self._needed()
        if session.pending is None:
            return "no change is proposed"
        session.reject()
        return "the proposed change was dropped"

    def undo(self) -> str:
        """Back to the version before."""
        from nl2net.tui.copies import drop_copy

        session = self._needed()
        said = session.undo()
        drop_copy(session, self.locations)
        return said
