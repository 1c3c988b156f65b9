"""Suites: deterministic, proven, without leaks between the splits."""

from __future__ import annotations

import copy
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.benchmark.agents import NoopAgent, OracleAgent, PublicCase
from nl2net.benchmark.judge import Outcome, judge
from nl2net.errors import DataError, UserError
from nl2net.golden.case import GraphSource, Mode, Split
from nl2net.golden.catalogue import APPLICATIONS, fill, intents, slots_used
from nl2net.golden.comparison import compare
from nl2net.golden.execute import run_networkx, run_pandas, run_sql
from nl2net.golden.gate import Rejected, prove
from nl2net.golden.generate import Recipe, generate, make_case
from nl2net.golden.graph_comparison import difference
from nl2net.golden.invariants import broken_invariants
from nl2net.golden.lending import borrowed
from nl2net.golden.pairs import development_pairs
from nl2net.golden.recipes import build_graph
from nl2net.golden.slots import NoOperand, draw_slots
from nl2net.golden.solvers import has_solver
from nl2net.golden.sources import graph_of
from nl2net.golden.streams import Stream
from nl2net.golden.suite import generate_suite, load_suite, render_suite, shipped_suites, write_suite
from nl2net.model import Library, ResultType, Status


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_catalogue_is_as_wide_as_promised(application: str) -> None:
    found = intents(application)
    answered = [intent for intent in found if intent.outcome is Status.ANSWERED]
    assert len(answered) >= {"traffic": 60, "planning": 50}[application]
    held_out = [intent for intent in answered if intent.split is Split.EVAL]
    assert 0.15 <= len(held_out) / len(answered) <= 0.30
    assert {intent.outcome for intent in found} == {*Status} - {Status.FAILED}
    for intent in found:
        forms = [*intent.dev, *intent.eval]
        assert len(forms) >= 8 and len(set(forms)) == len(forms), intent.name
        assert intent.outcome is not Status.ANSWERED or has_solver(intent), intent.name
        assert bool(intent.missing) is (intent.outcome is Status.CANNOT_ANSWER), intent.name


def test_no_wording_is_shared_by_two_intents_or_both_splits() -> None:
    for application in APPLICATIONS:
        forms = Counter(form.lower() for intent in intents(application) for form in (*intent.dev, *intent.eval))
        assert [form for form, count in forms.items() if count > 1] == []


PACKED = {"xy", "xp", "gb", "gg", "ss", "gs", "mv", "cc", "kk", "rel"}  # slots that fill several others


@pytest.mark.parametrize("application", APPLICATIONS)
def test_every_wording_names_what_its_program_needs(application: str) -> None:
    """A slot that the program uses and the words leave out would be a question without an answer."""
    for intent in intents(application):
        if intent.outcome is not Status.ANSWERED:
            continue
        used = slots_used(intent.programs[Library.NETWORKX])
        wanted = {name for name in intent.slots if name in used and name not in PACKED}
        if PACKED & intent.slots.keys():
            wanted |= used & {"x", "y", "p", "g", "g2", "b", "s", "s2", "c", "c2"}
        for form in (*intent.dev, *intent.eval):
            said = {
                name.removesuffix("_name").removesuffix("_words").removesuffix("_word") for name in slots_used(form)
            }
            assert wanted <= said, (intent.name, form, wanted - said)


def test_the_same_recipe_gives_the_same_bytes() -> None:
    recipes = [Recipe("traffic", "same", count=25, graphs=4), Recipe("planning", "same", count=25, graphs=3)]
    one, two = (render_suite(generate_suite(recipes, name="same")) for _ in range(2))
    assert one == two
    other = render_suite(generate_suite([Recipe("traffic", "other", count=25, graphs=4)], name="same"))
    assert not set(one.splitlines()[1:]) & set(other.splitlines()[1:])


