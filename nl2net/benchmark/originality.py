"""How much a suite repeats of the development split, of shipped suites and of suites made before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from nl2net.benchmark.applications import INTERACTIVE
from nl2net.benchmark.contamination import overlap
from nl2net.benchmark.items import Order, make_items
from nl2net.benchmark.suites import BenchSuite, read_public
from nl2net.golden.pairs import development_pairs
from nl2net.golden.suite import load_suite as load_golden
from nl2net.golden.suite import shipped_suites

_DEVELOPMENT_TASKS = 40
_GRAM = 6  # questions of a dozen words share no longer runs by chance


@cache
def development_questions(applications: tuple[str, ...]) -> tuple[str, ...]:
    """Questions of the development split that anybody may have seen."""
    found = [pair.question for pair in development_pairs() if pair.application in applications]
    interactive = tuple(name for name in applications if name in INTERACTIVE)
    if interactive:
        order = Order(interactive, _DEVELOPMENT_TASKS, seed="public-1", split="dev")
        found += [item.question for item in make_items(order).items]
    return tuple(found)


def originality(suite: BenchSuite, earlier: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Overlap of word n-grams with each source, as written and with names and numbers masked.

    Parameters
    ----------
    suite : BenchSuite
        The new suite.
    earlier : sequence of Path
        Folders or public files of earlier suites.

    Notes
    -----
    The graphs of two seeds have few names in common, so the figure as written is mostly about copies. The masked one
    is about wordings: those of the evaluation split are not those of development, and repeat from seed to seed.
    """
    questions = [item.question for item in suite.items]
    sources: dict[str, Sequence[str]] = {
        "development": development_questions(tuple(suite.header.order["applications"]))
    }
    for name, path in shipped_suites().items():
        sources[f"shipped {name}"] = [case.question for case in load_golden(path).cases]
    for path in earlier:
        sources[str(path)] = [line["question"] for line in read_public(path)[1]]
    return {
        name: {
            "as_written": asdict(overlap(questions, texts, n=_GRAM)),
            "names_masked": asdict(overlap(questions, texts, n=_GRAM, masked=True)),
        }
        for name, texts in sources.items()
    }
