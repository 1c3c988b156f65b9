"""Verified question-program pairs, found again per question and adapted to the schema at hand.

Entries hold masked questions and programs, never values or results. They come from the development split of the golden
suite and from programs that this user approved.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path

from nl2net.assistant.wording import expected_type
from nl2net.model import AttributeSchema, GraphSchema, Library

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
    ("contain", "contains", "contained", "inside", "within", "parent", "belong", "belongs", "under", "child", "children"),
    ("prefix", "subnet", "network", "/16", "/24", "/8"),
    ("color", "colour", "label", "tag", "mark", "paint"),
    ("share", "percent", "percentage", "fraction", "ratio", "proportion"),
    ("rank", "sort", "order", "ranking", "sorted", "ordered"),
)  # fmt: skip
_CANON = {word: row[0] for row in _SYNONYMS for word in row}
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "is",
        "are",
        "be",
        "do",
        "does",
        "for",
        "and",
        "or",
        "with",
        "by",
        "from",
        "me",
        "us",
        "i",
        "we",
        "you",
        "please",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "there",
        "what",
        "how",
        "our",
        "their",
        "have",
        "has",
        "can",
        "could",
        "would",
        "should",
        "will",
        "as",
        "if",
        "than",
        "then",
        "into",
        "all",
        "any",
        "each",
    ]
)
_WORD = re.compile(r"/?[a-z0-9_]+")
_PLACEHOLDER = re.compile(r"\b(?:NODE|NAME|VALUE|PREFIX|ADDRESS|OCTETS|TEXT)_\d+\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_RRF = 60.0  # constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)


@dataclass(frozen=True, slots=True)
class Entry:
    """One verified pair.

    ``roles`` map each attribute literal of the program to ``[owner, role]``; ``kinds`` are kind and relation literals;
    ``directed`` and ``multi`` describe the graph class on which it was verified.
    """

    question: str
    program: str
    library: str = "networkx"
    result_type: str = ""
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: Sequence[str] = ()
    directed: bool = False
    multi: bool = False
    origin: str = "development"
    intent: str = ""
    schema_hash: str = ""
    used: int = 0
    rejected: int = 0

    @property
    def key(self) -> str:
        """Hash of question form and program."""
        return hashlib.sha256(f"{self.question}\0{self.program}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that fits, adapted to the schema. ``score`` is the lexical similarity in 0-1, 1 for the same words."""

    entry: Entry
    program: str
    question: str
    score: float


def words_of(question: str) -> list[str]:
    """Content words in canonical form; placeholders and numbers become classes.

    Examples
    --------
    >>> words_of("Which 5 hosts send the most traffic?")
    ['list', '#', 'node', 'send', 'largest', 'bytes']
    """
    text = _PLACEHOLDER.sub(lambda m: " zz" + m.group().split("_")[0].lower() + " ", question).lower()
    words = []
    for word in _WORD.findall(text):
        if word in _STOP:
            continue
        canon = _CANON.get(word) or _CANON.get(word.removesuffix("s")) or word.removesuffix("s")
        words.append("#" if word.isdigit() else canon)
    return words


