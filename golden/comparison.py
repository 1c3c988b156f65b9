"""The one comparison of answers: used by agreement between samples, golden runs and benchmarks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nl2net.golden.case import Comparison, Mode
from nl2net.golden.cells import EXACT, Tolerance, cells_equal, clean, is_number
from nl2net.golden.graph_comparison import (
    changes_from_json,
    difference,
    differences_in_words,
    graph_from_json,
    same_changes,
)
from nl2net.golden.predicates import PREDICATES, classes_of
from nl2net.golden.rows import Row, Rows, alignments, as_rows, free_ends, rows_equal, same_rows, signature, text_first
from nl2net.model import Changes, ResultType, TypedResult


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, and if not, why. The reason may hold data values: it stays on this machine."""

    equal: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.equal


_YES = Verdict(True)
PLAIN = Comparison()


def is_graph(value: object) -> bool:
    """Whether a value is a networkx graph."""
    return hasattr(value, "is_directed") and hasattr(value, "adj")


def open_result(value: Any) -> Any:
    """What a `TypedResult` holds, as a plain value or a graph; any other value as it is."""
    if not isinstance(value, TypedResult):
        return value
    if value.type is ResultType.GRAPH and isinstance(value.data, Mapping):
        return graph_from_json(value.data)
    if value.type is ResultType.FIGURE and isinstance(value.data, Mapping) and "table" in value.data:
        return value.data["table"]
    return value.data


def compare(
    expected: Any,
    given: Any,
    comparison: Comparison = PLAIN,
    *,
    graph: Any = None,
    changes: Changes | None = None,
) -> Verdict:
    """Judge an answer against the key.

    Parameters
    ----------
    expected : object
        The key: a value in JSON form, or for changes ``Changes.to_json``.
    given : TypedResult or any Python value
        The answer.
    comparison : Comparison
        How to compare.
    graph : networkx graph, optional
        The original graph; needed for changes and predicates, and makes display names acceptable for node ids.
    changes : Changes, optional
        The difference that the answer makes, where it is known already.

    Examples
    --------
    >>> bool(compare(["a", "b"], {"b", "a"}))
    True
    >>> compare([["a", 3]], {"a": 4}).reason
    'the rows differ: 1 of 1 not found, first [\\'a\\', 3]'
    """
    truncated = isinstance(given, TypedResult) and given.truncated
    if truncated:
        return Verdict(False, "the answer is truncated")
    given = open_result(given)
    if comparison.mode is Mode.CHANGE:
        return _compare_change(expected, given, comparison, graph=graph, changes=changes)
    if is_graph(given) and comparison.mode is not Mode.PREDICATE:
        return _compare_graphs(open_result(expected), given)
    if comparison.mode is Mode.PREDICATE:
        fault = PREDICATES[comparison.predicate](given, graph, comparison.parameters)
        return Verdict(not fault, fault)
    if comparison.mode is Mode.PARTITION:
        return _compare_partition(expected, given)
    if comparison.mode is Mode.ANY_OF:
        return _compare_any(expected, given, comparison, graph=graph)
    return _with_names(open_result(expected), given, comparison, graph=graph)


def equal(left: Any, right: Any, *, ordered: bool = False) -> bool:
    """Whether two answers to one question agree; order counts only if ``ordered``."""
    left, right = open_result(left), open_result(right)
    if is_graph(left) != is_graph(right):
        return False
    return bool(compare(left, right, Comparison(ordered=ordered)))


def group_key(value: Any, *, ordered: bool = False) -> str:
    """A text that is the same for answers which agree; numbers are rounded to six digits.

    Examples
    --------
    >>> group_key({"a": 1.0}) == group_key([("a", 1)])
    True
    """
    value = open_result(value)
    if is_graph(value):
        rows = [[str(n), sorted(map(str, data.items()))] for n, data in value.nodes(data=True)]
        ends = [[u, v] if value.is_directed() else sorted([u, v]) for u, v in value.edges()]
        links = [
            [*pair, sorted(map(str, d.items()))] for pair, (_, _, d) in zip(ends, value.edges(data=True), strict=True)
        ]
        return json.dumps(["graph", sorted(rows), sorted(links, key=str)])
    rows_ = [[_rounded(cell) for cell in row] for row in text_first(_level(as_rows(value)).rows)]
    return json.dumps(rows_ if ordered else sorted(rows_, key=json.dumps))


def _level(rows: Rows) -> Rows:
    """One row of several cells and several rows of one cell are the same list."""
    if len(rows.rows) == 1 and len(rows.rows[0]) > 1:
        return Rows(tuple((cell,) for cell in rows.rows[0]))
    return rows if rows.width >= 0 else Rows(tuple((list(row),) for row in rows.rows))


def _rounded(cell: Any) -> Any:
    if isinstance(cell, list):
        return sorted((_rounded(item) for item in cell), key=json.dumps)
    if isinstance(cell, dict):
        return {key: _rounded(item) for key, item in sorted(cell.items())}
    return float(f"{cell:.6g}") if is_number(cell) else cell


def _compare_graphs(expected: Any, given: Any) -> Verdict:
    if not is_graph(expected):
        return Verdict(False, "a graph was given, another type expected")
    words = differences_in_words(expected, given)
    return Verdict(not words, "; ".join(words))


