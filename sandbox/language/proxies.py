"""Module proxies: a name, a read-only table, and nothing else. A program never holds a module."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from nl2net.errors import RefusedCode

# What to write instead of a name that is often wanted and never offered.
INSTEAD = {
    "read_csv": "the data is already loaded: use the arguments of answer()",
    "read_json": "the data is already loaded: use the arguments of answer()",
    "read_excel": "the data is already loaded: use the arguments of answer()",
    "read_graphml": "the data is already loaded: use the arguments of answer()",
    "read_gml": "the data is already loaded: use the arguments of answer()",
    "read_edgelist": "the data is already loaded: use the arguments of answer()",
    "draw": "return the data; figures are drawn outside the program",
    "draw_networkx": "return the data; figures are drawn outside the program",
    "write_gml": "return the graph; it is saved outside the program",
    "write_graphml": "return the graph; it is saved outside the program",
    "set_option": "leave it out: display settings do not change the answer",
    "ndarray": "use np.array or np.zeros",
    "matrix": "use np.array",
    "seed": "use rng = np.random.default_rng(1)",
    "rand": "use rng = np.random.default_rng(1); rng.random(n)",
    "choice": "use rng = np.random.default_rng(1); rng.choice(values)",
    "randint": "use rng = np.random.default_rng(1); rng.integers(low, high)",
    "attrgetter": "use a lambda",
    "methodcaller": "use a lambda",
    "Formatter": "use an f-string",
    "Template": "use an f-string",
    "wraps": "leave it out",
    "info": "use graph.number_of_nodes() and graph.number_of_edges()",
}


class ModuleProxy:
    """Stands for a module in a program; attributes are served by the guard, from the table."""

    __slots__ = ("proxy_name", "proxy_table")

    proxy_name: str
    proxy_table: Mapping[str, Any]

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        object.__setattr__(self, "proxy_name", name)
        object.__setattr__(self, "proxy_table", MappingProxyType(dict(table)))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise RefusedCode(f"{self.proxy_name}.{name} cannot be set", rule="write", hint="Use a variable of your own.")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<module {self.proxy_name}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RefusedCode(f"module {self.proxy_name} cannot be copied", rule="copy", hint="Copy the graph instead.")


def proxy_get(proxy: ModuleProxy, name: str) -> Any:
    """The name from the table of a proxy.

    Raises
    ------
    RefusedCode
        Naming near names, and what to write instead where that is known.
    """
    table = proxy.proxy_table
    try:
        return table[name]
    except KeyError:
        pass
    hint = INSTEAD.get(name, "")
    near = near_names(name, table)
    if near and not hint:
        hint = "Use " + " or ".join(f"{proxy.proxy_name}.{n}" for n in near) + "."
    raise RefusedCode(f"{proxy.proxy_name}.{name} is not available here", rule="module-name", hint=hint)


def near_names(name: str, names: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """Names that are spelled almost like ``name``, best first.

    Examples
    --------
    >>> near_names("page_rank", ["pagerank", "density", "path_graph"], count=1)
    ('pagerank',)
    """
    return tuple(difflib.get_close_matches(name, [n for n in names if type(n) is str], n=count, cutoff=0.7))
