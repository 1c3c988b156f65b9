"""Changes: found in the child, read and checked in the parent, applied to a copy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.errors import UserError
from nl2net.model import AttributeSchema, Changes, GraphClass, GraphSchema, RelationSchema, Severity
from nl2net.sandbox.changes import apply_changes, check_changes, read_changes
from nl2net.sandbox.channel.decode import BadFrame, Decoder
from nl2net.sandbox.channel.encode import Encoder
from nl2net.sandbox.outcome import Limits
from nl2net.sandbox.process.baseline import canonical_text, compare, take_baseline

KINDS: tuple[Any, ...] = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["a", "b"])
    | st.lists(st.integers(0, 2), max_size=2)
)
ATTRIBUTES = st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2)


@st.composite
def graphs(draw: st.DrawFn, kind: Any) -> Any:
    graph = kind()
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
    for name in names:
        graph.add_node(name, **draw(ATTRIBUTES))
    for _ in range(draw(st.integers(0, 6))):
        graph.add_edge(draw(st.sampled_from(names)), draw(st.sampled_from(names)), **draw(ATTRIBUTES))
    return graph


def changes_between(before: Any, after: Any) -> Changes:
    encoder, decoder = Encoder(Limits()), Decoder(Limits())
    found = compare(take_baseline(before), after)
    return read_changes({name: decoder.decode(encoder.each(rows, 0)) for name, rows in found.items()}, before)


def content(graph: Any) -> Any:
    """Nodes and edges as a set, without the attributes that are ``None``: absent and ``None`` are one in a change."""
    ends = sorted if not graph.is_directed() else list
    nodes = {node: _kept(data) for node, data in graph.nodes(data=True)}
    return nodes, sorted(repr((ends(edge[:2]), edge[2:], _kept(data))) for edge, data in graph.edges.items())


def _kept(data: dict[str, Any]) -> str:
    return canonical_text({name: value for name, value in data.items() if value is not None})


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_applied_changes_give_the_changed_graph(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    before, after = data.draw(graphs(kind)), data.draw(graphs(kind))
    original = content(before)
    assert content(apply_changes(before, changes_between(before, after))) == content(after)
    assert content(before) == original
    assert not changes_between(before, before.copy())


def test_values_that_compare_equal_are_told_apart() -> None:
    before: Any = nx.Graph()
    after: Any = nx.Graph()
    before.add_node("a", p=-1, q=1, r=True)
    after.add_node("a", p=-2, q=1.0, r=1)
    assert set(changes_between(before, after).nodes_changed["a"]) == {"p", "q", "r"}


FIELDS = ("nodes_added", "nodes_changed", "nodes_removed", "edges_added", "edges_changed", "edges_removed")
FORGED: list[Any] = [
    None,
    {},
    {"nodes_added": []},
    *(
        {
            **{name: [] for name in FIELDS},
            **part,
        }
        for part in (
            {"nodes_added": [["a", {}]]},
            {"nodes_added": [[["x"], {}]]},
            {"nodes_added": ["x"]},
            {"nodes_changed": [["zz", {}]]},
            {"nodes_removed": ["zz"]},
            {"nodes_removed": [["a"]]},
            {"edges_removed": [["a", "zz"]]},
            {"edges_added": [["a", "zz", {}]]},
            {"edges_added": [["a", "b"]]},
            {"edges_changed": [["a", "b", 1]]},
            {"edges_changed": 7},
        )
    ),
]


@pytest.mark.parametrize("found", FORGED)
def test_forged_changes_are_refused(found: Any) -> None:
    with pytest.raises(BadFrame):
        read_changes(found, nx.Graph([("a", "b")]))


def test_the_check_names_what_does_not_fit() -> None:
    graph: Any = nx.DiGraph()
    graph.add_nodes_from([("s", {"kind": "switch"}), ("p", {"kind": "port"})])
    graph.add_edge("s", "p", kind="contains")
    schema = GraphSchema(
        GraphClass(directed=True, multi=False),
        nodes=2,
        edges=1,
        attributes=(
            AttributeSchema("kind", "kind", "node", "text", 2, 2, "2-10", role="kind"),
            AttributeSchema("kind", "kind", "edge", "text", 1, 1, "1", role="kind"),
            AttributeSchema("speed", "speed", "node", "integer", 1, 2, "1"),
        ),
        relations=(RelationSchema("switch", "contains", "port", 1, "several", False, True),),
    )
    changes = Changes(
        nodes_added=({"id": "n", "sped": 1},),
        nodes_removed=("s",),
        nodes_changed={"p": {"speed": [None, "fast"]}},
    )
    rules = {finding.rule for finding in check_changes(changes, schema, graph)}
    assert rules == {"unknown-attribute", "missing-attribute", "attribute-type", "orphan"}
    wrong = check_changes(Changes(nodes_removed=("zz",), edges_added=({"source": "p", "target": "qq"},)), schema, graph)
    assert {finding.severity for finding in wrong} == {Severity.REFUSE}
    with pytest.raises(UserError):
        apply_changes(graph, Changes(nodes_removed=("zz",)))
