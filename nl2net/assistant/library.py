"""Verified question-program pairs, found again per question and adapted to the schema at hand.

Entries hold masked questions and programs, never values or results. They come from the development split of the golden
suite and from programs that this user approved.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nl2net.assistant.adaptation import adapt, measure_of_entry, rebind
from nl2net.assistant.entries import Entry, Found
from nl2net.assistant.ranking import Hit, Ranked, rank
from nl2net.assistant.wording import expected_type
from nl2net.assistant.words import (
    MEASURES,
    NUMBER,
    blurred,
    critical,
    measure_in,
    measure_of,
    measures_of,
    speakable,
    words_of,
)
from nl2net.model import GraphSchema, Library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Chosen by leave-one-wording-out retrieval on the development pairs (docs/accuracy.md).
_STRUCTURE = 0.1
_AGREE = 0.95
_SEMANTIC = 0.7
# Words of running text; placeholders and names with digits are left alone.
_RAW = re.compile(r"(?<![\w.])[A-Za-z]{4,}(?![\w.]*\w)")
_DEPTH = 200  # entries looked at, best first

Embed = Callable[[Sequence[str]], "npt.NDArray[np.float32]"]


class ProgramLibrary:
    """Search over entries by words, by sentence vectors where there is an embedder, and by structural likeness.

    Parameters
    ----------
    entries : iterable of Entry
    embed : callable, optional
        Gives unit vectors of texts, shape (texts, 384).
    vectors : mapping of str to array, optional
        Vectors by entry key that are known already; others are made at once.

    Notes
    -----
    Building is linear in the text; a search is linear in the number of entries.
    """

    def __init__(
        self, entries: Iterable[Entry], *, embed: Embed | None = None, vectors: Mapping[str, Any] | None = None
    ) -> None:
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._said = [words_of(entry.question, _measures(entry)) for entry in self.entries]
        self._own = [measure_of_entry(entry) for entry in self.entries]
        self._critical = [critical(words) for words in self._said]
        self._words = [Counter(blurred(words)) for words in self._said]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in words:
                self._postings[word].append(number)
        self._norms = [
            math.sqrt(sum((self._idf(word) * min(count, 2)) ** 2 for word, count in words.items())) or 1.0
            for words in self._words
        ]
        self._vocabulary = {word for word in self._postings if len(word) >= 4 and word.isalpha()}
        self._seen = {word for entry in self.entries for word in _RAW.findall(entry.question.lower())}
        self._embed = embed
        self._matrix = self._vectors(vectors or {}) if embed is not None and self.entries else None

    def _vectors(self, known: Mapping[str, Any]) -> npt.NDArray[np.float32]:
        import numpy as np

        assert self._embed is not None
        missing = [entry for entry in self.entries if entry.key not in known]
        made = dict(zip((e.key for e in missing), self._embed([speakable(e.question) for e in missing]), strict=True))
        return np.stack([known[e.key] if e.key in known else made[e.key] for e in self.entries]).astype(np.float32)

    def search(
        self,
        question: str,
        schema: GraphSchema,
        *,
        library: Library,
        k: int = 4,
        expected: str = "",
        unseen_wording: bool = False,
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
        unseen_wording : bool
            Leave out entries with the very words of the question, for measurements on questions of the library.
        """
        ranked = self.ranked(question, schema, library=library, expected=expected, unseen_wording=unseen_wording)
        return [_found(one) for one in ranked[:k]][::-1]

    def ranked(
        self,
        question: str,
        schema: GraphSchema,
        *,
        library: Library,
        expected: str = "",
        unseen_wording: bool = False,
        without_intent: str = "",
    ) -> list[Ranked]:
        """Programs for a masked question with the probability that each is the right one, most likely first.

        ``without_intent`` leaves out the entries of one intent: what a question looks like that no program answers.
        Other parameters are those of `search`.
        """
        groups, words, kind = self.grouped(
            question,
            schema,
            library=library,
            expected=expected,
            unseen_wording=unseen_wording,
            without_intent=without_intent,
        )
        # The trees were fitted on likeness with sentence vectors.
        return rank(groups, words, kind, fitted=self._matrix is not None)

    def grouped(
        self,
        question: str,
        schema: GraphSchema,
        *,
        library: Library,
        expected: str,
        unseen_wording: bool,
        without_intent: str = "",
    ) -> tuple[list[list[Hit]], Counter[str], str]:
        """Hits by program, with the words of the question and its result type: what `rank` and its fit look at."""
        measures = measures_of(schema)
        spelt = self._corrected(question, measures)
        said = self._spelt(words_of(spelt, measures))
        asked, decisive, words = measure_in(said), critical(said), Counter(blurred(said))
        kind = expected or expected_type(question)
        likeness = self._likeness(spelt, words)
        scored = []
        for number, (like, lexical) in likeness.items():
            entry = self.entries[number]
            if entry.library != library or (unseen_wording and self._words[number] == words):
                continue
            if entry.rejected > entry.used or (without_intent and entry.intent == without_intent):
                continue
            mismatch = len(decisive ^ self._decisive(number, asked))
            fit = _fit(entry, schema, kind, words, self._words[number])
            scored.append((like * _AGREE**mismatch + _STRUCTURE * fit, number, like, lexical, mismatch, fit))
        scored.sort(key=lambda row: (-row[0], row[1]))
        groups: dict[str, list[Hit]] = defaultdict(list)
        for score, number, like, lexical, mismatch, fit in scored[:_DEPTH]:
            entry = self.entries[number]
            adapted = adapt(entry, schema, asked=asked)
            if adapted is None:
                continue
            kindred = entry.directed == schema.graph_class.directed and entry.multi == schema.graph_class.multi
            covered = self._covered(words, self._words[number]), self._covered(self._words[number], words)
            bound = rebind(adapted[0], question, adapted[1])
            known = frozenset(self._words[number])
            groups[_shape(adapted[1])].append(
                Hit(entry, score, like, lexical, mismatch, *covered, fit, kindred, known, adapted[1], adapted[0], bound)
            )
        return list(groups.values()), words, kind

    def _decisive(self, number: int, asked: str) -> frozenset[str]:
        """Decisive words of an entry once it is carried over to the measure that is asked."""
        words, own = self._critical[number], self._own[number]
        return (words - {own}) | {asked} if own and asked else words

    def _likeness(self, question: str, words: Counter[str]) -> dict[int, tuple[float, float]]:
        """Similarity of every entry in 0-1: of words and sentence vectors if there are any, and of words alone."""
        lexical = self._lexical(words)
        if self._matrix is None or self._embed is None:
            return {number: (value, value) for number, value in lexical.items()}
        semantic = (self._matrix @ self._embed([speakable(question)])[0]).tolist()
        return {
            number: (_SEMANTIC * value + (1 - _SEMANTIC) * lexical.get(number, 0.0), lexical.get(number, 0.0))
            for number, value in enumerate(semantic)
        }

    def corrected(self, question: str, schema: GraphSchema) -> str:
        """The question as it was probably meant to be spelt, judged by the words of the library and of the schema."""
        return self._corrected(question, measures_of(schema))

    def _corrected(self, question: str, names: Mapping[str, str]) -> str:
        """The question with words that no entry has read as the nearest one that some entry has."""

        def correct(match: re.Match[str]) -> str:
            word = match.group().lower()
            if word in self._seen or word in names:
                return match.group()
            near = difflib.get_close_matches(word, self._seen, n=1, cutoff=0.8)
            return near[0] if near else match.group()

        return _RAW.sub(correct, question)

    def _spelt(self, words: Iterable[str]) -> list[str]:
        """Words that no entry knows are read as the nearest one that some entry has: people type in a hurry."""
        known = self._postings.keys() | MEASURES
        return [self._nearest(word) if word not in known and word.isalpha() else word for word in words]

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

    def _covered(self, words: Counter[str], known: Counter[str]) -> float:
        total = sum(self._idf(word) for word in words)
        return sum(self._idf(word) for word in words if word in known) / total if total else 1.0

    def _idf(self, word: str) -> float:
        have = len(self._postings.get(word, ()))
        return math.log(1 + (len(self.entries) + 1) / (have + 1))


