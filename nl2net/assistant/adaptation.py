"""Carries a verified program over to another graph and another question: attribute names by role, names and numbers."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Mapping
from io import StringIO

from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.words import NUMBER, PLACEHOLDER, measure_of, with_digits
from nl2net.model import AttributeSchema, GraphSchema


def adapt(entry: Entry, schema: GraphSchema) -> tuple[str, str] | None:
    """Rewrite the attribute names of an entry for a schema by role.

    Returns
    -------
    (str, str) or None
        Question and program; ``None`` when a role or a kind has no counterpart.
    """
    renamed: dict[str, str] = {}
    for name, (owner, role) in entry.roles.items():
        target = _counterpart(name, owner, role, schema)
        if target is None:
            return None
        renamed[name] = target
    if entry.kinds and not {*schema.node_kinds, *schema.edge_kinds}.issuperset(entry.kinds):
        return None
    program = (
        replace_strings(entry.program, renamed) if entry.library != "sql" else _replace_words(entry.program, renamed)
    )
    return _replace_words(entry.question, renamed), program


def _counterpart(name: str, owner: str, role: str, schema: GraphSchema) -> str | None:
    """The attribute that measures the same thing; numeric and widely present ones first."""
    same = schema.attribute(owner, name)
    if same is not None or name in {"name", "kind", "id"}:
        return name
    measure = measure_of(name, role)
    fitting = [a for a in schema.attributes_of(owner) if measure and measure_of(a.public_name, a.role) == measure]
    numeric = [a for a in fitting if a.type in {"integer", "number"}]
    best: AttributeSchema | None = max(numeric or fitting, key=lambda a: a.count, default=None)
    return None if best is None else best.public_name


def _replace_words(text: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        if old != new:
            text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", lambda _, n=new: n, text)
    return text


def replace_strings(program: str, renamed: Mapping[str, str]) -> str:
    """Replace whole string literals of a Python program, leaving everything else as it is.

    Examples
    --------
    >>> replace_strings('sum(d["bytes"] for d in x)', {"bytes": "octets"})
    'sum(d["octets"] for d in x)'
    """
    changes = {old: new for old, new in renamed.items() if old != new}
    if not changes:
        return program
    lines = program.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(StringIO(program).readline))
    except (tokenize.TokenError, IndentationError):
        return program
    for token in reversed(tokens):
        body = token.string[1:-1]
        if token.type == tokenize.STRING and token.string[0] in "'\"" and body in changes:
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = line[: start + 1] + changes[body] + line[end - 1 :]
    return "".join(lines)


def replay(entries: Iterable[Entry], question: str, schema: GraphSchema) -> Found | None:
    """An approved program whose masked question is the same but for placeholders and numbers.

    A number is rebound only where it stands once in the entry's question and once in its program.
    """
    form = _form(question)
    for entry in entries:
        if entry.origin != "approved" or _form(entry.question) != form:
            continue
        adapted = adapt(entry, schema)
        if adapted is None or entry.directed != schema.graph_class.directed or entry.multi != schema.graph_class.multi:
            continue
        program = rebind(entry.question, question, adapted[1])
        if program is not None:
            return Found(entry, program, question, 1.0)
    return None


def _form(question: str) -> str:
    text = PLACEHOLDER.sub(lambda m: m.group().split("_")[0] + "_", with_digits(question))
    return " ".join(re.findall(r"\w+|#", NUMBER.sub("#", text).lower()))


def rebind(old: str, new: str, program: str) -> str | None:
    """Carry the placeholders and numbers of a new question into the program of an old one.

    Returns
    -------
    str or None
        ``None`` when a placeholder or number has no certain place: other kinds or another number of them, or a number
        that stands more than once in the question or nowhere in the program.

    Examples
    --------
    >>> rebind("Top 5 of NODE_1?", "the 3 of NODE_2", 'rank("NODE_1")[:5]')
    'rank("NODE_2")[:3]'
    """
    names = list(zip(PLACEHOLDER.findall(old), PLACEHOLDER.findall(new), strict=False))
    if len(PLACEHOLDER.findall(old)) != len(PLACEHOLDER.findall(new)):
        return None
    if any(a.split("_")[0] != b.split("_")[0] for a, b in names):
        return None
    old, new = (PLACEHOLDER.sub("", with_digits(text)) for text in (old, new))
    numbers = (NUMBER.findall(old), NUMBER.findall(new))
    if len(numbers[0]) != len(numbers[1]):
        return None
    changed = [(before, after) for before, after in zip(*numbers, strict=True) if before != after]
    for before, _ in changed:
        if numbers[0].count(before) != 1 or len(_in_program(before, program)) != 1:
            return None
    table = {**dict(names), **dict(changed)}
    pattern = "|".join([PLACEHOLDER.pattern, *(rf"(?<![\w.]){re.escape(before)}(?![\w.])" for before, _ in changed)])
    return re.sub(pattern, lambda m: table.get(m.group(), m.group()), program)


def _in_program(number: str, program: str) -> list[str]:
    return re.findall(rf"(?<![\w.]){re.escape(number)}(?![\w.])", program)
