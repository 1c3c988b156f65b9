"""Verified question-program pairs, found again per question and adapted to the schema at hand.

Entries hold masked questions and programs, never values or results. They come from the development split of the golden
suite and from programs that this user approved.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from nl2net.assistant.adaptation import adapt
from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.wording import expected_type
from nl2net.assistant.words import NUMBER, words_of
from nl2net.model import GraphSchema, Library

_RRF = 60.0  # constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)


class ProgramLibrary:
    """Search over entries: BM25 on words, fused by rank with structural likeness.

    Building is linear in the text; a search is linear in the entries that share a word with the question.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._words = [Counter(words_of(entry.question)) for entry in self.entries]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in words:
                self._postings[word].append(number)
        self._mean = sum(map(Counter.total, self._words)) / max(len(self._words), 1)

    def search(
        self, question: str, schema: GraphSchema, *, library: Library, k: int = 4, expected: str = ""
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
        """
        words = Counter(words_of(question))
        lexical = self._bm25(words)
        kind = expected or expected_type(question)
        structural = {n: _likeness(self.entries[n], schema, kind, words) for n in lexical}
        fused = _fuse(lexical, structural)
        found: list[Found] = []
        programs: set[str] = set()
        for number in sorted(fused, key=lambda n: (-fused[n], n)):
            entry = self.entries[number]
            if entry.library != library or entry.rejected > entry.used:
                continue
            adapted = adapt(entry, schema)
            shape = _shape(adapted[1]) if adapted else ""
            if adapted is None or shape in programs:
                continue
            programs.add(shape)
            found.append(Found(entry, adapted[1], adapted[0], _cosine(words, self._words[number])))
            if len(found) == k:
                break
        return found[::-1]

    def _bm25(self, words: Counter[str], k1: float = 1.2, b: float = 0.5) -> dict[int, float]:
        """Okapi BM25 (Robertson and Zaragoza 2009) of every entry that shares a word."""
        scores: dict[int, float] = defaultdict(float)
        total = len(self.entries)
        for word in words:
            postings = self._postings.get(word, ())
            idf = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for number in postings:
                count = self._words[number][word]
                length = self._words[number].total() / self._mean
                scores[number] += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length))
        return scores


def _fuse(lexical: Mapping[int, float], structural: Mapping[int, float]) -> dict[int, float]:
    fused: dict[int, float] = defaultdict(float)
    for weight, scores in ((1.0, lexical), (0.5, structural)):
        ordered = sorted(scores, key=lambda n: (-scores[n], n))
        for rank, number in enumerate(ordered):
            fused[number] += weight / (_RRF + rank)
    return fused


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
