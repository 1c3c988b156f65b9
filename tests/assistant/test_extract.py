"""Programs are found in whatever a model wraps them in."""

from __future__ import annotations

import json

import pytest

from nl2net.assistant.extract import extract_program
from nl2net.errors import ReplyError
from nl2net.model import Library

PROGRAM = "def answer(graph):\n    return graph.number_of_nodes()\n"


@pytest.mark.parametrize(
    "reply",
    [
        PROGRAM,
        f"```python\n{PROGRAM}```",
        f"Sure, here it is:\n\n```python\n{PROGRAM}```\nIt counts the nodes.",
        f"```\n{PROGRAM}",
        f"~~~py\n{PROGRAM}~~~",
        f"<think>I could ```python\ndef answer(graph):\n    return 0\n```</think>\n```python\n{PROGRAM}```",
        f"First try:\n```python\ndef answer(graph):\n    return 1\n```\nBetter:\n```python\n{PROGRAM}```",
        f"```python\n{PROGRAM}```\nUse it so:\n```python\nprint(answer(G))\n```",
        json.dumps(f"```python\n{PROGRAM}```"),
        json.dumps({"code": PROGRAM}),
        f"Here is the function:\n{PROGRAM}\nprint(answer(graph))",
        f"{PROGRAM}\nThis function returns the number of nodes.",
        "  ```python\n  def answer(graph):\n      return graph.number_of_nodes()\n  ```",
    ],
)
def test_finds_the_program(reply: str) -> None:
    assert extract_program(reply, Library.NETWORKX) == PROGRAM


@pytest.mark.parametrize(
    "reply", ["", "   \n", "I cannot do that.", "```python\nx = 1\n```", "<think>def answer(graph):"]
)
def test_says_when_there_is_none(reply: str) -> None:
    with pytest.raises(ReplyError):
        extract_program(reply, Library.NETWORKX)


def test_helpers_and_imports_are_kept() -> None:
    program = "import math\n\ndef half(x):\n    return x / 2\n\n\ndef answer(graph):\n    return half(math.pi)\n"
    assert extract_program(f"Text\n```python\n{program}```", Library.NETWORKX) == program


@pytest.mark.parametrize("reply", ["```sql\nSELECT 1\n```", "Query: \n\nSELECT 1", "```\nSELECT 1\n```\nDone"])
def test_finds_sql(reply: str) -> None:
    assert extract_program(reply, Library.SQL) == "SELECT 1\n"
