"""Values of operations against a second computation that shares no code with the program."""

from __future__ import annotations

import ipaddress
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from nl2net.golden.operations import operations
from nl2net.sandbox import GraphHolder, GraphPayload, Limits, Sandbox
from nl2net.sandbox.outcome import Outcome, Task
from tests.golden.test_operations import loaded

Rows = list[tuple[str, str, dict[str, Any]]]
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    sandbox = Sandbox(limits=Limits(wall_s=30, cpu_s=20, memory_mb=1024))
    holders: dict[str, GraphHolder] = {}
    programs = {one.name: one.program for one in operations()}

    def answer(name: str, graph: str, **bindings: str) -> Any:
        if graph not in holders:
            found = loaded(graph)
            holders[graph] = sandbox.open(GraphPayload(found.graph, found.schema, found.fingerprint))
        report = holders[graph].run(Task(programs[name], bindings=bindings))
        assert report.outcome is Outcome.OK, report.error
        assert report.result is not None
        return report.result.data if report.result.type == "graph" else report.value

    yield answer
    for holder in holders.values():
        holder.stop()
    sandbox.close()


def rows(graph: str) -> Rows:
    return [(u, v, dict(d)) for u, v, d in loaded(graph).graph.edges(data=True)]


def nodes(graph: str) -> Mapping[str, dict[str, Any]]:
    return {n: dict(d) for n, d in loaded(graph).graph.nodes(data=True)}


