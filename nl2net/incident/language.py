"""Words of questions and notes: stems, stop words, groups of one meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from nl2net.incident.text import word_set

_WORD = re.compile(r"[^\W_]+(?:[-'’&./][^\W_]+)*", re.UNICODE)

STOP = word_set(
    "a about above after again all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing during each few for from further had has have "
    "having he her here hers him his how i if in into is it its itself just me more most my no nor not "
    "now of off on once only or other our out over own per same she should so some such than that the "
    "their them then there these they this those through to too under until up us very was we were what "
    "when where which while who whom whose why will with would you your say says said give gives given "
    "got against according toward towards exact exactly total really actually please tell explain "
    "many much long often far s t"
)


def _read(name: str) -> str:
    return (files("nl2net.incident") / "data" / name).read_text(encoding="utf-8")


_IRREGULAR: dict[str, str] = {
    line.split()[0]: line.split()[1] for line in _read("irregular.txt").splitlines() if not line.startswith("#")
}
_SUFFIXES = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ize"), ("iveness", "ive"), ("fulness", "ful"),
    ("ations", "ate"),
    ("ation", "ate"), ("ments", "ment"), ("ings", ""), ("ing", ""), ("ies", "y"), ("ied", "y"), ("edly", ""),
    ("ed", ""),
    ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("es", "e"), ("s", ""), ("ly", ""),
)  # fmt: skip


# Entries of the table that are nouns.
_NOUNS = word_set(
    "withdrawal withdrawals failure failures recovery restoration removal announcement announcements beginning hours "
    "minutes "
    "countries companies cities uses causes analysis scrutiny attribution detection reversal eruption left saw"
)


@cache
def stem(word: str) -> str:
    """A rough stem; equal stems mean the same word, no more.

    Examples
    --------
    >>> stem("severed"), stem("severs"), stem("sunk"), stem("routers")
    ('sever', 'sever', 'sink', 'router')
    """
    word = word.lower().replace("’", "'").removesuffix("'s").strip("'-./")
    if word in _IRREGULAR and _IRREGULAR[word] != word:
        return stem(_IRREGULAR[word])
    if len(word) <= 3 or any(letter.isdigit() for letter in word):
        return word
    for suffix, replacement in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            if suffix == "s" and word.endswith(("ss", "us", "is")):
                return word
            word = word[: len(word) - len(suffix)] + replacement
            if suffix in ("ed", "ing", "ings") and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def is_past(word: str) -> bool:
    """Whether a word is an irregular past form.

    Examples
    --------
    >>> is_past("stole"), is_past("table")
    (True, False)
    """
    return word in _IRREGULAR and word not in _NOUNS


def stems(words: str) -> frozenset[str]:
    """Stems of a list of words, for comparisons.

    Examples
    --------
    >>> sorted(stems("came back"))
    ['back', 'com']
    """
    return frozenset(stem(word) for word in words.split())


def words_of(text: str) -> list[str]:
    """Words as written; identifiers such as ``AAE-1`` and ``208.65.153.0`` stay whole.

    Examples
    --------
    >>> words_of("Seacom/TGN-EA, and AT&T's")
    ['Seacom/TGN-EA', 'and', "AT&T's"]
    """
    return _WORD.findall(text)


def terms_of(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order.

    Examples
    --------
    >>> terms_of("When did the routers crash on the core?")
    ['router', 'crash', 'cor']
    """
    found = []
    for word in words_of(text):
        pieces = [word, *re.split(r"[-/.]", word)] if re.search(r"[-/]", word) else [word]
        for piece in pieces:
            if piece and piece.lower() not in STOP:
                found.append(stem(piece))
    if re.search(r"\b(?:was|is|were|all) over\b", text):
        found.append(stem("end"))
    return [term for term in found if len(term) > 1 or term.isdigit()]


@cache
def _groups() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _read("thesaurus.txt").splitlines():
        if line and not line.startswith("#"):
            group = {stem(word) for word in line.split()}
            for word in group:
                table.setdefault(word, set()).update(group)
    return {word: frozenset(group) for word, group in table.items()}


def related(term: str) -> frozenset[str]:
    """Stems of the same meaning, with the stem itself.

    Examples
    --------
    >>> "sever" in related("cut")
    True
    """
    return _groups().get(term, frozenset()) | {term}


def expand(terms: Iterable[str]) -> list[str]:
    """Related stems that are not among the terms, sorted."""
    given = set(terms)
    return sorted(set().union(*(related(term) for term in given)) - given) if given else []


@cache
def countries() -> frozenset[str]:
    """Names of countries of one word, and the longer ones that notes use."""
    longer = {
        "United States",
        "United Kingdom",
        "South Africa",
        "Saudi Arabia",
        "New Zealand",
        "Sri Lanka",
        "South Korea",
    }
    return frozenset(_read("countries.txt").split()) | longer


@cache
def cable_aliases() -> dict[str, str]:
    """Folded spelling of a cable to the folded first spelling of its line."""
    table = {}
    for line in _read("cables.txt").splitlines():
        if line and not line.startswith("#"):
            names = [fold_name(name) for name in line.split("|")]
            table.update(dict.fromkeys(names, names[0]))
    return table


def fold_name(name: str) -> str:
    """Letters and digits only, lower case: ``SeaMeWe-4`` and ``SEA-ME-WE 4`` become one.

    Examples
    --------
    >>> fold_name("SEA-ME-WE 4") == fold_name("SeaMeWe-4")
    True
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def is_event_word(term: str) -> bool:
    """Whether a stem only says that something went wrong, so that it tells no incident from another.

    Examples
    --------
    >>> is_event_word(stem("outage")), is_event_word(stem("anchor"))
    (True, False)
    """
    return term in related(stem("outage")) or term in stems(
        "event case problem trouble matter affair accident crisis last"
    )


NUMBER_WORDS = {
    "zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
    "dozen": 12, "hundred": 100,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
    "eleventh": 11, "twelfth": 12,
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
