"""The gate: a case is kept only if its answer is proven and cannot be reached by doing nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import Comparison, Mode
from nl2net.golden.catalogue import Intent, fill
from nl2net.golden.comparison import compare, is_graph
from nl2net.golden.execute import run_template
from nl2net.golden.graph_comparison import difference, same_changes
from nl2net.golden.invariants import broken_invariants
from nl2net.golden.lending import borrowed
from nl2net.golden.rows import Rows, as_rows, free_ends
from nl2net.golden.solvers import Solved, solve
from nl2net.model import Changes, Library, ResultType


class Rejected(Exception):
    """The case fails the gate; the message is the reason by which rejects are counted."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Program, key and comparison of a case that passed."""

    program: str
    expected: Any
    comparison: Comparison


def prove(intent: Intent, built: BuiltGraph, values: Mapping[str, str]) -> Proof:
    """Run the reference and the second solver and try the answers of an agent that does nothing.

    Raises
    ------
    Rejected
        With one of the reasons ``error``, ``no value``, ``disagreement``, ``unsafe``, ``no-op`` and ``trivial``.
    """
    template = intent.programs[Library.NETWORKX]
    program = fill(template, values)
    with borrowed(built) as graph:
        try:
            result = run_template(template, values, graph)
        except Exception as error:
            raise Rejected(f"error {type(error).__name__}") from error
        changes = _changes(intent, built, graph, result)
        state = graph.lender.lent()[0] if "steps" in intent.options else result
        left = state.changes() if "steps" in intent.options else changes
        unsafe = left is not None and built.source.recipe == "planning" and broken_invariants(built, state, left)
    if unsafe:
        raise Rejected("unsafe")
    solved = solve(intent, built, values)
    if "steps" in intent.options:
        _prove_steps(built, left, solved)
    proof = _prove_change(intent, built, program, changes, solved) if changes is not None else None
    proof = proof or _prove_value(intent, built, program, result, solved)
    _check_idle(intent, built, proof, solved)
    return proof


def _changes(intent: Intent, built: BuiltGraph, graph: Any, result: Any) -> Changes | None:
    if intent.type is not ResultType.GRAPH:
        return None
    if not is_graph(result):
        raise Rejected("no value")
    # A lent twin knows what was changed on it; any other graph is compared in full.
    return result.changes() if getattr(result, "lent", False) else difference(built.graph, result)


def _base(intent: Intent, built: BuiltGraph, values: Mapping[str, str] | None = None) -> Comparison:
    options = intent.options
    parameters = {
        name: fill(value, values) if isinstance(value, str) and values is not None else value
        for name, value in options.get("parameters", {}).items()
    }
    ends = options.get("ends")
    if ends == "free" or (ends == "links" and not built.directed):
        parameters["free_ends"] = True
    return Comparison(
        mode=intent.mode,
        ordered=bool(options.get("ordered", False)),
        key_column=options.get("key_column"),
        absolute=float(options.get("absolute", 1e-9)),
        extra_columns=bool(options.get("extra", False)),
        predicate=options.get("predicate", ""),
        parameters=parameters,
    )


def _prove_change(intent: Intent, built: BuiltGraph, program: str, changes: Changes, solved: Solved) -> Proof:
    comparison = _base(intent, built)
    expected = changes.to_json()
    if not changes:
        raise Rejected("no-op")
    if not compare(expected, None, comparison, graph=built.graph, changes=solved.changes):
        raise Rejected("disagreement")
    return Proof(program, expected, comparison)


def _prove_steps(built: BuiltGraph, left: Changes | None, solved: Solved) -> None:
    """Right numbers from a wrong model would be luck: the model that the steps leave must be the wanted one."""
    if not left:
        raise Rejected("no-op")
    if same_changes(solved.changes or Changes(), left, directed=built.directed):
        raise Rejected("disagreement")


