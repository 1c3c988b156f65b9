"""The lint finds slips of models and leaves good programs alone."""

from __future__ import annotations

import time

import pytest

from nl2net.assistant.attempts import MUST_NOT_RUN
from nl2net.model import AttributeSchema, Finding, GraphClass, GraphSchema, Library, Severity
from nl2net.sandbox.language import lint, validate
from nl2net.sandbox.outcome import Facts
from tests.sandbox.language import slips
from tests.sandbox.language.good_programs import GOOD, GOOD_PANDAS, GOOD_SQL
from tests.sandbox.language.programs import benign_programs, everyday_programs

FLAGGING = (Severity.REFUSE, Severity.REPAIR)
CASES = [
    *((Library.NETWORKX, slips.schema(), rule, text) for rule, text in slips.NETWORKX),
    *((Library.NETWORKX, slips.schema(multi=True), rule, text) for rule, text in slips.MULTI),
    *((Library.NETWORKX, slips.schema(directed=True), rule, text) for rule, text in slips.DIRECTED),
    *((Library.NETWORKX, slips.schema(components=3), rule, text) for rule, text in slips.APART),
    *((Library.NETWORKX, slips.schema(nodes=50_000), rule, text) for rule, text in slips.LARGE),
    *((Library.PANDAS, slips.schema(), rule, text) for rule, text in slips.PANDAS),
    *((Library.SQL, slips.schema(), rule, text) for rule, text in slips.SQL),
]


def findings(
    source: str, library: Library = Library.NETWORKX, schema: GraphSchema | None = None, facts: Facts | None = None
) -> tuple[Finding, ...]:
    return lint(source, library=library, schema=schema or slips.schema(), facts=facts or Facts())


@pytest.mark.parametrize(("library", "schema", "rule", "source"), CASES)
def test_slip_is_found_with_a_hint(library: Library, schema: GraphSchema, rule: str, source: str) -> None:
    found = findings(source, library, schema)
    hits = [f for f in found if f.rule == rule and f.severity in FLAGGING]
    assert hits, [(f.rule, f.message) for f in found]
    assert hits[0].hint and hits[0].message and hits[0].line


def test_there_are_many_slips() -> None:
    assert len(CASES) >= 90


@pytest.mark.parametrize("program", benign_programs(), ids=lambda p: str(p["number"]))
def test_checked_in_programs_are_not_flagged(program: dict[str, str]) -> None:
    assert [f for f in findings(program["program"]) if f.severity in FLAGGING] == []


@pytest.mark.parametrize("source", GOOD)
def test_own_good_programs_are_not_flagged(source: str) -> None:
    assert [(f.rule, f.message) for f in findings(source) if f.severity in FLAGGING] == []


@pytest.mark.parametrize("source", GOOD_PANDAS)
def test_good_pandas_programs_are_not_flagged(source: str) -> None:
    assert [(f.rule, f.message) for f in findings(source, Library.PANDAS) if f.severity in FLAGGING] == []


@pytest.mark.parametrize("source", GOOD_SQL)
def test_good_statements_are_not_flagged(source: str) -> None:
    assert validate(source, library=Library.SQL) == ()
    assert [(f.rule, f.message) for f in findings(source, Library.SQL) if f.severity in FLAGGING] == []


@pytest.mark.parametrize(
    ("facts", "rule", "source"),
    [
        (Facts(expected="number"), "return-type", slips.body("return list(graph.nodes)")),
        (Facts(expected="list"), "return-type", slips.body("return graph.number_of_nodes()")),
        (
            Facts(expected="graph", is_change=True),
            "change-not-returned",
            slips.body("graph.remove_node('n0')", "return 1"),
        ),
        (Facts(placeholders=("NODE_1",)), "entity-unused", slips.body("return graph.degree('n0')")),
        (Facts(placeholders=("NODE_1",)), "unknown-placeholder", slips.body("return graph.degree('NODE_1'), 'NODE_2'")),
        (Facts(asks_direction=True), "edge-direction", slips.body("return [v for u, v in graph.edges if u == 'n0']")),
    ],
)
def test_facts_of_the_question_are_used(facts: Facts, rule: str, source: str) -> None:
    assert rule in [f.rule for f in findings(source, facts=facts) if f.severity in FLAGGING]


