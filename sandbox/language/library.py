"""The tables behind the module proxies: library functions, wrapped where they take more than data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

import networkx as nx
import numpy as np

from nl2net.errors import RefusedCode
from nl2net.sandbox.language.frames import pivot_taker
from nl2net.sandbox.language.policy import load_policy, module_names_of, resolve_module
from nl2net.sandbox.language.proxies import ModuleProxy
from nl2net.sandbox.language.remarks import merge_taker, parts_of
from nl2net.sandbox.language.state import current
from nl2net.sandbox.language.strictness import require_nodes

RANDOM_METHODS = "random"
ALGORITHMS = "networkx.algorithms."
# Costs a quarter of a second to import and is rarely used.
LATE = frozenset({"scipy.cluster.vq"})


class _NdarrayMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, np.ndarray)

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise RefusedCode("np.ndarray(...) is not available", rule="buffer", hint="Use np.array(...) or np.zeros(...).")


class Ndarray(metaclass=_NdarrayMeta):
    """Stands for ``np.ndarray`` in ``isinstance``; the real class reads memory as it likes and is never handed out."""


class Inert:
    """Stands for names of ``typing``: may be subscripted and joined, and does nothing."""

    __slots__ = ()

    def __getitem__(self, item: object) -> Inert:
        return self

    def __or__(self, other: object) -> Inert:
        return self

    __ror__ = __or__


INERT = Inert()
TYPING_NAMES = [
    "Any",
    "Callable",
    "Counter",
    "DefaultDict",
    "Deque",
    "Dict",
    "FrozenSet",
    "Generator",
    "Hashable",
    "Iterable",
    "Iterator",
    "List",
    "Literal",
    "Mapping",
    "MutableMapping",
    "NamedTuple",
    "Optional",
    "Sequence",
    "Set",
    "Tuple",
    "Type",
    "Union",
]


def _refuse_keywords(function: Callable[..., Any], refused: tuple[str, ...]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        for key in refused:
            if key in kwargs:
                raise RefusedCode(f"{key}= is not available here", rule="keyword", hint=f"Leave out {key}=.")
        return function(*args, **kwargs)

    return _named(call, function)


def _named(wrapper: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """Give a wrapper the name of its function: pandas makes column labels of it. Nothing else is copied."""
    wrapper.__name__ = wrapper.__qualname__ = str(getattr(function, "__name__", "function"))
    return wrapper


def _wrap_networkx(function: Any) -> Callable[..., Any]:
    """A networkx function without ``backend=``, and with the seed of the run where it takes one."""
    try:
        names = list(inspect.signature(getattr(function, "orig_func", function)).parameters)
    except (TypeError, ValueError):
        names = []
    position = names.index("seed") if "seed" in names else -1
    if position < 0:
        return _refuse_keywords(function, ("backend", "backend_kwargs"))

    def seeded(*args: Any, **kwargs: Any) -> Any:
        if "backend" in kwargs or "backend_kwargs" in kwargs:
            raise RefusedCode("backend= is not available here", rule="keyword", hint="Leave out backend=.")
        if "seed" not in kwargs and len(args) <= position:
            kwargs["seed"] = current().seed
        return function(*args, **kwargs)

    return _named(seeded, function)


def _set_node_attributes(G: Any, values: Any, name: Any = None) -> None:
    if isinstance(values, Mapping):
        require_nodes(G, values, "set_node_attributes")
    nx.set_node_attributes(G, values, name)


def _set_edge_attributes(G: Any, values: Any, name: Any = None) -> None:
    if isinstance(values, Mapping):
        for edge in values:
            if isinstance(edge, tuple):
                require_nodes(G, edge[:2], "set_edge_attributes")
    nx.set_edge_attributes(G, values, name)


def _induced_subgraph(G: Any, nbunch: Any) -> Any:
    from nl2net.sandbox.language.attributes import guarded_getattr

    return guarded_getattr(G, "subgraph")(nbunch)


def _default_rng(seed: Any = None) -> np.random.Generator:
    return np.random.default_rng(current().seed if seed is None else seed)


def _namedtuple(typename: str, field_names: Any, *, defaults: Any = None) -> type:
    import collections

    names = field_names.replace(",", " ").split() if isinstance(field_names, str) else [str(n) for n in field_names]
    if any(n.startswith("_") for n in (typename, *names)):
        raise RefusedCode("field names may not begin with an underscore", rule="underscore")
    made: type = collections.namedtuple(typename, names, defaults=defaults, module="program")  # type: ignore[misc]
    return made


def _nlargest(largest: bool) -> Callable[..., list[Any]]:
    import heapq

    take = heapq.nlargest if largest else heapq.nsmallest

    def call(n: int, iterable: Any, key: Any = None) -> list[Any]:
        items = list(iterable)
        result = take(n, items, key=key)
        if 0 < n < len(items):
            following = take(n + 1, items, key=key)[-1]
            last = result[-1]
            if (key(last) == key(following)) if key else (last == following):
                current().note(f"tie at the cut: an item equal to the last one of the {n} was left out")
        return result

    return _named(call, take)


@cache
def seeded_overrides() -> Mapping[tuple[str, str], Any]:
    """Replacements by (module, name)."""
    import json

    import pandas as pd

    table: dict[tuple[str, str], Any] = {
        ("networkx", "set_node_attributes"): _set_node_attributes,
        ("networkx", "set_edge_attributes"): _set_edge_attributes,
        ("networkx", "subgraph"): _induced_subgraph,
        ("networkx", "induced_subgraph"): _induced_subgraph,
        ("pandas", "pivot_table"): pivot_taker(pd.pivot_table, 4),
        ("networkx", "connected_components"): parts_of(nx.connected_components),
        ("networkx", "weakly_connected_components"): parts_of(nx.weakly_connected_components),
        ("networkx", "strongly_connected_components"): parts_of(nx.strongly_connected_components),
        ("pandas", "merge"): merge_taker(pd.merge),
        ("pandas", "crosstab"): pivot_taker(pd.crosstab, 5),
        ("numpy.random", "default_rng"): _default_rng,
        ("collections", "namedtuple"): _namedtuple,
        ("heapq", "nlargest"): _nlargest(True),
        ("heapq", "nsmallest"): _nlargest(False),
        ("json", "dumps"): _refuse_keywords(json.dumps, ("cls",)),
        ("json", "loads"): _refuse_keywords(json.loads, ("cls",)),
    }
    return table


def _late(module: str, name: str) -> Callable[..., Any]:
    """A function of a costly module, imported at its first call: the worker has loaded it by then if it is needed."""

    def call(*args: Any, **kwargs: Any) -> Any:
        function = getattr(resolve_module(module), name)
        if name.startswith("kmeans") and "seed" not in kwargs and "rng" not in kwargs:
            kwargs["seed"] = current().seed
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


@cache
def static_proxies() -> Mapping[str, ModuleProxy]:
    """Proxies that are the same in every run, by exact dotted name."""
    policy = load_policy()
    tables: dict[str, dict[str, Any]] = {}
    for owner in policy.owners("module"):
        if owner == RANDOM_METHODS:
            continue
        if owner in LATE:
            tables[owner] = {name: _late(owner, name) for name in policy.names("module", owner)}
            continue
        module = resolve_module(owner)
        tables[owner] = {}
        for name in policy.names("module", owner):
            if hasattr(module, name):
                tables[owner][name] = _served(owner, name, getattr(module, name))
    tables["numpy"]["ndarray"] = Ndarray
    tables["typing"] = dict.fromkeys(TYPING_NAMES, INERT)
    return _link({name: ModuleProxy(name, table) for name, table in tables.items()})


def _served(owner: str, name: str, value: Any) -> Any:
    override = seeded_overrides().get((owner, name))
    if override is not None:
        return override
    if owner.startswith("networkx") and not isinstance(value, type):
        override = seeded_overrides().get(("networkx", name))
        return override if override is not None else _wrap_networkx(value)
    return value


def _link(proxies: dict[str, ModuleProxy]) -> Mapping[str, ModuleProxy]:
    """Put sub-namespaces into their parents: ``nx.community``, ``nx.algorithms.community``, ``np.linalg``."""
    spaces = {n.removeprefix(ALGORITHMS): p for n, p in proxies.items() if n.startswith(ALGORITHMS)}
    functions = dict(proxies["networkx"].proxy_table)
    algorithms = ModuleProxy("networkx.algorithms", {**functions, **spaces})
    offered = {n: p for n, p in spaces.items() if n in ("community", "approximation", "bipartite", "flow")}
    offered |= {n: spaces[n] for n in ("connectivity", "isomorphism") if n in spaces}
    proxies["networkx"] = ModuleProxy("networkx", {**functions, **offered, "algorithms": algorithms})
    proxies["networkx.algorithms"] = algorithms
    for name in offered:
        proxies["networkx." + name] = spaces[name]
    inner = {"linalg": proxies["numpy.linalg"], "random": proxies["numpy.random"]}
    proxies["numpy"] = ModuleProxy("numpy", {**proxies["numpy"].proxy_table, **inner})
    cluster = ModuleProxy("scipy.cluster", {"vq": proxies["scipy.cluster.vq"]})
    proxies["scipy.cluster"] = cluster
    proxies["scipy"] = ModuleProxy("scipy", {"cluster": cluster})
    return proxies


def random_proxy() -> ModuleProxy:
    """``random`` on the generator of this run."""
    import random

    names = module_names_of(RANDOM_METHODS)
    generator = current().random
    table = {name: getattr(generator, name) for name in names if hasattr(generator, name)}
    table["Random"] = random.Random
    return ModuleProxy("random", table)


@cache
def module_names() -> frozenset[str]:
    """Exact dotted names that a program may import."""
    return frozenset(static_proxies()) | {RANDOM_METHODS}
