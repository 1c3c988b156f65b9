"""Second solvers of data centre models: from an index of containment, made once per graph."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.slots_planning import capacity_below, ports_below
from nl2net.golden.solvers import Values, solver
from nl2net.golden.solvers_traffic import best, ranking


def kinds(b: BuiltGraph, nodes: Iterable[str], kind: str) -> list[str]:
    """The nodes that are of the kind a word such as ``SWITCH`` stands for."""
    return [n for n in nodes if b.nodes[n]["kind"] == b.words[kind]]


def above(b: BuiltGraph, node: str, kind: str) -> str:
    """The direct container of that kind."""
    return kinds(b, b.parents[node], kind)[0]


def controller(b: BuiltGraph, switch: str) -> str:
    """The control point of a switch."""
    if "controllers" not in b.cache:
        b.cache["controllers"] = {s: c for c, switches in b.controls.items() for s in switches}
    return str(b.cache["controllers"][switch])


def domain(b: BuiltGraph, switch: str) -> str:
    """The control domain behind a switch."""
    return above(b, controller(b, switch), "DOMAIN")


def rack(b: BuiltGraph, switch: str) -> str:
    """The rack that a switch stands in."""
    return above(b, above(b, switch, "CHASSIS"), "RACK")


def capacities(b: BuiltGraph, kind: str) -> dict[str, int]:
    """Summed port capacity by entity of a kind."""
    key = f"capacities {kind}"
    if key not in b.cache:
        b.cache[key] = {n: capacity_below(b, n) for n in b.kind(kind)}
    return dict(b.cache[key])


def switches_below(b: BuiltGraph, entity: str) -> list[str]:
    """Switches that an entity contains at any depth."""
    key = f"switches {entity}"
    if key not in b.cache:
        found: list[str] = []
        queue = [entity]
        while queue:
            for child in b.children[queue.pop()]:
                (found if b.nodes[child]["kind"] == b.words["SWITCH"] else queue).append(child)
        b.cache[key] = list(dict.fromkeys(found))
    return list(b.cache[key])


def _once(b: BuiltGraph, key: str, make: Any) -> Any:
    if key not in b.cache:
        b.cache[key] = make()
    return b.cache[key]


def _cap(b: BuiltGraph, ports: Iterable[str]) -> int:
    return sum(b.nodes[p][b.words["cap"]] for p in ports)


solver("planning", "count_kind")(lambda b, v: len(b.by_kind[v["kk"]]))
solver("planning", "list_kind")(lambda b, v: b.by_kind[v["kk"]])
solver("planning", "port_count_of_switch")(lambda b, v: len(kinds(b, b.children[v["s"]], "PORT")))
solver("planning", "ports_of_switch")(lambda b, v: kinds(b, b.children[v["s"]], "PORT"))
solver("planning", "capacity_of_port")(lambda b, v: b.nodes[v["p"]][v["cap"]])
solver("planning", "stage_of_switch")(lambda b, v: b.nodes[v["s"]][v["stage"]])
solver("planning", "children_of_group")(lambda b, v: b.children[v["g"]])
solver("planning", "parents_of_switch")(lambda b, v: b.parents[v["s"]])
solver("planning", "controller_of_switch")(lambda b, v: controller(b, v["s"]))
solver("planning", "controlled_by")(lambda b, v: b.controls[v["c"]])
solver("planning", "switches_of_group")(lambda b, v: len(switches_below(b, v["g"])))
solver("planning", "switches_per_stage")(
    lambda b, v: _once(b, "per stage", lambda: Counter(b.nodes[s][v["stage"]] for s in b.kind("SWITCH")))
)
solver("planning", "same_name")(
    lambda b, v: _once(b, "names", lambda: Counter(data["name"] for data in b.nodes.values()))[v["c_name"]]
)
solver("planning", "count_relations")(
    lambda b, v: _once(b, "relations", lambda: Counter(data["kind"] for _, _, data in b.edges))[v["rel"]]
)
solver("planning", "vendors")(
    lambda b, v: _once(b, "vendors", lambda: Counter(b.nodes[c]["vendor"] for c in b.kind("CHASSIS")))
)
solver("planning", "without_tag")(lambda b, v: [c for c in b.kind("CHASSIS") if not b.nodes[c].get("asset_tag")])


def _speeds(b: BuiltGraph) -> Counter[int]:
    found: Counter[int] = _once(b, "speeds", lambda: Counter(b.nodes[p][b.words["cap"]] for p in b.kind("PORT")))
    return found


solver("planning", "ports_with_speed")(lambda b, v: _speeds(b)[int(v["v"])])
solver("planning", "ports_by_speed")(lambda b, v: dict(_speeds(b)))
solver("planning", "capacity_of_container")(lambda b, v: capacity_below(b, v["x"]))
solver("planning", "ports_under")(lambda b, v: len(ports_below(b, v["x"])))
solver("planning", "capacity_per_group")(lambda b, v: capacities(b, "GROUP"))
solver("planning", "top_switches")(lambda b, v: ranking(capacities(b, "SWITCH")))
solver("planning", "rank_children")(lambda b, v: ranking({s: capacity_below(b, s) for s in switches_below(b, v["g"])}))
solver("planning", "biggest_group")(lambda b, v: best(capacities(b, "GROUP")))
solver("planning", "smallest_group")(lambda b, v: best({g: -c for g, c in capacities(b, "GROUP").items()}))
solver("planning", "compare_groups")(lambda b, v: best({g: capacity_below(b, g) for g in (v["g"], v["g2"])}))
solver("planning", "switch_difference")(lambda b, v: abs(capacity_below(b, v["s"]) - capacity_below(b, v["s2"])))
solver("planning", "switches_over")(lambda b, v: [s for s, c in capacities(b, "SWITCH").items() if c > int(v["t"])])


@solver("planning", "ancestors_of_port")
def _ancestors_of_port(b: BuiltGraph, v: Values) -> Any:
    level, found = {v["p"]}, set[str]()
    while level := {parent for n in level for parent in b.parents[n]}:
        found |= level
    return sorted(found)


solver("planning", "switches_of_domain")(lambda b, v: [s for c in b.children[v["d"]] for s in b.controls[c]])
solver("planning", "switches_per_domain")(
    lambda b, v: _once(b, "per domain", lambda: Counter(domain(b, s) for s in b.kind("SWITCH")))
)
solver("planning", "rack_of_switch")(lambda b, v: rack(b, v["s"]))
solver("planning", "switches_in_rack")(
    lambda b, v: [s for c in b.children[v["r"]] for s in kinds(b, b.children[c], "SWITCH")]
)
solver("planning", "siblings")(lambda b, v: [s for s in switches_below(b, above(b, v["s"], "GROUP")) if s != v["s"]])
solver("planning", "group_share")(lambda b, v: capacity_below(b, v["g"]) / capacity_below(b, v["b"]) * 100)
solver("planning", "mean_port_capacity")(lambda b, v: capacity_below(b, v["x"]) / len(ports_below(b, v["x"])))
solver("planning", "name_ending")(
    lambda b, v: [s for s in b.kind("SWITCH") if b.nodes[s]["name"][-len(v["e"]) :] == v["e"]]
)


def _port_counts(b: BuiltGraph) -> dict[str, int]:
    return dict(_once(b, "port counts", lambda: {s: len(b.children[s]) for s in b.kind("SWITCH")}))


@solver("planning", "odd_port_count")
def _odd_port_count(b: BuiltGraph, v: Values) -> Any:
    usual = Counter(_port_counts(b).values()).most_common(1)[0][0]
    return [s for s, count in _port_counts(b).items() if count != usual]


solver("planning", "most_ports")(lambda b, v: best(_port_counts(b)))
solver("planning", "rack_cost")(lambda b, v: int(v["price"]) * len(ports_below(b, v["r"])))


@solver("planning", "capacity_by_stage")
def _capacity_by_stage(b: BuiltGraph, v: Values) -> Any:
    found: dict[int, int] = defaultdict(int)
    for s, capacity in capacities(b, "SWITCH").items():
        found[b.nodes[s][v["stage"]]] += capacity
    return dict(found)


def _at_stage(b: BuiltGraph, v: Values) -> list[str]:
    return [s for s in switches_below(b, v["g"]) if b.nodes[s][v["stage"]] == int(v["st"])]


solver("planning", "stage_switches")(_at_stage)
solver("planning", "weakest_in_group")(lambda b, v: best({s: -capacity_below(b, s) for s in switches_below(b, v["g"])}))
solver("planning", "groups_per_block")(
    lambda b, v: {x: count for x in b.kind("BLOCK") if (count := len(kinds(b, b.children[x], "GROUP")))}
)
solver("planning", "racks_of_block")(lambda b, v: sorted({rack(b, s) for s in switches_below(b, v["b"])}))
solver("planning", "chassis_vendor_of_switch")(lambda b, v: b.nodes[above(b, v["s"], "CHASSIS")]["vendor"])
solver("planning", "vendor_capacity")(
    lambda b, v: sum(
        capacity
        for s, capacity in capacities(b, "SWITCH").items()
        if b.nodes[above(b, s, "CHASSIS")]["vendor"] == v["vd"]
    )
)
solver("planning", "drain_share")(
    lambda b, v: 100 * sum(capacity_below(b, s) for s in _at_stage(b, v)) / capacity_below(b, v["b"])
)
solver("planning", "remaining_after_stage")(
    lambda b, v: capacity_below(b, v["g"]) - sum(capacity_below(b, s) for s in _at_stage(b, v))
)


@solver("planning", "domain_failure")
def _domain_failure(b: BuiltGraph, v: Values) -> Any:
    controlled = [s for s in b.kind("SWITCH") if domain(b, s) == v["d"]]
    return 100 * sum(capacity_below(b, s) for s in controlled) / sum(capacities(b, "SWITCH").values())


@solver("planning", "rack_failure_groups")
def _rack_failure_groups(b: BuiltGraph, v: Values) -> Any:
    found: dict[str, int] = defaultdict(int)
    for chassis in b.children[v["r"]]:
        for s in kinds(b, b.children[chassis], "SWITCH"):
            for g in kinds(b, b.parents[s], "GROUP"):
                found[g] += capacity_below(b, s)
    return dict(found)


@solver("planning", "needed_ports")
def _needed_ports(b: BuiltGraph, v: Values) -> Any:
    missing, size = int(v["target"]) - capacity_below(b, v["g"]), int(v["v"])
    return next(k for k in range(math.floor(missing / size), missing // size + 2) if k * size >= missing)


solver("planning", "capacity_after_adding")(lambda b, v: capacity_below(b, v["s"]) + int(v["k"]) * int(v["v"]))
solver("planning", "capacity_after_upgrade")(
    lambda b, v: sum(
        b.nodes[p][v["cap"]] if b.nodes[p][v["cap"]] > int(v["v"]) else int(v["v"]) for p in b.children[v["s"]]
    )
)


@solver("planning", "spread")
def _spread(b: BuiltGraph, v: Values) -> Any:
    sizes = sorted(capacity_below(b, g) for g in kinds(b, b.children[v["b"]], "GROUP"))
    return sizes[-1] - sizes[0]


@solver("planning", "cover_capacity")
def _cover_capacity(b: BuiltGraph, v: Values) -> Any:
    sizes = sorted(capacity_below(b, s) for s in switches_below(b, v["b"]))
    return min(k for k in range(1, len(sizes) + 1) if 100 * sum(sizes[-k:]) >= int(v["pc"]) * sum(sizes))


solver("planning", "group_of_port_capacity")(
    lambda b, v: capacity_below(b, above(b, above(b, v["p"], "SWITCH"), "GROUP"))
)
solver("planning", "rack_of_port")(lambda b, v: rack(b, above(b, v["p"], "SWITCH")))
solver("planning", "same_domain")(
    lambda b, v: [s for c in b.children[domain(b, v["s"])] for s in b.controls[c] if s != v["s"]]
)
solver("planning", "ports_behind_cp")(lambda b, v: sum(len(b.children[s]) for s in b.controls[v["c"]]))


@solver("planning", "rack_shares")
def _rack_shares(b: BuiltGraph, v: Values) -> Any:
    sizes = capacities(b, "RACK")
    return ranking({r: size / sum(sizes.values()) * 100 for r, size in sizes.items()})


solver("planning", "count_after_removal")(lambda b, v: len(ports_below(b, v["g"])) - len(b.children[v["s"]]))
solver("planning", "rank_after_removal")(
    lambda b, v: ranking({s: capacity_below(b, s) for s in switches_below(b, v["g"]) if s != v["s"]})
)
solver("planning", "weakest_removed")(
    lambda b, v: sum(sorted(capacity_below(b, s) for s in switches_below(b, v["g"]))[1:])
)
solver("planning", "strongest_lost")(
    lambda b, v: 100 / capacity_below(b, v["g"]) * max(capacity_below(b, s) for s in switches_below(b, v["g"]))
)
solver("planning", "two_groups_share")(
    lambda b, v: 100 * _cap(b, ports_below(b, v["g"]) + ports_below(b, v["g2"])) / capacity_below(b, v["b"])
)
