"""Second solvers of communication graphs: look-ups, counts, sums and rankings over rows."""

from __future__ import annotations

import statistics
from collections import Counter, deque
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.solvers import Values, solver


def integer(address: str) -> int:
    """An IPv4 address as a number."""
    a, b, c, d = (int(part) for part in address.split("."))
    return (a << 24) + (b << 16) + (c << 8) + d


def members(built: BuiltGraph, prefix: str) -> set[str]:
    """Hosts inside a prefix, by bits."""
    base, length = prefix.split("/")
    shift = 32 - int(length)
    return {
        n for n, data in built.nodes.items() if integer(data[built.words["addr"]]) >> shift == integer(base) >> shift
    }


def prefix_of(built: BuiltGraph, host: str, length: int) -> str:
    """The prefix around a host, by bits."""
    kept = integer(built.nodes[host][built.words["addr"]]) >> (32 - length) << (32 - length)
    return ".".join(str(kept >> shift & 255) for shift in (24, 16, 8, 0)) + f"/{length}"


def totals(built: BuiltGraph, weight: str, *, out: bool = True, into: bool = True) -> dict[str, int]:
    """Weight summed over the links at each host."""
    found = dict.fromkeys(built.nodes, 0)
    for u, v, data in built.edges:
        if out or not built.directed:
            found[u] += data[weight]
        if into or not built.directed:
            found[v] += data[weight]
    return found


