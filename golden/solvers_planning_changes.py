"""Second solvers of changes to data centre models: the wanted difference, written down directly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.slots_planning import capacity_below, ports_below
from nl2net.golden.solvers import Values, solver
from nl2net.golden.solvers_planning import domain, switches_below
from nl2net.golden.solvers_traffic_changes import node_values
from nl2net.model import Changes


def _edge(u: str, v: str, **attributes: Any) -> dict[str, Any]:
    return {"source": u, "target": v, **attributes}


def _gone(b: BuiltGraph, nodes: list[str]) -> Changes:
    """Removal, with the relations found from the containment and control indexes."""
    edges = {(parent, n) for n in nodes for parent in b.parents[n]}
    edges |= {(n, child) for n in nodes for child in (*b.children[n], *b.controls[n])}
    edges |= {(c, n) for n in nodes for c in _controllers(b, n)}
    return Changes(nodes_removed=tuple(nodes), edges_removed=tuple(_edge(u, v) for u, v in sorted(edges)))


def _controllers(b: BuiltGraph, node: str) -> list[str]:
    if "controlled" not in b.cache:
        b.cache["controlled"] = {s: [c] for c, switches in b.controls.items() for s in switches}
    found: list[str] = b.cache["controlled"].get(node, [])
    return found


def _capacity(b: BuiltGraph, v: Values, ports: Iterable[str], *, only_slower: bool = False) -> Changes:
    speed = int(v["v"])
    return node_values(b, v["cap"], {p: speed for p in ports if not only_slower or b.nodes[p][v["cap"]] < speed})


@solver("planning", "add_port")
def _add_port(b: BuiltGraph, v: Values) -> Changes:
    node = {"id": f"{v['PORT']}:{v['np']}", "kind": v["PORT"], "name": v["np"], v["cap"]: int(v["v"])}
    return Changes(nodes_added=(node,), edges_added=(_edge(v["s"], str(node["id"]), kind=v["CONTAINS"]),))


solver("planning", "remove_port")(lambda b, v: _gone(b, [v["p"]]))
solver("planning", "remove_switch")(lambda b, v: _gone(b, [v["s"], *b.children[v["s"]]]))
solver("planning", "upgrade_switch")(lambda b, v: _capacity(b, v, b.children[v["s"]]))
solver("planning", "upgrade_slow_ports")(lambda b, v: _capacity(b, v, ports_below(b, v["g"]), only_slower=True))
solver("planning", "drain_switch")(lambda b, v: node_values(b, "drained", {v["s"]: True}))
solver("planning", "drain_stage")(
    lambda b, v: node_values(
        b, "drained", {s: True for s in switches_below(b, v["g"]) if str(b.nodes[s][v["stage"]]) == v["st"]}
    )
)
solver("planning", "drain_domain")(
    lambda b, v: node_values(b, "drained", {s: True for s in b.kind("SWITCH") if domain(b, s) == v["d"]})
)
solver("planning", "move_switch")(
    lambda b, v: Changes(
        edges_removed=(_edge(v["g"], v["s"]),), edges_added=(_edge(v["g2"], v["s"], kind=v["CONTAINS"]),)
    )
)
solver("planning", "move_control")(
    lambda b, v: Changes(
        edges_removed=(_edge(v["c"], v["s"]),), edges_added=(_edge(v["c2"], v["s"], kind=v["CONTROLS"]),)
    )
)
solver("planning", "tag_block")(
    lambda b, v: node_values(b, "label", dict.fromkeys(switches_below(b, v["b"]), v["tag"]))
)
solver("planning", "store_capacity")(
    lambda b, v: node_values(b, "total_capacity", {s: capacity_below(b, s) for s in switches_below(b, v["g"])})
)
solver("planning", "scale_block")(
    lambda b, v: node_values(b, v["cap"], {p: b.nodes[p][v["cap"]] * int(v["f"]) for p in ports_below(b, v["b"])})
)
