"""SNDlib networks, XML and native text.

References
----------
.. [1] S. Orlowski, R. Wessaely, M. Pioro, A. Tomaszewski, "SNDlib 1.0 - Survivable Network Design Library", Networks
   55(3), 2010.
"""

from __future__ import annotations

import re
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source
from nl2net.graphs.xml_guard import Element, parse_xml, root_tag

_NATIVE_HEAD = re.compile(r"\A\s*\?SNDlib native format", re.IGNORECASE)
_TOKEN = re.compile(r"#[^\n]*|[()]|[^\s()#]+")
_UNITS = {"MBITPERSEC": "Mbit/s", "GBITPERSEC": "Gbit/s", "KBITPERSEC": "kbit/s", "BITPERSEC": "bit/s"}


def _number(text: str, source: Source, field: str) -> float | int:
    try:
        return int(text) if re.fullmatch(r"-?\d{1,18}", text) else float(text)
    except ValueError:
        raise source.error(f"{text[:40]!r} is no number", field=field) from None


def _node(draft: Draft, name: str, x: float | None, y: float | None, geographic: bool) -> None:
    labels = ("Longitude", "Latitude") if geographic else ("x", "y")
    values = {label: value for label, value in zip(labels, (x, y), strict=True) if value is not None}
    draft.add_node(name, {"name": name, **values})


def _finish(draft: Draft, unit: str, demand_model: str) -> Draft:
    unit = _UNITS.get(unit.upper(), unit)
    if unit:
        draft.units.update(dict.fromkeys(("preinstalled_capacity", "demand_value"), unit))
    if any("Longitude" in record for record in draft.node_attributes):
        draft.units.update({"Longitude": "degree", "Latitude": "degree"})
    if draft.tables.get("demands"):
        ways = "in one direction" if demand_model.upper().startswith("DIR") else "in both directions together"
        draft.notes.append(f"table demands: traffic between two nodes, {ways}")
    if any("modules" in record for record in draft.edge_attributes):
        draft.notes.append("edge attribute modules: capacities that could be installed, with their cost")
    draft.counts.update(nodes=len(draft.node_ids), links=len(draft.sources), demands=len(draft.tables["demands"]))
    return draft


def read_sndlib_xml(source: Source, options: ReadOptions) -> Draft:
    """Read SNDlib XML; demands become a table, capacity modules a list per link."""
    root = parse_xml(source)
    structure = root.child("networkStructure")
    if structure is None:
        raise source.error("no networkStructure element")
    nodes, links = structure.child("nodes"), structure.child("links")
    if nodes is None or links is None:
        raise source.error("no nodes or no links element", field="networkStructure")
    link_model = root.value("linkModel") or structure.value("linkModel")
    draft = Draft(directed=link_model.upper().startswith("DIR"))
    geographic = nodes.attributes.get("coordinatesType", "geographical") == "geographical"
    for node in nodes.all("node"):
        place = node.child("coordinates")
        x, y = (None, None) if place is None else tuple(_number(place.value(axis), source, axis) for axis in ("x", "y"))
        _node(draft, _attribute(node, "id", source), x, y, geographic)
    for link in links.all("link"):
        _xml_link(link, draft, source)
    demands = root.child("demands")
    draft.tables["demands"] = [
        {
            "demand_id": _attribute(demand, "id", source),
            "source": demand.value("source"),
            "target": demand.value("target"),
            "demand_value": _number(demand.value("demandValue"), source, "demandValue"),
        }
        for demand in (demands.all("demand") if demands is not None else ())
    ]
    meta = root.child("meta")
    return _finish(draft, meta.value("unit") if meta is not None else "", root.value("demandModel"))


def _attribute(element: Element, name: str, source: Source) -> str:
    if not element.attributes.get(name):
        raise source.error(f"a {element.tag} without {name}", line=element.line, field=element.tag)
    return element.attributes[name]


def _xml_link(link: Element, draft: Draft, source: Source) -> None:
    values: dict[str, Any] = {"link_id": _attribute(link, "id", source)}
    for tag, name in (("setupCost", "setup_cost"), ("routingCost", "routing_cost")):
        if link.value(tag):
            values[name] = _number(link.value(tag), source, tag)
    installed = link.child("preInstalledModule")
    if installed is not None:
        values["preinstalled_capacity"] = _number(installed.value("capacity"), source, "capacity")
    additional = link.child("additionalModules")
    if additional is not None:
        values["modules"] = [
            {name: _number(module.value(name), source, name) for name in ("capacity", "cost") if module.value(name)}
            for module in additional.all("addModule")
        ]
    ends = link.value("source"), link.value("target")
    if not all(ends):
        raise source.error("a link without source or target", line=link.line, field="link")
    draft.add_edge(*ends, values)


