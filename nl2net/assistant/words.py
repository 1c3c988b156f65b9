"""Questions as bags of words: synonyms of the trade, stop words, placeholders and numbers as classes."""

from __future__ import annotations

import re

# Words that mean the same thing to an operator; every word is replaced by the first of its row.
_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("node", "host", "device", "machine", "vertex", "vertices", "endpoint", "router", "box", "server", "ip", "address"),
    ("link", "edge", "connection", "cable", "circuit", "adjacency"),
    ("bytes", "traffic", "volume", "octets", "data"),
    ("capacity", "bandwidth", "speed", "throughput"),
    ("send", "sent", "transmit", "outgoing", "source", "sender", "out", "egress"),
    ("receive", "received", "incoming", "target", "receiver", "ingress", "destination"),
    ("remove", "delete", "drop", "drain", "decommission", "fail", "fails", "failed", "down", "lose", "lost", "cut"),
    ("count", "number", "many"),
    ("list", "which", "show", "find", "enumerate", "identify", "give", "name"),
    ("largest", "biggest", "most", "highest", "maximum", "max", "top", "greatest", "heaviest", "busiest"),
    ("smallest", "least", "lowest", "minimum", "min", "fewest", "lightest"),
    ("average", "mean", "avg"),
    ("neighbor", "neighbour", "neighbors", "neighbours", "peer", "peers", "talks", "talk", "adjacent"),
    ("component", "components", "island", "islands", "partition", "split", "splits", "disconnect", "disconnected"),
    ("path", "route", "hops", "hop"),
    ("distance", "length", "km", "fibre", "fiber", "kilometre", "kilometres"),
    ("contain", "contains", "contained", "inside", "within", "parent", "belong", "belongs", "under", "child"),
    ("prefix", "subnet", "network", "/16", "/24", "/8"),
    ("color", "colour", "label", "tag", "mark", "paint"),
    ("share", "percent", "percentage", "fraction", "ratio", "proportion"),
    ("rank", "sort", "order", "ranking", "sorted", "ordered"),
)  # fmt: skip
_CANON = {word: row[0] for row in _SYNONYMS for word in row}
_STOP_TEXT = """
a an the of to in on at is are be do does for and or with by from me us i we you please it its this that these those
there what how our their have has can could would should will as if than then into all any each
"""
_STOP = frozenset(_STOP_TEXT.split())
_WORD = re.compile(r"/?[a-z0-9_]+")
PLACEHOLDER = re.compile(r"\b(?:NODE|NAME|VALUE|PREFIX|ADDRESS|OCTETS|TEXT)_\d+\b")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def words_of(question: str) -> list[str]:
    """Content words in canonical form; placeholders and numbers become classes.

    Examples
    --------
    >>> words_of("Which 5 hosts send the most traffic?")
    ['list', '#', 'node', 'send', 'largest', 'bytes']
    """
    text = PLACEHOLDER.sub(lambda m: " zz" + m.group().split("_")[0].lower() + " ", question).lower()
    words = []
    for word in _WORD.findall(text):
        if word in _STOP:
            continue
        canon = _CANON.get(word) or _CANON.get(word.removesuffix("s")) or word.removesuffix("s")
        words.append("#" if word.isdigit() else canon)
    return words
