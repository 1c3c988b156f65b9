"""Entries of the program library, and the file that keeps those of this user."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nl2net.model import GraphSchema


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
    """An entry that fits, adapted to the schema.

    ``score`` is the lexical similarity in 0-1, 1 for the same words; ``same_sense`` tells whether the words that decide
    the meaning are the same. ``bound`` is the program with the names and numbers of the question at hand, or ``None``
    where one of them has no certain place. ``covered`` is the share of the question's words, by rarity, that the entry
    has too: a condition that the entry does not know lowers it. ``probability`` is that of ``bound`` being the right
    program (`nl2net.assistant.ranking`).
    """

    entry: Entry
    program: str
    question: str
    score: float
    same_sense: bool = True
    bound: str | None = None
    covered: float = 0.0
    probability: float = 0.0


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
