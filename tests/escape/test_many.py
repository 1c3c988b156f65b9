"""A thousand hostile programs in a row: nothing is left, and honest answers stay as they were."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2net.sandbox import GraphHolder
from tests.escape.sealed import HONEST, ask, holder

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

PIECES = [
    "graph.clear()", "graph.add_node('evil')", "graph.nodes[first]['model'] = 666", "graph.remove_node(first)",
    "raise KeyError(first)", "raise SystemExit", "x = [0] * 10**9", "x = 'a' * 10**9", "x = [first] * 30000",
    "return lambda: 1", "return (n for n in graph)", "print('x' * 100000)", "x = 10 ** 100000", "f(0)",
    "import os", "x = graph.__class__", "x = getattr(graph, '__' + 'dict__')", "pd.read_csv('/etc/passwd')",
    "open('/etc/passwd')", "x = np.ndarray((9,), dtype='O')", "x = '{0.__class__}'.format(graph)", "return graph",
    "np.seterr(all='ignore')", "random.seed(7)", "nx.config.backend_priority = ['x']", "return {first: graph}",
    "cannot_answer(first)", "ask_user(first, [first])", "x = {n: d for n, d in graph.nodes(data=True)}",
    "x = pd.DataFrame({'a': [1]}).agg('to_csv')", "x = [[]]\n    x[0].append(x)\n    return x",
    "return '\\x1b]0;evil\\x07'",
]  # fmt: skip


def hostile_programs(count: int, seed: int) -> Iterator[str]:
    pick = random.Random(seed)
    for _ in range(count):
        body = "\n    ".join(pick.sample(PIECES, 3))
        yield f"def f(n):\n    return f(n + 1)\n\ndef answer(graph):\n    first = sorted(graph)[0]\n    {body}\n    return 1\n"  # noqa: E501


def state(graph: GraphHolder) -> dict[str, int]:
    """What could be left behind by the worker and this process."""
    folder = Path(f"/proc/{graph.number}")
    memory = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return {
        "descriptors": len(list((folder / "fd").iterdir())),
        "own descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(list((folder / "task").iterdir())),
        "children": len((folder / "task" / str(graph.number) / "children").read_text().split()),
        "resident kB": memory,
        "shared files": len(list(Path("/dev/shm").iterdir())),
    }


def test_nothing_is_left_behind() -> None:
    with holder() as graph:
        before = ask(graph, HONEST).value
        for program in hostile_programs(20, seed=0):
            ask(graph, program)
        start, worker = state(graph), graph.number
        for place, program in enumerate(hostile_programs(1000, seed=1)):
            ask(graph, program)
            if place % 100 == 0:
                assert ask(graph, HONEST).value == before
        end = state(graph)
        assert graph.number == worker and ask(graph, HONEST).value == before
    growth = end.pop("resident kB") - start.pop("resident kB")
    assert end == start
    assert growth < 2048