@pytest.mark.parametrize(
    ("rule", "source", "schema"),
    [
        ("seed-missing", slips.body("return nx.community.louvain_communities(graph)"), slips.schema()),
        ("degree-counts-links", slips.body("return graph.degree('n0')"), slips.schema(multi=True)),
        ("direction-lost", slips.body("return len(graph.to_undirected())"), slips.schema(directed=True)),
        ("disconnected", slips.body("return nx.closeness_centrality(graph)"), slips.schema(components=2)),
        ("parallel-ignored", slips.body("return nx.edge_connectivity(graph)"), slips.schema(multi=True)),
        ("text-order", slips.body("return sorted(d['ip'] for n, d in graph.nodes(data=True))"), slips.schema()),
    ],
)
def test_silent_wrong_answers_get_a_caveat(rule: str, source: str, schema: GraphSchema) -> None:
    assert rule in [f.rule for f in findings(source, schema=schema) if f.severity is Severity.CAVEAT]


def test_nearest_names_come_by_spelling_and_by_role() -> None:
    by_role = findings(slips.body("return sum(d['bandwidth'] for u, v, d in graph.edges(data=True))"))
    by_spelling = findings(slips.body("return sum(d['capcity'] for u, v, d in graph.edges(data=True))"))
    assert "'capacity'" in by_role[0].hint
    assert "'capacity'" in by_spelling[0].hint


def test_partial_attribute_is_a_caveat_with_counts() -> None:
    partial = slips.attribute("metric", "edge", "number", 16, count=9)
    schema = GraphSchema(slips.schema().graph_class, 8, 16, attributes=(*slips.ATTRIBUTES, partial))
    found = findings(slips.body("return nx.shortest_path(graph, 'n0', 'n3', weight='metric')"), schema=schema)
    assert [(f.rule, f.severity) for f in found] == [("weight-coverage", Severity.CAVEAT)]
    assert "9 of 16" in found[0].message


def test_lint_is_quick() -> None:
    source = benign_programs()[0]["program"]
    findings(source)
    start = time.process_time()
    for program in benign_programs():
        findings(program["program"])
    assert (time.process_time() - start) / len(benign_programs()) < 0.02


SPEEDS = GraphSchema(
    GraphClass(directed=False, multi=False),
    nodes=40,
    edges=61,
    attributes=(
        AttributeSchema("name", "name", "node", "text", 40, 40, "unique", role="name"),
        AttributeSchema("LinkSpeed", "LinkSpeed", "edge", "text", 39, 61, "2-10"),
        AttributeSchema("LinkSpeedRaw", "LinkSpeedRaw", "edge", "number", 39, 61, "2-10", role="capacity"),
        AttributeSchema("note", "note", "edge", "text", 61, 61, "many"),
    ),
)
TEXT_AS_NUMBER = [
    'return nx.shortest_path(graph, "a", "b", weight="LinkSpeed")',
    'return sum(d.get("LinkSpeed", 0) for u, v, d in graph.edges(data=True))',
    'return max(graph.edges(data=True), key=lambda e: e[2].get("LinkSpeed", 0))',
    'return [u for u, v, d in graph.edges(data=True) if d.get("LinkSpeed", 0) > 10]',
    'return [d["LinkSpeed"] / 2 for u, v, d in graph.edges(data=True) if "LinkSpeed" in d]',
    'total = 0\n    for u, v, d in graph.edges(data=True):\n        s = d.get("LinkSpeed")\n        total += s',
]
TEXT_AS_TEXT = [
    'return sum(float(d.get("LinkSpeed", 0)) for u, v, d in graph.edges(data=True))',
    'return Counter(d.get("LinkSpeed") for u, v, d in graph.edges(data=True))',
    'return sorted(graph.nodes(data=True), key=lambda e: e[1]["name"])',
    'return [u for u, v, d in graph.edges(data=True) if d.get("LinkSpeed") == "10"]',
    'out = ""\n    for u, v, d in graph.edges(data=True):\n        out += d["note"]\n    return out',
    'return [d["note"] + "!" for u, v, d in graph.edges(data=True)]',
]


