"""Carries a verified program over to another graph and another question: attribute names by role, names and numbers."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO

from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.words import (
    NUMBER,
    PLACEHOLDER,
    STOP,
    canonical,
    measure_in,
    measure_of,
    with_digits,
    with_measure,
)
from nl2net.model import AttributeSchema, GraphSchema


def adapt(entry: Entry, schema: GraphSchema, *, asked: str = "") -> tuple[str, str] | None:
    """Rewrite the attribute names of an entry for a schema by role.

    Parameters
    ----------
    entry : Entry
    schema : GraphSchema
    asked : str
        The one measure of traffic that the question names (``bytes``, ``packets``, ``flows``): an entry about another
        one is carried over to it. An entry about several keeps them.

    Returns
    -------
    (str, str) or None
        Question and program; ``None`` when a role or a kind has no counterpart.
    """
    own = measure_of_entry(entry)
    aimed = asked if own and asked else own
    renamed: dict[str, str] = {}
    for name, (owner, role) in entry.roles.items():
        target = _counterpart(name, owner, role, schema, aimed if own and measure_of(name, role) == own else "")
        if target is None:
            return None
        renamed[name] = target
    if entry.kinds and not {*schema.node_kinds, *schema.edge_kinds}.issuperset(entry.kinds):
        return None
    program = (
        replace_strings(entry.program, renamed) if entry.library != "sql" else _replace_words(entry.program, renamed)
    )
    question = _replace_words(entry.question, renamed)
    return (question if aimed == own else with_measure(question, own, aimed)), program


def measure_of_entry(entry: Entry) -> str:
    """The only measure of traffic among the attributes of a program, or ``""``."""
    return measure_in({measure_of(name, role) for name, (_, role) in entry.roles.items()})


def _counterpart(name: str, owner: str, role: str, schema: GraphSchema, aimed: str = "") -> str | None:
    """The attribute that measures the same thing, or what is asked instead; numeric and widely present ones first."""
    measure = aimed or measure_of(name, role)
    same = schema.attribute(owner, name)
    if (same is not None and measure_of(name, role) == measure) or name in {"name", "kind", "id"}:
        return name
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
    old, new = with_digits(old, one=False), with_digits(new, one=False)
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
    """Old to new, sort by sort; within a sort by direction or by the word before each, else by order.

    ``None`` where the sorts differ, or where words tell that order is no guide.
    """
    ours, theirs = _placeholders(old), _placeholders(new)
    if sorted(map(_sort, ours)) != sorted(map(_sort, theirs)):
        return None
    table: dict[str, str] = {}
    for sort in dict.fromkeys(map(_sort, ours)):
        left, right = ([p for p in both if _sort(p) == sort] for both in (ours, theirs))
        pairs = _match_sort(left, right)
        if pairs is None:
            return None
        table.update(pairs)
    return table


@dataclass(frozen=True, slots=True)
class _Place:
    """A placeholder: the content word before it, the direction that words give it, the text since the one before."""

    token: str
    word: str
    direction: str
    gap: str
    number: int


_FROM = re.compile(
    r"\b(?:from|starting at|source|instead of|in place of|rather than|replac\w+|no longer)\b\W*(?:\w+\W+){0,4}$", re.I
)
_TO = re.compile(r"\b(?:to|into|towards?|reach(?:es)?|destination|under)\b\W*(?:\w+\W+){0,3}$", re.I)
_ONLY_JOINED = re.compile(r"\W*(?:and|or|with|vs|versus)?\W*", re.I)
_JOINED = re.compile(r"\W*(?:,|-|\b(?:and|or|with|vs|versus|to|than))\W+(?:[a-z]+\W+){0,3}|\W+", re.I)


def _sort(place: _Place) -> str:
    return place.token.split("_")[0]


def _placeholders(question: str) -> list[_Place]:
    """Each placeholder, in order of its first mention."""
    found: dict[str, _Place] = {}
    end = 0
    for match in PLACEHOLDER.finditer(question):
        before = [word for word in re.findall(r"[A-Za-z]+", question[: match.start()]) if word.lower() not in STOP]
        gap = question[end : match.start()]
        direction = "from" if _FROM.search(gap) else "to" if _TO.search(gap) else ""
        word = canonical(before[-1].lower()) if before else ""
        if found and _ONLY_JOINED.fullmatch(gap):
            word = next(reversed(found.values())).word  # "blocks NODE_1 and NODE_2": one word for both
        found.setdefault(match.group(), _Place(match.group(), word, direction, gap, len(found)))
        end = match.end()
    return list(found.values())


def _match_sort(ours: list[_Place], theirs: list[_Place]) -> dict[str, str] | None:
    if len(ours) == 1:
        return {ours[0].token: theirs[0].token}
    words = [[place.word for place in side] for side in (ours, theirs)]
    if len(ours) > 2 and len(set(words[0])) > 1 and sorted(words[0]) == sorted(words[1]):
        table: dict[str, str] = {}
        for word in dict.fromkeys(words[0]):
            part = _match_sort([p for p in ours if p.word == word], [p for p in theirs if p.word == word])
            if part is None:
                return None
            table.update(part)
        return table
    if len(ours) == 2:
        return _match_pair(ours, theirs)
    return {a.token: b.token for a, b in zip(ours, theirs, strict=True)} if words[0] == words[1] else None


def _match_pair(ours: list[_Place], theirs: list[_Place]) -> dict[str, str] | None:
    """By direction; else by the words before them; else, in "NODE_1 and NODE_2", by order."""
    left, right = _leaving_first(ours), _leaving_first(theirs)
    words, other = [p.word for p in ours], [p.word for p in theirs]
    told = left is not None and right is not None
    if not told and len(set(words)) == 2 and sorted(words) == sorted(other):
        left, right = sorted(ours, key=lambda p: p.word), sorted(theirs, key=lambda p: p.word)
    else:
        alike = ours[1].gap.lower().split() == theirs[1].gap.lower().split()
        left = left or (ours if alike or _joined(ours) else None)
        right = right or (theirs if alike or _joined(theirs) else None)
    if left is None or right is None:
        return None
    return {a.token: b.token for a, b in zip(left, right, strict=True)}


def _joined(pair: list[_Place]) -> bool:
    first, second = pair
    return second.number == first.number + 1 and _JOINED.fullmatch(second.gap) is not None


def _leaving_first(pair: list[_Place]) -> list[_Place] | None:
    """Two placeholders as (from, to), where words tell."""
    first, second = pair
    if first.direction == second.direction:
        return None
    return pair if first.direction == "from" or second.direction == "to" else [second, first]


def _match_numbers(old: str, new: str, program: str) -> dict[str, str] | None:
    """Literals of the program to what the new question makes of them."""
    pairs = _number_pairs(_numbers(old), _numbers(new))
    if pairs is None:
        return None
    changed: dict[str, str] = {}
    for before, after in pairs:
        if changed.setdefault(before.text, after.text) != after.text:
            return None  # one number of the old question would have to become two
    changed = {before: after for before, after in changed.items() if before != after}
    for literal in changed:
        # A small number may stand in a program for another reason than the question: counting by ones, say.
        if literal in {"0", "1"} or len(re.findall(_literal(literal), program)) != 1:
            said = sum(before.text == literal for before, _ in pairs)
            if literal in {"0", "1"} or len(re.findall(_literal(literal), program)) != said:
                return None
    return changed


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as a program writes it, what kind of number it is, and the content word before it."""

    text: str
    sort: str
    word: str


