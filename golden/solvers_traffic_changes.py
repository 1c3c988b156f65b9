"""Second solvers of changes to communication graphs: the wanted difference, written down directly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nl2net.golden.built import BuiltGraph, Row
from nl2net.golden.solvers import solver
from nl2net.golden.solvers_traffic import members, prefix_of, totals
from nl2net.model import Changes


def removal(built: BuiltGraph, gone: Iterable[str]) -> Changes:
    """The difference that removing nodes makes."""
    names = set(gone)
    lost = [edge for edge in built.edges if edge[0] in names or edge[1] in names]
    return Changes(nodes_removed=tuple(sorted(names)), edges_removed=tuple(_ends(edge) for edge in lost))


def node_values(built: BuiltGraph, name: str, values: dict[str, Any]) -> Changes:
    """The difference that writing one attribute to some nodes makes."""
    old = {n: built.nodes[n].get(name) for n in values}
    return Changes(nodes_changed={n: {name: [old[n], new]} for n, new in values.items() if new != old[n]})


def link_values(name: str, rows: Iterable[tuple[Row, Any]]) -> Changes:
    """The difference that writing one attribute to some links makes."""
    return Changes(
        edges_changed=tuple({**_ends(edge), "changed": {name: [edge[2].get(name), new]}} for edge, new in rows)
    )


def _ends(edge: Row) -> dict[str, Any]:
    return {"source": edge[0], "target": edge[1]}


solver("traffic", "label_prefix")(lambda b, v: node_values(b, "label", dict.fromkeys(members(b, v["p"]), v["tag"])))
solver("traffic", "prefix_attribute")(
    lambda b, v: node_values(b, "prefix", {n: prefix_of(b, n, int(v["len"])) for n in b.nodes})
)
solver("traffic", "remove_host")(lambda b, v: removal(b, [v["x"]]))
solver("traffic", "remove_light_links")(
    lambda b, v: Changes(edges_removed=tuple(_ends(e) for e in b.edges if e[2][v["w"]] < int(v["t"])))
)
solver("traffic", "double_host")(
    lambda b, v: link_values(v["w"], [(e, 2 * e[2][v["w"]]) for e in b.edges if v["x"] in e[:2]])
)
solver("traffic", "scale_all")(lambda b, v: link_values(v["w"], [(e, int(v["f"]) * e[2][v["w"]]) for e in b.edges]))
solver("traffic", "remove_isolated")(lambda b, v: removal(b, [n for n, peers in b.peers.items() if not peers]))
solver("traffic", "remove_low_degree")(lambda b, v: removal(b, [n for n, p in b.peers.items() if len(p) < int(v["d"])]))
solver("traffic", "add_link")(
    lambda b, v: Changes(edges_added=({"source": v["x"], "target": v["y"], v["w"]: int(v["v"])},))
)
solver("traffic", "mark_heavy")(
    lambda b, v: link_values("heavy", [(e, True) for e in b.edges if e[2][v["w"]] > int(v["t"])])
)
solver("traffic", "store_totals")(lambda b, v: node_values(b, "total", dict(totals(b, v["w"]))))
solver("traffic", "keep_prefix")(lambda b, v: removal(b, set(b.nodes) - members(b, v["p"])))
solver("traffic", "move_site")(
    lambda b, v: node_values(
        b, v["site_attr"], {n: v["s2"] for n, data in b.nodes.items() if data[v["site_attr"]] == v["s"]}
    )
)
