"""Whether a suite repeats what was published before: overlap of word n-grams, with and without names and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PLAIN = re.compile(r"[a-z]+(?:'[a-z]+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a suite occurs in an earlier text.

    Attributes
    ----------
    n : int
        Words per gram.
    questions : float
        Share of questions with at least one gram of the earlier text.
    grams : float
        Share of the distinct grams of the suite that occur there.
    identical : int
        Questions that occur there word for word.
    """

    n: int
    questions: float
    grams: float
    identical: int


def words_of(text: str, *, masked: bool = False) -> list[str]:
    """Words in lower case; ``masked`` puts one mark for everything that is no plain word: names, numbers, addresses.

    Examples
    --------
    >>> words_of("Which hosts reach db-07?", masked=True)
    ['which', 'hosts', 'reach', '#']
    """
    found = [token.strip(".,;:?!()'\"") for token in text.lower().split()]
    if masked:
        return ["#" if not _PLAIN.fullmatch(token) else token for token in found if token]
    return [token for token in found if token]


def grams_of(text: str, n: int, *, masked: bool = False) -> set[tuple[str, ...]]:
    """Runs of ``n`` words; a shorter text is one run of all its words."""
    words = words_of(text, masked=masked)
    if len(words) <= n:
        return {tuple(words)} if words else set()
    return {tuple(words[start : start + n]) for start in range(len(words) - n + 1)}


def overlap(questions: Sequence[str], earlier: Iterable[str], *, n: int = 8, masked: bool = False) -> Overlap:
    """Compare questions with earlier ones.

    Parameters
    ----------
    questions, earlier : texts
    n : int
        Words per gram.
    masked : bool
        Ignore which names and numbers stand there, so that a known wording with fresh names counts as known.

    Examples
    --------
    >>> overlap(["how many links has a-1"], ["how many links has b-2"], n=4, masked=True).grams
    1.0
    """
    known: set[tuple[str, ...]] = set()
    texts = set()
    for text in earlier:
        known |= grams_of(text, n, masked=masked)
        texts.add(" ".join(words_of(text, masked=masked)))
    own = [grams_of(text, n, masked=masked) for text in questions]
    distinct = set().union(*own)
    return Overlap(
        n,
        questions=sum(bool(grams & known) for grams in own) / max(1, len(own)),
        grams=len(distinct & known) / max(1, len(distinct)),
        identical=sum(" ".join(words_of(text, masked=masked)) in texts for text in questions),
    )
