"""The control: the corpus without any wall, in an arena. It shows that the attacks have teeth."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escape.arena import Arena, enter
from tests.escape.harness import corpus, judge, load_graph, run_naive, with_values
from tests.escape.preload import preload

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

TRIVIAL = "def answer(graph):\n    return 1\n"
# The second entry keeps the collector's eye on the dictionary: one that holds nothing but text is not tracked.
planted: dict[str, Any] = {"more": []}


def run_all(arena: Arena) -> dict[str, str]:
    planted["planted_other_secret"] = arena.planted
    trivial = run_naive(TRIVIAL, load_graph())
    assert trivial.status == "value", trivial.feedback
    outcomes = {}
    for snippet in corpus():
        if snippet.expected["naive"] == "leak":
            arena.clean()
            reply = run_naive(with_values(snippet.source, arena.names()), load_graph())
            outcomes[str(snippet.number)] = judge(snippet, reply, arena, trivial_mb=trivial.peak_mb, control=True)
    return outcomes


def test_without_a_wall_the_attacks_reach_their_goals() -> None:
    preload()
    outcomes = enter(run_all)
    assert {number: word for number, word in outcomes.items() if word != "leak"} == {}
    assert len(outcomes) >= 98