def matrix(graph: str, weight: str | None) -> tuple[list[str], np.ndarray[Any, Any]]:
    names = list(nodes(graph))
    place = {n: i for i, n in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for u, v, data in rows(graph):
        table[place[u], place[v]] = table[place[v], place[u]] = data[weight] if weight else 1
    return names, table


def reach(links: list[tuple[str, str]], start: str) -> set[str]:
    seen, left = {start}, [start]
    while left:
        here = left.pop()
        for u, v in links:
            for a, b in ((u, v), (v, u)):
                if a == here and b not in seen:
                    seen.add(b)
                    left.append(b)
    return seen


@pytest.mark.parametrize("graph", ["geant", "germany"])
def test_bridges_and_the_side_that_they_cut_off(run: Run, graph: str) -> None:
    links = [(u, v) for u, v, _ in rows(graph)]
    expected = {}
    for link in links:
        rest = [other for other in links if other != link]
        side = reach(rest, link[0])
        if link[1] not in side:
            expected[frozenset(link)] = min(side, set(nodes(graph)) - side, key=len)
    found = run("bridges_with_side", graph)
    assert {frozenset(row["link"]): set(row["cut off"]) for row in found} == expected


@pytest.mark.parametrize("graph", ["geant", "abilene"])
def test_cut_points_and_what_they_isolate(run: Run, graph: str) -> None:
    links = [(u, v) for u, v, _ in rows(graph)]
    expected = {}
    for n in nodes(graph):
        rest = [link for link in links if n not in link]
        others = set(nodes(graph)) - {n}
        main = max((reach(rest, start) for start in others), key=len)
        if main != others:
            expected[n] = others - main
    assert {row["node"]: set(row["cuts off"]) for row in run("cut_points_with_loss", graph)} == expected


def test_distances_against_scipy(run: Run) -> None:
    names, table = matrix("germany", "dist")
    lengths = dijkstra(table, directed=False)
    totals = dict(zip(names, lengths.sum(axis=1), strict=True))
    best = run("one_median", "germany")
    assert [n for n, _ in best] == sorted(totals, key=lambda n: totals[n])[:3]
    assert best[0][1] == pytest.approx(min(totals.values()))
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    two = min(np.minimum(lengths[i], lengths[j]).sum() for i, j in pairs)
    assert run("two_median", "germany")["total"] == pytest.approx(two)
    tree = run("spanning_set_by_length", "germany")
    assert tree["total length"] == pytest.approx(minimum_spanning_tree(table).sum())
    assert tree["total length"] + tree["saving"] == pytest.approx(table.sum() / 2)


def test_extra_hops_against_scipy(run: Run) -> None:
    names, table = matrix("germany", None)
    before = dijkstra(table, unweighted=True)
    gone = names.index("13")
    table[gone, :] = table[:, gone] = 0
    after = dijkstra(table, unweighted=True)
    found = run("extra_hops_without_node", "germany", NODE_1="13")
    expected = {
        frozenset((names[i], names[j]))
        for i in range(len(names))
        for j in range(i)
        if gone not in (i, j) and np.isfinite(after[i, j]) and after[i, j] - before[i, j] > 3
    }
    assert {frozenset(row[:2]) for row in found} == expected


def test_costs_add_up(run: Run) -> None:
    length = math.fsum(data["dist"] for _, _, data in rows("germany"))
    assert run("total_length", "germany") == pytest.approx(length)
    assert run("cost_per_link_and_total", "germany")[-1][2] == pytest.approx(12 * length)
    assert sum(cost for _, cost in run("half_cost_per_node", "germany")) == pytest.approx(10 * length)
    assert run("lease_or_build", "germany") == 250
    yards = run("cost_per_yard", "germany")["total in the currency of the price"]
    assert yards == pytest.approx(8 * length * 1093.6133, rel=1e-6)


def test_capacity_per_country_counts_what_is_missing(run: Run) -> None:
    found = {row["site"]: row for row in run("capacity_per_site", "geant")}
    touching: dict[str, list[Any]] = defaultdict(list)
    for u, v, data in rows("geant"):
        for site in {nodes("geant")[u].get("Country", "unknown"), nodes("geant")[v].get("Country", "unknown")}:
            touching[site].append(data.get("LinkSpeedRaw"))
    for site, speeds in touching.items():
        assert found[site]["links"] == len(speeds)
        assert found[site]["links without speed"] == speeds.count(None)
        assert found[site]["capacity"] == sum(s for s in speeds if s)
    assert found.keys() == touching.keys()


def test_the_bill_is_the_price_of_all_priced_links(run: Run) -> None:
    prices = {155e6: 200, 1e9: 450, 2.5e9: 800, 1e10: 1500}
    priced = [prices[d["LinkSpeedRaw"]] for _, _, d in rows("geant") if d.get("LinkSpeedRaw") in prices]
    *bills, (label, unpriced) = run("tariff_bill_per_site", "geant")
    assert label == "links without a price" and unpriced == len(rows("geant")) - len(priced)
    assert sum(bill for _, bill in bills) == sum(priced)


def test_parallel_links_count(run: Run) -> None:
    pairs = Counter(frozenset((u, v)) for u, v, _ in rows("ntt"))
    pair, count = pairs.most_common(1)[0]
    a, b = sorted(pair)
    assert run("parallel_links_between", "ntt", NODE_1=a, NODE_2=b) == count > 1
    assert run("disjoint_paths", "ntt", NODE_1=a, NODE_2=b) >= count


def test_addresses_by_plain_arithmetic(run: Run) -> None:
    def first(address: str, octets: int) -> str:
        return ".".join(address.split(".")[:octets])

    hosts = list(nodes("comm50"))
    per24 = Counter(first(h, 3) for h in hosts)
    most = max(per24.values())
    assert {n for n, _ in run("biggest_subnet", "comm50")} == {f"{k}.0/24" for k, c in per24.items() if c == most}
    inside = sorted((h for h in hosts if h.startswith("10.55.")), key=lambda h: [int(o) for o in h.split(".")])
    assert run("hosts_in_numeric_order", "comm50", PREFIX_1="10.55.0.0/16") == inside
    private = sum(h.startswith("10.") or h.startswith("192.168.") for h in hosts)
    assert run("private_public_count", "comm50")["private"] == private
    table = run("subnet_matrix", "comm50")
    within = sum(d["byte_weight"] for u, v, d in rows("comm50") if first(u, 2) == first(v, 2) == "10.55")
    row = next(r for r in table if r["from"] == "10.55.0.0/16")
    assert row["10.55.0.0/16"] == pytest.approx(within)


def test_sent_and_received_are_all_traffic(run: Run) -> None:
    host = "10.55.234.50"
    whole = sum(d["byte_weight"] for u, v, d in rows("comm50") if host in (u, v))
    sent = run("sent_bytes_by_direction", "comm50", NODE_1=host)
    received = run("received_bytes_by_direction", "comm50", NODE_1=host)
    assert sent + received == pytest.approx(whole)


def test_renaming_octets_is_exact(run: Run) -> None:
    changed = run("rename_octets", "comm50", OCTETS_1="10.55", OCTETS_2="10.155")
    ids = {node["id"] for node in changed["nodes"]}
    assert not any(n.startswith("10.55.") for n in ids)
    assert ids == {"10.155." + n[6:] if n.startswith("10.55.") else n for n in nodes("comm50")}
    for link in changed["links"]:
        assert {link["source_ip_address"], link["target_ip_address"]} == {link["source"], link["target"]}


def test_the_next_free_subnet_is_free_and_the_first(run: Run) -> None:
    found = ipaddress.ip_network(run("next_free_subnet", "netbox", NODE_1="prefix:10.112.128.0/17"))
    parent = ipaddress.ip_network("10.112.128.0/17")
    taken = [ipaddress.ip_network(d["prefix"]) for d in nodes("netbox").values() if d.get("prefix")]
    covering = [p for p in taken if p.version == 4 and p != parent and p.prefixlen > 17]
    used = {int(a) >> 4 for p in covering for a in (p.network_address, p.broadcast_address)}
    assert int(found.network_address) >> 4 not in used
    assert not any(p.overlaps(found) for p in covering)
    before = range(int(parent.network_address), int(found.network_address), 16)
    assert all(any(int(p.network_address) <= a <= int(p.broadcast_address) for p in covering) for a in before)


def test_the_datacentre_model(run: Run) -> None:
    found = nodes("malt")
    ports = [n for n, d in found.items() if d["kind"] == "EK_PORT"]
    m1 = [n for n in ports if n.startswith("EK_PORT:ju1.a1.m1.")]
    a1 = [n for n in ports if n.startswith("EK_PORT:ju1.a1.")]
    share = run("drain_share", "malt", NODE_1="EK_AGG_BLOCK:ju1.a1.m1", NODE_2="EK_SUPERBLOCK:ju1.a1")
    assert share == pytest.approx(100 * len(m1) / len(a1))  # all ports have one speed
    rack = run("rack_price", "malt", NODE_1="EK_RACK:ju1.a1.m1rack")
    assert rack["cost"] == 120 * len(m1)
    assert all(row["ok"] == (row["left percent"] >= 50) for row in run("half_stage_plan", "malt"))
    renamed = run("rename_subtree", "malt", NODE_1="EK_AGG_BLOCK:ju1.a1.m4", TEXT_1="ju1.a1.m5")
    names = Counter(d["name"].replace("ju1.a1.m5", "ju1.a1.m4") for d in renamed["nodes"])
    assert names == Counter(d["name"] for d in found.values())


def test_the_inventory_pivot_counts_every_device(run: Run) -> None:
    devices = [d for d in nodes("netbox").values() if d["kind"] == "device"]
    table = run("devices_per_site_and_role", "netbox")
    assert sum(value for row in table for key, value in row.items() if key != "site") == len(devices)
    uncabled = run("devices_without_cable_at_site", "netbox", NODE_1="site:DM-Akron")
    linked = {end for u, v, _ in rows("netbox") for end in (u, v)}
    at_site = {n for n, d in nodes("netbox").items() if d["kind"] == "device" and d.get("site") == "DM-Akron"}
    assert set(uncabled) == at_site - linked


def test_ports_of_neighbours(run: Run) -> None:
    table = run("neighbours_and_ports", "suzieq", NODE_1="spine01")
    assert {(row["neighbour"], row["port"]) for row in table} >= {("leaf01", "swp1"), ("leaf02", "swp2")}
    assert len(table) == sum("spine01" in (u, v) for u, v, _ in rows("suzieq"))
