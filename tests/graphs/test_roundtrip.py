"""What is written reads back to the same fingerprint, in every format."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nl2net.graphs import fingerprint_of, load_graph, sample_names, write_graph

# XML cannot hold control characters; everything else that a label may hold is tried.
TEXT = st.text(
    st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
    min_size=1,
    max_size=8,
)
TRICKY = st.sampled_from(
    ["007", "5", "1e3", "NA", "null", "true", "a:b", 'q"q', "\\", "x,y", " lead", "#c", "n", "-1", "[1]"]
)
SCALAR = st.one_of(
    TEXT, TRICKY, st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False)
)
VALUE = st.one_of(SCALAR, st.lists(SCALAR, max_size=2), st.dictionaries(TEXT, st.integers(0, 9), max_size=2))
NAMES = st.sampled_from(["speed", "name", "kind", "label", "x y", "Größe"])
ATTRIBUTES = st.dictionaries(NAMES, VALUE, max_size=3)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """A graph of any class in normal form, ports included."""
    multi, directed = draw(st.booleans()), draw(st.booleans())
    graph: Any = nx.MultiDiGraph() if directed else nx.MultiGraph()
    nodes = draw(st.lists(st.one_of(TEXT, TRICKY), min_size=1, max_size=5, unique=True))
    for node in nodes:
        graph.add_node(node, **draw(ATTRIBUTES))
    ends = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))
    for u, v in draw(st.lists(ends, max_size=6, unique=not multi)):
        if not multi and (graph.has_edge(u, v) or graph.has_edge(v, u)):
            continue
        ports = draw(st.dictionaries(st.sampled_from([u, v]), TEXT, max_size=2)) if u != v else {}
        graph.add_edge(u, v, **draw(ATTRIBUTES), **({"ports": ports} if ports else {}))
    return graph


@pytest.mark.parametrize("suffix", [".json", ".graphml", ".csv", ".parquet", ".dot"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(raw=graphs())
def test_write_and_read_keep_the_fingerprint(suffix: str, raw: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first.json"
        write_graph(raw, first)
        loaded = load_graph(first)
        files = write_graph(loaded.graph, Path(folder) / f"second{suffix}")
        again = load_graph(files[0])
        assert again.fingerprint == loaded.fingerprint
        assert type(again.graph) is type(loaded.graph)


@pytest.mark.parametrize("suffix", [".json", ".graphml", ".csv", ".parquet", ".dot"])
@pytest.mark.parametrize("name", sample_names())
def test_samples_survive_every_format(name: str, suffix: str, tmp_path: Path) -> None:
    loaded = load_graph(name)
    again = load_graph(write_graph(loaded.graph, tmp_path / f"copy{suffix}")[0])
    assert again.fingerprint == loaded.fingerprint == fingerprint_of(again.graph)
    assert again.graph.graph.get("units", {}) == loaded.graph.graph.get("units", {})
