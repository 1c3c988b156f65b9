"""The one function that text from data passes before any screen, page or file shows it."""

from __future__ import annotations

import html
import re
from typing import Any

# C0 and C1 controls except newline and tab, bidirectional marks, zero-width characters, line separators, tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:])")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
REPLACEMENT = "\ufffd"


def visible(text: Any) -> str:
    """Text without anything that moves the cursor, reorders the line or cannot be seen.

    Examples
    --------
    >>> visible("core\\x1b[31m1\\u202e\\n")
    'core�[31m1�\\n'
    """
    return _UNSEEN.sub(REPLACEMENT, str(text))


def html_text(text: Any) -> str:
    """Text for HTML: visible, with markup escaped; never a link or an image.

    Examples
    --------
    >>> html_text('<img src="http://x">')
    '&lt;img src=&quot;http://x&quot;&gt;'
    """
    return html.escape(visible(text), quote=True)


def markdown_text(text: Any) -> str:
    """Text for Markdown: no mark-up, no link, no image, and no address that a viewer makes clickable.

    Examples
    --------
    >>> markdown_text("![x](http://y)")
    '\\\\!\\\\[x\\\\]\\\\(http\\\\://y\\\\)'
    """
    return _MARKDOWN.sub(r"\\\1", visible(text)).replace("\n", " ")


def csv_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell(-5), csv_cell("-5"), csv_cell("-x")
    ("'=1+1", -5, '-5', "'-x")
    """
    if value is None or isinstance(value, (int, float)):
        return value
    text = str(value)
    risky = text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.match(text)
    return ("'" if risky else "") + visible(text)
