"""How many different chains one graph has: a lower bound by exact counting."""

from __future__ import annotations

from nl2net.golden.built import BuiltGraph
from nl2net.golden.chains import DEPTHS
from nl2net.golden.slots_planning import SPEEDS, ports_below


def distinct_chains(built: BuiltGraph) -> dict[int, int]:
    """Chains of one graph by number of changes, no two of which leave the same model and ask the same.

    Only one family is counted: ports of one group get higher speeds, and the capacity of that group is asked for. Each
    of its chains passes the gate, since every change raises the answer. The order of the changes is not counted, nor
    are wordings, other changes and other questions; so the true number is far larger.

    Examples
    --------
    >>> from nl2net.golden.recipes import build_graph
    >>> from nl2net.golden.case import GraphSource
    >>> sum(distinct_chains(build_graph(GraphSource("planning", "space", {"size": "full"}))).values()) > 10**9
    True
    """
    found = dict.fromkeys(DEPTHS, 0)
    for group in built.kind("GROUP"):
        # Ways to pick some ports and a higher speed for each: coefficients of the product of (1 + choices * x).
        ways = [1] + [0] * max(DEPTHS)
        for port in ports_below(built, group):
            choices = sum(speed > built.nodes[port][built.words["cap"]] for speed in SPEEDS)
            for size in range(max(DEPTHS), 0, -1):
                ways[size] += ways[size - 1] * choices
        for depth in DEPTHS:
            found[depth] += ways[depth]
    return found
