"""Bounds on what a file may hold. Exceeded means an error, never a partial graph."""

from __future__ import annotations

from dataclasses import dataclass

from nl2net.config import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest file, graph, record, text and nesting that is read.

    Attributes
    ----------
    file_bytes, nodes, edges : int
        Size of one file, and of the graph in it.
    attributes : int
        Attributes of one node or edge.
    text : int
        Characters of one value or id.
    depth : int
        Nesting of JSON, XML, YAML, GML and text-proto files.
    """

    file_bytes: int = 2048 * 2**20
    nodes: int = 2_000_000
    edges: int = 20_000_000
    attributes: int = 2_000
    text: int = 100_000
    depth: int = 64

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        """The limits that a user has set."""
        return cls(
            file_bytes=settings.max_file_mb * 2**20,
            nodes=settings.max_nodes,
            edges=settings.max_edges,
            attributes=settings.max_attributes,
            text=settings.max_text_chars,
            depth=settings.max_depth,
        )
