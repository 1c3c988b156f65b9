"""Traps, rewriting, binding, signals, notes, and where an error came from."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.errors import RefusedCode, UserError
from nl2net.model import Library
from nl2net.sandbox.language import AskUser, CannotAnswer, Ran, locate, run_restricted
from nl2net.sandbox.language.binding import bind_source, bind_text
from tests.sandbox.language.programs import load_graph
from tests.sandbox.language.slips import body


def run(source: str, graph: Any = None, **options: Any) -> Ran:
    return run_restricted(source, (load_graph() if graph is None else graph,), library=Library.NETWORKX, **options)


def test_imports_from_c_work_in_a_fresh_process() -> None:
    """numpy and datetime import helpers through the program's frame on first use."""
    source = body(
        "import datetime",
        "a = np.array([1.0, 2.0])",
        "return a.mean(), a.sum(), str(a), datetime.datetime.strptime('2024', '%Y').strftime('%Y')",
    )
    script = (
        "import sys, _strptime\nimport networkx as nx\nfrom nl2net.model import Library\n"
        "from nl2net.sandbox.language import run_restricted\n"
        f"print(run_restricted({source!r}, (nx.Graph(),), library=Library.NETWORKX).value[3])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2024", done.stderr


def test_missing_attribute_raises_and_does_not_read_as_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'site'"):
        run(body("return graph.nodes['n0'].site"))
    assert run(body("return getattr(graph, 'no_such', 7), hasattr(graph, 'no_such')")).value == (7, False)


def test_item_in_place_evaluates_its_parts_once() -> None:
    source = body(
        "calls = []",
        "def k():",
        "    calls.append(1)",
        "    return 'a'",
        "d = {'a': 1}",
        "d[k()] += 4",
        "return d, len(calls)",
    )
    assert run(source).value == ({"a": 5}, 1)


def test_handlers_are_narrowed_and_signals_pass_through() -> None:
    with pytest.raises(CannotAnswer, match="no such attribute"):
        run(body("try:", "    cannot_answer('no such attribute')", "except BaseException:", "    return 1", "return 2"))
    with pytest.raises(AskUser) as asked:
        run(body("try:", "    ask_user('Which?', ['a', 'b'])", "except:", "    return 1"))
    assert (asked.value.question, asked.value.choices) == ("Which?", ("a", "b"))


def test_printed_text_is_one_bounded_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(body("def f():", "    print('in', sep='-', end='|')", "f()", "print('a', 2, sep='-')", "return 1"))
    assert ran.printed == "in|a-2\n"
    assert len(run(body("for i in range(100):", "    print('x' * 10000)", "return 1")).printed) <= 65_536
    with pytest.raises(TypeError):
        run(body("print('x', file=[])", "return 1"))
    assert capsys.readouterr().out == ""


def test_columns_and_fields_are_data_unless_the_class_has_the_name() -> None:
    source = body(
        "df = pd.DataFrame({'capacity': [1, 2], 'size': [3, 4]})",
        "row = df.iloc[0]",
        "return df.capacity.tolist(), int(df.size), int(row.capacity), [r.capacity for r in df.itertuples()]",
    )
    assert run(source).value == ([1, 2], 4, 1, [1, 2])


def test_random_things_repeat_and_leave_the_global_generator_alone() -> None:
    import random

    random.seed(5)
    before = random.getstate()
    source = body(
        "import random",
        "return random.random(), float(np.random.default_rng().random()), nx.community.louvain_communities(graph), "
        "pd.Series(range(50)).sample(3).tolist()",
    )
    assert run(source).value == run(source).value
    assert run(source, seed=2).value != run(source).value
    assert random.getstate() == before


@pytest.mark.parametrize(
    "line",
    [
        "graph.remove_nodes_from(['n0', 'nope'])",
        "graph.subgraph(['n0', 'nope'])",
        "nx.set_node_attributes(graph, {'nope': 1}, 'x')",
        "graph.copy().remove_nodes_from(['nope'])",
        "graph.remove_edges_from([('n0', 'nope')])",
    ],
)
def test_unknown_names_raise(line: str) -> None:
    with pytest.raises(nx.NetworkXError, match="nope"):
        run(body(line, "return 1"))


def test_names_that_were_added_or_removed_are_known() -> None:
    lines = (
        "graph.add_node('new')",
        "graph.remove_nodes_from(['new', 'n0'])",
        "graph.remove_nodes_from(['n0'])",
        "h = nx.Graph()",
        "h.add_edge('a', 'b')",
        "h.remove_nodes_from(['zz'])",
        "return len(graph), len(h.subgraph(['a', 'q']))",
    )
    assert run(body(*lines)).value == (7, 1)


def test_a_slip_in_add_edge_is_noted() -> None:
    ran = run(
        body("graph.add_edge('n0', 'n77')", "graph.add_node('fine')", "graph.add_edge('n0', 'fine')", "return graph")
    )
    assert [n for n in ran.notes if "n77" in n] and not [n for n in ran.notes if "fine" in n]


@pytest.mark.parametrize(
    "line",
    [
        "return sorted(graph.degree(), key=lambda x: x[1])[:3]",
        "r = sorted(dict(graph.degree()).items(), key=lambda kv: -kv[1])\n    return r[:2]",
        "import heapq\n    return heapq.nlargest(2, graph, key=graph.degree)",
        "return pd.Series(dict(graph.degree())).nlargest(2).to_dict()",
        "return max(dict(graph.degree()), key=lambda n: graph.degree(n))",
        "return pd.DataFrame({'a': [1, 1, 2]}).nsmallest(1, 'a').values.tolist()",
    ],
)
def test_ties_at_a_cut_are_noted(line: str) -> None:
    assert [n for n in run(body(line)).notes if n.startswith("tie")]


@pytest.mark.parametrize(
    "line", ["return sorted([3, 1, 2])[:2]", "return max([('a', 1), ('b', 2)], key=lambda x: x[1])"]
)
def test_clear_cuts_are_not_noted(line: str) -> None:
    assert run(body(line)).notes == ()


def test_find_and_natural_sort() -> None:
    assert run(body("return find('core'), find(name='N3'), natural_sort(['p10', 'p2'])")).value == (
        ["n0", "n1"],
        ["n3"],
        ["p2", "p10"],
    )


def test_optional_tables_reach_pandas_programs() -> None:
    frame = pd.DataFrame({"a": [1]})
    source = "def answer(nodes, edges, tables):\n    return tables['t']['a'].sum()\n"
    assert run_restricted(source, (frame, frame, {"t": frame}), library=Library.PANDAS).value == 1
    with pytest.raises(UserError):
        run_restricted("SELECT 1", (), library=Library.SQL)


BINDINGS = {"NODE_1": "n1", "NODE_11": "n5", "PREFIX_1": "10.0.0.0/30"}


def test_placeholders_are_bound_in_constants_f_strings_and_bare_names() -> None:
    source = body(
        'x = f"{graph.degree(NODE_1)}:NODE_1"', "return x, 'NODE_11', 'MY_NODE_1', ['PREFIX_1'], 'NODE_1NODE_1'"
    )
    assert run(source, bindings=BINDINGS).value == ("4:n1", "n5", "MY_NODE_1", ["10.0.0.0/30"], "NODE_1NODE_1")


def test_bound_program_keeps_formatting_and_comments() -> None:
    source = "def answer(graph):  # about NODE_1\n\n    return   'NODE_1' in graph\n"
    assert run(source, bindings=BINDINGS).program == "def answer(graph):  # about n1\n\n    return   'n1' in graph\n"


@given(value=st.text(max_size=20).filter(lambda t: "NODE_1" not in t))
@settings(max_examples=150, deadline=None)
def test_bound_source_means_what_runs(value: str) -> None:
    """Whatever a value holds, the shown program is the program that ran, and a value is never code."""
    source = "def answer(graph):\n    return ['NODE_1', \"x NODE_1\", f'{1}NODE_1', '''NODE_1''']\n"
    try:
        value.encode()
    except UnicodeEncodeError:
        return
    shown = bind_source(source, {"NODE_1": value})
    space: dict[str, Any] = {}
    exec(compile(ast.parse(shown), "<shown>", "exec"), space)
    expected = [value, f"x {value}", f"1{value}", value]
    assert space["answer"](None) == expected
    assert run(source, nx.Graph(), bindings={"NODE_1": value}).value == expected


def test_values_are_bound_once() -> None:
    assert bind_text("NODE_1", {"NODE_1": "NODE_2", "NODE_2": "x"}) == "NODE_2"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (body("n = 'NODE_1'", "return graph.nodes[n]['nope']"), (3, "graph.nodes[n]['nope']")),
        (body("return 1 + int('NODE_1')"), (2, "int('NODE_1')")),
        (body("x = graph.nodes['NODE_1']", "return x.foo"), (3, "x.foo")),
        (
            body("é = 1").replace("é", "e") + "    return 'é' + graph.number_of_nodes()\n",
            (3, "'é' + graph.number_of_nodes()"),
        ),
        ("def helper(g):\n    return g['NODE_1']['zz']\n" + body("return helper(graph)"), (2, "g['NODE_1']['zz']")),
        (body("d = {}", "d['NODE_1'] += 1", "return d"), (3, "d['NODE_1']")),
    ],
)
def test_failing_expression_is_text_of_the_masked_program(source: str, place: tuple[int, str]) -> None:
    with pytest.raises(Exception) as failed:
        run(source, bindings={"NODE_1": "n0"})
    assert locate(failed.value, source) == place