def test_the_bytes_are_the_same_on_every_platform() -> None:
    """Golden digests: a change here is a new generator version."""
    graph = build_graph(GraphSource("traffic", "golden-digest")).graph
    text = repr([sorted(graph.nodes(data=True), key=lambda node: node[0]), sorted(map(repr, graph.edges(data=True)))])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4eb3ec6b8bd1f44e"
    model = build_graph(GraphSource("planning", "golden-digest")).graph
    text = repr([sorted(model.nodes(data=True), key=lambda node: node[0]), sorted(map(repr, model.edges(data=True)))])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "7ca66f0812fbe4bc"
    assert [Stream("golden", 1).below(1000) for _ in range(2)] == [635, 635]


def test_a_case_can_be_made_alone() -> None:
    recipe = Recipe("planning", "alone", count=12, graphs=3)
    made = generate(recipe).cases
    alone = [make_case(recipe, index) for index in range(12)]
    assert [case.id for case in made[:5]] == [case.id for case in alone[:5] if case is not None]


@pytest.mark.parametrize("application", APPLICATIONS)
@pytest.mark.parametrize("split", list(Split))
def test_the_oracle_is_always_right_and_doing_nothing_never(application: str, split: Split) -> None:
    made = generate(Recipe(application, "proof", split, count=250, graphs=8))
    oracle, noop = OracleAgent(made.cases), NoopAgent()
    assert len({case.id for case in made.cases}) == 250
    for case in made.cases:
        graph = graph_of(case)
        public = PublicCase(case.id, case.application, case.question)
        assert judge(case, oracle.answer(public, graph), graph).outcome is Outcome.CORRECT, case.id
        assert judge(case, noop.answer(public, graph), graph).outcome is Outcome.WRONG, case.id


@pytest.mark.slow
@pytest.mark.parametrize("application", APPLICATIONS)
def test_oracle_and_noop_on_two_thousand_cases(application: str) -> None:
    made = generate(Recipe(application, "proof-2000", count=2000, graphs=24))
    oracle, noop = OracleAgent(made.cases), NoopAgent()
    for case in made.cases:
        graph = graph_of(case)
        public = PublicCase(case.id, case.application, case.question)
        assert judge(case, oracle.answer(public, graph), graph).outcome is Outcome.CORRECT, case.id
        assert judge(case, noop.answer(public, graph), graph).outcome is Outcome.WRONG, case.id


@pytest.mark.parametrize("application", APPLICATIONS)
def test_references_give_the_key_on_a_fresh_plain_copy(application: str) -> None:
    """The gate ran them on lent twins; here each runs on a deep copy of its own and must leave its input alone."""
    for case in generate(Recipe(application, "plain", count=120, graphs=6)).cases:
        if case.outcome is Status.ANSWERED:
            original = graph_of(case)
            graph = copy.deepcopy(original)
            result = run_networkx(case.program, graph)
            assert not difference(original, graph), case.id
            assert compare(case.expected, result, case.comparison, graph=original), case.id


def test_pandas_and_sql_references_agree_with_networkx() -> None:
    checked: Counter[Library] = Counter()
    for application in APPLICATIONS:
        for intent in intents(application):
            if len(intent.programs) > 1:
                for library in _agree(application, intent):
                    checked[library] += 1
    assert checked[Library.PANDAS] >= 25
    assert checked[Library.SQL] >= 25


def _agree(application: str, intent: Any) -> list[Library]:
    for number in range(12):
        built = build_graph(GraphSource(application, f"libraries/{number}"))
        if not set(intent.needs) <= built.facts:
            continue
        try:
            values = draw_slots(built, intent.slots, Stream("libraries", intent.name)).values
            proof = prove(intent, built, values)
        except (NoOperand, Rejected):
            continue
        runners = {Library.PANDAS: run_pandas, Library.SQL: run_sql}
        others = [library for library in intent.programs if library in runners]
        for library in others:
            result = runners[library](fill(intent.programs[library], values), copy.deepcopy(built.graph))
            verdict = compare(proof.expected, result, proof.comparison, graph=built.graph)
            assert verdict, (intent.name, library, verdict.reason)
        return others
    raise AssertionError(f"no graph fits {intent.name}")


