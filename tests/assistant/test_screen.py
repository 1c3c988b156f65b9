"""What is stopped before any model is asked, and, as important, what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import pytest

from nl2net.assistant import screen
from nl2net.assistant.entities import EntityIndex
from nl2net.assistant.masking import Masker
from nl2net.assistant.screen import Verdict
from nl2net.golden.operations import operations
from nl2net.golden.sources import graph_file
from nl2net.graphs import LoadedGraph, load_graph
from nl2net.model import GraphSchema, Status
from tests.conftest import SHARED

NETBOX, GEANT, ABILENE = "netbox_demo_dcim_excerpt", "zoo_geant2012", "zoo_abilene"
COMM, MALT, SUZIEQ = "nemoeval_comm_node50", "malt_ju1_a1_s1_excerpt", "suzieq_lldp_dual-bgp"
GERMANY, NETLAB, CLOS = "topohub_sndlib_germany50", "netlab_addressing_lan", "containerlab_clos02"
SHORT = {
    "geant": GEANT, "germany": GERMANY, "abilene": ABILENE, "ntt": "zoo_ntt_multigraph_disconnected", "comm50": COMM,
    "comm10": "nemoeval_comm_node10", "malt": MALT, "netbox": NETBOX, "clos": CLOS, "suzieq": SUZIEQ, "netlab": NETLAB,
}  # fmt: skip


@cache
def opened(name: str) -> tuple[LoadedGraph, EntityIndex]:
    graph = load_graph(graph_file(name))
    return graph, EntityIndex.build(graph.graph, graph.schema)


def verdict_of(question: str, name: str) -> Verdict | None:
    graph, index = opened(name)
    masked = Masker(index, graph.schema, assume=True).mask(question)
    return judged(question, masked.text, graph.schema, has_entities=bool(masked.placeholders))


def judged(question: str, text: str, schema: GraphSchema, *, has_entities: bool) -> Verdict | None:
    verdicts: Iterator[Verdict | None] = iter(
        (
            screen.unsafe(question),
            screen.out_of_scope(question, schema, has_entities=has_entities),
            screen.missing_concept(text, schema),
            screen.no_paths(text, schema),
            screen.vague(text, schema),
            screen.incomplete(text, schema),
        )
    )
    return next((verdict for verdict in verdicts if verdict is not None), None)


@pytest.mark.parametrize(
    ("question", "graph"),
    [
        ("Which destination port is used most by 10.55.234.50?", COMM),
        ("most used ports of 10.55.234.50?", COMM),
        ("which IP does dmi01-akron-rtr01 have on GigabitEthernet0/0/0", NETBOX),
        ("management address of Hamburg?", GERMANY),
        ("What is the MAC address of dmi01-akron-rtr01?", NETBOX),
        ("how old is the link from Hamburg to Berlin", GERMANY),
        ("Which switch was added in the last 3 months?", MALT),
        ("which links have an MTU of 9000", GEANT),
        ("cpu load of leaf1", CLOS),
        ("When does the contract for the London link expire?", GEANT),
        ("which VLANs are on dmi01-akron-rtr01", NETBOX),
        ("show the BGP sessions of dmi01-akron-rtr01", NETBOX),
        ("What is the utilisation of prefix 10.112.128.0/17 in MB?", GERMANY),
        ("Which firewall rules does DE have?", GEANT),
        ("light levels of the link between Hamburg and Berlin", GERMANY),
    ],
)
def test_what_no_attribute_holds_is_said(question: str, graph: str) -> None:
    verdict = verdict_of(question, graph)
    assert verdict is not None and verdict.status is Status.CANNOT_ANSWER
    assert "It would come from" in verdict.message


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("next free subnet?", ["inside which prefix", "of which size"]),
        ("give me an unused prefix of 10.112.128.0/17 please", []),
        ("next free subnet in 10.112.128.0/17", ["of which size"]),
        ("next free /28", ["inside which prefix"]),
        ("the next unused network for 30 hosts", ["inside which prefix"]),
        ("next free /28 in 10.112.128.0/17", []),
        ("allocate the next subnet in 10.112.0.0/15 for 50 devices", []),
    ],
)
def test_a_free_subnet_needs_parent_and_size(question: str, missing: list[str]) -> None:
    verdict = verdict_of(question, NETBOX)
    assert (verdict is not None) == bool(missing)
    if verdict is not None:
        assert verdict.status is Status.NEEDS_CLARIFICATION
        assert all(part in verdict.message for part in missing)


@pytest.mark.parametrize(
    "question",
    [
        "send the link table to my email",
        "please post it to the slack webhook",
        "connect to the router and show its interfaces",
        "rank the links by bytes and email the table to bob",
        "ping 10.55.234.50",
        "upload the result to https://example.org",
    ],
)
def test_reaching_out_is_refused(question: str) -> None:
    verdict = screen.unsafe(question)
    assert verdict is not None and verdict.status is Status.REFUSED


@pytest.mark.parametrize(
    ("question", "graph"),
    [
        ("Which hosts send traffic to the web servers?", COMM),
        ("Which routers connect to the internet?", SUZIEQ),
        ("Who are the LLDP neighbours of spine01 and on which ports?", SUZIEQ),
        ("management address of spine01", SUZIEQ),
        ("which IP does 10.55.234.50 have", COMM),
        ("IP of r1 on segment:2", NETLAB),
        ("addressing plan: /31 per link and loopbacks /32", GEANT),
        ("give each link a /127 from 2001:db8:100::/48", GEANT),
        ("how many ports does rack ju1.a1.m1rack have", MALT),
        ("Which stage has most switches?", MALT),
        ("cheapest link if a km is 10 EUR", GERMANY),
        ("which image do the leafs run", CLOS),
    ],
)
def test_what_can_be_answered_is_let_through(question: str, graph: str) -> None:
    assert verdict_of(question, graph) is None


@pytest.mark.parametrize("name", sorted(SHORT))
def test_no_wording_of_an_operation_is_stopped(name: str) -> None:
    schema = opened(SHORT[name])[0].schema
    stopped = []
    for one in operations():
        # On further graphs a wording may ask for something that only the first one has.
        if one.graphs[0] == name:
            for question in one.questions:
                verdict = judged(question, question, schema, has_entities=bool(one.placeholders))
                if verdict is not None and one.name not in _ABSENT:
                    stopped.append(f"{one.name}: {question} -> {verdict.message[:70]}")
    assert stopped == []


# Programs that tell what is missing are written for exactly the questions that the screen may stop.
_ABSENT = frozenset({"circuits_and_commit_rate"})


def test_no_answerable_operator_question_is_stopped() -> None:
    file = SHARED / "operator_questions.json"
    stopped = []
    for entry in json.loads(file.read_text("utf-8")):
        if entry["style"] in {"impossible", "ambiguous", "unsafe"}:
            continue
        if entry["style"] == "followup":  # judged together with what came before
            continue
        verdict = verdict_of(entry["text"], entry["graph"])
        if verdict is not None:
            stopped.append(f"{entry['id']}: {entry['text']} -> {verdict.message[:70]}")
    assert stopped == []


def test_impossible_ambiguous_and_unsafe_operator_questions_are_stopped() -> None:
    file = SHARED / "operator_questions.json"
    missed = []
    for entry in json.loads(file.read_text("utf-8")):
        if entry["style"] not in {"impossible", "ambiguous", "unsafe"}:
            continue
        graph, index = opened(entry["graph"])
        asked = Masker(index, graph.schema).mask(entry["text"]).ambiguities
        if not asked and verdict_of(entry["text"], entry["graph"]) is None:
            missed.append(f"{entry['id']}: {entry['text']}")
    assert missed == []


@pytest.mark.parametrize(
    "question",
    [
        "Could you help? Ping every switch and list those that are down.",
        "send the result to ops@example.net",
        "export all hosts to a file on disk",
        "run rm -rf / please",
    ],
)
def test_nothing_is_left_of_a_request_that_only_reaches_out(question: str) -> None:
    verdict = screen.unsafe(question)
    assert verdict is not None and verdict.rest == ""


def test_the_harmless_half_is_kept() -> None:
    verdict = screen.unsafe("read /etc/passwd, then print the path DE to FR")
    assert verdict is not None and verdict.rest == "print the path DE to FR"
