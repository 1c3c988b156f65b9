"""Carries a verified program over to another graph and another question: attribute names by role, names and numbers."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Mapping
from io import StringIO

from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.words import NUMBER, PLACEHOLDER, STOP, canonical, measure_of, with_digits
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
            text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", new.replace("\\", r"\\"), text)
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

    Parameters
    ----------
    old, new : str
        Masked questions.
    program : str
        Program of the old question.

    Returns
    -------
    str or None
        ``None`` when a placeholder or number has no certain place: other kinds or another number of them, or a number
        that stands more than once in the question or nowhere in the program.

    Examples
    --------
    >>> rebind("Top 5 of NODE_1?", "the 3 of NODE_2", 'rank("NODE_1")[:5]')
    'rank("NODE_2")[:3]'
    >>> rebind("share of pod NODE_1 in zone NODE_2", "zone NODE_1: share of pod NODE_2?", 'f("NODE_1", "NODE_2")')
    'f("NODE_2", "NODE_1")'
    """
    old, new = with_digits(old), with_digits(new)
    names = _match_placeholders(old, new)
    numbers = _match_numbers(PLACEHOLDER.sub("", old), PLACEHOLDER.sub("", new), program)
    if names is None or numbers is None:
        return None
    table = {**names, **numbers}
    if not table:
        return program
    pattern = "|".join([PLACEHOLDER.pattern, *(_literal(before) for before in numbers)])
    return re.sub(pattern, lambda m: table.get(m.group(), m.group()), program)


def _match_placeholders(old: str, new: str) -> dict[str, str] | None:
    """Old to new: by the word before each where those words tell them apart, else by order."""
    ours, theirs = _with_context(old), _with_context(new)
    if sorted(token.split("_")[0] for token in ours) != sorted(token.split("_")[0] for token in theirs):
        return None
    contexts = list(ours.values())
    if len(set(contexts)) == len(contexts) and sorted(contexts) == sorted(theirs.values()):
        by_context = {context: token for token, context in theirs.items()}
        return {token: by_context[context] for token, context in ours.items()}
    if len(ours) > 1 and len(set(contexts)) > 1 and contexts != list(theirs.values()):
        return None  # the words before them differ, so order is no guide
    pairs = dict(zip(ours, theirs, strict=True))
    return None if any(a.split("_")[0] != b.split("_")[0] for a, b in pairs.items()) else pairs


def _with_context(question: str) -> dict[str, str]:
    """Each placeholder, in order, with the word before it in canonical form."""
    found: dict[str, str] = {}
    for match in PLACEHOLDER.finditer(question):
        before = [word for word in re.findall(r"[A-Za-z]+", question[: match.start()]) if word.lower() not in STOP]
        found.setdefault(match.group(), canonical(before[-1].lower()) if before else "")
    return found


def _match_numbers(old: str, new: str, program: str) -> dict[str, str] | None:
    """Literals of the program to what the new question makes of them."""
    ours, theirs = _scaled_numbers(old), _scaled_numbers(new)
    if len(ours) != len(theirs):
        return None
    changed: dict[str, str] = {}
    for (before, scale), (after, new_scale) in zip(ours, theirs, strict=True):
        if (before, scale) == (after, new_scale):
            continue
        literal, wanted = _number_text(before, scale), _number_text(after, new_scale)
        # A small number may stand in a program for another reason than the question: counting by ones, say.
        if literal in {"0", "1"} or [n for n, _ in ours].count(before) != 1:
            return None
        if (
            len(re.findall(_literal(literal), program.replace("_", ""))) != 1
            or len(re.findall(_literal(literal), program)) != 1
        ):
            return None
        changed[literal] = wanted
    return changed


_SCALES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SCALED = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)(?:\s*([kmgt])(?:i?bit/?s?|bps|b/s)?(?![a-z]))?(?![\w.]*\d)", re.IGNORECASE
)


def _scaled_numbers(question: str) -> list[tuple[str, int]]:
    return [(number, _SCALES.get(unit.lower(), 1)) for number, unit in _SCALED.findall(question)]


def _number_text(number: str, scale: int) -> str:
    return number if scale == 1 else str(int(float(number) * scale))


def _literal(number: str) -> str:
    return rf"(?<![\w.]){re.escape(number)}(?![\w.])"
