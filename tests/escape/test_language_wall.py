"""The corpus against the language wall alone, in an arena; outcomes are the checked-in table."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from tests.escape.arena import SPACES, Arena, NoArena, check_isolated, enter
from tests.escape.harness import TABLE, corpus, expected_leaks, judge, load_graph, run_policy, with_values
from tests.escape.more_attacks import ATTACKS
from tests.escape.preload import preload

TRIVIAL = "def answer(graph):\n    return 1\n"
planted: dict[str, str] = {}

pytestmark = pytest.mark.kernel


def expected() -> dict[str, str]:
    """Outcomes under the language wall alone, by number of the snippet."""
    with TABLE.open(newline="") as file:
        return {row["number"]: row["policy_only"] for row in csv.DictReader(file, delimiter="\t")}


def run_all(arena: Arena) -> dict[str, Any]:
    planted["planted_other_secret"] = arena.planted
    trivial = run_policy(TRIVIAL, load_graph())
    outcomes = {}
    for snippet in corpus():
        arena.clean()
        reply = run_policy(with_values(snippet.source, arena.names()), load_graph())
        outcomes[str(snippet.number)] = judge(snippet, reply, arena, trivial_mb=trivial.peak_mb)
    return {"trivial": trivial.status, "outcomes": outcomes}


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    preload()
    found: dict[str, Any] = enter(run_all)
    return found


def test_trivial_program_runs(result: dict[str, Any]) -> None:
    assert result["trivial"] == "value"


def test_nothing_leaks_but_what_the_table_says(result: dict[str, Any]) -> None:
    leaks = {int(number) for number, word in result["outcomes"].items() if word == "leak"}
    index = {s.number for s in corpus() if s.expected["policy_only"] == "leak"}
    assert leaks == expected_leaks("policy_only") <= index


def test_refusals_are_those_of_the_table(result: dict[str, Any]) -> None:
    """A snippet that was refused and now runs, even without harm, is to be looked at."""
    refused = {n for n, word in expected().items() if word == "refused"}
    softer = {n for n in refused if result["outcomes"][n] not in ("refused", "unsendable")}
    assert softer == set()


def run_more(arena: Arena) -> dict[str, str]:
    outcomes = {}
    for name, source in ATTACKS.items():
        arena.clean()
        reply = run_policy(with_values(source, arena.names()), load_graph())
        text = reply.text + reply.feedback + reply.stdout
        harmed = arena.secret_token in text or arena.canary in text or "REACHED" in reply.text
        harmed |= any((arena.folder / f).exists() for f in ("written", "mark")) or arena.was_touched(0)
        harmed |= reply.status in ("died", "deadline", "cap") or reply.before != reply.after
        outcomes[name] = "leak" if harmed else reply.status
    return outcomes


def test_attacks_of_our_own_reach_nothing() -> None:
    preload()
    outcomes = enter(run_more)
    assert {n for n, word in outcomes.items() if word == "leak"} == set()
    assert len(outcomes) == len(ATTACKS)


def test_arena_refuses_root_and_host_namespaces() -> None:
    with pytest.raises(NoArena):
        check_isolated(dict.fromkeys(SPACES, "") | {"net": __import__("os").readlink("/proc/self/ns/net")})