@pytest.mark.parametrize("body", TEXT_AS_NUMBER)
def test_text_where_a_number_is_needed_names_the_numeric_attribute(body: str) -> None:
    found = findings(f"def answer(graph):\n    {body}\n", schema=SPEEDS)
    hits = [f for f in found if f.rule == "text-as-number" and f.severity is Severity.REPAIR]
    assert hits and "LinkSpeedRaw" in hits[0].hint


@pytest.mark.parametrize("body", TEXT_AS_TEXT)
def test_text_used_as_text_is_left_alone(body: str) -> None:
    found = findings(f"def answer(graph):\n    {body}\n", schema=SPEEDS)
    assert [f for f in found if f.severity in FLAGGING] == []


def test_text_columns_in_pandas() -> None:
    wrong = findings('def answer(nodes, edges):\n    return edges["LinkSpeed"].sum()', Library.PANDAS, SPEEDS)
    right = findings(
        'def answer(nodes, edges):\n    return edges["LinkSpeed"].astype(float).sum()', Library.PANDAS, SPEEDS
    )
    assert [f.rule for f in wrong if f.severity in FLAGGING] == ["text-as-number"]
    assert [f.rule for f in right if f.severity in FLAGGING] == []


@pytest.mark.parametrize("given", [(), ("NODE_1",)])
def test_a_placeholder_that_the_question_does_not_have_stops_the_program(given: tuple[str, ...]) -> None:
    program = 'def answer(graph):\n    return list(nx.edge_disjoint_paths(graph, "NODE_1", "NODE_2"))'
    found = findings(program, schema=SPEEDS, facts=Facts(placeholders=given))
    rules = {f.rule for f in found if f.severity is Severity.REPAIR}
    assert rules == {"unknown-placeholder"} and "unknown-placeholder" in MUST_NOT_RUN
    both = findings(program, schema=SPEEDS, facts=Facts(placeholders=("NODE_1", "NODE_2")))
    assert [f for f in both if f.severity in FLAGGING] == []


# Slips that stand in the everyday programs on purpose: guarded by ``hasattr``, or a key that nobody has.
ON_PURPOSE = {"unknown-name", "unknown-attribute", "compares-names", "parallel-dropped"}


@pytest.mark.parametrize("source", everyday_programs())
def test_everyday_programs_are_hardly_flagged(source: str) -> None:
    found = [(f.rule, f.message) for f in findings(source) if f.severity in FLAGGING]
    assert [one for one in found if one[0] not in ON_PURPOSE] == []


def test_false_repairs_over_everyday_programs_stay_few() -> None:
    flagged = [s for s in everyday_programs() if any(f.severity in FLAGGING for f in findings(s))]
    assert len(flagged) <= 6


@pytest.mark.parametrize(
    "statement",
    [
        "WITH RECURSIVE r(node, hops) AS (SELECT 'n0', 0 UNION SELECT target, hops + 1 FROM r "
        "JOIN edges ON source = node "
        "WHERE hops < 3) SELECT node, min(hops) FROM r GROUP BY node",
        "SELECT regexp_extract(id, '[0-9]+')::INT n FROM nodes ORDER BY n",
        "SELECT node, list(neighbor ORDER BY neighbor) FROM ends GROUP BY node",
        "SELECT struct_pack(a := 1) AS s FROM nodes",
    ],
)
def test_names_that_a_statement_makes_are_known(statement: str) -> None:
    assert [(f.rule, f.message) for f in findings(statement, Library.SQL) if f.severity in FLAGGING] == []
