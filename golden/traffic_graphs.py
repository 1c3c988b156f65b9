"""Random communication graphs: hosts with addresses, links with three weights, attribute names that vary."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import GraphSource
from nl2net.golden.streams import Stream

# One row per style, so that names fit each other as in a real file.
_STYLES = (
    {"bytes": "byte_weight", "packets": "packet_weight", "flows": "connection_weight", "addr": "ip_address"},
    {"bytes": "bytes", "packets": "packets", "flows": "flows", "addr": "ip"},
    {"bytes": "octets", "packets": "pkts", "flows": "flow_count", "addr": "address"},
    {"bytes": "total_bytes", "packets": "total_packets", "flows": "sessions", "addr": "addr"},
    {"bytes": "byte_count", "packets": "packet_count", "flows": "connections", "addr": "ipv4"},
    {"bytes": "tx_bytes", "packets": "tx_packets", "flows": "num_flows", "addr": "host_ip"},
)
_SITE_NAMES = ("site", "location", "pop", "datacenter")
_ROLE_NAMES = ("role", "function", "tier")
_SITES = ("fra1", "ams2", "lon1", "par3", "waw1", "mad2", "vie1", "osl4", "rom2", "zrh1", "hel1", "dub5")
_ROLES = ("web", "db", "cache", "mail", "dns", "app", "backup", "proxy", "auth", "monitor")
_SIZES = (12, 16, 20, 25, 30, 35, 40, 50, 60, 80, 110, 150, 200)


def build_traffic(source: GraphSource) -> BuiltGraph:
    """Make the communication graph of a recipe.

    Parameters
    ----------
    source : GraphSource
        Seed, and the options ``directed`` and ``nodes`` where a fixed choice is wanted.
    """
    stream = Stream("traffic-graph", 1, source.seed)
    directed = bool(source.options.get("directed", stream.chance(50)))
    size = int(source.options.get("nodes", stream.pick(_SIZES)))
    style = stream.pick(_STYLES)
    words = {
        **style,
        "site_attr": stream.pick(_SITE_NAMES),
        "role_attr": stream.pick(_ROLE_NAMES),
        "named": "yes" if stream.chance(60) else "",
    }
    graph: Any = nx.DiGraph() if directed else nx.Graph()
    hosts = _add_hosts(graph, words, stream, size=size)
    _add_links(graph, words, stream, hosts=hosts)
    roles = {
        words["bytes"]: "traffic",
        words["packets"]: "traffic",
        words["flows"]: "count",
        words["addr"]: "address",
        words["site_attr"]: "site",
    }
    return BuiltGraph(source, graph, words, roles)


def _addresses(stream: Stream, size: int) -> list[str]:
    """Distinct addresses in two to four /16 prefixes with a few /24 each."""
    firsts = stream.sample(["10", "172", "192", "100", "149", "185", "23"], 3)
    prefixes: list[str] = []
    while len(prefixes) < stream.between(2, 4) or len(prefixes) < 2:
        prefix = f"{stream.pick(firsts)}.{stream.between(1, 250)}"
        if prefix not in prefixes:
            prefixes.append(prefix)
    blocks = [
        f"{prefix}.{third}" for prefix in prefixes for third in stream.sample(range(1, 250), stream.between(2, 4))
    ]
    found: list[str] = []
    while len(found) < size:
        # Squaring the position makes some blocks larger than others.
        block = blocks[stream.below(len(blocks)) * stream.below(len(blocks)) // len(blocks)]
        address = f"{block}.{stream.between(1, 254)}"
        if address not in found:
            found.append(address)
    return found


def _add_hosts(graph: Any, words: dict[str, str], stream: Stream, *, size: int) -> list[str]:
    sites = stream.sample(_SITES, stream.between(3, 5))
    roles = stream.sample(_ROLES, stream.between(3, 5))
    counters = dict.fromkeys(roles, 0)
    hosts = []
    for address in _addresses(stream, size):
        role = roles[stream.below(len(roles)) * stream.below(len(roles) + 1) // len(roles)]
        counters[role] += 1
        host = f"{role}-{counters[role]:02d}" if words["named"] else address
        # The square makes site sizes differ, so that rankings are not ties.
        site = sites[stream.below(len(sites)) * stream.below(len(sites) + 1) // len(sites)]
        graph.add_node(host, **{words["addr"]: address, words["site_attr"]: site, words["role_attr"]: role})
        hosts.append(host)
    stream.shuffle(hosts)
    return hosts


def _weights(words: dict[str, str], stream: Stream) -> dict[str, int]:
    flows = stream.between(1, 40) * stream.between(1, 12)
    packets = flows * stream.between(2, 60) + stream.between(0, 9)
    return {
        words["bytes"]: packets * stream.between(60, 1400) + stream.between(0, 99),
        words["packets"]: packets,
        words["flows"]: flows,
    }


def _add_links(graph: Any, words: dict[str, str], stream: Stream, *, hosts: list[str]) -> None:
    """A main part grown by preferential attachment with extra links, a small island, and hosts without links."""
    size = len(hosts)
    lonely = stream.pick((0, 0, 1, 2, 3))
    island = stream.pick((0, 0, 2, 3, 4)) if size >= 20 else 0
    main = hosts[: size - lonely - island]
    aside = hosts[size - lonely - island : size - lonely]
    ends: list[str] = [main[0]]
    for position, host in enumerate(main[1:], start=1):
        partner = stream.pick(ends) if stream.chance(60) else main[stream.below(position)]
        _link(graph, words, stream, pair=(host, partner))
        ends += [host, partner]
    for _ in range(size * stream.between(5, 14) // 10):
        u, v = stream.pick(ends), stream.pick(main)
        if u != v:
            _link(graph, words, stream, pair=(u, v))
    for left, right in pairwise(aside):
        _link(graph, words, stream, pair=(left, right))


def _link(graph: Any, words: dict[str, str], stream: Stream, *, pair: tuple[str, str]) -> None:
    u, v = pair if stream.chance(50) else (pair[1], pair[0])
    if not graph.has_edge(u, v):
        graph.add_edge(u, v, **_weights(words, stream))
    if graph.is_directed() and stream.chance(25) and not graph.has_edge(v, u):
        graph.add_edge(v, u, **_weights(words, stream))
