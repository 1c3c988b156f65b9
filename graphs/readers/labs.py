"""Lab topologies: containerlab and netlab.

References
----------
.. [1] https://containerlab.dev/manual/topo-def-file/
.. [2] https://netlab.tools/topology-reference/
"""

from __future__ import annotations

import re
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source
from nl2net.graphs.yaml_guard import parse_yaml

_BRIDGES = {"bridge", "ovs-bridge"}
_OUTSIDE = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy")
_CLAB_HEAD = re.compile(r"^topology:\s*(?:#.*)?$", re.MULTILINE)
_NETLAB_HEAD = re.compile(r"^(?:links|nodes)(?:\.\w+)*:", re.MULTILINE)


def _scalars(values: Any) -> dict[str, Any]:
    """Plain settings of a node; environment, binds, commands and files stay out of the graph."""
    if not isinstance(values, dict):
        return {}
    kept: dict[str, Any] = {
        str(k): v for k, v in values.items() if isinstance(v, (str, int, float, bool)) and k != "startup-config"
    }
    labels = values.get("labels")
    if isinstance(labels, dict):
        kept["labels"] = {str(k): v for k, v in labels.items() if isinstance(v, (str, int, float, bool))}
    return kept


def _section(parent: dict[str, Any], name: str, source: Source) -> dict[str, Any]:
    found = parent.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise source.error("a mapping was expected", field=name)
    return found


def read_containerlab(source: Source, options: ReadOptions) -> Draft:
    """Read a containerlab topology; bridges are segments, ends outside the lab are nodes of kind ``external``."""
    if "{{" in source.text:
        line = source.text[: source.text.index("{{")].count("\n") + 1
        raise source.error("a Go template, which is not executed", line=line, hint="Render the template first.")
    document = parse_yaml(source)
    topology = document.get("topology") if isinstance(document, dict) else None
    if not isinstance(topology, dict) or not isinstance(topology.get("nodes"), dict):
        raise source.error("a mapping of nodes was expected", field="topology.nodes")
    draft = Draft(graph_attributes={"name": str(document.get("name", ""))})
    defaults = _scalars(topology.get("defaults"))
    kinds, groups = _section(topology, "kinds", source), _section(topology, "groups", source)
    for name, own in topology["nodes"].items():
        own = own or {}
        if not isinstance(own, dict):
            raise source.error("a mapping was expected", field=f"nodes.{name}")
        group = _scalars(groups.get(str(own.get("group", defaults.get("group")))))
        kind: Any = own.get("kind") or group.get("kind") or defaults.get("kind")
        values = {**defaults, **_scalars(kinds.get(str(kind))), **group, **_scalars(own), "name": str(name)}
        if kind in _BRIDGES:
            values["bridge"] = kind
        values["kind"] = "segment" if kind in _BRIDGES else str(kind or "node")
        draft.add_node(str(name), values)
    known = set(draft.node_ids)
    links = topology.get("links") or []
    if not isinstance(links, list):
        raise source.error("a list was expected", field="links")
    for number, link in enumerate(links):
        _clab_link(link, f"links[{number}]", draft, known, source)
    draft.counts = {"nodes": len(topology["nodes"]), "links": len(links)}
    return draft


def _clab_end(end: Any, field: str, source: Source) -> tuple[str, str | None]:
    if isinstance(end, str):
        node, mark, port = end.partition(":")
        if node and (port or not mark):
            return node, port or None
    if isinstance(end, dict) and end.get("node"):
        interface = end.get("interface")
        return str(end["node"]), None if interface is None else str(interface)
    raise source.error("`node:interface` or an object with node and interface was expected", field=field)


def _clab_link(link: Any, field: str, draft: Draft, known: set[str], source: Source) -> None:
    if not isinstance(link, dict):
        raise source.error("a mapping with endpoints was expected", field=field)
    ends = link.get("endpoints")
    kind = str(link.get("type", ""))
    if ends is None and link.get("endpoint") is not None and kind in _OUTSIDE:
        host_port = link.get("host-interface")
        ends = [link["endpoint"], f"{kind}:{host_port}" if host_port else kind]
    if not isinstance(ends, list) or len(ends) != 2:
        raise source.error("two endpoints were expected", field=field)
    (u, port_u), (v, port_v) = (_clab_end(end, field, source) for end in ends)
    for end in (u, v):
        if end in _OUTSIDE and end not in known:
            draft.add_node(end, {"name": end, "kind": "external"})
            known.add(end)
    values = {key: value for key, value in _scalars(link).items() if key not in ("host-interface",)}
    draft.add_edge(u, v, values, ports=(port_u, port_v))


def expand_dots(value: Any) -> Any:
    """Dotted keys as nested mappings, as netlab reads them.

    Examples
    --------
    >>> expand_dots({"a.b": 1, "a": {"c": 2}})
    {'a': {'b': 1, 'c': 2}}
    """
    if isinstance(value, list):
        return [expand_dots(item) for item in value]
    if not isinstance(value, dict):
        return value
    expanded: dict[Any, Any] = {}
    for key, item in value.items():
        item = expand_dots(item)
        parts = key.split(".") if isinstance(key, str) else [key]
        target = expanded
        for part in parts[:-1][:20]:
            inner = target.setdefault(part, {})
            if not isinstance(inner, dict):
                inner = target[part] = {}
            target = inner
        present = target.get(parts[-1])
        if isinstance(present, dict) and isinstance(item, dict):
            present.update(item)
        else:
            target[parts[-1]] = item
    return expanded


