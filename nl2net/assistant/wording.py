"""What a question asks for, judged by its words alone: a change or a fact, and which type of answer."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def wordings() -> dict[str, Any]:
    """The lists of ``data/wording.toml``."""
    return tomllib.loads(files("nl2net.assistant").joinpath("data/wording.toml").read_text("utf-8"))


@cache
def pattern(section: str, key: str, *, anchored: bool = False, whole: bool = True) -> re.Pattern[str]:
    """One list as a regular expression of whole words; ``anchored`` at the start of the question, courtesy aside."""
    alternatives = "|".join(wordings()[section][key])
    start = rf"^\W*(?:(?:{'|'.join(wordings()['change']['polite'])})\W+)*" if anchored else r"\b"
    return re.compile(start + f"(?:{alternatives})" + (r"\b" if whole else ""), re.IGNORECASE)


@cache
def _change() -> re.Pattern[str]:
    words = wordings()["change"]
    polite, verbs = "|".join(words["polite"]), "|".join(words["verbs"])
    return re.compile(rf"^\W*(?:(?:{polite})\W+)*(?:{verbs})\b", re.IGNORECASE)


def is_change(question: str) -> bool:
    """Whether a question asks for a changed network rather than for a fact about a changed one.

    Examples
    --------
    >>> is_change("Remove all links below 1 Gbps")
    True
    >>> is_change("Remove node NODE_1. How many components are left?")
    False
    """
    return bool(_change().search(question)) and not pattern("change", "supposed").search(question)


_LEADING = re.compile(r"^\W*([A-Za-z' ]{1,40}?)(?:[,:!.?]| [-–—])\s+(?=\S+\s+\S)")
_TRAILING = re.compile(r"[.!?]\s+([A-Za-z' ]{2,40})[\s.!]*$")
_FAREWELL = re.compile(r"([?.!,]|\b)\s*\b(?:thanks?(?: you)?|thx|cheers|pls|please|tia)[\s.!]*$", re.IGNORECASE)


def without_courtesy(question: str) -> str:
    """A question without greeting, plea and thanks around it.

    Examples
    --------
    >>> without_courtesy("Hello, quick question - how many links are there? Thank you!")
    'how many links are there?'
    >>> without_courtesy("NODE_1, how many links?")
    'NODE_1, how many links?'
    """
    polite = frozenset(wordings()["courtesy"]["words"])
    while (match := _LEADING.match(question)) and polite.issuperset(match.group(1).lower().split()):
        question = question[match.end() :]
    match = _TRAILING.search(question)
    if match and polite.issuperset(match.group(1).lower().split()):
        question = question[: match.start(1)].rstrip()
    return _FAREWELL.sub(lambda m: m.group(1).strip(","), question).rstrip() or question


def expected_type(question: str) -> str:
    """Guess the result type from the words of a question; ``""`` when nothing tells.

    Returns one of ``graph``, ``figure``, ``path``, ``table``, ``number``, ``boolean``, ``list`` or ``""``.

    Examples
    --------
    >>> expected_type("How many links does NODE_1 have?"), expected_type("Rank the blocks by capacity")
    ('number', 'table')
    """
    if is_change(question):
        return "graph"
    for kind in ("figure", "path", "table", "number"):
        if pattern("type", kind).search(question):
            if kind == "path" and pattern("type", "number").search(question):
                return ""
            return kind
    if pattern("type", "boolean", anchored=True).search(question):
        return "boolean"
    return "list" if pattern("type", "list").search(question) else ""
