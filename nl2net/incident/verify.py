"""Nothing is stated without a quote that is found again, character by character, in the stored document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nl2net.incident.language import NUMBER_WORDS, ORDINALS, fold_name
from nl2net.incident.records import Claim, Document
from nl2net.incident.text import fold_line
from nl2net.incident.typed import typed_values


def locate_quote(quote: str, document: Document) -> tuple[int, int] | None:
    """Span of a quote in the normalised text of a document, if it stands there word for word and may be quoted.

    Parameters
    ----------
    quote : str
        The words.
    document : Document
        Where they are said to be.

    Examples
    --------
    >>> from nl2net.incident.readers import read_document
    >>> document = read_document("a.txt", b"It failed at 10:00 UTC.")
    >>> locate_quote("failed at 10:00", document), locate_quote("failed at 10:30", document)
    ((3, 18), None)
    """
    words = fold_line(quote)
    if not words:
        return None
    start = document.text.find(words)
    while start >= 0:
        end = start + len(words)
        for passage in document.passages:
            limit = passage.end if passage.usable_until < 0 else passage.start + passage.usable_until
            if passage.start <= start and end <= limit:
                return start, end
        start = document.text.find(words, start + 1)
    return None


def is_verbatim(claim: Claim, document: Document) -> bool:
    """Whether a claim's quote stands exactly at its span."""
    return bool(claim.quote) and document.text[claim.start : claim.end] == claim.quote


def unsupported_values(statement: str, quotes: Sequence[str]) -> list[str]:
    """Values and names of a statement that none of its quotes holds.

    Parameters
    ----------
    statement : str
        A sentence, for example one that a model wrote.
    quotes : sequence of str
        Its evidence.

    Examples
    --------
    >>> unsupported_values("AS17557 announced it at 18:47 UTC.", ["At 18:47 UTC AS17557 began announcing it."])
    []
    >>> unsupported_values("It hit 40 ports in Norland.", ["It hit 14 ports."])
    ['40', 'Norland']
    """
    held = [(v.kind, v.value) for quote in quotes for v in typed_values(quote)]
    text = " ".join(quotes)
    numbers = {fold_name(word) for word in re.findall(r"[\w,.:/-]+", text)}
    missing = []
    for value in typed_values(statement):
        known = (value.kind, value.value) in held or _same_number(value.text, numbers)
        if not known:
            missing.append(value.text)
    for match in re.finditer(r"(?<![.!?] )(?<!^)\b[A-Z][\w&-]+(?:\s+[A-Z][\w&-]+)*", statement):
        name = match.group()
        if fold_name(name) not in fold_name(text) and not re.fullmatch(r"AS\d+|UTC|GMT", name):
            missing.append(name)
    return missing


def _same_number(text: str, held: set[str]) -> bool:
    bare = fold_name(re.sub(r"\b(?:about|around|more than|at least|over|nearly|almost)\b", "", text))
    as_number = {**NUMBER_WORDS, **ORDINALS}.get(bare)
    words = {str(number): word for word, number in NUMBER_WORDS.items()}
    return bare in held or (as_number is not None and str(as_number) in held) or words.get(bare, "\x00") in held
