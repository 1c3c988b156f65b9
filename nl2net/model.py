"""Value types that two or more layers share. Standard library only.

The schema types are the *only* description of a private graph that may reach a language model; everything in them is
derived from the data by ``nl2net.graphs`` and rendered by ``nl2net.prompts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Library(StrEnum):
    """What a generated program is written in."""

    NETWORKX = "networkx"
    PANDAS = "pandas"
    SQL = "sql"


class ResultType(StrEnum):
    """Closed set of answer types."""

    NUMBER = "number"
    TEXT = "text"
    LIST = "list"
    TABLE = "table"
    GRAPH = "graph"
    FIGURE = "figure"


class Status(StrEnum):
    """Outcome of a question, by exit code: 0; 1, 3 and 4; 5; 6."""

    ANSWERED = "answered"
    CANNOT_ANSWER = "cannot_answer"
    NEEDS_CLARIFICATION = "needs_clarification"
    FAILED = "failed"
    REFUSED = "refused"


class Severity(StrEnum):
    """What a finding leads to."""

    REFUSE = "refuse"
    REPAIR = "repair"
    CAVEAT = "caveat"


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark on a program, from the validator or the lint.

    ``message`` is for people; ``hint`` is for the model and holds nothing but the program's own text, schema words
    and public library names.
    """

    rule: str
    message: str
    severity: Severity
    line: int | None = None
    column: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class QualityFinding:
    """One remark on a loaded graph. ``examples`` hold data values and stay on this machine."""

    rule: str
    severity: str  # "info", "warning" or "error"
    count: int
    message: str
    examples: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True, slots=True)
class GraphClass:
    """Direction and multiplicity of a graph.

    Examples
    --------
    >>> GraphClass(directed=True, multi=False).name
    'DiGraph'
    """

    directed: bool
    multi: bool

    @property
    def name(self) -> str:
        return ("Multi" if self.multi else "") + ("DiGraph" if self.directed else "Graph")


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """One attribute of nodes or edges, without any of its values.

    Attributes
    ----------
    name : str
        The real name in the data.
    public_name : str
        What a model sees; differs from ``name`` only where the name itself is private.
    owner : str
        ``"node"`` or ``"edge"``.
    type : str
        ``integer``, ``number``, ``boolean``, ``text``, ``date``, ``list of ...``, ``mapping of ... to ...``, ``mixed``.
    count, total : int
        The attribute is present on ``count`` of the ``total`` nodes or edges.
    per_kind : mapping of str to (int, int)
        The same per declared kind, only for kinds on which it occurs.
    distinct : str
        ``"1"``, ``"2-10"``, ``"many"`` or ``"unique"``.
    shape : str
        Shape of text values, such as ``IPv4``, ``CIDR``, ``country code`` or ``a.b.c``; empty if none.
    unit : str
        Unit of a number, ``""`` where it has none, ``"unknown"`` where nobody said.
    role : str
        What the attribute is for: ``capacity``, ``traffic``, ``distance``, ``cost``, ``latency``, ``name``, ``kind``,
        ``address``, ``prefix``, ``site``, ``coordinate``, ``time``, ``count`` or ``""``.
    values : tuple
        Enumeration, only after the user shared it.
    value_range : tuple of two numbers, optional
        Minimum and maximum, only after the user shared them.
    keys : tuple of str
        Keys of a mapping where they are the same in all records.
    """

    name: str
    public_name: str
    owner: str
    type: str
    count: int
    total: int
    distinct: str
    per_kind: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    shape: str = ""
    unit: str = ""
    role: str = ""
    values: tuple[Any, ...] = ()
    value_range: tuple[float, float] | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationSchema:
    """A pattern of edges between kinds, such as ``EK_PACKET_SWITCH -RK_CONTAINS-> EK_PORT``.

    ``fan_out`` is ``"exactly one"`` or ``"several"`` targets per source; ``several_parents`` tells whether a target
    has more than one source over this relation (of any source kind).
    """

    source_kind: str
    relation: str
    target_kind: str
    count: int
    fan_out: str
    several_parents: bool
    acyclic: bool


