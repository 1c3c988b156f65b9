"""What a reader makes of a file, before the rules of the normal form are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nl2net.graphs.source import Source
from nl2net.model import QualityFinding


@dataclass(slots=True)
class Draft:
    """Nodes and links as the file has them, ids already text.

    Attributes
    ----------
    directed : bool
        Whether the source has direction.
    implicit_nodes : bool
        Whether a link end without a record is a node by the rules of the format.
    node_ids, node_attributes : list
        One entry per node record.
    sources, targets, edge_attributes : list
        One entry per link record; parallel links stay apart.
    node_columns, edge_columns : dict, optional
        The attributes by column where a reader has them so, with `MISSING` for gaps; saves taking the records apart.
    graph_attributes, tables, units : dict
        Of the whole graph; extra tables as lists of dicts; unit per attribute where the format says.
    notes : list of str
        Sentences for the schema, without values.
    counts, skipped : dict
        Records read by kind; records left out by reason.
    """

    directed: bool = False
    implicit_nodes: bool = False
    node_ids: list[str] = field(default_factory=list)
    node_attributes: list[dict[str, Any]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    edge_attributes: list[dict[str, Any]] = field(default_factory=list)
    node_columns: dict[str, list[Any]] | None = None
    edge_columns: dict[str, list[Any]] | None = None
    graph_attributes: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: list[QualityFinding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)

    def add_node(self, node: str, attributes: dict[str, Any] | None = None) -> None:
        """Append a node record."""
        self.node_ids.append(node)
        self.node_attributes.append({} if attributes is None else attributes)

    def add_edge(
        self,
        source: str,
        target: str,
        attributes: dict[str, Any] | None = None,
        *,
        ports: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """Append a link record; ``ports`` are the interface names at its ends."""
        attributes = {} if attributes is None else attributes
        named = port_mapping(source, target, ports)
        if named:
            attributes["ports"] = named
        self.sources.append(source)
        self.targets.append(target)
        self.edge_attributes.append(attributes)

    def skip(self, reason: str, count: int = 1) -> None:
        """Count a record that was left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def find(self, rule: str, count: int, message: str, **more: Any) -> None:
        """Add a remark to the report; ``severity``, ``examples`` and ``advice`` as keywords."""
        severity = more.pop("severity", "warning")
        examples = tuple(str(example) for example in list(more.pop("examples", ()))[:5])
        self.findings.append(QualityFinding(rule, severity, count, message, examples, more.pop("advice", "")))


def port_mapping(source: str, target: str, ports: tuple[str | None, str | None]) -> dict[str, Any]:
    """Interface name by end, so that a port stays with its device whichever way a link is stored.

    Examples
    --------
    >>> port_mapping("r1", "r2", ("eth0", None))
    {'r1': 'eth0'}
    >>> port_mapping("r1", "r1", ("eth0", "eth1"))
    {'r1': ['eth0', 'eth1']}
    """
    if source == target:
        names = [str(port) for port in ports if port not in (None, "")]
        return {source: names} if names else {}
    return {end: str(port) for end, port in ((source, ports[0]), (target, ports[1])) if port not in (None, "")}


def text_id(value: Any) -> str:
    """A node id as text."""
    return value if isinstance(value, str) else str(value)


def check_ids(values: Iterable[Any], source: Source) -> None:
    """Refuse ids that become the same text although the file tells them apart.

    Raises
    ------
    DataError
        ``1`` and ``"1"`` are both ids in the file, or an id is no text or number.
    """
    seen: dict[str, type] = {}
    for value in values:
        if isinstance(value, (dict, list, type(None))):
            raise source.error(f"a node id must be text or a number, not {type(value).__name__}", field="id")
        text = text_id(value)
        kind = seen.setdefault(text, type(value))
        if kind is not type(value):
            raise source.error(
                f"the ids {text!r} (text) and {text} (number) are both used",
                field="id",
                hint="Write all ids as text, and let different nodes have different ones.",
            )


def rename_reserved(attributes: Mapping[str, Any], reserved: Mapping[str, str]) -> dict[str, Any]:
    """Attributes with the names in ``reserved`` changed."""
    return {reserved.get(name, name): value for name, value in attributes.items()}
