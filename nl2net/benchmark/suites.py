"""Suites of the benchmark: public halves in one file, keys in a second one that nobody else may read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx

from nl2net.benchmark.applications.base import canonical
from nl2net.benchmark.applications.tasks import CANARY, TASK_VERSION
from nl2net.benchmark.items import Item, Made, Order, make_items, read_item
from nl2net.errors import DataError
from nl2net.golden.generate import GENERATOR_VERSION
from nl2net.golden.sources import graph_of
from nl2net.locations import atomic_write

FORMAT = 1
PUBLIC, KEYS = "suite.jsonl", "keys.jsonl"
_KEYS = ("application", "level", "split", "control")


@dataclass(frozen=True, slots=True)
class SuiteHeader:
    """Manifest of a suite.

    Attributes
    ----------
    order : mapping
        What was generated: applications, count, seed (of a test suite its hash), split, level, size.
    digest : str
        ``sha256:`` over public lines and keys; every report states it.
    public_digest : str
        The same over the public lines alone, for those who have no keys.
    rejects : mapping of str to int
        What the gate turned away, by reason.
    """

    order: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, int]]
    digest: str
    public_digest: str
    rejects: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT
    versions: Mapping[str, int] = field(default_factory=lambda: {"cases": GENERATOR_VERSION, "tasks": TASK_VERSION})
    canary: str = CANARY

    @property
    def split(self) -> str:
        """``dev``, ``eval`` or ``test``."""
        return str(self.order["split"])


@dataclass(frozen=True, slots=True)
class BenchSuite:
    """A header and its items."""

    header: SuiteHeader
    items: tuple[Item, ...]


@lru_cache(maxsize=2)
def generate_suite(order: Order) -> BenchSuite:
    """Make the suite of an order; the same order gives the same suite in every process.

    Examples
    --------
    >>> one, two = (generate_suite(Order(("traffic",), 2, seed="demo")) for _ in range(2))
    >>> one.header.digest == two.header.digest
    True
    """
    return make_suite(order, make_items(order))


def make_suite(order: Order, made: Made) -> BenchSuite:
    """Put items together and compute their digests."""
    items = tuple(made.items)
    public, keys = _bytes(_public_lines(items)), _bytes(item.key_line() for item in items)
    header = SuiteHeader(
        order=asdict(order) | {"applications": list(order.applications), "seed": _shown_seed(order)},
        counts={key: dict(sorted(Counter(str(getattr(i, key)) for i in items).items())) for key in _KEYS},
        digest="sha256:" + hashlib.sha256(public + keys).hexdigest(),
        public_digest="sha256:" + hashlib.sha256(public).hexdigest(),
        rejects=dict(sorted(made.rejects.items())),
    )
    return BenchSuite(header, items)


def _shown_seed(order: Order) -> str:
    """Of a secret seed only its hash is told, which binds its owner to it."""
    return order.seed if order.split != "test" else "sha256:" + hashlib.sha256(order.seed.encode()).hexdigest()


def _public_lines(items: Sequence[Item]) -> list[str]:
    return [canonical(item.public_json()) for item in items]


def _bytes(lines: Any) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def write_suite(suite: BenchSuite, folder: Path) -> tuple[Path, Path]:
    """Write the public file, and the keys with mode 0600; give both paths.

    Graphs of a test suite are written to ``graphs/`` beside them as node-link JSON.
    """
    head = canonical(asdict(suite.header))
    public, keys = folder / PUBLIC, folder / KEYS
    for name, item in {item.graph_file: item for item in suite.items if item.graph_file}.items():
        assert item.case is not None
        with atomic_write(folder / "graphs" / name) as stream:
            stream.write(canonical(nx.node_link_data(graph_of(item.case), edges="links")).encode())
    with atomic_write(public) as stream:
        stream.write(_bytes([head, *_public_lines(suite.items)]))
    with atomic_write(keys, private=True) as stream:
        stream.write(_bytes([head, *(item.key_line() for item in suite.items)]))
    return public, keys


def load_suite(folder: Path) -> BenchSuite:
    """Read a suite with its keys.

    Raises
    ------
    DataError
        A file is missing or malformed, or the lines do not match the digests.
    """
    header, public = _read(folder / PUBLIC)
    _, keys = _read(folder / KEYS)
    if header.digest != "sha256:" + hashlib.sha256(_bytes(public) + _bytes(keys)).hexdigest():
        raise DataError("cases or keys do not match the digest of the header", path=folder, hint="Generate it again.")
    return BenchSuite(header, tuple(read_item(line, header.split) for line in keys))


def read_public(path: Path) -> tuple[SuiteHeader, list[dict[str, Any]]]:
    """The header and the public halves of a suite, for those who have no keys."""
    header, lines = _read(path / PUBLIC if path.is_dir() else path)
    return header, [json.loads(line) for line in lines]


def _read(path: Path) -> tuple[SuiteHeader, list[str]]:
    try:
        # Not by `splitlines`: names of a network may hold characters that count as ends of a line there.
        head, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        header = SuiteHeader(**json.loads(head))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"not a suite of the benchmark: {error}", path=path) from None
    if header.format != FORMAT:
        raise DataError(f"suite format {header.format}, this version reads {FORMAT}", path=path)
    return header, lines
