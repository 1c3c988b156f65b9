"""BGP updates: real counts, planted facts, damaged files, and the AS graph against brute force."""

from __future__ import annotations

import ipaddress
import json
import random
import struct

import networkx as nx
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

from nl2net.errors import DataError
from nl2net.incident.corpus import Corpus
from nl2net.incident.impact import routes
from nl2net.incident.impact.asgraph import (
    AsGraph,
    Relations,
    graph_of_paths,
    leaks_in,
    parse_links,
    parse_relations,
    reachable_valley_free,
)
from nl2net.incident.impact.updates import load_updates, parse_updates
from nl2net.incident.loop import Investigator
from tests.incident.conftest import GIVEN

BGP = GIVEN / "bgp"


def test_real_file() -> None:
    stream = load_updates(BGP / "routeviews.jinx.updates.1427846400.bz2")
    told = [c for c in stream.changes if c.kind == "A"]
    assert (stream.messages, len(told), len({c.prefix for c in told}), len(stream.changes) - len(told)) == (
        1756,
        8160,
        6122,
        451,
    )
    graph = graph_of_paths(stream.changes)
    assert (len(graph.neighbours), graph.links, graph.busiest()) == (885, 1110, (8447, 89))
    links = parse_links((BGP / "derived-as-links-jinx-20150401.csv").read_bytes(), name="links")
    assert links.neighbours == graph.neighbours


def test_planted_facts() -> None:
    facts = json.loads((BGP / "synthetic-a.facts.json").read_text())
    stream = load_updates(BGP / "synthetic-a.updates.txt")
    relations = parse_relations((BGP / "synthetic-a.as-rel.txt").read_bytes(), name="rel")
    (found,) = routes.more_specifics(stream)
    planted = facts["more_specific"]
    assert (found.prefix, found.origin, found.owner, found.held.start) == (
        planted["prefix"],
        planted["hijacker"],
        planted["victim"],
        planted["start"],
    )
    assert abs((found.held.end or 0) - planted["end"]) <= 2
    timed = [s for s in routes.second_origins(stream) if s.timed]
    assert [(s.prefix, s.timed[0][0]) for s in timed] == [
        (facts["same_prefix"]["prefix"], facts["same_prefix"]["hijacker"])
    ]
    assert [s.prefix for s in routes.second_origins(stream) if s.since_start] == [facts["anycast"]["prefix"]]
    leak = routes.find_leaks(stream, relations)[0]
    told = facts["leak"]
    assert (leak.leaker, leak.learned_from, leak.leaked_to, len(leak.prefixes)) == (
        told["leaker"],
        told["learned_from"],
        told["leaked_to"],
        told["prefixes"],
    )
    assert (list(leak.peers), leak.first, leak.back_by) == (told["peers"], told["first"], told["back_by"])
    (flap,) = routes.find_flaps(stream)
    assert (flap.prefix, flap.withdrawals) == (facts["flap"]["prefix"], facts["flap"]["withdrawals_per_peer"])
    graph = graph_of_paths(stream.changes)
    assert list(graph.cut_off_by([facts["cut"]["as"]])) == facts["cut"]["cut_off"]
    assert len(graph.largest_cut()[1]) == facts["largest_cut"]["count"]


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        (
            "In the stream synthetic-a, which prefix had a second origin for a limited time, from when to when?",
            "198.51.100.32/27",
        ),
        ("Which prefix has two origins during the whole of synthetic-a?", "203.0.113.96/27"),
        ("Which prefix flapped in the stream synthetic-a?", "2001:db8:3::/48"),
        ("In synthetic-a, which AS cuts off the most others if it is removed?", "AS64502"),
        ("Which ASes are cut off in synthetic-a if AS65550 is removed?", "65551"),
        ("How many announcements and withdrawals are in the stream synthetic-a?", "261 prefix announcements"),
    ],
)
def test_questions_on_streams(given: Corpus, question: str, holds: str) -> None:
    report = Investigator(given).investigate(question)
    assert report.status.value == "answered"
    assert holds in report.answer
    assert all(e.kind == "computation" and e.inputs for e in report.evidence)