def test_refusal_while_running_knows_its_line() -> None:
    with pytest.raises(RefusedCode) as refused:
        run(body("x = 1", "return nx.read_gml"))
    assert refused.value.line == 3


def test_pandas_warnings_become_notes() -> None:
    ran = run(body("df = pd.DataFrame({'a': [1, 2]})", "df['a'][0] = 5", "return df['a'].tolist()"))
    assert ran.value == [1, 2]
    assert [n for n in ran.notes if "Chained" in n]


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_judged_without_a_crash(text: str) -> None:
    from nl2net.sandbox.language import validate

    for library in Library:
        assert isinstance(validate(text, library=library), tuple)


def test_one_part_of_a_network_that_is_apart_is_noted() -> None:
    apart: Any = nx.Graph([(1, 2), (2, 3), (4, 5)])
    largest = body("return nx.diameter(graph.subgraph(max(nx.connected_components(graph), key=len)))")
    assert run(largest, apart).notes == ("the network is not connected: only the part with 3 of 5 nodes was used",)
    assert run(largest, nx.path_graph(4)).notes == ()
    each = body("return [len(graph.subgraph(c)) for c in nx.connected_components(graph)]")
    assert run(each, apart).notes == ()


def test_merge_on_repeated_keys_is_noted() -> None:
    repeated = "a = pd.DataFrame({'k': [1, 1, 1], 'v': [1, 2, 3]})"
    unique = "b = pd.DataFrame({'k': [1, 2], 'w': [5, 6]})"
    for call in ("a.merge(a, on='k')", "pd.merge(a, a, on='k')"):
        (note,) = run(body(repeated, f"return {call}.shape")).notes
        assert note.startswith("merge made 9 rows of 3 and 3")
    assert (
        run(body(repeated, unique, "return a.merge(b, on='k').shape, a.merge(b, on='k', how='outer').shape")).notes
        == ()
    )


def test_missing_values_that_an_aggregate_leaves_out_are_noted() -> None:
    column = "a = pd.Series([1.0, None, 2.0], name='cap')"
    assert run(body(column, "return float(a.sum())")).notes == (
        "sum of 'cap': 1 of 3 values are missing and were left out",
    )
    nothing = run(body("return float(pd.Series([None, None], dtype=float).sum())"))
    assert nothing.value == 0.0 and nothing.notes == ("sum: all 2 values are missing and were left out",)
    assert run(body("return int(pd.Series([1, 2]).sum())")).notes == ()
