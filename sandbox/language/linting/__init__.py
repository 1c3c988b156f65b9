"""The lint: findings from the program, the schema and the libraries, before anything runs."""

from __future__ import annotations

from nl2net.model import Finding, GraphSchema, Library, Severity
from nl2net.sandbox.language.linting import api, graph_types, names, semantics, shapes, sql, tables, values
from nl2net.sandbox.language.linting.context import Rule, build_context
from nl2net.sandbox.outcome import Facts

__all__ = ["lint"]

# Order of assistant.md: names, API, graph type, semantics.
RULES: tuple[Rule, ...] = (
    *names.RULES,
    *values.RULES,
    *api.RULES,
    *shapes.RULES,
    *graph_types.RULES,
    *tables.RULES,
    *semantics.RULES,
)
SEVERITIES = (Severity.REFUSE, Severity.REPAIR, Severity.CAVEAT)


def lint(source: str, *, library: Library, schema: GraphSchema, facts: Facts) -> tuple[Finding, ...]:
    """Findings of a program that passed ``validate``; parse hostile text in a sealed child only.

    Parameters
    ----------
    source : str
        The masked program.
    library : Library
        What it is written in.
    schema : GraphSchema
        What the model may know of the graph.
    facts : Facts
        What is known of the question.

    Returns
    -------
    tuple of Finding
        Repairs before caveats, each rule once per line. Hints hold the program's own text, schema words and public
        library names only.

    Examples
    --------
    >>> from nl2net.model import GraphClass
    >>> schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=8, edges=16)
    >>> source = "def answer(graph):\\n    return max(graph.degree())[0]\\n"
    >>> for finding in lint(source, library=Library.NETWORKX, schema=schema, facts=Facts()):
    ...     print(finding.rule, finding.line, finding.hint.split(". ")[0])
    compares-names 2 Write max(graph.degree(), key=lambda pair: pair[1])
    """
    if library is Library.SQL:
        found = list(sql.lint_sql(source, schema))
    else:
        context = build_context(source, library, schema, facts)
        found = [finding for rule in RULES for finding in rule(context)]
    once = {(f.rule, f.line, f.message): f for f in reversed(found)}
    order = {id(f): place for place, f in enumerate(found)}
    return tuple(sorted(once.values(), key=lambda f: (SEVERITIES.index(f.severity), order[id(f)])))
