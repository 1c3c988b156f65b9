"""Agents without a model: ``random`` guesses, ``template`` matches regular expressions against the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from nl2net.benchmark.agents import AgentAnswer, PublicCase
from nl2net.benchmark.programs import ProgramRunner
from nl2net.golden.case import GraphSource
from nl2net.golden.catalogue import Intent, fill, intents, slots_used
from nl2net.golden.planning_graphs import FLAVOURS
from nl2net.golden.recipes import build_graph
from nl2net.golden.streams import Stream
from nl2net.model import Library, Status

_VOCABULARIES = 40  # enough seeds to meet every style of names
_SLOT = re.compile(r"\$\{?([a-z_][a-z_0-9]*)\}?", re.IGNORECASE)
_EDGES = re.compile(r"^(?:please: |hello, |quick one - |could you help\? )|(?: thanks!| thx)$", re.IGNORECASE)


class RandomAgent:
    """Answers with something that the network holds, of a random type. Its score is what guessing is worth."""

    name = "random"

    def __init__(self, seed: str = "1") -> None:
        self._seed = seed

    def start(self, case: PublicCase) -> None:
        """Nothing to forget."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """The same guess for the same case and seed."""
        stream = Stream("random-agent", self._seed, case.id)
        nodes = [str(node) for node in graph]
        guess: Any
        match stream.below(5):
            case 0:
                guess = stream.below(len(nodes) + 1)
            case 1:
                guess = stream.pick(nodes)
            case 2:
                guess = stream.sample(nodes, stream.between(1, min(5, len(nodes))))
            case 3:
                guess = [[node, stream.below(100)] for node in stream.sample(nodes, min(3, len(nodes)))]
            case _:
                graph.remove_node(stream.pick(nodes))
                guess = graph
        return AgentAnswer(Status.ANSWERED, result=guess)


@dataclass(frozen=True, slots=True)
class Template:
    """A development wording as a regular expression, with the program that answers it."""

    pattern: re.Pattern[str]
    intent: Intent


class TemplateAgent:
    """Knows every development wording and every vocabulary, and understands nothing.

    A suite that this agent does well on is one that can be gamed. Its programs are filled with words of the question,
    and run in the sandbox like any other.
    """

    name = "template"

    def __init__(self, runner: ProgramRunner) -> None:
        self._runner = runner

    def start(self, case: PublicCase) -> None:
        """Nothing to forget."""

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        """Fill the program of the first wording that fits."""
        words = vocabulary(case.application, graph)
        question = _EDGES.sub("", case.question.strip())
        for template in templates(case.application, tuple(sorted(words.items()))):
            found = template.pattern.fullmatch(question)
            if found is None:
                continue
            if template.intent.outcome is not Status.ANSWERED:
                return AgentAnswer(template.intent.outcome, message=" ".join(template.intent.missing))
            program = fill_program(template.intent, found.groupdict(), words, graph)
            if program is not None:
                ran = self._runner.run(program, graph)
                return ran.answer(tool_s=ran.report.wall_s, programs=1)
        return AgentAnswer(Status.CANNOT_ANSWER, message="no known wording")


@cache
def _vocabularies(application: str) -> tuple[Mapping[str, str], ...]:
    if application == "planning":
        sources = [GraphSource("planning", "words", {"flavour": name, "size": "small"}) for name in FLAVOURS]
    else:
        sources = [GraphSource("traffic", f"words-{n}", {"nodes": 12}) for n in range(_VOCABULARIES)]
    return tuple(build_graph(source).words for source in sources)


def vocabulary(application: str, graph: Any) -> dict[str, str]:
    """Words for kinds and attributes that fit a graph; those of a site or a role are looked up one by one."""
    present = {name for _, data in graph.nodes(data=True) for name in data}
    present |= {name for *_, data in graph.edges(data=True) for name in data}
    present |= {str(data["kind"]) for _, data in graph.nodes(data=True) if "kind" in data}
    known = _vocabularies(application)
    own = ("SWITCH", "PORT", "cap") if application == "planning" else ("bytes", "packets", "flows", "addr")
    fitting = next((words for words in known if all(words[name] in present for name in own)), known[0])
    single = {
        name: next((words[name] for words in known if words[name] in present), fitting[name])
        for name in ("site_attr", "role_attr")
        if name in fitting
    }
    return {**fitting, **single}


@cache
def templates(application: str, words: tuple[tuple[str, str], ...]) -> tuple[Template, ...]:
    """Every development wording with the vocabulary filled in; the longest first, since they say most."""
    made = list(_templates(application, dict(words)))
    return tuple(sorted(made, key=lambda template: -len(template.pattern.pattern)))


def _templates(application: str, words: Mapping[str, str]) -> Iterator[Template]:
    for intent in intents(application):
        for form in intent.dev:
            pattern, position = "", 0
            seen: set[str] = set()
            for slot in _SLOT.finditer(form):
                pattern += re.escape(form[position : slot.start()])
                name = slot[1]
                if name in words:
                    pattern += re.escape(words[name])
                else:
                    pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
                    seen.add(name)
                position = slot.end()
            pattern += re.escape(form[position:])
            yield Template(re.compile(pattern, re.IGNORECASE), intent)


def fill_program(intent: Intent, found: Mapping[str, str], words: Mapping[str, str], graph: Any) -> str | None:
    """The program of an intent with what the question said, or ``None`` if it needs more than that."""
    values = {**words, **found}
    for name, text in found.items():
        stem = name.removesuffix("_name").removesuffix("_word")
        if name.endswith("_name"):
            node = next((n for n, data in graph.nodes(data=True) if data.get("name", n) == text), None)
            values.setdefault(stem, str(node))
        elif name.endswith("_word") and text in words:
            values.setdefault(stem, words[text])
    program = intent.programs[Library.NETWORKX]
    if not slots_used(program) <= values.keys() or any('"' in text or "\\" in text for text in found.values()):
        return None
    return fill(program, values)
