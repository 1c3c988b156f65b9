"""How columns of values become text cells, and what has to be declared so that they come back the same."""

from __future__ import annotations

import json
from typing import Any

from nl2net.graphs.coerce import coerce_texts
from nl2net.graphs.columns import MISSING


def column_type(values: list[Any]) -> str:
    """The declaration of a column: ``integer``, ``number``, ``boolean``, ``text`` or ``json``.

    ``json`` is for nested and mixed values, and for numbers that a table would change.
    """
    there = [value for value in values if value is not MISSING]
    types = set(map(type, there))
    if types == {bool}:
        return "boolean"
    if types == {int}:
        return "integer" if max(map(abs, there)) < 10**18 else "json"
    if types == {float}:
        return "number" if all(value - value == 0 for value in there) else "json"
    if types == {str}:
        return "text"
    return "json"


def cell(value: Any, declared: str) -> str:
    """A value as the text of a cell; missing is empty."""
    if value is MISSING:
        return ""
    if declared == "json":
        return json.dumps(value, sort_keys=True)
    if declared == "boolean":
        return "true" if value else "false"
    return repr(value) if declared == "number" else str(value)


def survives(values: list[Any], declared: str) -> bool:
    """Whether a column of cells reads back as it is without a declaration."""
    there = [value for value in values if value is not MISSING]
    if declared == "text":
        return coerce_texts(there) is None
    if declared in ("integer", "number"):
        texts = [cell(value, declared) for value in there]
        numbers = coerce_texts(texts)
        return numbers is not None and list(map(type, numbers)) == list(map(type, there))
    return False


def metadata(graph: Any) -> dict[str, Any]:
    """Tables and units of a graph."""
    return {name: graph.graph[name] for name in ("tables", "units") if graph.graph.get(name)}
