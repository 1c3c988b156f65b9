"""Network topologies of RFC 8345 in JSON.

References
----------
.. [1] RFC 8345, "A YANG Data Model for Network Topologies", 2018.
"""

from __future__ import annotations

from typing import Any

from nl2net.errors import UserError
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

Link = tuple[str, str, str | None, str | None]


def strip_prefixes(value: Any) -> Any:
    """Keys without their YANG module (``ietf-network:node`` is ``node``); depth was checked when the JSON was read."""
    if isinstance(value, dict):
        return {str(key).rpartition(":")[2]: strip_prefixes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strip_prefixes(item) for item in value]
    return value


def _networks(source: Source) -> list[dict[str, Any]]:
    document = strip_prefixes(source.json)
    networks = document.get("networks", document) if isinstance(document, dict) else None
    found = networks.get("network") if isinstance(networks, dict) else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise source.error("a list of networks was expected", field="network")
    return found


def _node_attributes(node: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": str(node.get("node-id", ""))}
    points = [str(p.get("tp-id")) for p in node.get("termination-point", []) if isinstance(p, dict)]
    if points:
        found["termination_points"] = points
    for key, value in node.items():
        if key.endswith("-attributes") and isinstance(value, dict):
            for name, item in value.items():
                if item not in ("", [], [""], None, {}):
                    found["label" if name == "name" else name] = item
    return found


def _links(network: dict[str, Any], layer: str, source: Source) -> list[tuple[Link, dict[str, Any]]]:
    found: list[tuple[Link, dict[str, Any]]] = []
    for number, link in enumerate(network.get("link", [])):
        try:
            start, end = link["source"], link["destination"]
            ends = f"{layer}/{start['source-node']}", f"{layer}/{end['dest-node']}"
        except (KeyError, TypeError):
            raise source.error("a link without source or destination", field=f"link[{number}]") from None
        values: dict[str, Any] = {"link_id": str(link["link-id"])} if link.get("link-id") else {}
        for key, value in link.items():
            if key.endswith("-attributes") and isinstance(value, dict):
                values.update({name: item for name, item in value.items() if item not in ("", [], None, {})})
        ports = (start.get("source-tp"), end.get("dest-tp"))
        near, far = (None if port is None else str(port) for port in ports)
        found.append(((ends[0], ends[1], near, far), values))
    return found


def read_rfc8345(source: Source, options: ReadOptions) -> Draft:
    """Read all layers as a directed graph, or one layer with exact reverse links folded."""
    networks = _networks(source)
    layers = [str(network.get("network-id", number)) for number, network in enumerate(networks)]
    if options.layer is not None and options.layer not in layers:
        raise UserError(f"{source.path}: no layer {options.layer!r}", hint=f"Layers: {', '.join(layers)}.")
    draft = Draft(directed=True)
    supports = 0
    for layer, network in zip(layers, networks, strict=True):
        if options.layer not in (None, layer):
            draft.skip(f"layer {layer}")
            continue
        nodes = network.get("node", [])
        for number, node in enumerate(nodes):
            if not isinstance(node, dict) or "node-id" not in node:
                raise source.error("a node without node-id", field=f"{layer}.node[{number}]")
            draft.add_node(f"{layer}/{node['node-id']}", {**_node_attributes(node), "layer": layer})
        links = _links(network, layer, source)
        if options.layer is None:
            for (u, v, port_u, port_v), values in links:
                draft.add_edge(u, v, {**values, "kind": "link"}, ports=(port_u, port_v))
            supports += _supports(nodes, layer, draft)
        else:
            _fold(links, draft)
        draft.counts[f"links of {layer}"] = len(links)
    draft.counts["supports"] = supports
    return draft


def _supports(nodes: list[dict[str, Any]], layer: str, draft: Draft) -> int:
    count = 0
    for node in nodes:
        for reference in node.get("supporting-node", []):
            target = f"{reference.get('network-ref', layer)}/{reference.get('node-ref')}"
            draft.add_edge(f"{layer}/{node['node-id']}", target, {"kind": "supports"})
            count += 1
    return count


def _fold(links: list[tuple[Link, dict[str, Any]]], draft: Draft) -> None:
    """Make exact reverse pairs one undirected link; if one link has no reverse, the layer stays directed."""
    waiting: dict[Link, list[int]] = {}
    partner: dict[int, int] = {}
    for index, ((u, v, port_u, port_v), _) in enumerate(links):
        mates = waiting.get((v, u, port_v, port_u))
        if mates:
            partner[mates.pop()] = index
        else:
            waiting.setdefault((u, v, port_u, port_v), []).append(index)
    alone = [index for indexes in waiting.values() for index in indexes if index not in partner]
    if alone:
        draft.find(
            "one-sided",
            len(alone),
            "links have no reverse; the layer stays directed",
            examples=(f"{links[i][0][0]} -> {links[i][0][1]}" for i in alone),
        )
        chosen = list(range(len(links)))
    else:
        draft.directed = False
        chosen = sorted(partner)
    for index in chosen:
        (u, v, port_u, port_v), values = links[index]
        draft.add_edge(u, v, values, ports=(port_u, port_v))


def _is_rfc8345(source: Source) -> bool:
    return bool({"ietf-network:networks", "networks", "ietf-network:network"} & source.json_keys)


READERS = (Reader("rfc8345", _is_rfc8345, read_rfc8345, "RFC 8345 network topology (JSON)"),)
