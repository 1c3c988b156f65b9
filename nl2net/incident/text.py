"""One normal form for text, so that every span is an offset into something that does not move."""

from __future__ import annotations

import re
import unicodedata

_DROPPED = dict.fromkeys(map(ord, "\u00ad\ufffe\ufeff"), None)
_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\u180e"), None)
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F], None)
# Characters of the tag block can spell an invisible order in ASCII.
_TAGS = dict.fromkeys(range(0xE0000, 0xE0080), None)
_INVISIBLE = _DROPPED | _ZERO_WIDTH | _BIDI | _TAGS
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANKS = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")


def word_set(words: str) -> frozenset[str]:
    """A set of words written in one string.

    Examples
    --------
    >>> sorted(word_set("one two"))
    ['one', 'two']
    """
    return frozenset(words.split())


def normalise_text(text: str) -> str:
    """Normal form C without invisible characters and with blanks folded; line breaks stay.

    Examples
    --------
    >>> normalise_text("in\\u00adcident  at\\u00a010:00\\r\\n")
    'incident at 10:00\\n'
    """
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _CONTROL.sub("", text.translate(_INVISIBLE))
    lines = (_BLANKS.sub(" ", line).rstrip() for line in text.split("\n"))
    return unicodedata.normalize("NFC", "\n".join(lines))


def fold_line(text: str) -> str:
    """The normal form on one line.

    Examples
    --------
    >>> fold_line("a hard\\n  wrapped line ")
    'a hard wrapped line'
    """
    return " ".join(normalise_text(text).split())


# A full stop ends a sentence unless it belongs to a title, an initial, a number or an abbreviation.
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9À-Þ])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|No|Inc|Ltd|Corp|Co|vs|approx|ca|e\.g|i\.e|a\.m|p\.m|U\.S|D\.C|Rep|Dem|Jan|Feb|Mar|Apr|Jun"
    r"|Jul|Aug|Sep|Sept|Oct|Nov|Dec)\.)$"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a passage.

    Examples
    --------
    >>> text = "It failed at 10.30 a.m. The U.S. side held. Nobody knew."
    >>> [text[a:b] for a, b in sentence_spans(text)]
    ['It failed at 10.30 a.m. The U.S. side held.', 'Nobody knew.']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        if _ABBREVIATION.search(text[start : match.start()]):
            continue
        spans.append((start, match.start()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return [(a, b) for a, b in spans if text[a:b].strip()]


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    """Sets of neighbouring words, for near-duplicates.

    Examples
    --------
    >>> sorted(shingles("one two three four"))
    [('one', 'two', 'three'), ('two', 'three', 'four')]
    """
    words = re.findall(r"\w+", text.lower())
    if len(words) < size:
        return frozenset([tuple(words)]) if words else frozenset()
    return frozenset(tuple(words[i : i + size]) for i in range(len(words) - size + 1))