def _found(one: Ranked) -> Found:
    hit = one.best
    return Found(
        hit.entry, hit.program, hit.question, hit.like, hit.mismatch == 0, hit.bound, hit.covered, one.probability
    )


def _measures(entry: Entry) -> dict[str, str]:
    return {name.lower(): measure_of(name, role) for name, (_, role) in entry.roles.items() if measure_of(name, role)}


def _fit(entry: Entry, schema: GraphSchema, kind: str, words: Counter[str], own: Counter[str]) -> float:
    """Same result type, same graph class, same kinds, same kinds of placeholder."""
    score = 1.0 * (bool(kind) and entry.result_type == kind)
    score += 0.5 * (entry.directed == schema.graph_class.directed) + 0.3 * (entry.multi == schema.graph_class.multi)
    known = {*schema.node_kinds, *schema.edge_kinds}
    score += 1.0 if entry.kinds and known.issuperset(entry.kinds) else -0.5 * bool(entry.kinds)
    asked = {word for word in words if word.startswith("zz")}
    have = {word for word in own if word.startswith("zz")}
    return score - 0.4 * len(asked ^ have) + (0.2 if entry.origin == "approved" else 0.0)


def _shape(program: str) -> str:
    """A program without its numbers, so that two thresholds of one program count as one."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", program))
