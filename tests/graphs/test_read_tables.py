"""Flow tables, edge lists, and readers of other packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from nl2net.errors import DataError, UserError
from nl2net.graphs import LoadedGraph, ReadOptions, load_graph

HEAD = "start_time,end_time,src_ip,src_port,dst_ip,dst_port,protocol,packets,bytes,sampling_rate,action\n"
FLOWS = HEAD + (
    "2026-01-01T00:00:00Z,2026-01-01T00:00:09Z,10.0.0.1,40000,10.0.0.2,443,tcp,10,1000,1,ACCEPT\n"
    "2026-01-01T00:00:00Z,2026-01-01T00:00:09Z,10.0.0.1,40000,10.0.0.2,443,tcp,10,1000,1,ACCEPT\n"  # other exporter
    "2026-01-01T00:01:00Z,2026-01-01T00:02:00Z,10.0.0.1,40001,10.0.0.2,443,tcp,1,100,50,ACCEPT\n"
    "2026-01-01T00:00:01Z,2026-01-01T00:00:08Z,10.0.0.2,443,10.0.0.1,40000,tcp,20,9000,1,ACCEPT\n"
    "2026-01-01T00:00:30Z,2026-01-01T00:00:30Z,10.0.0.1,40002,10.0.0.2,22,tcp,1,60,1,REJECT\n"
)


def _load(folder: Path, name: str, content: str, **options: Any) -> LoadedGraph:
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return load_graph(file, ReadOptions(**options))


def test_flows_are_summed_once_with_their_sampling(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "f.csv", FLOWS)
    graph = loaded.graph
    assert type(graph) is nx.DiGraph
    there = graph.edges["10.0.0.1", "10.0.0.2"]
    assert (there["bytes"], there["packets"], there["flows"]) == (1000 + 100 * 50, 10 + 50, 2)
    assert there["rejected_flows"] == 1
    assert (there["first_time"], there["last_time"]) == ("2026-01-01T00:00:00+00:00", "2026-01-01T00:02:00+00:00")
    assert graph.edges["10.0.0.2", "10.0.0.1"]["bytes"] == 9000
    assert {finding.rule for finding in loaded.report} >= {"duplicate-flow", "sampling"}
    assert loaded.provenance["skipped"] == {"flow logged twice": 1}
    roles = {a.name: (a.role, a.unit) for a in loaded.schema.attributes_of("edge")}
    assert roles["bytes"] == ("traffic", "byte")


def test_flows_by_port(tmp_path: Path) -> None:
    graph = _load(tmp_path, "f.csv", FLOWS, by_port=True).graph
    assert {(u, v, d["port"]) for u, v, d in graph.edges(data=True)} == {
        ("10.0.0.1", "10.0.0.2", 443), ("10.0.0.1", "10.0.0.2", 22), ("10.0.0.2", "10.0.0.1", 40000),
    }  # fmt: skip
    assert type(graph) is nx.MultiDiGraph


def test_only_rejected_flows_have_no_bytes(tmp_path: Path) -> None:
    graph = _load(tmp_path, "f.csv", HEAD + FLOWS.splitlines()[-1] + "\n").graph
    assert graph.edges["10.0.0.1", "10.0.0.2"] == {"rejected_flows": 1}


def test_bits_and_bad_numbers(tmp_path: Path) -> None:
    head = "src_ip,dst_ip,dst_port,bits\n"
    assert _load(tmp_path, "f.csv", head + "a,b,1,800\n").graph.edges["a", "b"]["bytes"] == 100
    with pytest.raises(DataError, match="line 3"):
        _load(tmp_path, "f.csv", head + "a,b,1,800\na,b,1,many\n")


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("source;target;bw\na;b;1,5\nb;c;2\n", {("a", "b", 1.5), ("b", "c", 2.0)}),
        ("src\tdst\tbw\na\tb\t7\nNA\tnull\t8\n", {("a", "b", 7), ("NA", "null", 8)}),
        ("a b 3\nb c 4\n", {("a", "b", 3), ("b", "c", 4)}),
        ("\ufefffrom|to|bw\nZürich|Genève|1\n", {("Zürich", "Genève", 1)}),
        (",source,target,bw\n0,a,b,1\n1,b,c,2\n", {("a", "b", 1), ("b", "c", 2)}),
        ("source,target,bw\n007,7,1\n", {("007", "7", 1)}),
    ],
)
def test_dialects_of_edge_lists(text: str, edges: set[tuple[str, str, float]], tmp_path: Path) -> None:
    graph = _load(tmp_path, "links.csv", text).graph
    found = {(u, v, data.get("bw", data.get("weight"))) for u, v, data in graph.edges(data=True)}
    assert found == edges


def test_leading_zeros_stay_text_and_gaps_are_no_values(tmp_path: Path) -> None:
    text = "source,target,code,bw\na,b,007,\nb,c,12,5\nc,d,9,\n"
    edges = _load(tmp_path, "links.csv", text).graph.edges
    assert [edges[pair].get("code") for pair in (("a", "b"), ("b", "c"))] == ["007", "12"]
    assert "bw" not in edges["a", "b"] and edges["b", "c"]["bw"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target,bw\na,b\n", "2 cells in row 2"),
        ("source,target,bw\na,b,1\nb,c,2,9\n", "4 cells in row 3"),
        ("source,target\na,\n", "an end is missing"),
        ("source,target,bw,bw\na,b,1,2\n", "occurs twice"),
    ],
)
def test_broken_rows_are_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        _load(tmp_path, "links.csv", text)


def test_node_and_edge_files_with_an_end_that_has_no_row(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,site\nr1,here\nr2,there\n")
    (tmp_path / "edges.csv").write_text("source,target\nr1,r2\nr2,r9\n")
    with pytest.raises(DataError, match="r9"):
        load_graph(tmp_path)
    loaded = load_graph(tmp_path / "nodes.csv", ReadOptions(allow_dangling=True))
    assert dict(loaded.graph.nodes["r9"]) == {}
    assert loaded.schema.attribute("node", "site").count == 2  # type: ignore[union-attr]
    assert any(finding.rule == "dangling" for finding in loaded.report)


@pytest.mark.parametrize("directed", [False, True])
def test_the_order_of_links_is_that_of_networkx(directed: bool, tmp_path: Path) -> None:
    pairs = [("c", "a"), ("a", "b"), ("b", "b"), ("d", "a"), ("b", "c"), ("a", "d")][: 6 if directed else 5]
    body = [{"source": u, "target": v, "n": number} for number, (u, v) in enumerate(pairs)]
    nodes = [{"id": name} for name in "abcd"]
    loaded = _load(tmp_path, "g.json", json.dumps({"directed": directed, "nodes": nodes, "links": body})).graph
    plain: Any = nx.DiGraph() if directed else nx.Graph()
    plain.add_nodes_from("abcd")
    plain.add_edges_from((u, v, {"n": number}) for number, (u, v) in enumerate(pairs))
    assert type(loaded) is type(plain)
    assert list(loaded.edges(data=True)) == list(plain.edges(data=True))
    assert {node: list(loaded.adj[node]) for node in loaded} == {node: list(plain.adj[node]) for node in plain}
    if directed:
        assert {node: list(loaded.pred[node]) for node in loaded} == {node: list(plain.pred[node]) for node in plain}
    loaded.remove_node("b")
    plain.remove_node("b")
    assert nx.utils.graphs_equal(loaded, plain)


def test_merge_folds_and_refuses_text(tmp_path: Path) -> None:
    text = "source,target,bw,note\na,b,1,x\nb,a,2,x\na,c,4,y\n"
    graph = _load(tmp_path, "l.csv", text, merge="sum:bw").graph
    assert type(graph) is nx.Graph
    assert graph.edges["a", "b"] == {"bw": 3, "note": "x"}
    with pytest.raises(DataError, match="needs numbers"):
        _load(tmp_path, "l.csv", text, merge="sum:note")
    with pytest.raises(UserError, match="not understood"):
        _load(tmp_path, "l.csv", text, merge="average:bw")


def test_the_report_is_of_the_graph_as_it_was_loaded(tmp_path: Path) -> None:
    text = "source,target,bw\na,b,1\nb,c,2\n"
    untouched, changed = (_load(tmp_path, "l.csv", text) for _ in range(2))
    changed.graph.add_edge("a", "z", bw=9)
    changed.graph.edges["a", "b"]["bw"] = 7
    assert changed.fingerprint == untouched.fingerprint
    assert changed.report == untouched.report


def test_a_reader_of_another_package(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "netplug-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: netplug\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[nl2net.loaders]\npairs = netplug:READERS\n")
    (site / "netplug.py").write_text(
        "from nl2net.graphs import Reader\n"
        "from nl2net.graphs.draft import Draft\n"
        "def read(source, options):\n"
        "    draft = Draft(implicit_nodes=True)\n"
        "    for line in source.text.splitlines()[1:]:\n"
        "        draft.add_edge(*line.split('~'))\n"
        "    return draft\n"
        "READERS = (Reader('pairs', lambda s: s.head_text.startswith('!pairs'), read, 'pairs'),)\n"
    )
    (tmp_path / "g.pairs").write_text("!pairs\nr1~r2\nr2~r3\n")
    program = (
        "from nl2net.graphs import load_graph\n"
        f"loaded = load_graph({str(tmp_path / 'g.pairs')!r})\n"
        "print(loaded.provenance['format'], sorted(loaded.graph), loaded.graph.number_of_edges())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "pairs ['r1', 'r2', 'r3'] 2"


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_memory_of_a_large_valid_file(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"large{suffix}"
    if suffix == ".json":
        nodes = [{"id": n, "name": f"router {n}"} for n in range(10_000)]
        links = [{"source": n, "target": (7 * n + 1) % 10_000, "bw": n * 1000} for n in range(20_000)]
        file.write_text(
            json.dumps({"nodes": nodes, "links": [{**link, "source": link["source"] % 10_000} for link in links]})
        )
    else:
        rows = "".join(f'<node id="{n}"><data key="d">router {n}</data></node>' for n in range(10_000))
        rows += "".join(
            f'<edge source="{n % 10_000}" target="{(7 * n + 1) % 10_000}"><data key="b">{n}</data></edge>'
            for n in range(20_000)
        )
        file.write_text(
            '<graphml><key id="d" for="node" attr.name="name" attr.type="string"/>'
            '<key id="b" for="edge" attr.name="bw" attr.type="long"/>'
            f'<graph edgedefault="undirected">{rows}</graph></graphml>'
        )
    load_graph("abilene")  # the libraries are not part of the measurement
    tracemalloc.start()
    loaded = load_graph(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(loaded.graph), loaded.graph.number_of_edges()) == (10_000, 20_000)
    assert peak < 30 * file.stat().st_size
