"""What a failed run over data may say: nothing from the data, in any disguise, and the same for graphs of one shape."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nl2net.model import AttributeSchema, GraphClass, GraphSchema, Library
from nl2net.sandbox import Facts, Feedback, GraphPayload, Outcome, Sandbox, Task
from nl2net.sandbox.feedback import HINTS, KINDS, OPERAND_TYPES, build_feedback
from nl2net.sandbox.twin import made_up_graph

pytestmark = pytest.mark.kernel

SCHEMA = GraphSchema(
    GraphClass(directed=False, multi=False),
    nodes=6,
    edges=6,
    attributes=(
        AttributeSchema("site", "site", "node", "text", 6, 6, "many"),
        AttributeSchema("cap", "cap", "edge", "integer", 5, 6, "many"),
    ),
)
HONEST_FAULTS = [
    "def answer(graph):\n    return [d['cap'] for u, v, d in graph.edges(data=True)]",
    "def answer(graph):\n    first = sorted(graph)[0]\n    return int(graph.nodes[first]['site'])",
    "def answer(graph):\n    first = sorted(graph)[0]\n    return graph.nodes[first + 'x']",
    "def answer(graph):\n    return nx.shortest_path(graph, sorted(graph)[0], 'nowhere')",
    "def answer(graph):\n    sites = {}\n    return sites[graph.nodes[sorted(graph)[0]]['site']]",
    "def answer(graph):\n    return sorted(graph)[0] + 1",
    "def answer(graph):\n    frame = pd.DataFrame({'a': [1]})\n    return frame[sorted(graph)[0]]",
]
HOSTILE_FAULTS = [
    "def answer(graph):\n    raise KeyError(sorted(graph)[0])",
    "def answer(graph):\n    raise ValueError(','.join(str(ord(c)) for n in graph for c in n))",
    "def answer(graph):\n    assert not graph, [n[::-1].upper() for n in graph]",
    "def answer(graph):\n    x = {sorted(graph)[0]: 1}\n    return x[str(x)]",
    "def answer(graph):\n    return getattr(graph, sorted(graph)[0].replace('-', '_'))",
    "def answer(graph):\n    print(list(graph))\n    return {n: print for n in graph}",
    "def answer(graph):\n    raise Exception(' '.join(n.encode().hex() for n in graph))",
    "def answer(graph):\n    cannot = [n for n in graph]\n    return cannot[cannot[0]]",
    "def answer(graph):\n    return ipaddress.ip_network(sorted(graph)[0])",
]
# Letters that no program above uses in a row, and never digits alone.
NAMES = st.text("qzxjkvwy", min_size=6, max_size=10)


def ring(names: list[str], site: str) -> Any:
    graph = nx.cycle_graph(len(names))
    for node in graph:
        graph.nodes[node]["site"] = site
    for place, (u, v) in enumerate(list(graph.edges)):
        if place:
            graph.edges[u, v]["cap"] = place
    return nx.relabel_nodes(graph, dict(enumerate(names)))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def feedbacks(sandbox: Sandbox, names: list[str], site: str, programs: list[str]) -> list[Feedback]:
    with sandbox.open(GraphPayload(ring(names, site), SCHEMA, "+".join(names))) as holder:
        found = [holder.run(Task(program)).feedback for program in programs]
    assert all(found)
    return [feedback for feedback in found if feedback is not None]


def disguises(text: str) -> set[str]:
    raw = text.encode()
    forms = {text, text[::-1], text.upper(), raw.hex(), base64.b64encode(raw).decode(), base64.b32encode(raw).decode()}
    return {form.rstrip("=").casefold() for form in forms}


@pytest.mark.slow
@given(names=st.lists(NAMES, min_size=6, max_size=6, unique=True), site=NAMES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_canaries_and_non_interference(sandbox: Sandbox, names: list[str], site: str) -> None:
    programs = HONEST_FAULTS + HOSTILE_FAULTS
    found = feedbacks(sandbox, sorted(names), site, programs)
    said = str(found).casefold()
    for canary in (*names, site):
        assert not [form for form in disguises(canary) if form in said]
    other = feedbacks(sandbox, [f"ams-r{place}" for place in range(6)], "fra", HONEST_FAULTS)
    assert found[: len(HONEST_FAULTS)] == other
    for feedback, program in zip(found, programs, strict=True):
        in_closed_set(feedback, program)


def in_closed_set(feedback: Feedback, program: str) -> None:
    assert feedback.kind in KINDS and feedback.hint == HINTS[feedback.kind]
    assert feedback.expression in program
    assert set(feedback.operand_types) <= OPERAND_TYPES
    assert feedback.line is None or 1 <= feedback.line <= program.count("\n") + 1


@given(
    kind=st.text(),
    place=st.lists(st.integers(-5, 60), min_size=4, max_size=4),
    operands=st.lists(st.text() | st.sampled_from(sorted(OPERAND_TYPES)), max_size=5),
)
def test_a_lying_child_chooses_from_the_closed_set_only(kind: str, place: list[int], operands: list[str]) -> None:
    program = "def answer(graph):\n    return graph['ü'] + 1"
    places = [[2, 11, 2, 24], [2, 11, 2, 20]]
    feedback = build_feedback(kind, program, place=place, places=places, operands=operands)
    in_closed_set(feedback, program)
    assert feedback.expression == "" or place in places


def test_there_are_27_kinds() -> None:
    assert len(KINDS) == 27


def test_the_twin_fails_as_data_would(sandbox: Sandbox) -> None:
    def trial(program: str, library: Library = Library.NETWORKX) -> Any:
        return sandbox.try_on_twin(
            program, library=library, schema=SCHEMA, facts=Facts(), placeholders=("NODE_1", "PREFIX_1")
        )

    slip = trial("def answer(graph):\n    return sum(d['cap'] for u, v, d in graph.edges(data=True))")
    assert slip.outcome is Outcome.ERROR and slip.line == 2 and "'cap'" in slip.error
    good = trial("def answer(graph):\n    return graph.degree('NODE_1')")
    assert (good.outcome, good.error, good.result_type) == (Outcome.OK, "", "number")
    parsed = trial("def answer(graph):\n    return ipaddress.ip_network('PREFIX_1').num_addresses")
    assert parsed.outcome is Outcome.OK, parsed.error
    assert trial("SELECT count(*) FROM nodes WHERE site = 'x'", Library.SQL).outcome is Outcome.OK
    assert trial("SELECT nope FROM nodes", Library.SQL).outcome is Outcome.ERROR
    assert trial("def answer(nodes, edges):\n    return edges['cap'].sum()", Library.PANDAS).result_type == "number"


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("multi", [True, False])
def test_the_twin_has_the_class_and_the_gaps_of_the_schema(directed: bool, multi: bool) -> None:
    schema = GraphSchema(
        GraphClass(directed, multi),
        nodes=900,
        edges=2000,
        attributes=(AttributeSchema("ip", "ip", "node", "text", 10, 900, "many", shape="IPv4"),),
        isolated=1,
        parallel_pairs=3,
        self_loops=1,
    )
    twin = made_up_graph(schema, placeholders=("NODE_1",), texts=("core",))
    assert (twin.is_directed(), twin.is_multigraph(), len(twin)) == (directed, multi, 12)
    assert {"NODE_1", "core"} <= set(twin)
    holders = [node for node, data in twin.nodes(data=True) if "ip" in data]
    assert 0 < len(holders) < 12 and nx.number_of_selfloops(twin) == 1
    assert len(list(nx.isolates(twin))) == 0 or not multi or directed
