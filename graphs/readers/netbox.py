"""NetBox: Django dump, REST JSON, and CSV exports of cables.

Every region, site, rack, device, prefix, provider, provider network and circuit is a node; links are traced paths,
interface to interface (`nl2net.graphs.readers.netbox_trace`).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.columns_to_links import add_links, plain_name
from nl2net.graphs.readers.netbox_rest import rest_tables
from nl2net.graphs.readers.netbox_trace import Tables, trace_paths
from nl2net.graphs.readers.tables import read_table
from nl2net.graphs.source import Source

_NODES = {
    "dcim.region": "region",
    "dcim.site": "site",
    "dcim.rack": "rack",
    "dcim.device": "device",
    "ipam.prefix": "prefix",
    "circuits.provider": "provider",
    "circuits.providernetwork": "provider_network",
    "circuits.circuit": "circuit",
}
_REFERENCES = {
    "device_type": ("dcim.devicetype", "model"),
    "manufacturer": ("dcim.manufacturer", "name"),
    "role": ("dcim.devicerole", "name"),
    "device_role": ("dcim.devicerole", "name"),
    "site": ("dcim.site", "name"),
    "rack": ("dcim.rack", "name"),
    "region": ("dcim.region", "name"),
    "provider": ("circuits.provider", "name"),
    "provider_network": ("circuits.providernetwork", "name"),
}
# Keys of records that are not in a dump of links, and housekeeping.
_LEFT_OUT = {
    "created", "last_updated", "custom_field_data", "comments", "local_context_data", "lft", "rght", "tree_id",
    "level", "tenant", "group", "platform", "location", "vrf", "vlan", "cluster", "virtual_chassis", "primary_ip4",
    "primary_ip6", "termination_a", "termination_z", "asns", "tags", "custom_fields", "url", "display", "display_url",
    "id", "images", "front_image", "rear_image", "oob_ip", "config_template", "provider_account", "scope_id",
}  # fmt: skip


def _name(model: str, fields: dict[str, Any], key: Any) -> str:
    field = {"ipam.prefix": "prefix", "circuits.circuit": "cid"}.get(model, "name")
    return str(fields.get(field) or "")


def node_names(tables: Tables) -> dict[tuple[str, Any], str]:
    """Node id by model and key: ``kind:name``, with the key where the name is empty or taken twice."""
    ids: dict[tuple[str, Any], str] = {}
    for model, kind in _NODES.items():
        rows = tables.get(model, {})
        counts = Counter(_name(model, fields, key) for key, fields in rows.items())
        for key, fields in rows.items():
            name = _name(model, fields, key)
            if not name:
                ids[model, key] = f"{kind}:{key}"
            else:
                ids[model, key] = f"{kind}:{name}" if counts[name] == 1 else f"{kind}:{name}#{key}"
    return ids


def _attributes(model: str, fields: dict[str, Any], tables: Tables, draft: Draft) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if name.startswith("_") or name in _LEFT_OUT or value in (None, ""):
            continue
        reference = _REFERENCES.get(name)
        if name == "parent":
            reference = (model, "name")
        elif name == "type" and model == "circuits.circuit":
            reference = ("circuits.circuittype", "name")
        elif name == "role" and model != "dcim.device":
            reference = ("ipam.role" if model == "ipam.prefix" else "dcim.rackrole", "name")
        if reference is not None and not isinstance(value, str):
            target = tables.get(reference[0], {}).get(value)
            if target is None or not target.get(reference[1]):
                draft.skip(f"reference {name} to a record that is not in the export")
                continue
            found[name] = str(target[reference[1]])
            if name == "device_type" and target.get("manufacturer") is not None:
                maker = tables.get("dcim.manufacturer", {}).get(target["manufacturer"], {})
                found["manufacturer"] = maker.get("name")
        elif name not in ("name", "kind") and isinstance(value, (str, int, float, bool)):
            found[name] = value
    return found


def _build(tables: Tables, source: Source) -> Draft:
    draft = Draft()
    ids = node_names(tables)
    for (model, key), node in ids.items():
        fields = tables[model][key]
        values = _attributes(model, fields, tables, draft)
        name = _name(model, fields, key)
        draft.add_node(node, {**values, **({"name": name} if name else {}), "kind": _NODES[model]})
    trace_paths(tables, ids, draft, source)
    draft.counts.update({model: len(rows) for model, rows in tables.items()})
    draft.notes.append("edge kind link: a cable path from interface to interface, through panels and circuits")
    return draft


def read_netbox_dump(source: Source, options: ReadOptions) -> Draft:
    """Read a Django dump: a list of objects with model, pk and fields."""
    tables: Tables = {}
    document = source.json
    if not isinstance(document, list):
        raise source.error("a list of records was expected")
    for number, record in enumerate(document):
        if not isinstance(record, dict) or not isinstance(record.get("fields"), dict) or "model" not in record:
            raise source.error("an object with model, pk and fields was expected", field=f"[{number}]")
        if isinstance(record.get("pk"), (dict, list)):
            raise source.error("a key must be a number or text", field=f"[{number}].pk")
        tables.setdefault(str(record["model"]), {})[record.get("pk")] = record["fields"]
    return _build(tables, source)


def read_netbox_rest(source: Source, options: ReadOptions) -> Draft:
    """Read REST replies: one list of cables, or several lists by endpoint name."""
    draft_notes: list[str] = []
    tables = rest_tables(source, draft_notes)
    draft = _build(tables, source)
    for note in draft_notes:
        draft.find("skipped", 1, note, advice="Pull all pages (limit=0 or follow `next`).")
    return draft


def read_netbox_csv(source: Source, options: ReadOptions) -> Draft:
    """Read a CSV export of cables; power cables are counted and left out."""
    table = read_table(source, options)
    kinds = [name for name in table.names if plain_name(name) in ("side_a_type", "termination_a_type")]
    power = [bool(kinds) and "power" in str(value).lower() for value in (table.column(kinds[0]) if kinds else [])]
    draft = Draft(implicit_nodes=True)
    if any(power):
        draft.skip("power cable", sum(power))
        keep = [not value for value in power]
        table.columns = [[v for v, k in zip(column, keep, strict=True) if k] for column in table.columns]
    add_links(table, draft, source, options)
    draft.counts = {"cables": len(draft.sources)}
    return draft


def _is_dump(source: Source) -> bool:
    if not source.looks_like_json or not source.head_text.lstrip().startswith("["):
        return False
    document = source.json
    first = document[0] if document else None
    return isinstance(first, dict) and {"model", "pk", "fields"} <= first.keys()


def _is_rest(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    head = source.head_text
    return '"a_terminations"' in head or "a_terminations" in head


def _is_cable_csv(source: Source) -> bool:
    if source.is_binary or source.looks_like_json:
        return False
    head = plain_name(source.head_text.split("\n", 1)[0])
    return "side_a_device" in head or "termination_a_device" in head or ("termination_a" in head and "device_a" in head)


READERS = (
    Reader("netbox", _is_dump, read_netbox_dump, "NetBox Django dump (JSON)"),
    Reader("netbox-rest", _is_rest, read_netbox_rest, "NetBox REST replies (JSON)"),
    Reader("netbox-csv", _is_cable_csv, read_netbox_csv, "NetBox cables as CSV"),
)