def _sections(text: str, source: Source) -> dict[str, list[Any]]:
    """Top-level sections as nested lists of words."""
    sections: dict[str, list[Any]] = {}
    stack: list[list[Any]] = []
    name = ""
    for word in _TOKEN.findall(text):
        if word.startswith(("#", "?")):
            continue
        if word == "(":
            inner: list[Any] = []
            if len(stack) >= source.limits.depth:
                raise source.error(f"nested more than {source.limits.depth} levels deep", field=name)
            if stack:
                stack[-1].append(inner)
            else:
                sections[name.upper()] = inner
            stack.append(inner)
        elif word == ")":
            if not stack:
                raise source.error("a closing bracket too many", field=name)
            stack.pop()
        elif stack:
            stack[-1].append(word)
        else:
            name = word
    if stack:
        raise source.error("the file ends inside a section", field=name, hint="The file may be truncated.")
    return sections


def _records(items: list[Any], source: Source, field: str, *, words: int) -> list[list[Any]]:
    """Records of a section, each a name, a bracket and further fields.

    ``words`` are the words of a complete record. A name is a word before a bracket; but so is the last number before
    the modules of a link, and names may be numbers themselves.
    """
    records: list[list[Any]] = []
    for position, item in enumerate(items):
        opens = isinstance(item, str) and position + 1 < len(items) and isinstance(items[position + 1], list)
        have = sum(isinstance(part, str) for part in records[-1]) if records else words
        if opens and (have >= words or not re.fullmatch(r"-?[\d.]+(?:[eE][+-]?\d+)?", item)):
            records.append([item])
        elif not records:
            raise source.error("a record without name", field=field)
        else:
            records[-1].append(item)
    return records


def _native_nodes(items: list[Any], source: Source) -> list[tuple[str, list[Any]]]:
    """Names with the coordinates in brackets after them, which may be left out."""
    nodes: list[tuple[str, list[Any]]] = []
    for item in items:
        if isinstance(item, str):
            nodes.append((item, []))
        elif not nodes or nodes[-1][1]:
            raise source.error("coordinates without a node", field="NODES")
        else:
            nodes[-1][1].extend(item)
    return nodes


def read_sndlib(source: Source, options: ReadOptions) -> Draft:
    """Read the native SNDlib text; the section of admissible paths repeats demand ids and is left out."""
    text = source.text.split("\n", 1)[1] if "\n" in source.text else ""
    sections = _sections(text, source)
    if "NODES" not in sections or "LINKS" not in sections:
        raise source.error("no NODES or no LINKS section")
    draft = Draft()
    for name, words in _native_nodes(sections["NODES"], source):
        place = [_number(value.rstrip(","), source, "NODES") for value in words if isinstance(value, str)]
        x, y = place if len(place) == 2 else (None, None)
        _node(draft, name, x, y, True)
    for record in _records(sections["LINKS"], source, "LINKS", words=5):
        _native_link(record, draft, source)
    rows = []
    for record in _records(sections.get("DEMANDS", []), source, "DEMANDS", words=4):
        if len(record) < 4 or len(record[1]) != 2:
            raise source.error("a demand needs two ends, a unit and a value", field=str(record[0])[:60])
        value = _number(str(record[3]), source, "DEMANDS")
        rows.append({"demand_id": record[0], "source": record[1][0], "target": record[1][1], "demand_value": value})
    draft.tables["demands"] = rows
    if sections.get("ADMISSIBLE_PATHS"):
        draft.skip("section ADMISSIBLE_PATHS")
    meta = " ".join(word for word in sections.get("META", []) if isinstance(word, str))
    unit = re.search(r"unit\s*=\s*(\w+)", meta)
    return _finish(draft, unit.group(1) if unit else "", "")


def _native_link(record: list[Any], draft: Draft, source: Source) -> None:
    if len(record) < 2 or len(record[1]) != 2 or not all(isinstance(end, str) for end in record[1]):
        raise source.error("a link needs two ends in brackets", field=str(record[0])[:60])
    values: dict[str, Any] = {"link_id": record[0]}
    numbers = [item for item in record[2:] if isinstance(item, str)]
    names = ("preinstalled_capacity", "preinstalled_cost", "routing_cost", "setup_cost")
    values.update({n: _number(text, source, str(record[0])[:60]) for n, text in zip(names, numbers, strict=False)})
    modules = next((item for item in record[2:] if isinstance(item, list)), [])
    pairs = [_number(str(text), source, str(record[0])[:60]) for text in modules]
    if pairs:
        values["modules"] = [{"capacity": c, "cost": k} for c, k in zip(pairs[::2], pairs[1::2], strict=False)]
    draft.add_edge(record[1][0], record[1][1], values)


READERS = (
    Reader("sndlib-xml", lambda source: root_tag(source) == "network", read_sndlib_xml, "SNDlib XML"),
    Reader("sndlib", lambda source: bool(_NATIVE_HEAD.match(source.head_text)), read_sndlib, "SNDlib native text"),
)
