"""What a reader hands over, and the options it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from nl2net.model import GraphSchema, QualityFinding


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; every field is an option of the command line.

    Attributes
    ----------
    format : str, optional
        Name of a reader; by default the content decides.
    multigraph : bool
        Keep the multigraph instead of narrowing to the smallest class that loses nothing.
    allow_dangling : bool
        Create nodes for link ends without a record instead of raising.
    units : mapping of str to str
        Unit per attribute.
    source, target : str, optional
        Columns of a table.
    merge : str, optional
        ``"sum:bytes,packets"`` folds parallel links.
    layer, local : str, optional
        Layer of an RFC 8345 file; name of the local device of a neighbour table.
    by_port : bool
        One edge per protocol and port in a communication graph.
    """

    format: str | None = None
    multigraph: bool = False
    allow_dangling: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    target: str | None = None
    merge: str | None = None
    layer: str | None = None
    local: str | None = None
    by_port: bool = False


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """What the user allows the schema to say; saved per graph."""

    share_values: frozenset[str] = frozenset()
    share_range: frozenset[str] = frozenset()
    coarse_counts: bool = False


class Derived(Protocol):
    """What is worked out from the columns of a graph when it is first asked for."""

    def report(self) -> tuple[QualityFinding, ...]: ...

    def fingerprint(self) -> str: ...

    def schema_hash(self) -> str: ...


@dataclass(frozen=True)
class LoadedGraph:
    """A graph in normal form with everything that is known about it.

    ``graph.graph["tables"]`` holds extra tables. ``provenance`` names file, format, reader version, options and the
    counts of records read, used and skipped with their reason.

    Notes
    -----
    Report and hashes are made at the first look, from columns that were set apart while loading: nodes and links that
    a program adds to ``graph`` meanwhile, or attributes it sets, do not enter them.
    """

    name: str
    path: Path | None
    graph: Any  # one of the four networkx classes; Any keeps their generics out of every signature
    schema: GraphSchema
    schema_options: SchemaOptions
    provenance: Mapping[str, Any]
    derived: Derived = field(repr=False, compare=False)

    @cached_property
    def report(self) -> tuple[QualityFinding, ...]:
        """The data-quality report."""
        return self.derived.report()

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` over the sorted normal form."""
        return self.derived.fingerprint()

    @cached_property
    def schema_hash(self) -> str:
        """``sha256:`` over the schema."""
        return self.derived.schema_hash()
