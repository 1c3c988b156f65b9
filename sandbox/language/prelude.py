"""Functions that every program may call, beside the libraries: plain data in, plain data out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NoReturn

import networkx as nx
import pandas as pd

from nl2net.sandbox.language.state import current


class Signal(BaseException):
    """A program ended its run on purpose. Not an ``Exception``, so that no handler of the program swallows it."""


class CannotAnswer(Signal):
    """The program called ``cannot_answer(reason)``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AskUser(Signal):
    """The program called ``ask_user(question, choices)``."""

    def __init__(self, question: str, choices: tuple[str, ...]) -> None:
        super().__init__(question)
        self.question = question
        self.choices = choices


def cannot_answer(reason: Any = "") -> NoReturn:
    """End the run: the question cannot be answered from this graph."""
    raise CannotAnswer(str(reason)[:2000])


def ask_user(question: Any, choices: Iterable[Any] = ()) -> NoReturn:
    """End the run with a question back to the user."""
    given = [choices] if isinstance(choices, str) else list(choices)
    raise AskUser(str(question)[:2000], tuple(str(c)[:200] for c in given[:50]))


def natural_key(value: Any) -> tuple[tuple[int, int, str], ...]:
    """Sort key that orders numbers inside text by value.

    Examples
    --------
    >>> sorted(["p10", "p2", "p1"], key=natural_key)
    ['p1', 'p2', 'p10']
    >>> sorted(["10.55.11.1", "10.55.2.1"], key=natural_key)
    ['10.55.2.1', '10.55.11.1']
    """
    parts = re.split(r"(\d+)", str(value))
    return tuple((0, int(p), "") if p.isdigit() and p.isascii() else (1, 0, p.casefold()) for p in parts if p)


def natural_sort(items: Iterable[Any], reverse: bool = False) -> list[Any]:
    """The items in natural order.

    Examples
    --------
    >>> natural_sort(["eth10", "eth9"])
    ['eth9', 'eth10']
    """
    return sorted(items, key=natural_key, reverse=reverse)


KIND_KEYS = ("kind", "type", "node_type", "role")


def find(kind: Any = None, name: Any = None) -> list[Any]:
    """Nodes of the question's graph by kind and name.

    Parameters
    ----------
    kind : str, optional
        Value (or member of a list) of the node attribute ``kind``, ``type``, ``node_type`` or ``role``.
    name : str, optional
        The node itself, or its attribute ``name``; compared without case when nothing matches exactly.

    Returns
    -------
    list
        Nodes in the order of the graph.
    """
    graph: Any = next(iter(current().graphs), nx.Graph())
    wanted = [n for n, d in graph.nodes(data=True) if kind is None or _has_kind(d, kind)]
    if name is None:
        return wanted
    exact = [n for n in wanted if n == name or str(n) == str(name) or graph.nodes[n].get("name") == name]
    if exact:
        return exact
    folded = str(name).casefold()
    return [n for n in wanted if folded in (str(n).casefold(), str(graph.nodes[n].get("name", n)).casefold())]


def _has_kind(attributes: Any, kind: Any) -> bool:
    for key in KIND_KEYS:
        value = attributes.get(key)
        if value == kind or (isinstance(value, list | tuple | set) and kind in value):
            return True
    return False


def ends(edges: pd.DataFrame) -> pd.DataFrame:
    """Both ends of each undirected link: every edge twice, once from each side.

    Parameters
    ----------
    edges : DataFrame
        With columns ``source`` and ``target``.

    Returns
    -------
    DataFrame
        Columns ``node`` and ``neighbor`` and the attributes of the edge; a self-loop appears once.

    Examples
    --------
    >>> import pandas as pd
    >>> ends(pd.DataFrame({"source": ["a"], "target": ["b"], "w": [1]}))[["node", "neighbor"]].values.tolist()
    [['a', 'b'], ['b', 'a']]
    """
    there = edges.rename(columns={"source": "node", "target": "neighbor"})
    loops = edges["source"] == edges["target"]
    back = edges[~loops].rename(columns={"target": "node", "source": "neighbor"})
    return pd.concat([there, back[there.columns]], ignore_index=True)


FUNCTIONS = {
    "cannot_answer": cannot_answer,
    "ask_user": ask_user,
    "natural_key": natural_key,
    "natural_sort": natural_sort,
    "find": find,
    "ends": ends,
}
