"""Entities give one token each, typed values read back what was written, frames split questions."""

from __future__ import annotations

import ipaddress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.incident.claims import mentions
from nl2net.incident.entities import entity_tokens, prefix_of_token, prefix_token
from nl2net.incident.frame import frame_question
from nl2net.incident.reconcile import compatible
from nl2net.incident.typed import spoken_time, typed_values


@given(st.integers(1, (1 << 32) - 1), st.sampled_from(["AS{}", "AS {}", "ASN {}", "AS-{}", "AS number {}"]))
def test_asn_spellings_give_one_token(asn: int, form: str) -> None:
    assert [t for t in entity_tokens(form.format(asn)) if t.startswith("asn")] == [f"asn{asn}"]


@given(st.integers(0, (1 << 32) - 1), st.integers(8, 32))
def test_prefix_tokens_are_reversible(address: int, length: int) -> None:
    prefix = str(ipaddress.ip_network((address, length), strict=False))
    assert prefix_of_token(prefix_token(prefix)) == prefix
    tokens = [t for t in entity_tokens(f"route {prefix} seen") if t.startswith("pfx")]
    assert len(tokens) == length - 8 + 1
    assert tokens[0] == prefix_token(prefix)


@given(st.integers(0, 86399), st.sampled_from(["UTC", "GMT", "AEDT", ""]))
def test_times_read_back(seconds: int, zone: str) -> None:
    found = typed_values(f"It failed at {spoken_time(seconds, zone)} there.")
    assert [(v.kind, v.value) for v in found] == [("time", seconds)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12:05am", "time", 300),
        ("12:30 p.m.", "time", 45000),
        ("about 25%", "percent", (25, 25)),
        ("10.2 million customers", "count", (10_200_000, 10_200_000)),
        ("1,173 kilometres", "length", (1_173_000, 1_173_000)),
        ("$5.4 billion", "money", (5_400_000_000, 5_400_000_000)),
        ("half an hour", "duration", (1800, 1800)),
        ("9 hours and 20 minutes", "duration", (33600, 33600)),
        ("February 24, 2008", "date", (2008, 2, 24)),
        ("the sixth phase", "ordinal", 6),
        ("2001:db8:3::/48", "prefix", "2001:db8:3::/48"),
    ],
)
def test_values(text: str, kind: str, value: object) -> None:
    assert (kind, value) in [(v.kind, v.value) for v in typed_values(text)]


@settings(max_examples=80)
@given(st.text(max_size=120))
def test_values_never_overlap_and_are_spans(text: str) -> None:
    found = typed_values(text)
    for one, two in pairwise(found):
        assert one.end <= two.start
    for value in found:
        assert text[value.start : value.end].strip() == value.text


@given(st.text(max_size=150))
def test_any_text_can_be_framed(text: str) -> None:
    assert frame_question(text).slots


def test_zones_are_compared() -> None:
    utc, sydney = typed_values("17:05 UTC")[0], typed_values("4:05am AEDT")[0]
    assert compatible(utc, sydney)
    assert not compatible(utc, typed_values("4:05 UTC")[0])


def test_names_are_found_in_any_spelling() -> None:
    assert mentions("cuts on SMW4 near Jeddah", "SEA-ME-WE 4")
    assert not mentions("Norlandia failed", "Norland")


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("When and why did the Alpha cable fail?", ["time", "cause"]),
        ("How many devices, calls and 911 calls did it hit?", ["count", "count", "count"]),
        ("From when to when did it last, and who noticed?", ["time", "time", "actor"]),
        ("How many minutes passed between the start of the leak and its end?", ["span"]),
        ("Which AS leaked routes, how many prefixes, and to which provider?", ["asn", "count", "name"]),
        ("What did the repair cost?", ["money"]),
        ("Did the outage of Norland hit 12 routers?", ["polar"]),
    ],
)
def test_slots(question: str, types: list[str]) -> None:
    assert [slot.type for slot in frame_question(question).slots] == types


@pytest.mark.parametrize("question", ["What failed on 30 February 2021?", "Which cable will be cut next month?"])
def test_out_of_scope(question: str) -> None:
    assert frame_question(question).out_of_scope