def _prove_value(intent: Intent, built: BuiltGraph, program: str, result: Any, solved: Solved) -> Proof:
    plain = to_json(result)
    if not _finite(plain):
        raise Rejected("no value")
    comparison = _base(intent, built, solved.values)
    match intent.mode:
        case Mode.TOP_K:
            comparison = _top_k(comparison, plain, solved.value)
            expected: Any = plain
        case Mode.ANY_OF:
            expected = _sorted(to_json(solved.value))
        case Mode.PREDICATE:
            comparison = replace(comparison, parameters={**comparison.parameters, **solved.parameters})
            expected = plain
        case _:
            # References may walk over sets, whose order changes from process to process; keys must not.
            expected = plain if comparison.ordered else _sorted(plain)
            if not compare(to_json(solved.value), plain, comparison, graph=built.graph):
                raise Rejected("disagreement")
    if not compare(expected, result, comparison, graph=built.graph):
        raise Rejected("disagreement")
    return Proof(program, expected, comparison)


def _top_k(comparison: Comparison, rows: list[list[Any]], ranking: list[tuple[Any, ...]]) -> Comparison:
    """Keys of all items that may stand in the answer: down to those that tie with the last place."""
    if not rows or len(ranking) < len(rows):
        raise Rejected("no value")
    column = len(rows[0]) - 1
    cut = ranking[len(rows) - 1][-1]
    ascending = bool(comparison.parameters.get("ascending"))
    allowed = [row for row in ranking if (row[-1] <= cut if ascending else row[-1] >= cut)]
    flat = as_rows(allowed).rows
    flat = free_ends(flat) if comparison.parameters.get("free_ends") else flat
    keys = {json.dumps(list(row[:-1])): to_json(row[-1]) for row in flat}
    return replace(comparison, key_column=column, keys=keys)


def to_json(value: Any) -> Any:
    """A value in the form in which keys are stored: sets as sorted lists, mappings as lists of pairs.

    Examples
    --------
    >>> to_json({("a", "b"): 1, ("c", "d"): 2})
    [['a', 'b', 1], ['c', 'd', 2]]
    """
    if isinstance(value, (set, frozenset)):
        return sorted((to_json(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, dict) or hasattr(value, "to_dict"):
        return [list(row) for row in as_rows(value).rows]
    value = value.item() if hasattr(value, "item") else value
    return stable(value) if isinstance(value, float) and math.isfinite(value) else value


def stable(value: float) -> float:
    """A float of twelve digits: the last ones depend on library versions, and suites must not."""
    return float(f"{value:.12g}")


def _sorted(value: Any) -> Any:
    return sorted(value, key=json.dumps) if isinstance(value, list) else value


def _finite(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_finite(item) for item in value)
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def _idle_answers(built: BuiltGraph) -> list[Any]:
    first = next(iter(built.nodes))
    found: list[Any] = [None, "", [], 0, first, [first]]
    if built.edges:
        found.append([list(built.edges[0][:2])])
    return found


def _idle_rows(built: BuiltGraph) -> list[Rows]:
    """The same answers in the form that the comparison of values turns them into, each once."""
    if "idle rows" not in built.cache:
        built.cache["idle rows"] = list(dict.fromkeys(as_rows(answer) for answer in _idle_answers(built)))
    found: list[Rows] = built.cache["idle rows"]
    return found


def _check_idle(intent: Intent, built: BuiltGraph, proof: Proof, solved: Solved) -> None:
    """The unchanged graph, nothing, zero and the first entry must all be wrong."""
    expected, idle = proof.expected, _idle_answers(built)
    match intent.mode:
        case Mode.CHANGE:
            idle = [None, built.graph]
        case Mode.VALUE | Mode.TOP_K:
            expected, idle = as_rows(expected), _idle_rows(built)
        case Mode.ANY_OF:
            expected, idle = [as_rows(option) for option in expected], _idle_rows(built)
    for answer in (*idle, *solved.idle):
        if compare(expected, answer, proof.comparison, graph=built.graph):
            raise Rejected("trivial")