def test_development_pairs_hold_nothing_of_the_evaluation_split() -> None:
    pairs = development_pairs()
    held_out = {(a, i.name) for a in APPLICATIONS for i in intents(a) if i.split is Split.EVAL}
    assert not held_out & {(pair.application, pair.intent) for pair in pairs}
    questions = {pair.question for pair in pairs}
    for application in APPLICATIONS:
        cases = load_suite(f"{application}-eval").cases
        assert not questions & {case.question for case in cases}
        assert not {pair.graph.seed for pair in pairs if pair.graph} & {case.graph.seed for case in cases}
    for pair in pairs:
        for entity in pair.entities:
            assert entity.text in pair.question
    assert len({pair.intent for pair in pairs if pair.library is Library.NETWORKX}) > 100


def test_shipped_suites_are_what_their_recipe_gives() -> None:
    for name, path in shipped_suites().items():
        suite = load_suite(path)
        if suite.header.seed == "public-1":
            (application,) = suite.header.counts["application"]
            recipe = Recipe(application, "public-1", suite.header.splits[0], count=len(suite.cases))
            assert render_suite(generate_suite([recipe], name=name)) == path.read_bytes(), name


def test_a_damaged_suite_is_refused_with_its_line(tmp_path: Path) -> None:
    suite = generate_suite([Recipe("traffic", "file", count=4, graphs=2)], name="file")
    path = tmp_path / "file.jsonl"
    write_suite(suite, path)
    assert load_suite(path) == suite
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].replace('"level":"', '"level":"very '), *lines[3:]]) + "\n")
    with pytest.raises(DataError, match=r"file.jsonl, line 3, field level"):
        load_suite(path)
    path.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(DataError, match="digest"):
        load_suite(path)
    with pytest.raises(DataError, match="not a readable suite"):
        load_suite(tmp_path / "none.jsonl")


def test_an_unknown_application_is_named() -> None:
    with pytest.raises(UserError, match="unknown application"):
        generate(Recipe("cooking", "few"))


def test_the_gate_turns_away_what_proves_nothing() -> None:
    built = build_graph(GraphSource("traffic", "gate", {"directed": False}))
    remove = next(intent for intent in intents("traffic") if intent.name == "remove_light_links")
    with pytest.raises(Rejected, match="no-op"):
        prove(remove, built, {**built.words, "w": built.words["bytes"], "t": "0"})
    ranking = next(intent for intent in intents("traffic") if intent.name == "mean_weight")
    with pytest.raises(Rejected, match="error KeyError"):
        prove(ranking, built, {**built.words, "w": "no_such_attribute", "k": "3"})


def test_an_unsafe_change_is_seen() -> None:
    built = build_graph(GraphSource("planning", "unsafe", {"flavour": "malt", "size": "small"}))
    switch = built.kind("SWITCH")[0]
    port = built.children[switch][0]
    for name, change in {
        "not in exactly one switch": lambda g: g.remove_edge(switch, port),
        "port without capacity": lambda g: g.add_node("EK_PORT:new", kind="EK_PORT", name="new"),
        "unknown kind": lambda g: g.add_node("x", kind="EK_NONE", name="x"),
        "no such relation": lambda g: g.add_edge(port, switch, kind="RK_CONTAINS"),
        "no capacity": lambda g: g.nodes[port].update(physical_capacity_bps=0),
        "not exactly one controller": lambda g: g.remove_edge(_controller(g, switch), switch),
        "no port": lambda g: g.remove_nodes_from(built.children[switch]),
    }.items():
        changed = copy.deepcopy(built.graph)
        change(changed)  # type: ignore[no-untyped-call]
        faults = broken_invariants(built, changed, difference(built.graph, changed))
        assert any(name in fault for fault in faults), (name, faults)


