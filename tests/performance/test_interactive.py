"""Interactive tasks: how fast they are made with the whole gate, and the oracle on more of them than the tests take."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from nl2net.benchmark.applications import INTERACTIVE
from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive_agents import NoopAgent, OracleAgent
from nl2net.golden.case import Split

COUNT = 1000
IDLE_UNIT = 0.05  # CPU seconds of `unit` on an idle core of 2.6 GHz


def unit() -> float:
    """A plain loop, to tell how slow the machine is at the moment."""
    start = time.process_time()
    sum(number * number for number in range(10**6))
    return time.process_time() - start


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_thousand_validated_tasks_take_less_than_ten_seconds(name: str) -> None:
    before = unit()
    start = time.process_time()
    made = make_tasks(name, "figures", Split.EVAL, COUNT)
    seconds = time.process_time() - start
    slow = max(1.0, (before + unit()) / 2 / IDLE_UNIT)
    print(
        f"{name}: {COUNT} tasks in {seconds:.1f} CPU s, machine {slow:.1f} times slower than idle; {dict(made.rejects)}"
    )
    assert seconds / slow < 10
    oracle = OracleAgent(made.tasks)
    solved: Counter[int] = Counter()
    idle: Counter[int] = Counter()
    levels = Counter(task.level for task in made.tasks)
    for task in made.tasks:
        solved[task.level] += run_episode(task, oracle).headline
        idle[task.level] += run_episode(task, NoopAgent()).headline
    print(f"{name}: oracle {dict(solved)}, noop {dict(idle)} of {dict(levels)}")
    assert solved == levels
    assert +idle == Counter({0: levels[0]})
    assert all(levels[level] > 200 for level in (1, 2, 3))