def test_no_computation_for_other_questions(given: Corpus) -> None:
    report = Investigator(given).investigate("Who wrote the stream synthetic-a?")
    assert report.status.value == "insufficient_evidence"


def _mrt(when: int, prefix: str, path: list[int], *, withdraw: bool = False) -> bytes:
    network = ipaddress.ip_network(prefix)
    nlri = bytes([network.prefixlen]) + network.network_address.packed[: (network.prefixlen + 7) // 8]
    attributes = b""
    if not withdraw:
        attributes = b"\x40\x01\x01\x00" + struct.pack(">BBBBB", 0x40, 2, 2 + 4 * len(path), 2, len(path))
        attributes += b"".join(struct.pack(">I", asn) for asn in path)
    gone = nlri if withdraw else b""
    body = (
        struct.pack(">H", len(gone))
        + gone
        + struct.pack(">H", len(attributes))
        + attributes
        + (b"" if withdraw else nlri)
    )
    message = b"\xff" * 16 + struct.pack(">HB", 19 + len(body), 2) + body
    head = struct.pack(">IIHH", 64496, 64500, 0, 1) + bytes([192, 0, 2, 1, 192, 0, 2, 2])
    return struct.pack(">IHHI", when, 16, 4, len(head + message)) + head + message


@settings(max_examples=50)
@hypothesis_given(
    st.integers(0, (1 << 32) - 1),
    st.integers(0, 32),
    st.lists(st.integers(1, (1 << 32) - 1), min_size=1, max_size=8),
    st.booleans(),
)
def test_what_is_written_is_read(address: int, length: int, path: list[int], withdraw: bool) -> None:
    prefix = str(ipaddress.ip_network((address, length), strict=False))
    (change,) = parse_updates(_mrt(7, prefix, path, withdraw=withdraw), name="x.mrt").changes
    assert (change.time, change.prefix, change.peer_as) == (7, prefix, 64496)
    assert change.path == (() if withdraw else tuple(path))


@settings(max_examples=80)
@hypothesis_given(st.binary(max_size=120), st.integers(0, 60))
def test_damaged_files_name_the_record(noise: bytes, cut: int) -> None:
    whole = _mrt(7, "192.0.2.0/24", [1, 2])
    for raw in (whole[: len(whole) - 1 - cut % (len(whole) - 1)], whole[:40] + noise + whole[40:]):
        try:
            parse_updates(raw, name="x.mrt")
        except DataError as error:
            assert "x.mrt" in str(error)


def test_bad_lines_name_the_line() -> None:
    with pytest.raises(DataError, match="line 2"):
        parse_updates(b"BGP4MP|1|A|p|1|192.0.2.0/24|1 2|IGP\nBGP4MP|x\n", name="u.txt")
    with pytest.raises(DataError, match="line 1"):
        parse_relations(b"1|2\n", name="rel")


@pytest.mark.parametrize("seed", range(12))
def test_cuts_agree_with_brute_force(seed: int) -> None:
    source = random.Random(seed)
    plain = nx.gnm_random_graph(14, 16, seed=seed)
    graph = AsGraph({n: set() for n in plain})
    for a, b in plain.edges:
        graph.add_link(a, b)
    whole = max(nx.connected_components(plain), key=lambda part: (len(part), -min(part)))
    for asn in source.sample(sorted(whole), min(4, len(whole))):
        rest = plain.copy()
        rest.remove_node(asn)
        kept = max(nx.connected_components(rest), key=lambda part: len(part & whole))
        assert len(graph.cut_off_by([asn])) == len(whole - kept - {asn})
    best = 0
    for asn in whole:
        rest = plain.copy()
        rest.remove_node(asn)
        best = max(best, len(whole) - 1 - max((len(p & whole) for p in nx.connected_components(rest)), default=0))
    assert len(graph.largest_cut()[1]) == best


def test_valley_free() -> None:
    relations = Relations({3: frozenset({1, 2}), 4: frozenset({3})}, {1: frozenset({2}), 2: frozenset({1})})
    assert leaks_in([1, 3, 4], relations) == []
    assert leaks_in([2, 3, 1], relations) == [(1, 3, 2)]
    assert reachable_valley_free(4, relations) == {1, 2, 3}
    assert reachable_valley_free(4, relations, without=frozenset({3})) == set()
