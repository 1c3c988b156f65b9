"""From a surface form to a question: politeness and typing errors, with private words left alone."""

from __future__ import annotations

import re

from nl2net.golden.case import Split
from nl2net.golden.streams import Stream

_BEFORE = {
    Split.DEV: ("please: ", "Hello, ", "quick one - ", "Could you help? "),
    Split.EVAL: ("hey, ", "One more: ", "for the report: ", "I need this now. "),
}
_AFTER = {Split.DEV: (" Thanks!", " thx"), Split.EVAL: (" Thank you.", " cheers")}
_WORD = re.compile(r"^[a-z]{5,}$")
# A wrong letter here would change what is asked.
_KEPT = frozenset(
    [
        "bytes",
        "packets",
        "flows",
        "fewer",
        "ports",
        "route",
        "least",
        "above",
        "below",
        "under",
        "heavy",
        "label",
        "total",
        "prefix",
        "drained",
        "degree",
        "more",
        "most",
        "less",
        "first",
        "largest",
        "smallest",
        "highest",
        "lowest",
        "fewest",
        "without",
        "ascending",
        "descending",
    ]
)


def decorate(form: str, split: Split, stream: Stream, *, kept: frozenset[str] = frozenset()) -> tuple[str, str]:
    """Add a greeting to one form in ten and a typing error to one in eight.

    Parameters
    ----------
    form : str
        A surface form with its slots still open, so that nothing private is touched.
    split : Split
        Evaluation uses greetings that development never sees.
    stream : Stream
        Where the draws come from.
    kept : frozenset of str
        Words that the program writes, which have to stay as they are.

    Returns
    -------
    tuple of str
        The form, and marks for the name of the form such as ``+typo``.
    """
    marks = ""
    if stream.chance(12):
        changed = _typo(form, stream, kept | _KEPT)
        if changed != form:
            form, marks = changed, "+typo"
    if stream.chance(6):
        return stream.pick(_BEFORE[split]) + form, marks + "+greeting"
    if stream.chance(5):
        return form + stream.pick(_AFTER[split]), marks + "+thanks"
    return form, marks


def _typo(form: str, stream: Stream, kept: frozenset[str]) -> str:
    words = form.split(" ")
    candidates = [i for i, word in enumerate(words) if _WORD.match(word) and word not in kept]
    if not candidates:
        return form
    index = stream.pick(candidates)
    words[index] = _misspell(words[index], stream)
    return " ".join(words)


def _misspell(word: str, stream: Stream) -> str:
    """Swap two letters, drop one or double one; the first letter stays."""
    place = stream.between(1, len(word) - 2)
    match stream.below(3):
        case 0:
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        case 1:
            return word[:place] + word[place + 1 :]
        case _:
            return word[:place] + word[place] + word[place:]
