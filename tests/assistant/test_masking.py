"""Questions lose their private words before they are sent, and get them back locally."""

from __future__ import annotations

import networkx as nx
import pytest
from tests_data import SHARED

from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.masking import Masker
from nl2net.graphs import LoadedGraph, load_graph
from nl2net.model import GraphClass, GraphSchema, RelationSchema


def masker_of(graph: LoadedGraph) -> Masker:
    return Masker(EntityIndex.build(graph.graph, graph.schema), graph.schema)


def test_ids_become_placeholders_and_bind_back(plant: LoadedGraph) -> None:
    masked = masker_of(plant).mask("How far is core1.fra from edge9.muc?")
    assert masked.text == "How far is NODE_1 from NODE_2?"
    assert masked.bindings == {"NODE_1": "core1.fra", "NODE_2": "edge9.muc"}


def test_values_are_named_by_their_attribute_only(plant: LoadedGraph) -> None:
    masked = masker_of(plant).mask("How many nodes are in Frankfurt?")
    assert masked.text == "How many nodes are in VALUE_1?"
    assert masked.lines == ("VALUE_1: a value of node attribute site",)


def test_other_spellings_are_read_and_said(plant: LoadedGraph) -> None:
    masked = masker_of(plant).mask("Which nodes are in Muenchen?")
    assert masked.text == "Which nodes are in VALUE_1?"
    assert masked.bindings == {"VALUE_1": "München"}


def test_a_known_name_inside_an_unknown_one_does_not_leak(plant: LoadedGraph) -> None:
    masked = masker_of(plant).mask("Is core1.fra.lab5 linked?")
    assert "core1" not in masked.text
    assert masked.bindings == {"TEXT_1": "core1.fra.lab5"}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("hosts in 10.2.0.0/16", "hosts in PREFIX_1"),
        ("who is 192.0.2.7?", "who is ADDRESS_1?"),
        ("in 2001:db8::/32 please", "in PREFIX_1 please"),
        ("mac 00:1b:44:11:3a:b7", "mac TEXT_1"),
        ("ask ops@example.net", "ask TEXT_1"),
        ("port Ethernet1/2/3 of it", "port TEXT_1 of it"),
        ("links below 2.5 Gbps", "links below 2.5 Gbps"),
        ("tag it 'prod west'", "tag it 'TEXT_1'"),
    ],
)
def test_private_shapes_are_masked_even_when_unknown(plant: LoadedGraph, text: str, masked: str) -> None:
    assert masker_of(plant).mask(text).text == masked


def test_one_entity_keeps_its_placeholder_through_a_conversation(plant: LoadedGraph) -> None:
    masker = masker_of(plant)
    first = masker.mask("neighbours of edge9.muc?")
    second = masker.mask("and the path from core1.fra to edge9.muc?")
    assert first.text == "neighbours of NODE_1?"
    assert second.text == "and the path from NODE_2 to NODE_1?"


def test_country_codes_are_read_only_in_their_own_case() -> None:
    masker = masker_of(load_graph(SHARED / "topologies" / "zoo_geant2012.graphml"))
    assert masker.mask("Is it no longer at risk?").text == "Is it no longer at risk?"
    assert masker.mask("path from IT to NO").text == "path from NODE_1 to NODE_2"
    assert masker.mask("path from Portugal to Finland").text == "path from NODE_3 to NODE_4"


def kinds_graph() -> tuple[EntityIndex, GraphSchema]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    for kind in ("EK_CHASSIS", "EK_PACKET_SWITCH"):
        graph.add_node(f"{kind}:a1.s1", name="a1.s1", kind=kind)
    graph.add_node("EK_CONTROL_POINT:a1.s1", name="a1.s1", kind="EK_CONTROL_POINT")
    relation = RelationSchema("EK_CONTROL_POINT", "RK_CONTROLS", "EK_PACKET_SWITCH", 1, "exactly one", False, True)
    schema = GraphSchema(
        GraphClass(directed=True, multi=False), 3, 0,
        node_kinds={"EK_CHASSIS": 1, "EK_PACKET_SWITCH": 1, "EK_CONTROL_POINT": 1}, relations=(relation,),
    )  # fmt: skip
    return EntityIndex.build(graph, schema), schema


@pytest.mark.parametrize(
    ("question", "node"),
    [
        ("remove the chassis a1.s1", "EK_CHASSIS:a1.s1"),
        ("ports of packet switch a1.s1", "EK_PACKET_SWITCH:a1.s1"),
        ("what does the a1.s1 switch hold?", "EK_PACKET_SWITCH:a1.s1"),
        ("which control point controls a1.s1", "EK_PACKET_SWITCH:a1.s1"),
    ],
)
def test_a_kind_beside_a_shared_name_decides(question: str, node: str) -> None:
    masked = Masker(*kinds_graph()).mask(question)
    assert masked.bindings == {"NODE_1": node}
    assert not masked.ambiguities


def test_a_shared_name_alone_is_a_question_back() -> None:
    masked = Masker(*kinds_graph()).mask("remove a1.s1")
    assert [len(ambiguity.choices) for ambiguity in masked.ambiguities] == [3]
    assert Masker(*kinds_graph()).mask("how many nodes are called a1.s1?").text == "how many nodes are called NAME_1?"