class ProgramLibrary:
    """Search over entries: BM25 on words, fused by rank with structural likeness.

    Building is linear in the text; a search is linear in the entries that share a word with the question.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._words = [Counter(words_of(entry.question)) for entry in self.entries]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in words:
                self._postings[word].append(number)
        self._mean = sum(map(Counter.total, self._words)) / max(len(self._words), 1)

    def search(
        self, question: str, schema: GraphSchema, *, library: Library, k: int = 4, expected: str = ""
    ) -> list[Found]:
        """The best entries for a masked question, adapted to a schema, most similar last.

        Parameters
        ----------
        question : str
            Masked.
        schema : GraphSchema
            Entries whose attributes have no counterpart here are left out.
        library : Library
        k : int
            At most so many, no two of one program.
        expected : str
            Asked result type, ``""`` if unknown.
        """
        words = Counter(words_of(question))
        lexical = self._bm25(words)
        kind = expected or expected_type(question)
        structural = {n: _likeness(self.entries[n], schema, kind, words) for n in lexical}
        fused = _fuse(lexical, structural)
        found: list[Found] = []
        programs: set[str] = set()
        for number in sorted(fused, key=lambda n: (-fused[n], n)):
            entry = self.entries[number]
            if entry.library != library or entry.rejected > entry.used:
                continue
            adapted = adapt(entry, schema)
            shape = _shape(adapted[1]) if adapted else ""
            if adapted is None or shape in programs:
                continue
            programs.add(shape)
            found.append(Found(entry, adapted[1], adapted[0], _cosine(words, self._words[number])))
            if len(found) == k:
                break
        return found[::-1]

    def _bm25(self, words: Counter[str], k1: float = 1.2, b: float = 0.5) -> dict[int, float]:
        """Okapi BM25 (Robertson and Zaragoza 2009) of every entry that shares a word."""
        scores: dict[int, float] = defaultdict(float)
        total = len(self.entries)
        for word in words:
            postings = self._postings.get(word, ())
            idf = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for number in postings:
                count = self._words[number][word]
                length = self._words[number].total() / self._mean
                scores[number] += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length))
        return scores


def _fuse(lexical: Mapping[int, float], structural: Mapping[int, float]) -> dict[int, float]:
    fused: dict[int, float] = defaultdict(float)
    for weight, scores in ((1.0, lexical), (0.5, structural)):
        ordered = sorted(scores, key=lambda n: (-scores[n], n))
        for rank, number in enumerate(ordered):
            fused[number] += weight / (_RRF + rank)
    return fused


def _likeness(entry: Entry, schema: GraphSchema, kind: str, words: Counter[str]) -> float:
    """Same result type, same graph class, same kinds, same kinds of placeholder."""
    score = 1.0 * (bool(kind) and entry.result_type == kind)
    score += 0.5 * (entry.directed == schema.graph_class.directed) + 0.3 * (entry.multi == schema.graph_class.multi)
    known = {*schema.node_kinds, *schema.edge_kinds}
    score += 1.0 if entry.kinds and known.issuperset(entry.kinds) else -0.5 * bool(entry.kinds)
    asked = {word for word in words if word.startswith("zz")}
    have = {word for word in words_of(entry.question) if word.startswith("zz")}
    return score - 0.4 * len(asked ^ have) + (0.2 if entry.origin == "approved" else 0.0)


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    dot = sum(count * b[word] for word, count in a.items())
    norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return dot / norm if norm else 0.0


def _shape(program: str) -> str:
    """A program without its numbers, so that two thresholds of one program count as one."""
    return re.sub(r"\s+", " ", _NUMBER.sub("#", program))


# ---- adaptation -----------------------------------------------------------------------------------------------------


def adapt(entry: Entry, schema: GraphSchema) -> tuple[str, str] | None:
    """Rewrite the attribute names of an entry for a schema by role.

    Returns
    -------
    (str, str) or None
        Question and program; ``None`` when a role or a kind has no counterpart.
    """
    renamed: dict[str, str] = {}
    for name, (owner, role) in entry.roles.items():
        target = _counterpart(name, owner, role, schema)
        if target is None:
            return None
        renamed[name] = target
    if entry.kinds and not {*schema.node_kinds, *schema.edge_kinds}.issuperset(entry.kinds):
        return None
    program = (
        replace_strings(entry.program, renamed) if entry.library != "sql" else _replace_words(entry.program, renamed)
    )
    return _replace_words(entry.question, renamed), program


def _counterpart(name: str, owner: str, role: str, schema: GraphSchema) -> str | None:
    if schema.attribute(owner, name) is not None or name in {"name", "kind", "id"}:
        return name
    fitting = [a for a in schema.attributes_of(owner) if role and a.role == role]
    numeric = [a for a in fitting if a.type in {"integer", "number"}]
    best: AttributeSchema | None = max(numeric or fitting, key=lambda a: a.count, default=None)
    return None if best is None else best.public_name


def _replace_words(text: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        if old != new:
            text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", lambda _, n=new: n, text)
    return text


def replace_strings(program: str, renamed: Mapping[str, str]) -> str:
    """Replace whole string literals of a Python program, leaving everything else as it is.

    Examples
    --------
    >>> replace_strings('sum(d["bytes"] for d in x)', {"bytes": "octets"})
    'sum(d["octets"] for d in x)'
    """
    changes = {old: new for old, new in renamed.items() if old != new}
    if not changes:
        return program
    lines = program.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(StringIO(program).readline))
    except (tokenize.TokenError, IndentationError):
        return program
    for token in reversed(tokens):
        body = token.string[1:-1]
        if token.type == tokenize.STRING and token.string[0] in "'\"" and body in changes:
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = line[: start + 1] + changes[body] + line[end - 1 :]
    return "".join(lines)


# ---- replay without a model -----------------------------------------------------------------------------------------


def replay(entries: Iterable[Entry], question: str, schema: GraphSchema) -> Found | None:
    """An approved program whose masked question is the same but for placeholders and numbers.

    A number is rebound only where it stands once in the entry's question and once in its program.
    """
    form = _form(question)
    for entry in entries:
        if entry.origin != "approved" or _form(entry.question) != form:
            continue
        adapted = adapt(entry, schema)
        if adapted is None or entry.directed != schema.graph_class.directed or entry.multi != schema.graph_class.multi:
            continue
        program = _rebind(entry.question, question, adapted[1])
        if program is not None:
            return Found(entry, program, question, 1.0)
    return None


def _form(question: str) -> str:
    text = _PLACEHOLDER.sub(lambda m: m.group().split("_")[0] + "_", question)
    return " ".join(re.findall(r"\w+|#", _NUMBER.sub("#", text).lower()))


def _rebind(old: str, new: str, program: str) -> str | None:
    """Carry placeholders and numbers of the new question into the program of the old one."""
    pairs = list(zip(_PLACEHOLDER.findall(old), _PLACEHOLDER.findall(new), strict=False))
    if len({a for a, _ in pairs}) != len({b for _, b in pairs}):
        return None
    mapping = dict(pairs)
    program = _PLACEHOLDER.sub(lambda m: mapping.get(m.group(), m.group()), program)
    numbers_old, numbers_new = _NUMBER.findall(_PLACEHOLDER.sub("", old)), _NUMBER.findall(_PLACEHOLDER.sub("", new))
    for before, after in zip(numbers_old, numbers_new, strict=False):
        if before == after:
            continue
        if numbers_old.count(before) != 1 or len(re.findall(rf"(?<![\w.]){re.escape(before)}(?![\w.])", program)) != 1:
            return None
        program = re.sub(rf"(?<![\w.]){re.escape(before)}(?![\w.])", after, program)
    return program


# ---- the user's own entries -----------------------------------------------------------------------------------------


def load_entries(path: Path) -> list[Entry]:
    """Entries of a JSONL file; lines that cannot be read are left out, for the file is appended to by hand too."""
    if not path.exists():
        return []
    known = set(Entry.__dataclass_fields__)
    entries = []
    for line in path.read_text("utf-8").splitlines():
        try:
            values = json.loads(line)
            entries.append(Entry(**{k: v for k, v in values.items() if k in known}))
        except (ValueError, TypeError):
            continue
    return entries


def append_entry(path: Path, entry: Entry) -> None:
    """Add an approved entry."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")


def attribute_roles(program: str, schema: GraphSchema) -> dict[str, list[str]]:
    """Attribute literals of a program with owner and role, for a new entry."""
    literals = set(re.findall(r"[\"']([^\"'\n]{1,60})[\"']", program))
    return {a.public_name: [a.owner, a.role] for a in schema.attributes if a.public_name in literals}
