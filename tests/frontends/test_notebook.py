"""The notebook magic: value and program, follow-ups, errors, and nothing unescaped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scripted_server import ScriptedServer

from nl2net.config import Settings
from nl2net.errors import UserError
from nl2net.locations import Locations
from nl2net.notebook import Cells

ROWS = "```python\ndef answer(graph):\n    return [[n, d] for n, d in graph.degree]\n```"
EVIL = '```python\ndef answer(graph):\n    return "<img src=x onerror=alert(1)>\\x1b[31m"\n```'


@pytest.fixture
def cells(locations: Locations) -> Iterator[Cells]:
    with ScriptedServer([ROWS, EVIL]) as server:
        settings = Settings(model="scripted", base_url=server.base_url, probe_local_servers=False, threshold=0.0)
        cells = Cells(settings, locations, environ={"OPENAI_API_KEY": "k"})
        yield cells
        cells.close()


def test_value_program_frame_and_escaping(cells: Cells) -> None:
    answer = cells.ask("abilene", "Weigh the nodes by their frobnication\n")
    assert len(answer.value) == 11 and "graph.degree" in answer.program
    assert answer.frame().shape == (11, 2)
    assert "graph.degree" in repr(answer) and "<pre>" in answer._repr_html_()
    evil = cells.ask("abilene", "What is the frobnication index of this network?")
    assert "<img" not in evil._repr_html_() and "\x1b" not in repr(evil)
    with pytest.raises(UserError, match="no table"):
        evil.frame()


def test_graph_and_question_are_needed(cells: Cells) -> None:
    with pytest.raises(UserError, match="GRAPH"):
        cells.ask("", "How many nodes?")
    with pytest.raises(UserError, match="question"):
        cells.ask("abilene", "  ")


def test_the_magic_in_a_real_shell(cells: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "nl2net")
    assert "nl2net" in shell.magics_manager.magics["cell"]
    assert shell.run_cell_magic("nl2net", "no-such-graph", "How many nodes?") is None
    assert "no-such-graph" in capsys.readouterr().err
