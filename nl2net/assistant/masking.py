"""Replaces the private words of a question by typed placeholders, and keeps their values here for binding.

Three steps: names and values of the graph, longest first; shapes that are private even when unknown (addresses,
prefixes, MACs, dotted names); near spellings, which are used only together with a note that says so.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import takewhile

from nl2net.assistant.entities import EntityIndex, Match, Reference, tokens_of, trade_words
from nl2net.model import GraphSchema

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("PREFIX", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}(?![\w.]*\w)")),
    ("PREFIX", re.compile(r"(?<![\w:])[0-9a-fA-F:]*::?[0-9a-fA-F:]*/\d{1,3}(?!\w)")),
    ("ADDRESS", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")),
    ("ADDRESS", re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}:?[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{1,4})*(?![\w:])")),
    ("TEXT", re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(?![\w:])")),
    ("TEXT", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    # Dotted or slashed names with a letter and a digit, or with three parts: hosts, interfaces, serials.
    ("TEXT", re.compile(r"(?<![\w.])(?=[\w./-]*[A-Za-z])(?=[\w./-]*\d)[A-Za-z][\w-]*(?:[./][\w-]+)+")),
    ("TEXT", re.compile(r"(?<![\w.])[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]+){2,}")),
    ("TEXT", re.compile(r"(?<=[\"'“‘`])[^\"'”’`\n]{1,80}(?=[\"'”’`])")),
)
_OCTETS = re.compile(r"(?<![\w./])(\d{1,3}\.\d{1,3})(?:\.(?:\*|x|0)){0,2}(?![\w/]|\.\d)")
_NAMED = re.compile(r"\b(called|named|name)\W*$", re.IGNORECASE)
_NEAR = 0.84  # difflib ratio from which a capitalised word is read as a name


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One masked entity.

    ``line`` describes it to the model without its value; ``value`` is what its string constant is bound to;
    ``name`` is the display name of a node, for constants that are compared with names.
    """

    token: str
    value: str
    line: str
    name: str = ""
    exact_case: str = ""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A word with several readings; ``choices`` pair what a person sees with the reference that it stands for."""

    word: str
    start: int
    end: int
    choices: tuple[tuple[str, Reference], ...]


@dataclass(frozen=True, slots=True)
class MaskedQuestion:
    """A question as it may be sent, and what its placeholders stand for."""

    text: str
    original: str
    placeholders: tuple[Placeholder, ...] = ()
    notes: tuple[str, ...] = ()
    ambiguities: tuple[Ambiguity, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def bindings(self) -> dict[str, str]:
        """Placeholder to real value."""
        return {placeholder.token: placeholder.value for placeholder in self.placeholders}

    @property
    def lines(self) -> tuple[str, ...]:
        """What the model is told of each placeholder."""
        return tuple(placeholder.line for placeholder in self.placeholders)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    prefix: str
    value: str
    line: str
    name: str = ""


@dataclass(slots=True)
class Masker:
    """Masks the questions of one conversation; the same entity keeps its placeholder."""

    index: EntityIndex
    schema: GraphSchema
    known: dict[tuple[str, str], Placeholder] = field(default_factory=dict)
    assume: bool = False
    _counters: dict[str, int] = field(default_factory=dict)

    def mask(self, question: str) -> MaskedQuestion:
        """Find, decide and replace.

        Parameters
        ----------
        question : str
            As the operator typed it.
        """
        spans: list[_Span] = []
        notes: list[str] = []
        ambiguities: list[Ambiguity] = []
        for match in self.index.matches(question):
            if not self._is_name(question, match):
                continue
            span = self._decide(question, match, ambiguities, notes)
            if span is not None:
                spans.append(span)
        unknown = self._add_shapes(question, spans)
        self._add_near(question, spans, notes)
        spans.sort(key=lambda span: span.start)
        text, placeholders = self._replace(question, spans)
        return MaskedQuestion(text, question, placeholders, tuple(notes), tuple(ambiguities), tuple(unknown))

    # ---- find -------------------------------------------------------------------------------------------------

    def _is_name(self, question: str, match: Match) -> bool:
        word = question[match.start : match.end]
        folded = word.casefold()
        if _inside_longer_word(question, match.start, match.end):
            return False
        quoted = question[match.start - 1 : match.start] in {'"', "'", "`", "“"}
        if quoted:
            return True
        if folded in self.index.schema_words or folded in trade_words():
            return False
        if word.isdigit():
            return bool(re.search(r"\b(node|as|asn|vertex|device|id)\W*$", question[: match.start], re.IGNORECASE))
        exact = any(reference.value == word for reference in match.references)
        if len(word) <= 3:
            return exact and not word.islower()
        return exact or not (word.islower() and folded in _common_words())

    # ---- decide -----------------------------------------------------------------------------------------------

    def _decide(self, question: str, match: Match, ambiguities: list[Ambiguity], notes: list[str]) -> _Span | None:
        word = question[match.start : match.end]
        references = match.references
        nodes = _by_node(r for r in references if r.what in {"id", "name"})
        if not nodes:
            nodes = _by_node(r for r in references if self._is_alias(r))
            if not nodes:
                return self._value_span(match, references)
        if _NAMED.search(question[: match.start]) and len(nodes) > 1:
            return _Span(match.start, match.end, "NAME", references[0].value, "{}: a node name")
        if len(nodes) > 1:
            nodes = self._by_kind_cue(question, match, nodes)
        if len(nodes) > 1:
            choices = tuple((self._label(node, reference), reference) for node, reference in sorted(nodes.items()))[:5]
            if not self.assume:
                ambiguities.append(Ambiguity(word, match.start, match.end, choices))
            else:
                notes.append(f"read {word!r} as {choices[0][0]} (one of {len(nodes)})")
            nodes = {str(choices[0][1].node): choices[0][1]}
        node, reference = next(iter(nodes.items()))
        if reference.value.casefold() != word.casefold():
            notes.append(f"read {word!r} as {reference.value}")
        return self._node_span(match.start, match.end, node, reference)

    def _is_alias(self, reference: Reference) -> bool:
        """A value of a unique attribute names its node."""
        if reference.owner != "node" or reference.attribute is None:
            return False
        attribute = self.schema.attribute("node", reference.attribute)
        return attribute is not None and attribute.distinct == "unique"

    def _node_span(self, start: int, end: int, node: str, reference: Reference) -> _Span:
        kind = self.index.kinds.get(node)
        line = "{}: a node id" + (f" of kind {kind}" if kind else "")
        name = reference.value if reference.what == "name" else ""
        return _Span(start, end, "NODE", node, line, name)

    def _value_span(self, match: Match, references: tuple[Reference, ...]) -> _Span:
        places = sorted({self._place(r) for r in references if r.attribute is not None})
        # Several exact spellings of one folded phrase would be one lookup each; the first one found is the commonest.
        line = "{}: a value of " + " or of ".join(places[:3])
        return _Span(match.start, match.end, "VALUE", references[0].value, line)

    def _place(self, reference: Reference) -> str:
        name = reference.attribute or ""
        public = next((a.public_name for a in self.schema.attributes if a.name == name), name)
        return f"{reference.owner} attribute {public}" if reference.owner != "table" else f"table column {public}"

    def _by_kind_cue(self, question: str, match: Match, nodes: dict[str, Reference]) -> dict[str, Reference]:
        """Keep the nodes whose kind is named beside the word ("chassis ju1.a1", "the ju1.a1 switch"), or that can be
        the target of the relation that the verb before it names ("which control point controls ju1.a1")."""
        before = [t.folded for t in tokens_of(question[: match.start]) if t.folded not in {"the", "a", "named"}][::-1]
        after = [t.folded for t in tokens_of(question[match.end :])]
        verb = before[0].rstrip("s") if before else ""
        targets = {r.target_kind for r in self.schema.relations if verb and verb in _kind_words(r.relation)}
        related = {node: r for node, r in nodes.items() if self.index.kinds.get(node) in targets}
        if related:
            return related
        scores = {node: _adjacent(before, after, self.index.kinds.get(node, "")) for node in nodes}
        best = max(scores.values())
        return {node: nodes[node] for node, score in scores.items() if score == best} if best else nodes

    def _label(self, node: str, reference: Reference) -> str:
        kind = self.index.kinds.get(node)
        if kind:
            return f"{reference.value} ({kind})"
        return f"{reference.value} (node {node})" if node != reference.value else node

    # ---- shapes and near spellings ------------------------------------------------------------------------------

    def _add_shapes(self, question: str, spans: list[_Span]) -> list[str]:
        unknown = []
        for prefix, pattern in _SHAPES:
            for found in pattern.finditer(question):
                start, end = found.span()
                if _overlaps(spans, start, end) or not _valid(prefix, found.group()):
                    continue
                spans.append(_Span(start, end, prefix, found.group(), _SHAPE_LINES[prefix]))
                if prefix == "ADDRESS":
                    unknown.append(found.group())
        for found in _OCTETS.finditer(question):
            octets = found.group(1)
            known = any(name.startswith(octets + ".") for name in self.index.names()) or self._is_octets(octets)
            if known and not _overlaps(spans, *found.span()):
                spans.append(_Span(*found.span(1), "OCTETS", octets, "{}: the first two octets of addresses"))
        return unknown

    def _is_octets(self, octets: str) -> bool:
        first, second = (int(part) for part in octets.split("."))
        has_addresses = any(a.role in {"address", "prefix"} for a in self.schema.attributes)
        return has_addresses and first in {10, 172, 192} and second <= 255

    def _add_near(self, question: str, spans: list[_Span], notes: list[str]) -> None:
        candidates: dict[str, str] | None = None
        for found in re.finditer(r"\b[^\W\d_][\w-]{4,}\b", question):
            word = found.group()
            if _overlaps(spans, *found.span()) or not _looks_like_name(question, found.start(), word):
                continue
            if candidates is None:
                candidates = {name.casefold(): name for name in self.index.names() if len(name) <= 40}
                if len(candidates) > 50_000:  # comparing with more names would take seconds
                    return
            near = difflib.get_close_matches(word.casefold(), candidates, n=2, cutoff=_NEAR)
            if len(near) == 1 or (len(near) == 2 and near[0] != near[1]):
                name = candidates[near[0]]
                nodes = _by_node(r for r in self.index.lookup(name) if r.what in {"id", "name"})
                if len(nodes) == 1:
                    node, reference = next(iter(nodes.items()))
                    spans.append(self._node_span(*found.span(), node, reference))
                    notes.append(f"read {word!r} as {name}")

    # ---- replace ------------------------------------------------------------------------------------------------

    def _replace(self, question: str, spans: list[_Span]) -> tuple[str, tuple[Placeholder, ...]]:
        parts: list[str] = []
        used: dict[str, Placeholder] = {}
        position = 0
        for span in spans:
            placeholder = self._placeholder(span)
            used[placeholder.token] = placeholder
            parts += [question[position : span.start], placeholder.token]
            position = span.end
        parts.append(question[position:])
        return "".join(parts), tuple(used.values())

    def _placeholder(self, span: _Span) -> Placeholder:
        key = (span.prefix, span.value)
        if key not in self.known:
            number = self._counters.get(span.prefix, 0) + 1
            self._counters[span.prefix] = number
            token = f"{span.prefix}_{number}"
            self.known[key] = Placeholder(token, span.value, span.line.format(token), span.name)
        return self.known[key]


_SHAPE_LINES: Mapping[str, str] = {
    "PREFIX": "{}: an IP prefix in CIDR form",
    "ADDRESS": "{}: an IP address",
    "TEXT": "{}: a text",
}


@cache
def _common_words() -> frozenset[str]:
    """Everyday words that also occur as values; written in lower case they are read as words."""
    return frozenset(files("nl2net.assistant").joinpath("data/common_words.txt").read_text("utf-8").split())


def _kind_words(kind: str) -> set[str]:
    """Words of a kind without its technical prefix: ``EK_PACKET_SWITCH`` gives packet and switch."""
    return {word.casefold().rstrip("s") for word in re.split(r"[_\W]+", kind) if len(word) > 2}


def _adjacent(before: Sequence[str], after: Sequence[str], kind: str) -> int:
    """How many words of a kind stand directly before or after a name."""
    words = _kind_words(kind)

    def run(side: Sequence[str]) -> int:
        return len(list(takewhile(lambda word: word.rstrip("s") in words, side)))

    return max(run(before), run(after))


def _by_node(references: Iterable[Reference]) -> dict[str, Reference]:
    found: dict[str, Reference] = {}
    for reference in references:
        if reference.node is not None:
            found.setdefault(reference.node, reference)
    return found


def _inside_longer_word(text: str, start: int, end: int) -> bool:
    """Whether a phrase is only a part of a dotted or dashed word, such as ``ju1.a1`` in ``ju1.a1.m99``."""
    after = re.match(r"[./:@-](?=\w)", text[end:]) is not None
    before = re.search(r"\w[./:@-]$", text[:start]) is not None
    return after or before


def _overlaps(spans: list[_Span], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)


def _valid(prefix: str, text: str) -> bool:
    try:
        if prefix == "PREFIX":
            ipaddress.ip_network(text, strict=False)
        elif prefix == "ADDRESS":
            ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _looks_like_name(question: str, start: int, word: str) -> bool:
    """Capitalised in mid-sentence, or with digits or dashes: the words that may be misspelt names."""
    if word.casefold() in trade_words() or word.casefold() in _common_words():
        return False
    first = not question[:start].strip() or question[:start].rstrip()[-1] in ".?!:"
    return (word[0].isupper() and not first) or any(c.isdigit() or c == "-" for c in word)
