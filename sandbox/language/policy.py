"""The reviewed policy file, read once: which names of which module, which attributes of which type."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

FILE = "data/policy.txt"
SPACES = frozenset({"module", "type", "class"})
VERDICTS = frozenset({"allow", "left"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One reviewed name: of a module, of the instances of a type, or of a class object."""

    space: str
    owner: str
    name: str
    allowed: bool
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy file in memory. ``version`` enters provenance; ``reviewed`` names the versions that were looked at."""

    version: str
    reviewed: Mapping[str, str]
    entries: tuple[Entry, ...]

    def owners(self, space: str) -> tuple[str, ...]:
        """Owners of a space in the order of the file."""
        return tuple(dict.fromkeys(e.owner for e in self.entries if e.space == space))

    def names(self, space: str, owner: str, *, allowed: bool = True) -> frozenset[str]:
        """Allowed (or left out) names of one owner."""
        return frozenset(e.name for e in self.entries if e.space == space and e.owner == owner and e.allowed is allowed)


def parse_policy(text: str) -> Policy:
    """Read the text of a policy file.

    Parameters
    ----------
    text : str
        Blocks of names under owners, as the head of the shipped file explains.

    Returns
    -------
    Policy

    Raises
    ------
    ValueError
        With the line number when a line is none of the known forms.

    Examples
    --------
    >>> policy = parse_policy("version 1\\nmodule math\\n  allow function | pure\\n    sqrt floor\\n")
    >>> policy.version, sorted(policy.names("module", "math"))
    ('1', ['floor', 'sqrt'])
    """
    version = ""
    reviewed: dict[str, str] = {}
    entries: list[Entry] = []
    owner: tuple[str, str] | None = None
    group: tuple[bool, str, str] | None = None
    for number, line in _lines(text):
        words = line.split()
        if line.startswith("    ") and owner and group:
            entries.extend(Entry(owner[0], owner[1], name, group[0], group[1], group[2]) for name in words)
        elif line.startswith("  ") and owner and words[0] in VERDICTS and " | " in line:
            head, why = line.split(" | ", 1)
            group = (words[0] == "allow", head.split()[1], why.strip())
        elif words[0] in SPACES and len(words) == 2:
            owner, group = (words[0], words[1]), None
        elif words[0] == "version" and len(words) == 2:
            version = words[1]
        elif words[0] == "reviewed" and len(words) == 3:
            reviewed[words[1]] = words[2]
        else:
            raise ValueError(f"policy file, line {number}: neither an owner, a group nor names: {line!r}")
    return Policy(version, reviewed, tuple(entries))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


@cache
def load_policy() -> Policy:
    """The policy that ships with the package."""
    return parse_policy(resources.files("nl2net.sandbox").joinpath(FILE).read_text(encoding="utf-8"))


@cache
def module_names_of(owner: str) -> frozenset[str]:
    """Allowed names of a module. Kept: a child that walks the whole policy would copy all its pages."""
    return load_policy().names("module", owner)


def resolve_class(owner: str) -> type | None:
    """The class behind ``module:Class``, or ``None`` where the installed library has no such class.

    Examples
    --------
    >>> resolve_class("builtins:str")
    <class 'str'>
    >>> resolve_class("pandas:NoSuchThing") is None
    True
    """
    if owner.startswith("collections.abc:dict_"):
        return {"dict_keys": type({}.keys()), "dict_values": type({}.values()), "dict_items": type({}.items())}[
            owner.split(":")[1]
        ]
    try:
        found = pkgutil.resolve_name(owner)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) else None


def resolve_module(name: str) -> Any:
    """Import a module of the policy. Only names of the file come here, never a name of a program."""
    return importlib.import_module(name)


@cache
def type_table() -> Mapping[type, frozenset[str]]:
    """Allowed attribute names of the instances of each type."""
    return _class_table("type")


@cache
def class_table() -> Mapping[type, frozenset[str]]:
    """Allowed attribute names of class objects. Text and containers also lend their own methods (``str.lower``)."""
    table = dict(_class_table("class"))
    types = type_table()
    for cls in (str, list, dict, set, frozenset, tuple, int, float):
        table[cls] = table.get(cls, frozenset()) | types[cls]
    return table


def _class_table(space: str) -> dict[type, frozenset[str]]:
    table: dict[type, set[str]] = {}
    for owner in load_policy().owners(space):
        cls = resolve_class(owner)
        if cls is not None:
            table.setdefault(cls, set())
    for entry in load_policy().entries:
        cls = resolve_class_cached(entry.owner) if entry.space == space and entry.allowed else None
        if cls is not None:
            table[cls].add(entry.name)
    return {cls: frozenset(names) for cls, names in table.items()}


resolve_class_cached = cache(resolve_class)
