"""Verified question-program pairs, found again per question and adapted to the schema at hand.

Entries hold masked questions and programs, never values or results. They come from the development split of the golden
suite and from programs that this user approved.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from nl2net.assistant.adaptation import adapt
from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.wording import expected_type
from nl2net.assistant.words import NUMBER, critical, measure_of, measures_of, words_of
from nl2net.model import GraphSchema, Library

# Chosen by leave-one-wording-out retrieval on the development pairs (docs/accuracy.md).
_STRUCTURE = 0.12
_AGREE = 0.85


class ProgramLibrary:
    """Search over entries: BM25 on words, fused by rank with structural likeness.

    Building is linear in the text; a search is linear in the entries that share a word with the question.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._words = [Counter(words_of(entry.question, _measures(entry))) for entry in self.entries]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in words:
                self._postings[word].append(number)
        self._norms = [
            math.sqrt(sum((self._idf(word) * min(count, 2)) ** 2 for word, count in words.items())) or 1.0
            for words in self._words
        ]
        self._vocabulary = {word for word in self._postings if len(word) >= 4 and word.isalpha()}

    def search(
        self,
        question: str,
        schema: GraphSchema,
        *,
        library: Library,
        k: int = 4,
        expected: str = "",
        exclude: Collection[str] = (),
    ) -> list[Found]:
        """The best entries for a masked question, adapted to a schema, most similar last.

        Parameters
        ----------
        question : str
            Masked.
        schema : GraphSchema
            Entries whose attributes have no counterpart here are left out.
        library : Library
        k : int
            At most so many, no two of one program.
        expected : str
            Asked result type, ``""`` if unknown.
        exclude : collection of str
            Keys of entries to leave out, for leave-one-out measurements.
        """
        words = Counter(self._spelt(words_of(question, measures_of(schema))))
        kind = expected or expected_type(question)
        scores = {
            number: score * _AGREE ** len(critical(words) ^ critical(self._words[number]))
            + _STRUCTURE * _likeness(self.entries[number], schema, kind, words)
            for number, score in self._lexical(words).items()
            if self.entries[number].library == library
        }
        found: list[Found] = []
        programs: set[str] = set()
        for number in sorted(scores, key=lambda n: (-scores[n], n)):
            entry = self.entries[number]
            if entry.rejected > entry.used or entry.key in exclude:
                continue
            adapted = adapt(entry, schema)
            shape = _shape(adapted[1]) if adapted else ""
            if adapted is None or shape in programs:
                continue
            programs.add(shape)
            score = _cosine(words, self._words[number])
            same = critical(words) == critical(self._words[number])
            found.append(Found(entry, adapted[1], adapted[0], score, same))
            if len(found) == k:
                break
        return found[::-1]

    def _spelt(self, words: Iterable[str]) -> list[str]:
        """Words that no entry knows are read as the nearest one that some entry has: people type in a hurry."""
        return [self._nearest(word) if word not in self._postings and word.isalpha() else word for word in words]

    def _nearest(self, word: str) -> str:
        if len(word) < 4:
            return word
        near = difflib.get_close_matches(word, self._vocabulary, n=1, cutoff=0.78)
        return near[0] if near else word

    def _lexical(self, words: Counter[str]) -> dict[int, float]:
        """Cosine of the vectors of inverse document frequency, of every entry that shares a word."""
        dots: dict[int, float] = defaultdict(float)
        for word, count in words.items():
            weight = self._idf(word) ** 2 * min(count, 2)
            for number in self._postings.get(word, ()):
                dots[number] += weight * min(self._words[number][word], 2)
        norm = math.sqrt(sum((self._idf(word) * min(count, 2)) ** 2 for word, count in words.items())) or 1.0
        return {number: dot / (norm * self._norms[number]) for number, dot in dots.items()}

    def _idf(self, word: str) -> float:
        have = len(self._postings.get(word, ()))
        return math.log(1 + (len(self.entries) + 1) / (have + 1))


def _measures(entry: Entry) -> dict[str, str]:
    return {name.lower(): measure_of(name, role) for name, (_, role) in entry.roles.items() if measure_of(name, role)}


def _likeness(entry: Entry, schema: GraphSchema, kind: str, words: Counter[str]) -> float:
    """Same result type, same graph class, same kinds, same kinds of placeholder."""
    score = 1.0 * (bool(kind) and entry.result_type == kind)
    score += 0.5 * (entry.directed == schema.graph_class.directed) + 0.3 * (entry.multi == schema.graph_class.multi)
    known = {*schema.node_kinds, *schema.edge_kinds}
    score += 1.0 if entry.kinds and known.issuperset(entry.kinds) else -0.5 * bool(entry.kinds)
    asked = {word for word in words if word.startswith("zz")}
    have = {word for word in words_of(entry.question) if word.startswith("zz")}
    return score - 0.4 * len(asked ^ have) + (0.2 if entry.origin == "approved" else 0.0)


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    dot = sum(count * b[word] for word, count in a.items())
    norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return dot / norm if norm else 0.0


def _shape(program: str) -> str:
    """A program without its numbers, so that two thresholds of one program count as one."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", program))
