"""Ordinary programs through the language wall give what plain Python gives; none is refused."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import pandas as pd
import pytest

from nl2net.model import Library
from nl2net.sandbox.language import run_restricted, validate
from tests.sandbox.language.good_programs import GOOD, GOOD_PANDAS
from tests.sandbox.language.programs import benign_programs, everyday_programs, load_graph, normal, run_plain, same


@pytest.mark.parametrize("program", benign_programs(), ids=lambda p: str(p["number"]))
def test_checked_in_program_equals_plain_python_and_the_file(program: dict[str, Any], capsys: Any) -> None:
    assert validate(program["program"], library=Library.NETWORKX) == ()
    ran = run_restricted(program["program"], (load_graph(),), library=Library.NETWORKX)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = normal(run_plain(program["program"], load_graph()))
    assert same(normal(ran.value), plain)
    assert same(normal(ran.value), program["expected"])
    assert ran.printed == program.get("printed", "") == capsys.readouterr().out


@pytest.mark.parametrize("source", GOOD)
def test_own_program_equals_plain_python(source: str) -> None:
    ran = run_restricted(source, (load_graph(),), library=Library.NETWORKX)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = run_plain(source, load_graph())
    assert same(normal(ran.value), normal(plain)), (ran.value, plain)
    assert [n for n in ran.notes if "Warning" in n] == []


@pytest.mark.parametrize("source", everyday_programs())
def test_everyday_program_equals_plain_python(source: str, capsys: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ran = run_restricted(source, (load_graph(),), library=Library.NETWORKX)
        assert capsys.readouterr().out == ""
        plain = run_plain(source, load_graph())
    assert same(normal(ran.value), normal(plain)), (ran.value, plain)
    assert ran.printed == capsys.readouterr().out


def test_there_are_many_everyday_programs() -> None:
    assert len(everyday_programs()) >= 140


def frames() -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    graph: Any = load_graph()
    nodes = pd.DataFrame.from_dict(dict(graph.nodes(data=True)), orient="index")
    return nodes, nx.to_pandas_edgelist(graph), {"sites": pd.DataFrame({"site": ["ams"]})}


@pytest.mark.parametrize("source", GOOD_PANDAS)
def test_pandas_program_runs(source: str) -> None:
    assert run_restricted(source, frames(), library=Library.PANDAS).value is not None


def test_view_of_both_ends_counts_every_link_twice() -> None:
    ran = run_restricted(GOOD_PANDAS[1], frames(), library=Library.PANDAS)
    assert ran.value == dict(load_graph().degree(weight="capacity"))
