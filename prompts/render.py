"""Renders the prompt templates. A template's version and hash go into the provenance of every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from nl2net.model import GraphSchema, Library
from nl2net.prompts.schema_text import render_schema

# Raise it when the wording of any template changes; the hash below catches forgotten raises.
TEMPLATE_VERSION = "1"

# How a result type is asked for, in the words that small models follow best.
EXPECTED_WORDS: Mapping[str, str] = {
    "number": "a number",
    "text": "a text or True or False",
    "list": "a list",
    "table": "a list of tuples or a dict, one entry per row",
    "graph": "the changed copy of the graph",
    "figure": 'a dict {"figure": "bar" or "line" or "scatter" or "histogram", "table": rows to draw}',
    "node": "one node id",
    "path": "a list of node ids",
    "boolean": "True or False",
}

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """A verified question-program pair, masked, as it is shown to a model."""

    question: str
    program: str
    entities: tuple[str, ...] = ()
    expected: str = ""


@cache
def _environment() -> Environment:
    folder = files("nl2net.prompts").joinpath("templates")
    sources = {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".j2")}
    # Prompts are plain text for a model, not HTML: escaping would corrupt programs.
    return Environment(loader=DictLoader(sources), undefined=StrictUndefined, autoescape=False)  # noqa: S701


@cache
def template_hash() -> str:
    """First 12 hex digits of the SHA-256 over all templates, by name."""
    loader = _environment().loader
    assert isinstance(loader, DictLoader)
    text = "\0".join(f"{name}\0{source}" for name, source in sorted(loader.mapping.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def render(name: str, **values: Any) -> str:
    """Render one template.

    Examples
    --------
    >>> print(render("question.j2", question="How many nodes?", entities=[], expected="a number"))
    Question: How many nodes?
    Return a number.
    """
    return _environment().get_template(name).render(**values).strip()


def system_text(schema: GraphSchema, *, library: Library, question: str = "", budget_tokens: int | None = None) -> str:
    """The stable part of a prompt: contract, schema and notes."""
    return render(
        f"system.{library}.j2",
        schema=render_schema(schema, question=question, budget_tokens=budget_tokens),
        graph_class=schema.graph_class.name,
        directed=schema.graph_class.directed,
    )


def question_text(question: str, *, entities: Sequence[str] = (), expected: str = "") -> str:
    """The last part of a prompt: the masked question, its placeholders, the asked result type."""
    return render("question.j2", question=question, entities=list(entities), expected=EXPECTED_WORDS.get(expected, ""))


def fence(program: str, library: Library) -> str:
    """A program as a fenced block."""
    language = "sql" if library is Library.SQL else "python"
    return f"```{language}\n{program.strip()}\n```"


def build_messages(
    system: str, examples: Sequence[Example], question: Message, *, library: Library, history: Sequence[Example] = ()
) -> list[Message]:
    """Chat messages in the order that a prefix cache likes: system, examples, earlier turns, question.

    Examples are shown as finished turns, the form that small models imitate best.
    """
    messages: list[Message] = [{"role": "system", "content": system}]
    for example in (*examples, *history):
        asked = question_text(example.question, entities=example.entities, expected=example.expected)
        messages.append({"role": "user", "content": asked})
        messages.append({"role": "assistant", "content": fence(example.program, library)})
    messages.append(question)
    return messages


def repair_messages(
    messages: Sequence[Message],
    program: str,
    *,
    library: Library,
    message: str,
    hint: str = "",
    line: int | None = None,
) -> list[Message]:
    """Extend a conversation by the failed program and one scrubbed finding."""
    ask = render("repair.j2", message=message, hint=hint, line=line)
    return [
        *messages,
        {"role": "assistant", "content": fence(program, library)},
        {"role": "user", "content": ask},
    ]
