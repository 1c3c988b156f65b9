"""Carries a verified program over to another graph and another question: attribute names by role, names and numbers."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Mapping
from io import StringIO

from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.words import NUMBER, PLACEHOLDER
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
    if schema.attribute(owner, name) is not None or name in {"name", "kind", "id"}:
        return name
    fitting = [a for a in schema.attributes_of(owner) if role and a.role == role]
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
        program = _rebind(entry.question, question, adapted[1])
        if program is not None:
            return Found(entry, program, question, 1.0)
    return None


def _form(question: str) -> str:
    text = PLACEHOLDER.sub(lambda m: m.group().split("_")[0] + "_", question)
    return " ".join(re.findall(r"\w+|#", NUMBER.sub("#", text).lower()))


def _rebind(old: str, new: str, program: str) -> str | None:
    """Carry placeholders and numbers of the new question into the program of the old one."""
    pairs = list(zip(PLACEHOLDER.findall(old), PLACEHOLDER.findall(new), strict=False))
    if len({a for a, _ in pairs}) != len({b for _, b in pairs}):
        return None
    mapping = dict(pairs)
    program = PLACEHOLDER.sub(lambda m: mapping.get(m.group(), m.group()), program)
    numbers_old, numbers_new = NUMBER.findall(PLACEHOLDER.sub("", old)), NUMBER.findall(PLACEHOLDER.sub("", new))
    for before, after in zip(numbers_old, numbers_new, strict=False):
        if before == after:
            continue
        if numbers_old.count(before) != 1 or len(re.findall(rf"(?<![\w.]){re.escape(before)}(?![\w.])", program)) != 1:
            return None
        program = re.sub(rf"(?<![\w.]){re.escape(before)}(?![\w.])", after, program)
    return program
