"""The schema as a tree: what a model may know of the graph."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.widgets import Tree

from nl2net.display import clean_line
from nl2net.model import AttributeSchema, GraphSchema


def _coverage(attribute: AttributeSchema) -> str:
    if attribute.count == attribute.total or not attribute.total:
        return ""
    return f" {round(100 * attribute.count / attribute.total)}%"


class SchemaTree(Tree[str]):
    """Kinds, attributes, relations and tables; never a value that was not shared."""

    def __init__(self, **options: Any) -> None:
        super().__init__("schema", **options)
        self.show_root = False
        self.guide_depth = 2

    def show_schema(self, schema: GraphSchema) -> None:
        """Fill the tree."""
        self.clear()
        self._owner(schema, "node", f"nodes ({schema.nodes:,})", schema.node_kinds)
        self._owner(schema, "edge", f"links ({schema.edges:,})", schema.edge_kinds)
        if schema.relations:
            branch = self.root.add(f"relations ({len(schema.relations)})", expand=False)
            for r in schema.relations:
                branch.add_leaf(clean_line(f"{r.source_kind} -{r.relation}-> {r.target_kind} ({r.count})"))
        for table in schema.tables:
            branch = self.root.add(Text(clean_line(f"table {table.name} ({table.rows:,})")))
            for name, kind in table.columns:
                branch.add_leaf(Text(clean_line(f"{name}: {kind}")))

    def _owner(self, schema: GraphSchema, owner: str, title: str, kinds: Any) -> None:
        branch = self.root.add(title, expand=True)
        if kinds:
            kind_branch = branch.add(f"kinds ({len(kinds)})", expand=False)
            for kind, count in kinds.items():
                kind_branch.add_leaf(Text(clean_line(f"{kind} ({count:,})")))
        for attribute in schema.attributes_of(owner):
            branch.add_leaf(_attribute(attribute))


def _attribute(attribute: AttributeSchema) -> Text:
    text = Text(clean_line(attribute.public_name, width=40))
    unit = attribute.unit if attribute.unit not in {"", "unknown"} else ""
    facts = " ".join(part for part in (attribute.shape or attribute.type, unit) if part)
    text.append(f" {clean_line(facts)}{_coverage(attribute)}", style="dim")
    return text
