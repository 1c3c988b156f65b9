"""Questions as bags of words: synonyms of the trade, stop words, attribute names by what they measure, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nl2net.model import GraphSchema

# Words that mean the same thing to an operator; every word is replaced by the first of its row.
_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("node", "host", "device", "machine", "vertex", "vertices", "endpoint", "router", "box", "server", "ip", "address"),
    ("link", "edge", "cable", "circuit", "adjacency"),
    ("bytes", "traffic", "volume", "octets", "data"),
    ("packets", "pkts", "frames"),
    ("flows", "connections", "sessions", "connection"),
    ("capacity", "bandwidth", "speed", "throughput"),
    ("send", "sent", "sends", "transmit", "outgoing", "source", "sender", "senders", "out", "egress", "originate"),
    ("receive", "received", "incoming", "target", "receiver", "receivers", "ingress", "destination", "in-bound"),
    ("remove", "delete", "drop", "drain", "decommission", "fail", "fails", "failed", "down", "lose", "lost", "cut",
     "without", "removed", "gone", "died", "breaks", "failure", "failures", "fell"),
    ("count", "number", "many"),
    ("list", "which", "show", "find", "enumerate", "identify", "give", "who"),
    ("largest", "biggest", "most", "highest", "maximum", "max", "top", "greatest", "heaviest", "busiest", "longest"),
    ("smallest", "least", "lowest", "minimum", "min", "fewest", "lightest", "shortest", "cheapest"),
    ("average", "mean", "avg"),
    ("total", "sum", "altogether", "overall"),
    ("above", "more", "exceed", "exceeds", "greater", "beyond"),
    ("below", "less", "fewer"),
    ("none", "no", "not", "lack", "lacking", "nothing", "never"),
    ("neighbor", "neighbour", "neighbors", "neighbours", "peer", "peers", "talks", "talk", "talking", "adjacent"),
    ("component", "components", "island", "islands", "partition", "split", "splits", "disconnect", "disconnected",
     "spof", "parts", "bridge", "bridges", "articulation"),
    ("path", "route"),
    ("distance", "length", "km", "fibre", "fiber", "kilometre", "kilometres"),
    ("contain", "contains", "contained", "inside", "within", "belong", "belongs", "under", "holds", "hold"),
    ("parent", "parents"), ("child", "children"),
    ("prefix", "prefixes", "subnet", "subnets", "/16", "/24", "/8"),
    ("color", "colour", "label", "tag", "mark", "paint"),
    ("share", "percent", "percentage", "fraction", "proportion"),
    ("rank", "sort", "order", "ranking", "sorted", "ordered"),
    ("site", "country", "city", "location", "cities", "countries", "sites", "region"),
)  # fmt: skip
_CANON = {word: row[0] for row in _SYNONYMS for word in row}
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_GERMAN_NUMBERS = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
_DIGITS = {word: str(value) for value, word in enumerate(_NUMBER_WORDS.split())} | {
    word: str(value) for value, word in enumerate(_GERMAN_NUMBERS.split(), start=2)
}
_STOP_TEXT = """
a an the of to in on at is are be do does for and or with by from me us i we you please it its this that these those
there what how our their have has can could would should will as if than then into all any each pls kindly tell want
over know was were been also only just one ones
"""
STOP = frozenset(_STOP_TEXT.split())
# Words that change the answer: a program for "most bytes sent" is no answer to "least packets received".
_CRITICAL_TEXT = """
bytes packets flows capacity distance cost latency send receive largest smallest average median above below none second
third exactly both except twice half double parent child remove color undirected directed weighted std variance ratio
"""
CRITICAL = frozenset(_CRITICAL_TEXT.split())
_WORD = re.compile(r"/?[a-z0-9_.]*[a-z0-9_]")
PLACEHOLDER = re.compile(r"\b(?:NODE|NAME|VALUE|PREFIX|ADDRESS|OCTETS|TEXT)_\d+\b")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")

# What an attribute measures, by parts of its name; the first row that fits decides.
_MEASURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("packets", re.compile(r"packet|pkt|frames?\b", re.IGNORECASE)),
    ("flows", re.compile(r"flow|conn(?:ection)?s?(?:_|\b)|session", re.IGNORECASE)),
    ("bytes", re.compile(r"byte|octet|volume", re.IGNORECASE)),
)
_ROLE_MEASURES = {"traffic": "bytes", "count": "flows"}


def measure_of(name: str, role: str) -> str:
    """What an attribute stands for: a measure by its name, else its role.

    Examples
    --------
    >>> measure_of("packet_weight", ""), measure_of("LinkSpeedRaw", "capacity"), measure_of("octets_in", "traffic")
    ('packets', 'capacity', 'bytes')
    """
    if role in {"", "traffic", "count"}:
        for measure, pattern in _MEASURES:
            if pattern.search(name):
                return measure
    return _ROLE_MEASURES.get(role, role)


def measures_of(schema: GraphSchema) -> dict[str, str]:
    """Public attribute name, in lower case, to what it measures."""
    found = {a.public_name.lower(): measure_of(a.public_name, a.role) for a in schema.attributes}
    return {name: measure for name, measure in found.items() if measure}


def with_digits(question: str, *, one: bool = True) -> str:
    """Number words as digits; "one" only if told so, for it is an article as often as a number.

    Examples
    --------
    >>> with_digits("the five largest")
    'the 5 largest'
    """
    words = _DIGITS if one else {word: digit for word, digit in _DIGITS.items() if word != "one"}
    return re.sub(r"\b[A-Za-zöü]+\b", lambda m: words.get(m.group().lower(), m.group()), question)


def words_of(question: str, measures: Mapping[str, str] | None = None) -> list[str]:
    """Content words in canonical form; placeholders and numbers become classes.

    Parameters
    ----------
    question : str
        Masked.
    measures : mapping, optional
        Attribute names of the graph to what they measure.

    Examples
    --------
    >>> words_of("Which five hosts send the most traffic?")
    ['list', '#', 'node', 'send', 'largest', 'bytes']
    """
    text = PLACEHOLDER.sub(lambda m: " zz" + m.group().split("_")[0].lower() + " ", with_digits(question)).lower()
    text = re.sub(r"\bover (?=\d)", "above ", text)  # "over 5" compares, "over all links" does not
    return [canonical(word, measures) for word in _WORD.findall(text) if word not in STOP]


def canonical(word: str, measures: Mapping[str, str] | None = None) -> str:
    """One word in canonical form."""
    if measures and word in measures:
        return measures[word]
    if word.replace(".", "").isdigit():
        return "#"
    for form in (
        word,
        word.removesuffix("s"),
        word.removesuffix("es"),
        word.removesuffix("ed"),
        word.removesuffix("ing"),
    ):
        if form in _CANON:
            return _CANON[form]
    return word.removesuffix("s")


def critical(words: Iterable[str]) -> frozenset[str]:
    """The words of a question that decide its meaning."""
    return frozenset(words) & CRITICAL


# Measures of traffic: a program for one of them serves for the others, see `nl2net.assistant.adaptation.adapt`.
MEASURES = frozenset({"bytes", "packets", "flows"})
_MEASURE_WORD = re.compile(r"\b[A-Za-z]{4,}\b")


def blurred(words: Iterable[str]) -> list[str]:
    """Canonical words with every measure of traffic as one class: what questions are compared by.

    Examples
    --------
    >>> blurred(["total", "packets"])
    ['total', '#measure']
    """
    return ["#measure" if word in MEASURES else word for word in words]


def measure_in(words: Iterable[str]) -> str:
    """The only measure of traffic among canonical words, or ``""``."""
    found = MEASURES & set(words)
    return next(iter(found)) if len(found) == 1 else ""


def with_measure(question: str, old: str, new: str) -> str:
    """A question with the words for one measure replaced by another measure.

    Examples
    --------
    >>> with_measure("Who sends the most traffic?", "bytes", "packets")
    'Who sends the most packets?'
    """
    return _MEASURE_WORD.sub(lambda m: new if _CANON.get(m.group().lower()) == old else m.group(), question)


_SPOKEN = {"NODE": "X", "NAME": "X", "VALUE": "V", "PREFIX": "10.0.0.0/8"}


def speakable(question: str) -> str:
    """A masked question as a sentence model reads it best: short stand-ins for placeholders, one word for measures.

    Examples
    --------
    >>> speakable("How many packets has NODE_1 in PREFIX_2?")
    'How many bytes has X in 10.0.0.0/8?'
    """
    for measure in MEASURES:
        question = with_measure(question, measure, "bytes")
    return PLACEHOLDER.sub(lambda m: _SPOKEN.get(m.group().split("_")[0], "T"), question)
