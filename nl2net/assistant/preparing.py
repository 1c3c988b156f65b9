"""Everything before the model: what is stopped locally, which examples fit, and the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from nl2net.assistant import screen
from nl2net.assistant.entries import Found
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.masking import Masker
from nl2net.assistant.options import AskOptions
from nl2net.assistant.screen import Verdict
from nl2net.assistant.state import AskState
from nl2net.assistant.wording import expected_type, is_change, without_courtesy
from nl2net.graphs import LoadedGraph
from nl2net.model import GraphSchema, Library, Status
from nl2net.prompts import Example, Message, build_messages, question_text, render, system_text
from nl2net.sandbox.outcome import Facts

_DIRECTION = re.compile(
    r"\b(?:sen[dt]s?|sending|receiv\w+|outgoing|incoming|from .* to|sources?|destinations?)\b", re.I
)
_NEAR_TYPE = 0.55  # similarity from which the result type of a library question is believed
_ORDER = re.compile(r"\b(?:rank\w*|sort\w*|order\w*|top|highest first|descending|ascending)\b", re.I)


@dataclass(frozen=True, slots=True)
class Preparer:
    """Prepares the questions about one graph."""

    graph: LoadedGraph
    library: ProgramLibrary

    def stop(self, state: AskState, masker: Masker, options: AskOptions, *, follow_up: bool) -> Verdict | None:
        """What needs no model: refused, unclear, impossible or out of scope.

        Notes
        -----
        A question with a harmless half goes on with that half; the refusal is told with its answer.
        """
        refused = screen.unsafe(state.question)
        if refused is not None:
            if not refused.rest:
                return refused
            state.refusal = refused.message
            state.masked = masker.mask(refused.rest)
        unclear = None if options.assume else _unclear(state)
        if unclear is not None or follow_up:
            return unclear
        return self._judge(state, options)

    def _judge(self, state: AskState, options: AskOptions) -> Verdict | None:
        schema, text = self.graph.schema, state.masked.text
        state.caveats += screen.proxy_notes(text, schema)
        spelt = self.library.corrected(text, schema)
        readings = (text,) if spelt == text else (text, spelt)
        verdicts = (
            screen.out_of_scope(without_courtesy(state.question), schema, has_entities=bool(state.masked.placeholders)),
            *(screen.missing_concept(reading, schema) for reading in readings),
            *(screen.no_paths(reading, schema) for reading in readings),
            None if options.assume else screen.vague(text, schema),
            None if options.assume else screen.unfinished(text),
            screen.incomplete(text, schema),
        )
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def prompt(
        self, state: AskState, options: AskOptions, *, budget_tokens: int, history: Sequence[Example] = ()
    ) -> list[Message]:
        """The messages of a question; fills ``found`` and ``facts`` of its state."""
        text = state.masked.text
        expected = expected_type(text)
        schema: GraphSchema = self.graph.schema
        state.found = self.library.search(
            text,
            schema,
            library=state.library,
            k=options.examples,
            expected=expected,
            unseen_wording=options.unseen_wording,
        )
        state.facts = _with_nearest(facts_of(text, state.masked.bindings), state.found)
        system = system_text(schema, library=state.library, question=text, budget_tokens=budget_tokens)
        examples = [Example(found.question, found.program) for found in state.found]
        asked = question_text(text, entities=state.masked.lines, expected=_ask_for(expected, state.found))
        last = {"role": "user", "content": asked}
        return build_messages(system, examples, last, library=state.library, history=history)


def facts_of(text: str, placeholders: Sequence[str] | dict[str, str]) -> Facts:
    """What the lint may know of a masked question."""
    return Facts(
        expected=expected_type(text),
        placeholders=tuple(placeholders),
        is_change=is_change(text),
        asks_direction=bool(_DIRECTION.search(text)),
        asks_order=bool(_ORDER.search(text)),
    )


def _with_nearest(facts: Facts, found: Sequence[Found]) -> Facts:
    """Where the words do not tell the asked type, a near question of the library does."""
    if facts.expected or not found or found[-1].score < _NEAR_TYPE:
        return facts
    kind = found[-1].entry.result_type
    return replace(facts, expected=kind, is_change=facts.is_change or kind == "graph")


def choose_library(wanted: str, graph: LoadedGraph) -> Library:
    """The program library of a question.

    Notes
    -----
    ``auto`` is networkx: the built-in model and the published ones are best at it (see docs/accuracy.md), and one
    library keeps prompts and caches stable.
    """
    return Library.NETWORKX if wanted == "auto" else Library(wanted)


def fixed_text(library: ProgramLibrary) -> str:
    """Public text that requests may contain: every template, and every question and program of the library."""
    folder = files("nl2net.prompts").joinpath("templates")
    parts = [item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".j2")]
    parts += [text for entry in library.entries for text in (entry.question, entry.program)]
    return "\n".join(parts)


def _unclear(state: AskState) -> Verdict | None:
    if not state.masked.ambiguities:
        return None
    first = state.masked.ambiguities[0]
    choices = tuple(label for label, _ in first.choices)
    message = render(
        "clarify.j2", word=repr(first.word), reason="is the name of several nodes", ask="Which one?", choices=choices
    )
    return Verdict(Status.NEEDS_CLARIFICATION, message, choices=choices)


def _ask_for(expected: str, found: Sequence[Found]) -> str:
    """State the asked type only where words and the nearest example do not contradict each other."""
    nearest = found[-1].entry.result_type if found else ""
    return expected if expected in {"graph", "figure"} or not nearest or nearest == expected else ""