def _compare_change(
    expected: Any, given: Any, comparison: Comparison, *, graph: Any, changes: Changes | None
) -> Verdict:
    if changes is None:
        if not is_graph(given):
            return Verdict(False, "the changed graph was asked for, another type was given")
        if given.is_directed() != graph.is_directed():
            return Verdict(False, "the direction of the graph was changed")
        changes = difference(graph, given)
    wanted = expected if isinstance(expected, Changes) else changes_from_json(expected)
    fault = same_changes(wanted, changes, directed=graph.is_directed(), tolerance=_tolerance(comparison))
    return Verdict(not fault, fault)


def _compare_partition(expected: Any, given: Any) -> Verdict:
    wanted = classes_of(expected) or []
    found = classes_of(given, frozenset().union(*wanted))
    if found is None:
        return Verdict(False, "not an assignment of items to classes")
    return Verdict(wanted == found, "" if wanted == found else f"{len(found)} classes differ from the key's")


def _compare_any(expected: Any, given: Any, comparison: Comparison, *, graph: Any) -> Verdict:
    reasons = []
    for option in expected:
        verdict = _with_names(option, given, comparison, graph=graph)
        if verdict:
            return verdict
        reasons.append(verdict.reason)
    return Verdict(False, reasons[0] if reasons else "no answer is right")


def _with_names(expected: Any, given: Any, comparison: Comparison, *, graph: Any) -> Verdict:
    """Compare with node ids; if that fails, with their display names, where the answer holds no id at all."""
    wanted, found = as_rows(expected), as_rows(given)
    verdict = _compare_rows(wanted, found, comparison)
    if verdict or graph is None:
        return verdict
    if any(cell in graph for row in found.rows for cell in row if isinstance(cell, str)):
        return verdict
    renamed = tuple(tuple(_name(cell, graph) for cell in row) for row in wanted.rows)
    if renamed == wanted.rows:
        return verdict
    keys = {json.dumps([_name(c, graph) for c in json.loads(item)]): key for item, key in comparison.keys.items()}
    if len(keys) < len(comparison.keys):
        return verdict
    return _compare_rows(Rows(renamed), found, replace(comparison, keys=keys)) or verdict


def _name(cell: Any, graph: Any) -> Any:
    """The display name of a node id, anything else as it is: looked up cell by cell, for the graph may be large."""
    if not isinstance(cell, str) or cell not in graph:
        return cell
    name = graph.nodes[cell].get("name")
    return cell if name is None else name


def _tolerance(comparison: Comparison) -> Tolerance:
    if (comparison.relative, comparison.absolute) == (EXACT.relative, EXACT.absolute):
        return EXACT
    return Tolerance(comparison.relative, comparison.absolute)


def _compare_rows(expected: Rows, given: Rows, comparison: Comparison) -> Verdict:
    tolerance = _tolerance(comparison)
    if not expected.rows:
        empty = not given.rows or given.rows == ((None,),)
        return Verdict(empty, "" if empty else "nothing was expected")
    if comparison.mode is not Mode.TOP_K and len(given.rows) != len(expected.rows) and len(given.rows) != 1:
        return Verdict(False, f"{len(given.rows)} rows, not {len(expected.rows)}")
    reason = f"rows of {given.width} cells, not {expected.width}"
    wanted = _ends(expected.rows, comparison)
    for rows in alignments(expected, given, extra=comparison.extra_columns):
        rows = _ends(rows, comparison)
        reason = (
            _top_k_fault(wanted, rows, comparison, tolerance)
            if comparison.mode is Mode.TOP_K
            else _rows_fault(wanted, rows, comparison, tolerance)
        )
        if not reason:
            return _YES
    return Verdict(False, reason)


def _ends(rows: tuple[Row, ...], comparison: Comparison) -> tuple[Row, ...]:
    return free_ends(rows) if comparison.parameters.get("free_ends") else rows


def _rows_fault(wanted: Sequence[Row], rows: Sequence[Row], comparison: Comparison, tolerance: Tolerance) -> str:
    if len(wanted) != len(rows):
        return f"{len(rows)} rows, not {len(wanted)}"
    if not same_rows(wanted, rows, tolerance):
        alike = defaultdict[tuple[Any, ...], list[Row]](list)
        for row in rows:
            alike[signature(row)].append(row)
        lost = [row for row in wanted if not any(rows_equal(row, other, tolerance) for other in alike[signature(row)])]
        first = list(lost[0]) if lost else "a repetition"
        return f"the rows differ: {len(lost)} of {len(wanted)} not found, first {first}"
    if comparison.ordered:
        column = comparison.key_column
        for a, b in zip(wanted, rows, strict=True):
            left, right = (a, b) if column is None else ((a[column],), (b[column],))
            if not same_rows([left], [right], tolerance):
                return "the order differs"
    return ""


def _top_k_fault(wanted: Sequence[Row], rows: Sequence[Row], comparison: Comparison, tolerance: Tolerance) -> str:
    """Right length, no repetition, items from the key, each with its value, in order up to ties."""
    if len(rows) != len(wanted):
        return f"{len(rows)} rows, not {len(wanted)}"
    column = comparison.key_column
    seen = set()
    for a, b in zip(wanted, rows, strict=True):
        item = json.dumps([clean(cell) for i, cell in enumerate(b) if i != column])
        if item not in comparison.keys or item in seen:
            return f"{item} is not among the first or is repeated"
        seen.add(item)
        target = a[column] if column is not None else comparison.parameters["order_keys"][len(seen) - 1]
        if not cells_equal(comparison.keys[item], target, tolerance):
            return f"{item} is out of order"
        if column is not None and not cells_equal(comparison.keys[item], b[column], tolerance):
            return f"{item} has the value {b[column]}, not {comparison.keys[item]}"
    return ""
