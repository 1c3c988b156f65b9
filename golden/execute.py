"""Runs reference programs of the shipped catalogue on this machine's own interpreter.

Only texts that the catalogue made are run here. A program of a suite file or of a model belongs into the sandbox;
suites carry the expected answers, so that running a suite needs neither.
"""

from __future__ import annotations

import ast
import collections
import ipaddress
import itertools
import math
import re
import statistics
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from nl2net.golden.catalogue import fill


class _Networkx(ModuleType):
    """networkx, except that graphs which know how to find descendants are asked themselves."""

    def __init__(self) -> None:
        super().__init__("networkx", nx.__doc__)

    def __getattr__(self, name: str) -> Any:
        return getattr(nx, name)

    @staticmethod
    def descendants(graph: Any, source: Any) -> set[Any]:
        own = getattr(graph, "descendants", None)
        return set(nx.descendants(graph, source)) if own is None else own(source)


_PRELOADED = {
    "nx": _Networkx(), "pd": pd, "np": np, "math": math, "statistics": statistics, "collections": collections,
    "itertools": itertools, "ipaddress": ipaddress,
}  # fmt: skip
# A text, which may have slots inside, or a slot that stands alone for a number.
_OPERAND = re.compile(r'([A-Za-z]*)"(?:[^"\\\n]|\\.)*"|\$[A-Za-z_]\w*')
# Other kinds of texts are compiled with their operands in place; so are those with a prefix.
_UNBOUND = re.compile(r"""'|\"{3}|\$[{$]""")
_PLAIN_TEXT = re.compile(r'"[^"\\\n]*"')


@lru_cache(maxsize=4096)
def _compiled(program: str) -> CodeType:
    return compile(program, "<reference>", "exec")


@lru_cache(maxsize=1024)
def _bindable(template: str) -> tuple[CodeType, tuple[str, ...]] | None:
    """A template with a name in place of each operand, compiled once, and the texts that these names stand for."""
    operands: dict[str, str] = {}

    def name_of(match: re.Match[str]) -> str:
        return operands.setdefault(match[0], f"_operand_{len(operands)}") if "$" in match[0] else match[0]

    if _UNBOUND.search(template) or any(found[1] for found in _OPERAND.finditer(template)):
        return None
    try:
        module = compile(_OPERAND.sub(name_of, template), "<reference>", "exec")
    except SyntaxError:
        return None
    codes = [code for code in module.co_consts if isinstance(code, CodeType)]
    return (codes[0], tuple(operands)) if len(codes) == 1 and codes[0].co_name == "answer" else None


def _value(operand: str) -> Any:
    return operand[1:-1] if _PLAIN_TEXT.fullmatch(operand) else ast.literal_eval(operand)


def _answer_of(program: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = dict(_PRELOADED)
    exec(_compiled(program), namespace)  # noqa: S102  (text of the shipped catalogue, see the module docstring)
    answer: Callable[..., Any] = namespace["answer"]
    return answer


def run_networkx(program: str, graph: Any) -> Any:
    """The value of a NetworkX reference. The graph is handed over as it is: pass a copy where it might be changed."""
    return _answer_of(program)(graph)


def run_template(template: str, values: Mapping[str, str], graph: Any) -> Any:
    """The value of a NetworkX reference with its slots still open: compiled once, operands bound for each run.

    Examples
    --------
    >>> template = 'def answer(graph):\\n    return [n for n in graph if n != "$s"][:$k]\\n'
    >>> run_template(template, {"s": "a", "k": "1"}, nx.path_graph(["a", "b", "c"]))
    ['b']
    """
    found = _bindable(template)
    if found is None:
        return run_networkx(fill(template, values), graph)
    code, operands = found
    bound = {f"_operand_{i}": _value(fill(operand, values)) for i, operand in enumerate(operands)}
    return FunctionType(code, {**_PRELOADED, **bound})(graph)


def frames(graph: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Data frames of nodes, indexed by ``id``, and of edges with ``source`` and ``target``; each link once."""
    nodes = pd.DataFrame.from_dict({n: dict(data) for n, data in graph.nodes(data=True)}, orient="index")
    nodes.index.name = "id"
    for name in nodes.columns:
        # Integers with gaps stay integers.
        present = nodes[name].dropna()
        if len(present) and all(isinstance(value, int) and not isinstance(value, bool) for value in present):
            nodes[name] = nodes[name].astype("Int64")
    edges = pd.DataFrame([{"source": u, "target": v, **data} for u, v, data in graph.edges(data=True)])
    return nodes, edges


def run_pandas(program: str, graph: Any) -> Any:
    """The value of a pandas reference."""
    return _answer_of(program)(*frames(graph))


def run_sql(query: str, graph: Any) -> list[tuple[Any, ...]]:
    """The rows of an SQL reference over the tables ``nodes`` and ``edges``."""
    import duckdb

    nodes, edges = frames(graph)
    with duckdb.connect(config={"enable_external_access": "true", "python_enable_replacements": "false"}) as connection:
        connection.register("nodes", nodes.reset_index())
        connection.register("edges", edges)
        rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return rows
