"""NetBox REST replies in the shape of a Django dump: model, key, fields."""

from __future__ import annotations

from typing import Any

from nl2net.graphs.readers.netbox_trace import Tables
from nl2net.graphs.source import Source

_ENDPOINTS = {
    "regions": "dcim.region", "sites": "dcim.site", "racks": "dcim.rack", "devices": "dcim.device",
    "prefixes": "ipam.prefix", "providers": "circuits.provider", "provider_networks": "circuits.providernetwork",
    "circuits": "circuits.circuit", "circuit_terminations": "circuits.circuittermination",
    "interfaces": "dcim.interface", "front_ports": "dcim.frontport", "rear_ports": "dcim.rearport",
    "device_types": "dcim.devicetype", "device_roles": "dcim.devicerole", "manufacturers": "dcim.manufacturer",
    "circuit_types": "circuits.circuittype", "cables": "dcim.cable",
}  # fmt: skip
_NESTED = {
    "device": "dcim.device", "site": "dcim.site", "rack": "dcim.rack", "region": "dcim.region",
    "role": "dcim.devicerole", "device_role": "dcim.devicerole", "device_type": "dcim.devicetype",
    "manufacturer": "dcim.manufacturer", "provider": "circuits.provider", "circuit": "circuits.circuit",
    "provider_network": "circuits.providernetwork", "rear_port": "dcim.rearport",
}  # fmt: skip


def _flat(record: dict[str, Any], tables: Tables) -> dict[str, Any]:
    """Brief objects as keys (and as records of their own), choices as their value."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if not isinstance(value, dict):
            fields[name] = value
        elif "value" in value and "label" in value:
            fields[name] = value["value"]
        elif "id" in value and name in _NESTED:
            fields[name] = value["id"]
            tables.setdefault(_NESTED[name], {}).setdefault(value["id"], _flat(value, tables))
        elif "id" in value:
            fields[name] = str(value.get("name") or value.get("display") or value["id"])
    return fields


def _lists(document: Any, source: Source, notes: list[str]) -> dict[str, list[Any]]:
    if isinstance(document, list):
        return {"cables": document}
    if not isinstance(document, dict):
        raise source.error("an object or a list was expected")
    if isinstance(document.get("results"), list):
        document = {"cables": document}
    found: dict[str, list[Any]] = {}
    for name, value in document.items():
        rows = value.get("results") if isinstance(value, dict) else value
        if not isinstance(rows, list):
            continue
        if isinstance(value, dict) and isinstance(value.get("count"), int) and value["count"] > len(rows):
            notes.append(f"{name}: the reply holds {len(rows)} of {value['count']} records")
        found[name.replace("-", "_").rstrip("/").rpartition("/")[2]] = rows
    return found


def rest_tables(source: Source, notes: list[str]) -> Tables:
    """Records by model and key; incomplete pages are added to ``notes``."""
    tables: Tables = {}
    lists = _lists(source.json, source, notes)
    for name, rows in lists.items():
        model = _ENDPOINTS.get(name)
        if model is None:
            continue
        for number, row in enumerate(rows):
            if not isinstance(row, dict) or not isinstance(row.get("id"), (int, str)):
                raise source.error("an object with id was expected", field=f"{name}[{number}]")
            if model == "dcim.cable":
                _cable(row, tables, source)
            # Full records go over the brief ones that other records mention.
            tables.setdefault(model, {})[row["id"]] = _flat(row, tables)
    return tables


def _cable(cable: dict[str, Any], tables: Tables, source: Source) -> None:
    ends = tables.setdefault("dcim.cabletermination", {})
    for side in ("a", "b"):
        for end in cable.get(f"{side}_terminations") or []:
            kind = str(end.get("object_type", "")) if isinstance(end, dict) else ""
            key = end.get("object_id") if isinstance(end, dict) else None
            if "." not in kind or not isinstance(key, (int, str)):
                raise source.error("a termination needs object_type and object_id", field=f"cable {cable['id']}")
            brief = end.get("object")
            if isinstance(brief, dict):
                tables.setdefault(kind, {}).setdefault(key, _flat(brief, tables))
            ends[f"{cable['id']}{side}{len(ends)}"] = {
                "cable": cable["id"],
                "cable_end": side.upper(),
                "termination_type": kind.split(".", 1),
                "termination_id": key,
            }