def _controller(graph: Any, switch: str) -> str:
    return next(str(u) for u, _, data in graph.in_edges(switch, data=True) if data["kind"] == "RK_CONTROLS")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add_node"), st.integers(0, 30)),
        st.tuples(st.just("remove_node"), st.integers(0, 14)),
        st.tuples(st.just("add_edge"), st.integers(0, 14), st.integers(0, 20)),
        st.tuples(st.just("remove_edge"), st.integers(0, 40)),
        st.tuples(st.just("node_value"), st.integers(0, 14), st.integers(0, 3)),
        st.tuples(st.just("edge_value"), st.integers(0, 40), st.integers(0, 3)),
    ),
    max_size=12,
)


def _apply(graph: Any, step: tuple[Any, ...]) -> None:
    nodes, edges = list(graph), list(graph.edges)
    match step:
        case ("add_node", i):
            graph.add_node(f"new{i}", colour=i)
        case ("remove_node", i) if nodes:
            graph.remove_node(nodes[i % len(nodes)])
        case ("add_edge", i, j) if nodes:
            graph.add_edge(nodes[i % len(nodes)], f"new{j}" if j > 14 else nodes[j % len(nodes)], bytes=j)
        case ("remove_edge", i) if edges:
            graph.remove_edge(*edges[i % len(edges)])
        case ("node_value", i, value) if nodes:
            graph.nodes[nodes[i % len(nodes)]]["tag"] = value
        case ("edge_value", i, value) if edges:
            graph.edges[edges[i % len(edges)]]["tag"] = value


@pytest.mark.parametrize("directed", [True, False])
@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_a_lent_twin_reports_what_a_full_comparison_finds_and_comes_back_clean(
    directed: bool, steps: list[tuple[Any, ...]]
) -> None:
    built = build_graph(GraphSource("traffic", "journal", {"directed": directed, "nodes": 16}))
    plain = copy.deepcopy(built.graph)
    with borrowed(built) as graph:
        twin = graph.copy()
        for step in steps:
            _apply(twin, step)
            _apply(plain, step)
        assert twin.changes() == difference(built.graph, plain)
    with borrowed(built) as graph:
        again = graph.copy()
        assert list(again.nodes(data=True)) == list(built.graph.nodes(data=True))
        assert list(again.edges(data=True)) == list(built.graph.edges(data=True))
        assert not again.changes()


def test_graphs_differ_in_names_direction_and_size() -> None:
    traffic = [build_graph(GraphSource("traffic", f"vary/{i}")) for i in range(24)]
    assert {built.directed for built in traffic} == {True, False}
    assert len({built.words["bytes"] for built in traffic}) >= 4
    assert min(len(built.nodes) for built in traffic) < 20 < 100 < max(len(built.nodes) for built in traffic)
    for built in traffic:
        for word in ("bytes", "packets", "flows"):
            assert len({data[built.words[word]] for _, _, data in built.edges}) > len(built.edges) / 3
    planning = [build_graph(GraphSource("planning", f"vary/{i}")) for i in range(12)]
    assert len({built.words["SWITCH"] for built in planning}) >= 2
    for built in planning:
        assert nx.is_directed_acyclic_graph(built.graph)
        assert len({data[built.words["cap"]] for data in built.nodes.values() if built.words["cap"] in data}) >= 4


def test_types_of_keys_fit_the_stated_type() -> None:
    for application in APPLICATIONS:
        for case in load_suite(f"{application}-eval").cases:
            if case.outcome is not Status.ANSWERED or case.comparison.mode is Mode.ANY_OF:
                continue
            kinds = {
                ResultType.NUMBER: (int, float),
                ResultType.TEXT: (str, bool),
                ResultType.LIST: list,
                ResultType.TABLE: list,
                ResultType.GRAPH: dict,
            }
            assert isinstance(case.expected, kinds[case.type]), case.id  # type: ignore[arg-type]
