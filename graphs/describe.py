"""Describes a graph that is already in memory: a changed working copy, or one made by a generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.graphs.columns import GraphColumns
from nl2net.graphs.fingerprint import fingerprint, schema_hash
from nl2net.graphs.loaded import LoadedGraph, SchemaOptions
from nl2net.graphs.report import build_report
from nl2net.graphs.schema import derive_schema
from nl2net.model import GraphSchema, QualityFinding


@dataclass(frozen=True, slots=True)
class FromColumns:
    """Report and hashes of a graph from its columns."""

    view: GraphColumns
    schema: GraphSchema
    from_reader: Iterable[QualityFinding] = ()

    def report(self) -> tuple[QualityFinding, ...]:
        """All findings, those of the reader first."""
        return build_report(self.view, self.schema, self.from_reader)

    def fingerprint(self) -> str:
        """``sha256:`` over the sorted normal form."""
        return fingerprint(self.view)

    def schema_hash(self) -> str:
        """``sha256:`` over the schema."""
        return schema_hash(self.schema)


def describe_graph(
    graph: Any,
    *,
    name: str,
    path: Path | None = None,
    schema_options: SchemaOptions | None = None,
    origin: str = "memory",
) -> LoadedGraph:
    """Schema, report and fingerprint of a networkx graph in normal form.

    Parameters
    ----------
    graph : networkx graph
        Ids are text; extra tables in ``graph.graph["tables"]``.
    name : str
        What the graph is called.
    path : Path, optional
        The file that it was derived from.
    schema_options : SchemaOptions, optional
        What the schema may say.
    origin : str
        Said in the provenance.

    Examples
    --------
    >>> import networkx as nx
    >>> describe_graph(nx.relabel_nodes(nx.path_graph(3), str), name="three").schema.edges
    2
    """
    view = GraphColumns.of(graph)
    wanted = schema_options or SchemaOptions()
    schema = derive_schema(view, wanted)
    return LoadedGraph(
        name=name,
        path=path,
        graph=graph,
        schema=schema,
        schema_options=wanted,
        provenance={
            "format": origin,
            "class": schema.graph_class.name,
            "used": {"nodes": schema.nodes, "edges": schema.edges},
        },
        derived=FromColumns(view, schema),
    )