def _number_pairs(ours: list[_Number], theirs: list[_Number]) -> list[tuple[_Number, _Number]] | None:
    """Numbers that mean the same: by sort, within a sort by the word before; ``None`` where neither tells."""
    if sorted(n.sort for n in ours) != sorted(n.sort for n in theirs):
        # A threshold may be in another unit; with more than one number that is too little to go by.
        return list(zip(ours, theirs, strict=True)) if len(ours) == len(theirs) == 1 else None
    pairs: list[tuple[_Number, _Number]] = []
    for sort in dict.fromkeys(n.sort for n in ours):
        left, right = ([n for n in side if n.sort == sort] for side in (ours, theirs))
        words, other = [n.word for n in left], [n.word for n in right]
        one_value = len({n.text for n in left}) == 1 and len({n.text for n in right}) == 1
        if len(set(words)) == len(words) and sorted(words) == sorted(other):
            left, right = sorted(left, key=lambda n: n.word), sorted(right, key=lambda n: n.word)
        elif not one_value and words != other and not _same_sequence(left, right):
            return None
        pairs += zip(left, right, strict=True)
    return pairs


def _same_sequence(left: list[_Number], right: list[_Number]) -> bool:
    """Whether two lists of numbers hold the same ones, so that nothing has to be told apart."""
    return [n.text for n in left] == [n.text for n in right]


_SCALES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SCALED = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)(?:\s*([kmgt])(?:i?bit/?s?|bps|b/s)?(?![a-z]))?(?![\w.]*\d)", re.IGNORECASE
)


_AFTER = re.compile(r"\s*(%|percent|per cent|usd|eur|dollars?|km|hops?|times)?", re.IGNORECASE)


def _numbers(question: str) -> list[_Number]:
    """Numbers of a question in order; a length of a prefix, a percentage and a rate are sorts of their own."""
    found = []
    for match in _SCALED.finditer(question):
        number, unit = match.group(1), (match.group(2) or "").lower()
        after = _AFTER.match(question, match.end())
        behind = (after.group(1) or "").lower() if after else ""
        sort = "/" if question[: match.start()].endswith("/") else "rate" if unit else behind.replace("percent", "%")
        scale = _SCALES.get(unit, 1)
        text = number if scale == 1 else str(int(float(number) * scale))
        before = [w for w in re.findall(r"[A-Za-z]+", question[: match.start()]) if w.lower() not in STOP]
        found.append(_Number(text, sort, canonical(before[-1].lower()) if before else ""))
    return found


def _literal(number: str) -> str:
    return rf"(?<![\w.]){re.escape(number)}(?![\w.])"
