"""A walk over everything that the policy hands out, through our own attribute guard, meets nothing dangerous."""

from __future__ import annotations

import builtins
import collections
import datetime
import io
import ipaddress
import os
import random
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from nl2net.errors import RefusedCode
from nl2net.sandbox.language.attributes import guarded_getattr
from nl2net.sandbox.language.builtin_names import build_builtins
from nl2net.sandbox.language.library import static_proxies
from nl2net.sandbox.language.proxies import ModuleProxy
from nl2net.sandbox.language.running import build_namespace
from nl2net.sandbox.language.state import RunState, start_run
from tests.sandbox.language.programs import load_graph

DEPTH = 4
DANGEROUS_TYPES = (
    types.ModuleType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    io.IOBase,
    types.MappingProxyType,
)
DANGEROUS = {
    id(f)
    for f in (
        *(builtins.open, builtins.eval, builtins.exec, builtins.compile, builtins.setattr, builtins.getattr),
        *(builtins.globals, builtins.__import__, builtins.vars, builtins.super, os.system, os.open, os.popen),
        *(subprocess.Popen, io.open, pd.read_csv, pd.eval, np.load, np.save, np.fromfile, np.frombuffer, np.ndarray),
        *(np.lib.stride_tricks.as_strided, sys.exit, nx.read_gml, nx.write_gml, type, object.__getattribute__),
    )
}


def samples() -> Iterator[Any]:
    """Instances and results of calls that a program can make."""
    graph = load_graph()
    for made in (graph, nx.DiGraph(graph), nx.MultiGraph(graph), nx.MultiDiGraph(graph)):
        yield from (made, made.nodes, made.edges, made.degree, made.adj, made.nodes(data=True), made.edges(data=True))
        yield from (made["n0"], made.subgraph(["n0", "n1"]), made.subgraph(["n0", "n1"]).edges, made.adj["n0"])
        yield from (made.neighbors("n0"), made.degree(["n0"]), made.adjacency(), made.subgraph(["n0", "n1"]).adj)
    yield from (nx.laplacian_matrix(graph), nx.to_numpy_array(graph), nx.connected_components(graph))
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "t": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    yield from (frame, frame.a, frame.b, frame.b.str, frame.t.dt, frame.index, frame.columns, frame.groupby("b"))
    yield from (frame.groupby("b").a, frame.a.rolling(1), frame.a.expanding(), frame.set_index("t").resample("D"))
    yield from (frame.loc, frame.iloc, frame.at, frame.iat, frame.b.values, frame.a.values, frame.dtypes, frame.a.dtype)
    yield from (frame.b.astype("category").cat, frame.b.astype("category").values, frame.b.unique(), frame.a.ewm(1))
    yield from (frame.set_index(["a", "b"]).index, pd.Timestamp("2024-01-01"), pd.Timedelta("1D"), pd.Interval(0, 1))
    yield from (pd.cut(frame.a, 2).values, frame.t.values, pd.array([1, None], dtype="Int64"), frame.iloc[0])
    yield from (
        next(frame.itertuples()),
        np.float64(1),
        np.int64(1),
        np.str_("a"),
        np.arange(3),
        np.add,
        np.dtype("i8"),
    )
    yield from (
        np.random.default_rng(1),
        np.finfo(float),
        np.vectorize(abs),
        np.errstate(),
        np.datetime64("2024-01-01"),
    )
    yield from ("a", b"a", 1, 1.0, 1j, True, None, [1], (1,), {1}, {1: 2}, frozenset({1}), {1: 2}.items(), range(3))
    yield from (collections.Counter("a"), collections.deque([1]), collections.OrderedDict(), collections.ChainMap({}))
    yield from (Fraction(1), Decimal(1), datetime.datetime(2024, 1, 1), datetime.timedelta(1), datetime.UTC)
    yield from (ipaddress.ip_network("10.0.0.0/30"), ipaddress.ip_address("::1"), ipaddress.ip_interface("10.0.0.1/8"))
    yield from (re.compile("a"), re.match("a", "a"), ValueError("x"), (i for i in "a"), lambda: 0, iter([1]))
    try:
        graph.nodes["zz"]
    except KeyError as error:
        yield error


def test_nothing_dangerous_within_four_attributes() -> None:
    start_run(RunState(1, [load_graph()]))
    namespace = build_namespace()
    offered = {k: v for k, v in namespace.items() if not k.startswith("_")}
    offered |= {k: v for k, v in build_builtins().items() if not k.startswith("_")}
    classes = {id(v) for v in offered.values() if isinstance(v, type)} | {id(random.Random)}
    for proxy in static_proxies().values():
        classes |= {id(v) for v in proxy.proxy_table.values() if isinstance(v, type)}
    start = [(name, value) for name, value in offered.items()]
    start += [(type(value).__name__, value) for value in samples()]
    seen: set[int] = set()
    kept: list[Any] = []  # keeps ids unique while the walk lasts
    met = 0
    level = start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(DEPTH + 1):
            following = []
            for path, value in level:
                if id(value) in seen:
                    continue
                seen.add(id(value))
                kept.append(value)
                met += 1
                assert not isinstance(value, DANGEROUS_TYPES), path
                assert id(value) not in DANGEROUS, path
                following += [(f"{path}.{name}", member) for name, member in _members(value).items()]
                if isinstance(value, type):
                    assert id(value) in classes, path
            level = following
    assert met > 2_000


def _members(value: Any) -> dict[str, Any]:
    names = {n for n in dir(value) if n != "mapping"} | set(dir(type(value)))
    if isinstance(value, ModuleProxy):
        names |= set(value.proxy_table)
    found = {}
    for name in sorted(names):
        try:
            found[name] = guarded_getattr(value, name)
        except (RefusedCode, AttributeError, TypeError, ValueError, NotImplementedError, KeyError, OverflowError):
            continue
    return found


def test_functions_generators_and_proxies_have_no_attributes() -> None:
    values: tuple[Any, ...] = (
        (i for i in "a"),
        test_functions_generators_and_proxies_have_no_attributes,
        len,
        [].append,
        iter([]),
    )
    for value in values:
        assert _members(value) == {}
    proxy = build_namespace()["nx"]
    assert not {n for n in _members(proxy) if n.startswith("proxy")}
