"""Texts from data on their way to a screen. Standard library only.

Every value, name and message that comes from data passes `clean` before it reaches a terminal: escape sequences,
control characters, bidirectional marks and invisible characters become a visible replacement.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI sequences as a whole
    "|\x1b\\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)"  # OSC: titles, hyperlinks
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # C0 and C1 without tab and newline
    "|[\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff]"
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str) -> str:
    """A text without anything that a terminal would act on or hide.

    Parameters
    ----------
    text : str
        From data: a name, a value, printed output, an error message.

    Returns
    -------
    str
        Newlines and tabs stay; every unsafe character or sequence becomes U+FFFD.

    Examples
    --------
    >>> clean("core\\x1b[31m1")
    'core�1'
    >>> clean("plain Zürich\\n")
    'plain Zürich\\n'
    """
    return _UNSAFE.sub(REPLACEMENT, text)


def clean_line(text: str, *, width: int | None = None) -> str:
    """Like `clean`, on one line, cut to ``width`` characters with an ellipsis.

    Examples
    --------
    >>> clean_line("a\\nb\\tc", width=4)
    'a b…'
    """
    line = " ".join(clean(text).split())
    if width is not None and len(line) > width:
        return line[: max(width - 1, 0)] + "…"
    return line