def ranking(scores: dict[str, Any]) -> list[tuple[str, Any]]:
    """All items with their score, highest first."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def best(scores: dict[Any, Any]) -> list[Any]:
    """All items with the highest score."""
    top = max(scores.values())
    return [item for item, score in scores.items() if score == top]


def reach(built: BuiltGraph, start: str, without: str = "") -> dict[str, int]:
    """Hop distance to everything that can be reached, ignoring direction."""
    found, queue = {start: 0}, deque([start])
    while queue:
        host = queue.popleft()
        for peer in built.peers[host]:
            if peer not in found and peer != without:
                found[peer] = found[host] + 1
                queue.append(peer)
    return found


def parts(built: BuiltGraph, without: str = "") -> list[set[str]]:
    """Connected parts, ignoring direction."""
    left = set(built.nodes) - {without}
    found = []
    while left:
        part = set(reach(built, next(iter(left)), without))
        found.append(part)
        left -= part
    return found


def site(built: BuiltGraph, host: str) -> str:
    """The site of a host."""
    return str(built.nodes[host][built.words["site_attr"]])


def _weights(b: BuiltGraph, v: Values) -> list[int]:
    return [data[v["w"]] for _, _, data in b.edges]


solver("traffic", "count_hosts")(lambda b, v: len(list(b.nodes)))
solver("traffic", "count_links")(lambda b, v: len(b.edges))
solver("traffic", "total_weight")(lambda b, v: sum(_weights(b, v)))
solver("traffic", "degree_of_host")(lambda b, v: len(b.peers[v["x"]]))
solver("traffic", "neighbours_of_host")(lambda b, v: sorted(b.peers[v["x"]]))
solver("traffic", "host_total")(lambda b, v: totals(b, v["w"])[v["x"]])
solver("traffic", "mean_weight")(lambda b, v: statistics.fmean(_weights(b, v)))
solver("traffic", "isolated_hosts")(lambda b, v: [n for n in b.nodes if not b.peers[n]])
solver("traffic", "count_in_prefix")(lambda b, v: len(members(b, v["p"])))
solver("traffic", "hosts_in_prefix")(lambda b, v: sorted(members(b, v["p"])))
solver("traffic", "count_links_over")(lambda b, v: len([w for w in _weights(b, v) if w > int(v["t"])]))
solver("traffic", "popular_hosts")(lambda b, v: [n for n, peers in b.peers.items() if len(peers) > int(v["d"])])
solver("traffic", "address_of_host")(lambda b, v: b.nodes[v["x"]][v["addr"]])
solver("traffic", "hosts_at_site")(lambda b, v: [n for n in b.nodes if site(b, n) == v["s"]])
solver("traffic", "hosts_with_role")(
    lambda b, v: len([1 for data in b.nodes.values() if data[v["role_attr"]] == v["r"]])
)
solver("traffic", "distinct_sites")(lambda b, v: list({site(b, n): 0 for n in b.nodes}))
solver("traffic", "are_linked")(lambda b, v: v["x"] in b.peers[v["y"]])
solver("traffic", "max_degree")(lambda b, v: best({n: len(peers) for n, peers in b.peers.items()}))
solver("traffic", "top_host")(lambda b, v: best(totals(b, v["w"])))


@solver("traffic", "weight_between")
def _weight_between(b: BuiltGraph, v: Values) -> Any:
    for u, w, data in b.edges:
        if (u, w) == (v["x"], v["y"]) or (not b.directed and (w, u) == (v["x"], v["y"])):
            return data[v["w"]]
    return None


@solver("traffic", "busiest_link")
def _busiest_link(b: BuiltGraph, v: Values) -> Any:
    return [[u, w] for u, w, data in b.edges if data[v["w"]] == max(_weights(b, v))]


@solver("traffic", "quietest_link")
def _quietest_link(b: BuiltGraph, v: Values) -> Any:
    return [[u, w] for u, w, data in b.edges if data[v["w"]] == min(_weights(b, v))]


@solver("traffic", "median_weight")
def _median_weight(b: BuiltGraph, v: Values) -> Any:
    values = sorted(_weights(b, v))
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


@solver("traffic", "links_over")
def _links_over(b: BuiltGraph, v: Values) -> Any:
    return [[u, w] for u, w, data in b.edges if data[v["w"]] > int(v["t"])]


def _count_values(b: BuiltGraph, attribute: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for data in b.nodes.values():
        found[data[attribute]] = found.get(data[attribute], 0) + 1
    return found


solver("traffic", "count_per_site")(lambda b, v: _count_values(b, v["site_attr"]))
solver("traffic", "count_per_role")(lambda b, v: _count_values(b, v["role_attr"]))
solver("traffic", "top_talkers")(lambda b, v: ranking(totals(b, v["w"])))
solver("traffic", "top_links")(lambda b, v: sorted(((u, w, d[v["w"]]) for u, w, d in b.edges), key=lambda row: -row[2]))
solver("traffic", "bottom_links")(
    lambda b, v: sorted(((u, w, d[v["w"]]) for u, w, d in b.edges), key=lambda row: row[2])
)


@solver("traffic", "prefix_totals")
def _prefix_totals(b: BuiltGraph, v: Values) -> Any:
    found: dict[str, int] = {}
    for prefix in {prefix_of(b, n, 16) for n in b.nodes}:
        inside = members(b, prefix)
        touching = [data[v["w"]] for u, w, data in b.edges if u in inside or w in inside]
        if touching:
            found[prefix] = sum(touching)
    return found


@solver("traffic", "hosts_per_prefix")
def _hosts_per_prefix(b: BuiltGraph, v: Values) -> Any:
    return {prefix: len(members(b, prefix)) for prefix in {prefix_of(b, n, int(v["len"])) for n in b.nodes}}


solver("traffic", "count_prefixes")(lambda b, v: len({prefix_of(b, n, int(v["len"])) for n in b.nodes}))
solver("traffic", "biggest_prefix")(lambda b, v: best(_hosts_per_prefix(b, v)))


def _by_ends_inside(b: BuiltGraph, v: Values, count: int) -> int:
    inside = members(b, v["p"])
    return sum(data[v["w"]] for u, w, data in b.edges if (u in inside) + (w in inside) == count)


solver("traffic", "inside_prefix_total")(lambda b, v: _by_ends_inside(b, v, 2))
solver("traffic", "leaving_prefix_total")(lambda b, v: _by_ends_inside(b, v, 1))
solver("traffic", "cross_site_share")(
    lambda b, v: 100 - 100 * sum(d[v["w"]] for u, w, d in b.edges if site(b, u) == site(b, w)) / sum(_weights(b, v))
)
solver("traffic", "common_neighbours")(lambda b, v: sorted(b.peers[v["x"]] & b.peers[v["y"]]))
solver("traffic", "either_neighbours")(lambda b, v: sorted(b.peers[v["x"]] - b.peers[v["y"]]))


@solver("traffic", "talks_to_both_prefixes")
def _talks_to_both_prefixes(b: BuiltGraph, v: Values) -> Any:
    first = {peer for n in members(b, v["p"]) for peer in b.peers[n]}
    return sorted(first & {peer for n in members(b, v["q"]) for peer in b.peers[n]})


solver("traffic", "peers_in_prefix")(lambda b, v: sorted(b.peers[v["x"]] & members(b, v["p"])))
solver("traffic", "average_degree")(lambda b, v: 2 * len(b.edges) / len(b.nodes))


@solver("traffic", "std_weight")
def _std_weight(b: BuiltGraph, v: Values) -> Any:
    values = _weights(b, v)
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


solver("traffic", "hops_between")(lambda b, v: reach(b, v["x"])[v["y"]])
solver("traffic", "component_count", "weak_component_count")(lambda b, v: len(parts(b)))
solver("traffic", "largest_component")(lambda b, v: max(len(part) for part in parts(b)))
solver("traffic", "component_of_host")(lambda b, v: len(reach(b, v["x"])) - 1)
solver("traffic", "leaf_hosts")(lambda b, v: [n for n, peers in b.peers.items() if len(peers) == 1])
solver("traffic", "host_share")(lambda b, v: totals(b, v["w"])[v["x"]] / sum(_weights(b, v)) * 100)
solver("traffic", "within_hops")(lambda b, v: [n for n, hops in reach(b, v["x"]).items() if 0 < hops <= int(v["h"])])
solver("traffic", "links_between_sites")(
    lambda b, v: sum(sorted((site(b, u), site(b, w))) == sorted((v["s"], v["s2"])) for u, w, _ in b.edges)
)
solver("traffic", "compare_hosts")(lambda b, v: best({n: totals(b, v["w"])[n] for n in (v["x"], v["y"])}))


@solver("traffic", "difference_hosts")
def _difference_hosts(b: BuiltGraph, v: Values) -> Any:
    found = totals(b, v["w"])
    return max(found[v["x"]], found[v["y"]]) - min(found[v["x"]], found[v["y"]])


solver("traffic", "sent_by_host")(lambda b, v: totals(b, v["w"], into=False)[v["x"]])
solver("traffic", "received_by_host")(lambda b, v: totals(b, v["w"], out=False)[v["x"]])
solver("traffic", "top_senders")(lambda b, v: ranking(totals(b, v["w"], into=False)))


@solver("traffic", "net_senders")
def _net_senders(b: BuiltGraph, v: Values) -> Any:
    balance = Counter[str]()
    for u, w, data in b.edges:
        balance[u] += data[v["w"]]
        balance[w] -= data[v["w"]]
    return [n for n, value in balance.items() if value > 0]


@solver("traffic", "receive_only")
def _receive_only(b: BuiltGraph, v: Values) -> Any:
    return sorted({w for _, w, _ in b.edges} - {u for u, _, _ in b.edges})


@solver("traffic", "mutual_pairs")
def _mutual_pairs(b: BuiltGraph, v: Values) -> Any:
    pairs = {(u, w) for u, w, _ in b.edges}
    return len({frozenset(pair) for pair in pairs if pair[::-1] in pairs})


@solver("traffic", "total_per_site")
def _total_per_site(b: BuiltGraph, v: Values) -> Any:
    sent = totals(b, v["w"], into=False)
    senders = {u for u, _, _ in b.edges}
    return {s: sum(sent[n] for n in b.nodes if site(b, n) == s) for s in {site(b, n) for n in senders}}


@solver("traffic", "outlier_links")
def _outlier_links(b: BuiltGraph, v: Values) -> Any:
    values = _weights(b, v)
    limit = sum(values) / len(values) + 2 * _std_weight(b, v)
    return [[u, w] for u, w, data in b.edges if data[v["w"]] > limit]


@solver("traffic", "bytes_per_packet")
def _bytes_per_packet(b: BuiltGraph, v: Values) -> Any:
    return [list(pair) for pair in best({(u, w): d[v["bytes"]] / d[v["packets"]] for u, w, d in b.edges})]


solver("traffic", "traffic_cost")(lambda b, v: sum(d[v["bytes"]] for _, _, d in b.edges) * int(v["price"]) / 10**6)


@solver("traffic", "average_per_site")
def _average_per_site(b: BuiltGraph, v: Values) -> Any:
    found = totals(b, v["w"])
    sites = _count_values(b, v["site_attr"])
    return {s: sum(found[n] for n in b.nodes if site(b, n) == s) / count for s, count in sites.items()}
