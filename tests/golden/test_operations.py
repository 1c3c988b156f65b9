"""Every operation runs in the real sandbox on every graph that it names, with real entities for its placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from nl2net.golden.operations import GRAPH_FILES, Operation, operations
from nl2net.golden.sources import graph_file
from nl2net.graphs import LoadedGraph, load_graph
from nl2net.model import Library, Severity
from nl2net.sandbox import GraphPayload, Limits, Sandbox
from nl2net.sandbox.outcome import Facts, Outcome, Task


@cache
def loaded(name: str) -> LoadedGraph:
    return load_graph(graph_file(GRAPH_FILES[name]))


def bindings_of(operation: Operation, graph: Any) -> dict[str, str]:
    """Real entities for the placeholders of an operation, by the rules of its ``where``."""
    busy = sorted(graph, key=lambda n: (-graph.degree(n), str(n)))
    link = next(iter(sorted(graph.edges(busy[0]), key=str)), (busy[0], busy[-1]))
    found: dict[str, str] = {}
    for token in operation.placeholders:
        rule = str(operation.where.get(token, ""))
        head, _, rest = rule.partition(":")
        if not rule:
            found[token] = busy[2 * int(token.split("_")[1]) - 1]
        elif head == "end":
            found[token] = link[int(rest) - 1]
        elif head in {"kind", "kind2"}:
            found[token] = [n for n, d in graph.nodes(data=True) if d["kind"] == rest][int(head == "kind2")]
        elif head == "value":
            found[token] = next(str(d[rest]) for _, d in graph.nodes(data=True) if rest in d)
        elif head == "linked":
            found[token] = link[0]
        elif head == "port":
            found[token] = next(iter(graph.edges(link[0], data="ports")))[2][link[0]]
        else:
            found[token] = rule
    return found


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with_limits = Sandbox(limits=Limits(wall_s=30, cpu_s=20, memory_mb=1024))
    yield with_limits
    with_limits.close()


def _problems(sandbox: Sandbox, graph_name: str) -> Iterator[str]:
    graph = loaded(graph_name)
    holder = sandbox.open(GraphPayload(graph.graph, graph.schema, graph.fingerprint))
    for one in operations():
        if graph_name not in one.graphs:
            continue
        bindings = bindings_of(one, graph.graph)
        facts = Facts(placeholders=tuple(bindings))
        checked = sandbox.check(one.program, library=Library.NETWORKX, schema=graph.schema, facts=facts)
        # A program that is verified on several graphs may name attributes that only one of them has.
        serious = [f for f in checked.findings if f.severity is Severity.REFUSE]
        report = holder.run(Task(one.program, bindings=bindings, facts=facts))
        if serious:
            yield f"{one.name}: {serious[0].message}"
        if report.outcome is not Outcome.OK or report.value is None:
            yield f"{one.name}: {report.outcome} {report.error} {report.value!r}"
        elif report.result is not None and _family(report.result.type) != _family(one.type):
            yield f"{one.name}: type {report.result.type}, not {one.type}"
    holder.stop()


def _family(kind: str) -> str:
    """An empty table is a list, and a list of pairs is a table."""
    return "list" if kind == "table" else str(kind)


@pytest.mark.parametrize("name", list(GRAPH_FILES))
def test_every_program_gives_a_value(name: str, sandbox: Sandbox) -> None:
    assert list(_problems(sandbox, name)) == []


def test_there_is_something_for_every_topic() -> None:
    topics = {one.topic for one in operations()}
    assert topics == {"addressing", "cost", "inventory", "lifecycle", "topology"}
    assert len(operations()) >= 120


def test_roles_name_attributes_of_the_first_graph() -> None:
    for one in operations():
        schema = loaded(one.graphs[0]).schema
        for name, (owner, role) in one.roles.items():
            attribute = schema.attribute(owner, name)
            if attribute is not None and attribute.role:
                assert attribute.role == role, (one.name, name)


def test_wordings_are_unique() -> None:
    seen: dict[str, str] = {}
    for one in operations():
        for question in one.questions:
            form = " ".join(re.findall(r"\w+", question.lower())) + f" {sorted(one.kinds)} {sorted(one.roles)}"
            assert seen.setdefault(form, one.name) == one.name, question