@dataclass(frozen=True, slots=True)
class TableSchema:
    """An extra table of the graph: name, columns with types, and the number of rows."""

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: int


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """All that a model may know of a graph.

    ``node_kinds`` and ``edge_kinds`` map declared kinds to their number. ``components`` is the number of (weakly)
    connected components. ``id_shape`` describes node ids; ``notes`` are sentences without values.
    """

    graph_class: GraphClass
    nodes: int
    edges: int
    node_kinds: Mapping[str, int] = field(default_factory=dict)
    edge_kinds: Mapping[str, int] = field(default_factory=dict)
    attributes: tuple[AttributeSchema, ...] = ()
    relations: tuple[RelationSchema, ...] = ()
    tables: tuple[TableSchema, ...] = ()
    id_shape: str = ""
    components: int = 1
    isolated: int = 0
    self_loops: int = 0
    parallel_pairs: int = 0
    notes: tuple[str, ...] = ()

    def attributes_of(self, owner: str) -> tuple[AttributeSchema, ...]:
        """Attributes of ``"node"`` or ``"edge"``."""
        return tuple(a for a in self.attributes if a.owner == owner)

    def attribute(self, owner: str, name: str) -> AttributeSchema | None:
        """The attribute of that public name, or ``None``."""
        return next((a for a in self.attributes if a.owner == owner and a.public_name == name), None)


@dataclass(frozen=True, slots=True)
class TypedResult:
    """The value of an answer in JSON form.

    ``data`` is, by type: a number; a text, boolean or ``None``; a list; ``{"columns": [...], "rows": [[...]]}``;
    node-link JSON with key ``links``; or for a figure ``{"kind": "bar|line|scatter|histogram|graph", "table": {...}}``
    until the parent has drawn it, then the path of a PNG file.
    """

    type: ResultType
    data: Any
    rows_total: int | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between a graph and its changed copy, by id.

    ``nodes_added`` holds ``{"id": ..., **attributes}``; ``nodes_changed`` maps an id to ``{attribute: [old, new]}``
    (``None`` for absent); edges are ``{"source": ..., "target": ..., ["key": ...], **attributes}``, changed ones
    carry ``"changed": {attribute: [old, new]}``.
    """

    nodes_added: tuple[dict[str, Any], ...] = ()
    nodes_removed: tuple[str, ...] = ()
    nodes_changed: Mapping[str, dict[str, list[Any]]] = field(default_factory=dict)
    edges_added: tuple[dict[str, Any], ...] = ()
    edges_removed: tuple[dict[str, Any], ...] = ()
    edges_changed: tuple[dict[str, Any], ...] = ()

    def __bool__(self) -> bool:
        return any(
            (
                self.nodes_added,
                self.nodes_removed,
                self.nodes_changed,
                self.edges_added,
                self.edges_removed,
                self.edges_changed,
            )
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form, as in the envelope of ``nl2net ask``."""
        return {
            "nodes_added": list(self.nodes_added),
            "nodes_removed": list(self.nodes_removed),
            "nodes_changed": dict(self.nodes_changed),
            "edges_added": list(self.edges_added),
            "edges_removed": list(self.edges_removed),
            "edges_changed": list(self.edges_changed),
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more model requests.

    Attributes
    ----------
    requests, prompt_tokens, completion_tokens : int
        ``requests`` counts retries too.
    cost_usd : float or None
        ``None`` if the price of the model is not known.
    estimated : bool
        The server did not report its usage.

    Examples
    --------
    >>> Usage(1, 100, 20, 0.0) + Usage(1, 50, 10, None)
    Usage(requests=2, prompt_tokens=150, completion_tokens=30, cost_usd=None, estimated=False)
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            cost,
            self.estimated or other.estimated,
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form, as in the envelope of ``nl2net ask``."""
        return asdict(self)
