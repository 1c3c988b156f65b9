"""What the Internet Topology Zoo means by its attributes, for its GraphML and its GML files alike."""

from __future__ import annotations

from nl2net.graphs.draft import Draft


def is_zoo(draft: Draft) -> bool:
    """Whether the graph attributes are those of the Topology Zoo tools."""
    attributes = draft.graph_attributes
    return "Topology Zoo" in str(attributes.get("Creator", "")) or {"GeoLocation", "GeoExtent"} <= attributes.keys()


def apply_zoo(draft: Draft) -> None:
    """Labels become names (the text "None" is none), speeds and coordinates get their units."""
    for record in draft.node_attributes:
        if "name" in record:
            record["file_name"] = record.pop("name")
        label = record.pop("label", None)
        if label is not None and str(label).strip() not in ("", "None"):
            record["name"] = str(label)
    draft.units.update({"LinkSpeedRaw": "bit/s", "Latitude": "degree", "Longitude": "degree"})
    if any("Internal" in record for record in draft.node_attributes):
        draft.notes.append("node attribute Internal: 1 belongs to the network, 0 is an outside network or exchange")
    if any("hyperedge" in record for record in draft.node_attributes):
        draft.notes.append("node attribute hyperedge: 1 marks a helper node that stands for a link of several ends")
