"""A conversation about one working copy: follow-up questions, approved changes, undo.

The source is never touched. An approved change makes the copy the graph of the next questions; it can be written to a
new file at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nl2net.assistant.answer import Answer
from nl2net.assistant.loop import Assistant
from nl2net.assistant.options import AskOptions, Conversation, Hooks
from nl2net.assistant.store import Turn
from nl2net.errors import UserError
from nl2net.graphs import LoadedGraph, describe_graph, write_graph
from nl2net.model import Changes, Status
from nl2net.prompts import Example
from nl2net.sandbox.changes import apply_changes

_UNDO = re.compile(
    r"^\W*(?:please\s+)?(?:undo|revert|take (?:that|it) back)(?:\s+(?:that|it|this|the last change))?\W*$", re.I
)
_RESET = re.compile(r"^\W*(?:reset|new (?:topic|conversation)|forget (?:that|everything)|start over)\W*$", re.I)


@dataclass(slots=True)
class Session:
    """Questions in a row about a graph and its approved versions.

    Parameters
    ----------
    opener : callable
        Makes an assistant for a version of the graph; sandbox, store and library are shared between them.
    graph : LoadedGraph
        The first version.
    """

    opener: Callable[[LoadedGraph], Assistant]
    graph: LoadedGraph
    versions: list[LoadedGraph] = field(default_factory=list)
    pending: Answer | None = None
    conversation: Conversation | None = None
    _assistant: Assistant | None = None

    @property
    def assistant(self) -> Assistant:
        """The assistant of the present version."""
        if self._assistant is None:
            self._assistant = self.opener(self.graph)
        return self._assistant

    def ask(self, question: str, *, options: AskOptions | None = None, hooks: Hooks | None = None) -> Answer:
        """Ask in the context of the earlier turns; ``undo`` and ``reset`` are understood without a model."""
        if self.conversation is None:
            self.conversation = self.assistant.conversation()
        if _UNDO.match(question):
            return self._said(question, self.undo())
        if _RESET.match(question):
            self.conversation.reset()
            return self._said(question, "the conversation starts anew")
        answer = self.assistant.ask(question, options=options, conversation=self.conversation, hooks=hooks)
        self.propose(answer)
        return answer

    def _said(self, question: str, message: str) -> Answer:
        graph = {"name": self.graph.name, "fingerprint": self.graph.fingerprint}
        return Answer(Status.ANSWERED, 0, question, question, graph, message=message, egress=_nothing_sent())

    def resume(self, identifier: str, turns: Sequence[Turn]) -> None:
        """Go on with a conversation of the history.

        Parameters
        ----------
        identifier : str
            Of the conversation.
        turns : sequence of Turn
            Its newest turns, oldest first.

        Notes
        -----
        Placeholders are given in the order of the questions, so that asking again in that order gives the same ones.
        A turn whose masked question comes out differently, because the graph or earlier turns are not the same any
        more, is left out: its program would speak of other nodes.
        """
        conversation = self.assistant.conversation()
        conversation.id = identifier
        assert conversation.masker is not None
        for turn in turns:
            masked = conversation.masker.mask(turn.question)
            if turn.status == Status.ANSWERED and turn.program and turn.masked == masked.text:
                conversation.turns.append(Example(masked.text, turn.program, masked.lines))
                conversation.parent = turn.id
        self.conversation = conversation

    def propose(self, answer: Answer) -> None:
        """Take the changes of an answer, of a program that was edited by hand for instance, as the proposal."""
        self.pending = answer if answer.changes else None

    def renew(self) -> None:
        """Make the assistant anew at the next use: settings or library are others now."""
        self._assistant = None

    def restore(self, graph: object) -> None:
        """Take up a version that was approved in an earlier run of the program."""
        self._switch(self._described(graph), keep=self.graph)

    def approve(self) -> LoadedGraph:
        """Make the proposed change the working copy of the session.

        Raises
        ------
        UserError
            Nothing is proposed, or the graph has changed since.
        """
        if self.pending is None or not self.pending.changes:
            raise UserError("there is no proposed change to approve", hint="Ask for a change first.")
        if self.pending.graph["fingerprint"] != self.graph.fingerprint:
            raise UserError("the proposal was made for another version of the graph", hint="Ask again.")
        changed = apply_changes(self.graph.graph, self.pending.changes)
        self._switch(self._described(changed), keep=self.graph)
        self.pending = None
        return self.graph

    def reject(self) -> None:
        """Drop the proposed change."""
        self.pending = None

    def undo(self) -> str:
        """Go back to the version before the last approved change."""
        if self.pending is not None:
            self.reject()
            return "the proposed change was dropped"
        if not self.versions:
            return "there is nothing to undo"
        self._switch(self.versions.pop(), keep=None)
        return "back to the version before the last approved change"

    def export(self, path: Path) -> Path:
        """Write the working copy to a new file.

        Raises
        ------
        UserError
            The path is the source of the graph.
        """
        if self.graph.path is not None and path.resolve() == self.graph.path.resolve():
            raise UserError("a source is never overwritten", hint="Give a new file name.")
        write_graph(self.graph.graph, path)
        return path

    def difference(self) -> Changes | None:
        """The proposed change."""
        return self.pending.changes if self.pending else None

    def _described(self, graph: object) -> LoadedGraph:
        described = describe_graph(
            graph, name=self.graph.name, path=self.graph.path, schema_options=self.graph.schema_options,
            origin="working copy",
        )  # fmt: skip
        return replace(described, provenance={**self.graph.provenance, "working_copy": len(self.versions) + 1})

    def _switch(self, graph: LoadedGraph, *, keep: LoadedGraph | None) -> None:
        if keep is not None:
            self.versions.append(keep)
        self.graph = graph
        self._assistant = None
        if self.conversation is not None:
            # New names of the copy must be known to the masker; placeholders given so far stay.
            masker = self.assistant.conversation().masker
            if masker is not None and self.conversation.masker is not None:
                self.conversation.masker.index = masker.index
                self.conversation.masker.schema = masker.schema


def _nothing_sent() -> dict[str, object]:
    return {"requests": 0, "bytes": 0, "log": ""}