def read_netlab(source: Source, options: ReadOptions) -> Draft:
    """Read a netlab topology; a link of three or more nodes is a node of kind ``segment``."""
    document = expand_dots(parse_yaml(source))
    if not isinstance(document, dict):
        raise source.error("a mapping was expected at the top level")
    nodes = document.get("nodes")
    if isinstance(nodes, list):
        nodes = {str(n["name"]) if isinstance(n, dict) and "name" in n else str(n): n for n in nodes}
    if not isinstance(nodes, dict):
        raise source.error("a list or mapping of nodes was expected", field="nodes")
    defaults = document.get("defaults")
    device = defaults.get("device") if isinstance(defaults, dict) else None
    draft = Draft(graph_attributes={"name": str(document.get("name", ""))})
    for name, own in nodes.items():
        values = _scalars(own)
        if device is not None:
            values.setdefault("device", str(device))
        draft.add_node(str(name), {**values, "name": str(name), "kind": "node"})
    links = _flat_links(document.get("links") or [], source)
    for number, link in enumerate(links, start=1):
        _netlab_link(link, number, draft, source)
    draft.counts = {"nodes": len(nodes), "links": len(links)}
    draft.notes.append("kind segment: a shared medium that joins three or more nodes")
    return draft


def _flat_links(links: Any, source: Source) -> list[Any]:
    if not isinstance(links, list):
        raise source.error("a list was expected", field="links")
    flat: list[Any] = []
    for link in links:
        members = link.get("members") if isinstance(link, dict) and "group" in link else None
        if isinstance(members, list):
            shared = {key: value for key, value in link.items() if key not in ("group", "members")}
            flat.extend({**shared, **m} if isinstance(m, dict) else m for m in members)
        else:
            flat.append(link)
    return flat


def _netlab_ends(
    link: Any, known: set[str], field: str, source: Source
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Ends of a link with their settings, and the settings of the link itself."""
    if isinstance(link, str):
        parts = link.split("-")
        if link in known or not all(part in known for part in parts):
            parts = _split_names(link, known) or parts
        return [(part.strip(), None) for part in parts], {}
    if isinstance(link, list):
        return [(str(end), None) for end in link], {}
    if not isinstance(link, dict):
        raise source.error("a text, list or mapping was expected", field=field)
    interfaces = link.get("interfaces")
    if isinstance(interfaces, list):
        ends = [(str(e["node"]), e) if isinstance(e, dict) and "node" in e else (str(e), None) for e in interfaces]
    else:
        ends = [(str(key), value) for key, value in link.items() if str(key) in known]
    return ends, {str(k): v for k, v in link.items() if str(k) not in known and k != "interfaces"}


def _split_names(text: str, known: set[str]) -> list[str] | None:
    """Cut ``core-1-core-2`` at a hyphen where both sides are nodes."""
    marks = [position for position, letter in enumerate(text) if letter == "-"]
    pairs = [(text[:mark], text[mark + 1 :]) for mark in marks[:50]]
    found = [pair for pair in pairs if pair[0] in known and pair[1] in known]
    return list(found[0]) if len(found) == 1 else None


def _addresses(settings: Any) -> dict[str, Any]:
    """Interface settings: a text is an address, a number a host in the pool, true an address from the pool or none."""
    found: dict[str, Any] = {}
    for key, value in settings.items() if isinstance(settings, dict) else ():
        if key in ("ipv4", "ipv6"):
            name = "pool_assigned" if isinstance(value, bool) else "host_number" if isinstance(value, int) else ""
            found[f"{key}_{name}" if name else key] = value
        elif isinstance(value, (str, int, float, bool)) and key not in ("node", "ifname"):
            found[str(key)] = value
    return found


def _link_values(settings: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            found.update({f"{key}.{k}": v for k, v in value.items() if isinstance(v, (str, int, float, bool))})
        elif isinstance(value, (str, int, float, bool)):
            found[key] = value
    return found


def _netlab_link(link: Any, number: int, draft: Draft, source: Source) -> None:
    field = f"links[{number}]"
    ends, settings = _netlab_ends(link, set(draft.node_ids), field, source)
    values = _link_values(settings)
    if len(ends) < 2:
        name = ends[0][0] if ends else field
        draft.find("stub", 1, "a link with one end was left out", severity="info", examples=[name])
        draft.skip("link with one end")
        return
    ports = [str(s["ifname"]) if isinstance(s, dict) and s.get("ifname") else None for _, s in ends]
    if len(ends) == 2:
        for node, own in ends:
            for key, value in _addresses(own).items():
                values.setdefault(f"end_{key}", {})[node] = value
        draft.add_edge(ends[0][0], ends[1][0], values, ports=(ports[0], ports[1]))
        return
    segment = f"segment:{number}"
    draft.add_node(segment, {**values, "name": str(values.get("name", segment)), "kind": "segment"})
    for (node, own), port in zip(ends, ports, strict=True):
        draft.add_edge(node, segment, _addresses(own), ports=(port, None))


def _is_yaml(source: Source, head: re.Pattern[str]) -> bool:
    if source.is_binary or source.is_folder or source.looks_like_json or source.head_text.lstrip()[:1] == "<":
        return False
    return bool(head.search(source.head_text))


READERS = (
    Reader("containerlab", lambda source: _is_yaml(source, _CLAB_HEAD), read_containerlab, "containerlab topology"),
    Reader("netlab", lambda source: _is_yaml(source, _NETLAB_HEAD), read_netlab, "netlab topology"),
)
