"""The channel: what an honest child sends comes back equal; what a hostile one sends is refused with one error."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import ipaddress
import json
import math
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.model import ResultType
from nl2net.sandbox.channel.classify import classify
from nl2net.sandbox.channel.decode import BadFrame, Decoder, parse_object
from nl2net.sandbox.channel.encode import CannotEncode, Encoder, TooLarge
from nl2net.sandbox.channel.values import GraphValue, TableValue, ViewValue
from nl2net.sandbox.outcome import Limits
from nl2net.sandbox.process import wire

LIMITS = Limits(items=100, text_chars=1000)


def through(value: Any, limits: Limits = LIMITS) -> Any:
    """A value on its way from a child to the parent."""
    encoder = Encoder(limits)
    body = json.dumps({"value": encoder.encode_answer(value)}, allow_nan=False).encode()
    return Decoder(limits).decode(
        parse_object(body, {"value": (dict, list, str, int, float, bool, type(None))})["value"]
    )


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -(2**53), 2**53 + 1, -(10**300), 1.5, -0.0, math.inf, -math.inf, "text", "ü\n", [], [1, [2]],
        (1, 2), {"a": 1}, {"$a": 1}, {1: 2}, {("a", "b"): 3}, {None: 1}, complex(1, 2),
        dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4), dt.time(1, 2), dt.timedelta(seconds=1.5),
        ipaddress.ip_address("10.0.0.1"), ipaddress.ip_network("2001:db8::/32"), ipaddress.ip_interface("10.0.0.1/8"),
        decimal.Decimal("1.10"), fractions.Fraction(1, 3),
    ],
)  # fmt: skip
def test_values_come_back_equal(value: Any) -> None:
    found = through(value)
    assert found == value and type(found) is type(value)


def test_kinds_that_change_their_class() -> None:
    assert math.isnan(through(float("nan")))
    assert through({3, 1}) == frozenset({1, 3})
    assert through(np.int64(5)) == 5 and type(through(np.int64(5))) is int
    assert through(np.float32(0.5)) == 0.5 and through(np.bool_(True)) is True
    assert through(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert through(Counter("aab")) == {"a": 2, "b": 1}
    assert through(pd.Timestamp("2024-01-02")) == dt.datetime(2024, 1, 2)
    assert through(pd.Index(["a", "b"])) == ["a", "b"]
    assert through([pd.NA, pd.NaT, np.datetime64("NaT")]) == [None, None, None]
    assert through("lone \ud800") == "lone ?"
    assert through({"a": 1}.keys()) == ViewValue(("a",))


def test_frames_and_graphs() -> None:
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.5, float("inf")]}, index=["x", "y"])
    table = through(frame)
    assert isinstance(table, TableValue)
    assert (table.columns, table.index, table.rows) == (("a", "b"), ("x", "y"), ((1, 0.5), (None, math.inf)))
    graph: Any = nx.MultiDiGraph()
    graph.add_edge("a", "b", key="k", w=1)
    back = through(graph)
    assert isinstance(back, GraphValue)
    assert nx.utils.graphs_equal(back.to_networkx(), graph)
    assert through(nx.path_graph(3).degree) == ViewValue(((0, 1), (1, 2), (2, 1)))
    assert through(nx.path_graph(2).adj) == {0: {1: {}}, 1: {0: {}}}


class Lying(dict):  # type: ignore[type-arg]
    """A subclass could show one thing to the encoder and another to the parent."""


@pytest.mark.parametrize("value", [object(), Lying(), print, iter([]), b"x", type, len, nx, ValueError("x")])
def test_other_types_are_refused_by_name(value: Any) -> None:
    with pytest.raises(CannotEncode) as caught:
        through([value])
    assert str(caught.value) == type(value).__name__


def test_tables_and_lists_are_cut_and_the_rest_is_too_large() -> None:
    encoder = Encoder(LIMITS)
    assert len(encoder.encode_answer(list(range(500)))) == 100 and encoder.rows_total == 500
    cut = classify(through(list(range(500))), rows_total=500)
    assert (cut.rows_total, cut.truncated, len(cut.data)) == (500, True, 100)
    for value in ("x" * 1001, 1 << 5000, [[1] * 3000], nx.complete_graph(40)):
        with pytest.raises(TooLarge):
            through(value)
    nested: list[Any] = []
    for _ in range(20):
        nested = [nested]
    with pytest.raises(TooLarge):
        through(nested)


@pytest.mark.parametrize(
    ("value", "kind", "data"),
    [
        (3, ResultType.NUMBER, 3),
        (True, ResultType.TEXT, True),
        (None, ResultType.TEXT, None),
        ({"b10", "b9"}, ResultType.LIST, ["b9", "b10"]),
        ((1, 2), ResultType.LIST, [1, 2]),
        ([(1, 2), (3, 4)], ResultType.TABLE, {"columns": ["column 1", "column 2"], "rows": [[1, 2], [3, 4]]}),
        (
            {"a": {"x": 1}, "b": {"y": 2}},
            ResultType.TABLE,
            {"columns": ["key", "x", "y"], "rows": [["a", 1, None], ["b", None, 2]]},
        ),
        ([{"x": 1}], ResultType.TABLE, {"columns": ["x"], "rows": [[1]]}),
        (pd.Series({"a": 1}, name="n"), ResultType.TABLE, {"columns": ["index", "n"], "rows": [["a", 1]]}),
        (pd.DataFrame({"a": [1]}), ResultType.TABLE, {"columns": ["a"], "rows": [[1]]}),
        (
            {"figure": "bar", "table": {"a": 1}},
            ResultType.FIGURE,
            {"kind": "bar", "table": {"columns": ["key", "value"], "rows": [["a", 1]]}},
        ),
    ],
)
def test_classification(value: Any, kind: ResultType, data: Any) -> None:
    result = classify(through(value))
    assert (result.type, result.data) == (kind, data)
    json.dumps(result.data, allow_nan=False)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.integers(), inner, max_size=4
        )
    ),
    max_leaves=15,
)


@given(PLAIN)
@settings(max_examples=150, deadline=None)
def test_round_trip(value: Any) -> None:
    assert through(value, Limits(depth=40)) == value


TAGS = ["$int", "$float", "$tuple", "$set", "$view", "$array", "$index", "$pairs", "$datetime", "$date", "$timedelta"]
TAGS += ["$address", "$decimal", "$fraction", "$table", "$graph", "$complex", "$nothing", "kind", "columns", "nodes"]
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TAGS), inner, max_size=3),
    max_leaves=20,
)


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_hostile_values_are_decoded_or_refused(value: Any) -> None:
    """Nothing but a value or the one error comes out, and the value can be shown."""
    try:
        found = Decoder(LIMITS).decode(value)
    except BadFrame:
        return
    json.dumps(classify(found).data, allow_nan=False)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_bytes_are_parsed_or_refused(body: bytes) -> None:
    frames = wire.split_frames(body, most=2)
    assert len(frames) <= 2 and sum(map(len, frames)) <= len(body)
    with pytest.raises(BadFrame):
        parse_object(body, {"never": int})


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": 1, "a": 2}', b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a": 1, "b": 2}', b"[]", b"\xff\xfe", b"", b'{"a": true}',  # noqa: E501
        b'{"a": "1"}', b"{" * 13_000_000,
    ],
)  # fmt: skip
def test_known_bad_frames(body: bytes) -> None:
    with pytest.raises(BadFrame) as caught:
        parse_object(body, {"a": int})
    assert len(str(caught.value)) < 60
