"""An index of every name and text value of a graph, for masking questions and for the privacy gate.

Built once per graph, in time and memory linear in the text of the graph. It never leaves the process.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from nl2net.model import GraphSchema

_TOKEN = re.compile(r"\w+|[^\w\s]")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa", "æ": "ae"})


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign of a text with its place; ``folded`` is its case-folded form."""

    folded: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a phrase occurs in the graph.

    ``what`` is ``"id"``, ``"name"`` or ``"value"``; ``value`` the exact text; ``node`` the node id for nodes;
    ``attribute`` and ``owner`` (``"node"``, ``"edge"``, ``"table"``) say where a value stands.
    """

    what: str
    value: str
    owner: str
    node: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase of a text that is a name or a value of the graph."""

    start: int
    end: int
    references: tuple[Reference, ...]


def tokens_of(text: str) -> list[Token]:
    """Split a text into words and signs.

    Examples
    --------
    >>> [t.folded for t in tokens_of("ju1.a1 to Köln")]
    ['ju1', '.', 'a1', 'to', 'köln']
    """
    return [Token(found.group().casefold(), found.start(), found.end()) for found in _TOKEN.finditer(text)]


def spellings(text: str) -> set[str]:
    """Other ways to type a name: without diacritics, and with German transliteration.

    Examples
    --------
    >>> sorted(spellings("München"))
    ['muenchen', 'munchen']
    """
    folded = text.casefold()
    plain = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    return {plain, folded.translate(_GERMAN)} - {folded}


@cache
def trade_words() -> frozenset[str]:
    """Words that never count as private by themselves."""
    text = files("nl2net.assistant").joinpath("data/trade_words.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a value, nested lists and mappings included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


@dataclass(slots=True)
class EntityIndex:
    """All phrases of one graph.

    Attributes
    ----------
    schema_words : frozenset of str
        Attribute names, kinds and relations, case-folded: words that a model may see.
    kinds : mapping of str to str
        Kind by node id, only for typed graphs.
    """

    schema_words: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = field(default_factory=dict)
    _phrases: dict[tuple[str, ...], list[Reference]] = field(default_factory=dict)
    _lengths: dict[str, set[int]] = field(default_factory=dict)
    _variants: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def build(cls, graph: Any, schema: GraphSchema) -> EntityIndex:
        """Index a networkx graph in normal form."""
        kinds = {n: str(d["kind"]) for n, d in graph.nodes(data=True) if "kind" in d} if schema.node_kinds else {}
        index = cls(schema_words=_schema_words(schema), kinds=kinds)
        for node, attributes in graph.nodes(data=True):
            index._add(node, Reference("id", node, "node", node))
            for name, value in attributes.items():
                for text in () if name == "kind" and kinds else _texts(value):
                    what = "name" if name == "name" else "value"
                    index._add(text, Reference(what, text, "node", node, name))
        seen: set[tuple[str, str]] = set()
        for *_, attributes in graph.edges(data=True):
            for name, value in attributes.items():
                index._add_once(seen, "edge", name, value)
        for table, rows in graph.graph.get("tables", {}).items():
            for row in rows:
                for column, value in row.items():
                    index._add_once(seen, "table", f"{table}.{column}", value)
        return index

    def _add_once(self, seen: set[tuple[str, str]], owner: str, name: str, value: Any) -> None:
        for text in _texts(value):
            if (name, text) not in seen:
                seen.add((name, text))
                # Interface names in `ports` are keyed by node id, which is indexed already.
                self._add(text, Reference("value", text, owner, None, name))

    def _add(self, text: str, reference: Reference) -> None:
        phrase = tuple(token.folded for token in tokens_of(text))
        if not phrase or phrase == (reference.attribute,):
            return
        self._insert(phrase, reference)
        for other in spellings(text) if not text.isascii() else ():
            variant = tuple(token.folded for token in tokens_of(other))
            if variant and variant not in self._phrases:
                self._variants[variant] = phrase
                self._lengths.setdefault(variant[0], set()).add(len(variant))

    def _insert(self, phrase: tuple[str, ...], reference: Reference) -> None:
        found = self._phrases.setdefault(phrase, [])
        # A value shared by thousands of nodes needs no more than a few witnesses.
        if len(found) < 64:
            found.append(reference)
        self._lengths.setdefault(phrase[0], set()).add(len(phrase))

    def __len__(self) -> int:
        return len(self._phrases)

    def lookup(self, text: str) -> tuple[Reference, ...]:
        """References of one exact phrase, case-insensitive."""
        phrase = tuple(token.folded for token in tokens_of(text))
        phrase = self._variants.get(phrase, phrase)
        return tuple(self._phrases.get(phrase, ()))

    def names(self) -> Iterable[str]:
        """Ids and names of all nodes."""
        for references in self._phrases.values():
            for reference in references:
                if reference.what != "value":
                    yield reference.value

    def matches(self, text: str) -> Iterator[Match]:
        """Longest phrases of the graph in a text, left to right, not overlapping."""
        tokens = tokens_of(text)
        position = 0
        while position < len(tokens):
            length = self._longest(tokens, position)
            if length:
                end = tokens[position + length - 1].end
                phrase = tuple(t.folded for t in tokens[position : position + length])
                phrase = self._variants.get(phrase, phrase)
                yield Match(tokens[position].start, end, tuple(self._phrases[phrase]))
                position += length
            else:
                position += 1

    def _longest(self, tokens: list[Token], position: int) -> int:
        for length in sorted(self._lengths.get(tokens[position].folded, ()), reverse=True):
            phrase = tuple(t.folded for t in tokens[position : position + length])
            if len(phrase) == length and (phrase in self._phrases or phrase in self._variants):
                return length
        return 0


def _schema_words(schema: GraphSchema) -> frozenset[str]:
    words = {attribute.public_name for attribute in schema.attributes}
    words |= {key for attribute in schema.attributes for key in attribute.keys}
    words |= {str(value) for attribute in schema.attributes for value in attribute.values}
    words |= {*schema.node_kinds, *schema.edge_kinds, *(table.name for table in schema.tables)}
    words |= {column for table in schema.tables for column, _ in table.columns}
    return frozenset(word.casefold() for word in words)
