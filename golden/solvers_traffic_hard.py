"""Second solvers of communication graphs: algorithms by other methods than those of the references."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from itertools import combinations
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.solvers import Values, solver
from nl2net.golden.solvers_traffic import best, integer, members, parts, ranking, reach, site, totals


def _link_weights(b: BuiltGraph, weight: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for u, v, data in b.edges:
        found[u][v] = data[weight]
        found[v][u] = data[weight]
    return found


def _dijkstra(b: BuiltGraph, weight: str, start: str) -> dict[str, int]:
    links, done, queue = _link_weights(b, weight), {}, [(0, start)]
    while queue:
        cost, host = heapq.heappop(queue)
        if host not in done:
            done[host] = cost
            for peer, value in links[host].items():
                heapq.heappush(queue, (cost + value, peer))
    return done


@solver("traffic", "shortest_route")
def _shortest_route(b: BuiltGraph, v: Values) -> Any:
    return {"source": v["x"], "target": v["y"], "optimum": reach(b, v["x"])[v["y"]]}


@solver("traffic", "cheapest_route")
def _cheapest_route(b: BuiltGraph, v: Values) -> Any:
    return {"source": v["x"], "target": v["y"], "optimum": _dijkstra(b, v["w"], v["x"])[v["y"]]}


solver("traffic", "cheapest_cost")(lambda b, v: _dijkstra(b, v["w"], v["x"])[v["y"]])


def _without_link(b: BuiltGraph, u: str, v: str) -> bool:
    """Whether v can still be reached from u without their link."""
    seen, queue = {u}, [u]
    while queue:
        host = queue.pop()
        for peer in b.peers[host]:
            if {host, peer} != {u, v} and peer not in seen:
                seen.add(peer)
                queue.append(peer)
    return v in seen


solver("traffic", "bridges")(lambda b, v: [[u, w] for u, w, _ in b.edges if not _without_link(b, u, w)])


@solver("traffic", "articulation_points")
def _articulation_points(b: BuiltGraph, v: Values) -> Any:
    present = len(parts(b))
    return [n for n in b.nodes if b.peers[n] and len(parts(b, n)) > present]


def _prim(b: BuiltGraph, weight: str) -> int:
    """Weight of a minimum spanning forest, grown from one host per part."""
    links, done, total = _link_weights(b, weight), set[str](), 0
    for start in b.nodes:
        queue = [(0, start)]
        while queue:
            cost, host = heapq.heappop(queue)
            if host not in done:
                done.add(host)
                total += cost
                for peer, value in links[host].items():
                    if peer not in done:
                        heapq.heappush(queue, (value, peer))
    return total


solver("traffic", "spanning_tree_weight")(lambda b, v: _prim(b, v["w"]))
solver("traffic", "spanning_tree")(lambda b, v: {"optimum": _prim(b, v["w"])})


def _flow(b: BuiltGraph, v: Values, capacity: dict[str, dict[str, int]]) -> int:
    """Maximum flow by shortest augmenting paths."""
    left = {u: dict(row) for u, row in capacity.items()}
    total = 0
    while True:
        before, queue = {v["x"]: ""}, deque([v["x"]])
        while queue and v["y"] not in before:
            host = queue.popleft()
            for peer, value in left.get(host, {}).items():
                if value > 0 and peer not in before:
                    before[peer] = host
                    queue.append(peer)
        if v["y"] not in before:
            return total
        path, host = [], v["y"]
        while before[host]:
            path.append((before[host], host))
            host = before[host]
        push = min(left[u][w] for u, w in path)
        for u, w in path:
            left[u][w] -= push
            left[w][u] += push
        total += push


solver("traffic", "max_flow")(lambda b, v: _flow(b, v, _link_weights(b, v["w"])))
solver("traffic", "min_cut_size")(lambda b, v: _flow(b, v, {u: dict.fromkeys(row, 1) for u, row in b.peers.items()}))


def _counts_from(b: BuiltGraph, start: str) -> tuple[dict[str, int], dict[str, int]]:
    """Hop distance and number of shortest paths to every host."""
    hops, counts, queue = {start: 0}, {start: 1}, deque([start])
    while queue:
        host = queue.popleft()
        for peer in b.peers[host]:
            if peer not in hops:
                hops[peer], counts[peer] = hops[host] + 1, 0
                queue.append(peer)
            if hops[peer] == hops[host] + 1:
                counts[peer] += counts[host]
    return hops, counts


@solver("traffic", "betweenness_top")
def _betweenness_top(b: BuiltGraph, v: Values) -> Any:
    """Pair by pair: the share of shortest paths through each host."""
    tables = {n: _counts_from(b, n) for n in b.nodes}
    scores = dict.fromkeys(b.nodes, 0.0)
    for s, t in combinations(b.nodes, 2):
        hops, counts = tables[s]
        if t in hops:
            for n in hops:
                if n not in (s, t) and hops[n] + tables[n][0][t] == hops[t]:
                    scores[n] += counts[n] * tables[n][1][t] / counts[t]
    pairs = (len(b.nodes) - 1) * (len(b.nodes) - 2) / 2
    return ranking({n: score / pairs for n, score in scores.items()})


@solver("traffic", "closest_host")
def _closest_host(b: BuiltGraph, v: Values) -> Any:
    return best({n: -sum(reach(b, n).values()) for n in b.nodes})


@solver("traffic", "pagerank_top")
def _pagerank_top(b: BuiltGraph, v: Values) -> Any:
    """Power iteration over rows; hosts within a millionth of the first count as first."""
    sent = totals(b, v["w"], into=False)
    size = len(b.nodes)
    ranks = dict.fromkeys(b.nodes, 1 / size)
    for _ in range(200):
        hanging = sum(ranks[n] for n in b.nodes if not sent[n])
        fresh = dict.fromkeys(b.nodes, (0.15 + 0.85 * hanging) / size)
        for u, w, data in b.edges:
            fresh[w] += 0.85 * ranks[u] * data[v["w"]] / sent[u]
        ranks = fresh
    return [n for n, rank in ranks.items() if rank > max(ranks.values()) - 1e-6]


@solver("traffic", "diameter")
def _diameter(b: BuiltGraph, v: Values) -> Any:
    sizes = sorted((len(part) for part in parts(b)), reverse=True)
    if len(sizes) > 1 and sizes[0] == sizes[1]:
        return None
    largest = max(parts(b), key=len)
    return max(max(reach(b, n).values()) for n in largest)


@solver("traffic", "triangles")
def _triangles(b: BuiltGraph, v: Values) -> Any:
    return sum(len(b.peers[u] & b.peers[w]) for u, w, _ in b.edges) // 3


@solver("traffic", "clustering_average")
def _clustering_average(b: BuiltGraph, v: Values) -> Any:
    total = 0.0
    for peers in b.peers.values():
        possible = len(peers) * (len(peers) - 1) / 2
        linked = sum(w in b.peers[u] for u, w in combinations(peers, 2))
        total += linked / possible if possible else 0
    return total / len(b.peers)


@solver("traffic", "core_hosts")
def _core_hosts(b: BuiltGraph, v: Values) -> Any:
    left = set(b.nodes)
    while drop := {n for n in left if len(b.peers[n] & left) < int(v["c"])}:
        left -= drop
    return sorted(left)


solver("traffic", "parts_after_removal")(lambda b, v: len(parts(b, v["x"])))


@solver("traffic", "cut_off_by_removal")
def _cut_off_by_removal(b: BuiltGraph, v: Values) -> Any:
    before = set(reach(b, v["x"])) - {v["x"]}
    left = sorted((part for part in parts(b, v["x"]) if part <= before), key=len)
    if len(left) > 1 and len(left[-1]) == len(left[-2]):
        return None  # two largest rests: the question has no single answer
    return sorted(before - left[-1])


@solver("traffic", "removal_loss")
def _removal_loss(b: BuiltGraph, v: Values) -> Any:
    gone = members(b, v["p"])
    lost = sum(data[v["w"]] for u, w, data in b.edges if {u, w} & gone)
    return lost / sum(data[v["w"]] for _, _, data in b.edges) * 100


@solver("traffic", "traffic_matrix")
def _traffic_matrix(b: BuiltGraph, v: Values) -> Any:
    pairs = {(site(b, u), site(b, w)) for u, w, _ in b.edges}
    return [
        [s, t, sum(data[v["w"]] for u, w, data in b.edges if (site(b, u), site(b, w)) == (s, t))]
        for s, t in sorted(pairs)
    ]


@solver("traffic", "unlinked_sites")
def _unlinked_sites(b: BuiltGraph, v: Values) -> Any:
    everything = {frozenset(pair) for pair in combinations({site(b, n) for n in b.nodes}, 2)}
    return [sorted(pair) for pair in everything - {frozenset((site(b, u), site(b, w))) for u, w, _ in b.edges}]


@solver("traffic", "busiest_site_pair")
def _busiest_site_pair(b: BuiltGraph, v: Values) -> Any:
    sums: dict[frozenset[str], int] = {}
    for u, w, data in b.edges:
        pair = frozenset((site(b, u), site(b, w)))
        sums[pair] = sums.get(pair, 0) + data[v["w"]]
    return [sorted(pair) for pair in best({pair: total for pair, total in sums.items() if len(pair) == 2})]


@solver("traffic", "cover_share")
def _cover_share(b: BuiltGraph, v: Values) -> Any:
    values = sorted(data[v["w"]] for _, _, data in b.edges)
    # Whole numbers on both sides, so that no rounding decides at the border.
    return min(k for k in range(1, len(values) + 1) if 100 * sum(values[-k:]) >= int(v["pc"]) * sum(values))


@solver("traffic", "prefix_peers")
def _prefix_peers(b: BuiltGraph, v: Values) -> Any:
    third = {n: integer(data[v["addr"]]) >> 8 for n, data in b.nodes.items()}
    return ranking({n: len({third[m] for m in peers}) for n, peers in b.peers.items()})


solver("traffic", "colouring")(lambda b, v: {"colours": max(len(peers) for peers in b.peers.values()) + 1})


@solver("traffic", "rank_groups")
def _rank_groups(b: BuiltGraph, v: Values) -> Any:
    found, groups = totals(b, v["w"]), int(v["g"])
    if len(set(found.values())) < len(found):
        return {"": 0}  # two hosts tie, so that their groups are arbitrary
    return {n: sum(other < value for other in found.values()) * groups // len(found) for n, value in found.items()}


@solver("traffic", "merge_removal_rank")
def _merge_removal_rank(b: BuiltGraph, v: Values) -> Any:
    found = dict.fromkeys(set(b.nodes) - {v["x"]}, 0)
    for u, w, data in b.edges:
        if v["x"] not in (u, w):
            found[u] += data[v["w"]]
            found[w] += data[v["w"]]
    return ranking(found)


@solver("traffic", "doubled_rank")
def _doubled_rank(b: BuiltGraph, v: Values) -> Any:
    found = totals(b, v["w"])
    for u, w, data in b.edges:
        if v["x"] in (u, w):
            found[u] += data[v["w"]]
            found[w] += data[v["w"]]
    return ranking(found)
