"""Broken and hostile files give a `DataError` in bounded time and memory, never a traceback or a silent empty graph."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nl2net.config import Settings
from nl2net.errors import DataError, Nl2netError
from nl2net.graphs import ReadOptions, all_readers, load_graph, write_graph

SEEDS: dict[str, bytes] = {
    "graphml": (Path(__file__).parents[2] / "graphs/samples/zoo_abilene.graphml").read_bytes()[:20_000],
    "gml": (Path(__file__).parents[2] / "graphs/samples/zoo_airtel_dup_edges.gml").read_bytes(),
    "node-link": (Path(__file__).parents[2] / "graphs/samples/nemoeval_comm_node10.json").read_bytes(),
    "malt": b'entity { id { kind: EK_PORT name: "p" } port_attr { x: 1 } } relationship { kind: RK_CONTAINS '
    b'a { kind: EK_PORT name: "p" } z { kind: EK_PORT name: "p" } }',
    "rfc8345": (Path(__file__).parents[2] / "graphs/samples/rfc8345_netoviz_l2.json").read_bytes(),
    "containerlab": (Path(__file__).parents[2] / "graphs/samples/containerlab_clos02.clab.yml").read_bytes(),
    "netlab": (Path(__file__).parents[2] / "graphs/samples/netlab_addressing_lan.yml").read_bytes(),
    "neighbours": (Path(__file__).parents[2] / "graphs/samples/ntc_cisco_ios_show_cdp_neighbors.raw").read_bytes(),
    "netbox": b'[{"model": "dcim.device", "pk": 1, "fields": {"name": "d1", "site": 2}}]',
    "netbox-rest": b'{"results": [{"id": 1, "a_terminations": [{"object_type": "dcim.interface", "object_id": 1, '
    b'"object": {"id": 1, "name": "e0", "device": {"id": 1, "name": "d1"}}}], "b_terminations": [{"object_type": '
    b'"dcim.interface", "object_id": 2, "object": {"id": 2, "name": "e0", "device": {"id": 2, "name": "d2"}}}]}]}',
    "netbox-csv": b"side_a_device,side_a_type,side_b_device\nd1,dcim.interface,d2\nd1,dcim.powerport,p1\n",
    "napalm": b'{"eth0": [{"hostname": "r2", "port": "eth1"}]}',
    "batfish": b'{"edges": [{"node1": {"hostname": "a", "interfaceName": "e0"}, "node2": {"hostname": "b", '
    b'"interfaceName": "e1"}}]}',
    "batfish-frame": b"Interface,Remote_Interface\na[e0],b[e1]\nb[e1],a[e0]\n",
    "dot": b'digraph g { node [k=1]; "a":"p1" -> {b c} [w=2]; c -> d -> e; subgraph s { f } }',
    "sndlib": b"?SNDlib native format; type: network; version: 1.0\nMETA ( unit = MBITPERSEC )\n"
    b"NODES (\n A ( 1.5 2.5 )\n B ( 3.0 4.0 )\n)\nLINKS (\n L1 ( A B ) 0.00 0.00 0.00 0.00 ( 40.00 1.0 )\n)\n"
    b"DEMANDS (\n D1 ( A B ) 1 12.00 UNLIMITED\n)\nADMISSIBLE_PATHS (\n D1 ( P1 ( L1 ) )\n)\n",
    "sndlib-xml": b"<network xmlns='x'><networkStructure><nodes><node id='A'>"
    b"<coordinates><x>1</x><y>2</y></coordinates></node><node id='B'/></nodes>"
    b"<links><link id='L'><source>A</source><target>B</target></link></links>"
    b"</networkStructure><demands><demand id='D'><source>A</source><target>B</target><demandValue>3</demandValue>"
    b"</demand></demands></network>",
    "csv": b"source,target,speed\nr1,r2,10\nr2,r3,007\n",
    "flows": b"timestamp,src_ip,src_port,dst_ip,dst_port,protocol,packets,bytes\n"
    b"1790000000,10.0.0.1,1,10.0.0.2,2,tcp,3,4\n",
}


def _outcome(data: bytes, name: str, folder: Path) -> str:
    """Load ``data`` as the format ``name`` and by sniffing; anything but a graph or an error of ours fails the test."""
    file = folder / "file.bin"
    file.write_bytes(data)
    said = ""
    for options in (ReadOptions(format=name), ReadOptions()):
        try:
            loaded = load_graph(file, options)
        except Nl2netError as error:
            assert str(error)
            said = str(error)
        else:
            assert len(loaded.graph) > 0
    return said


def test_every_text_format_has_a_seed() -> None:
    # Damaged flow logs are tested where their readers are (tests/segmentation).
    assert SEEDS.keys() >= all_readers().keys() - {"topology-zoo", "parquet", "suzieq", "flow_log"}


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_the_seed_itself_loads_and_is_recognised(name: str, tmp_path: Path) -> None:
    file = tmp_path / "core1.txt"
    file.write_bytes(SEEDS[name])
    assert load_graph(file).provenance["format"] == name


@pytest.mark.parametrize("name", sorted(SEEDS))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_end_in_a_graph_or_an_error(name: str, data: st.DataObject, tmp_path: Path) -> None:
    body = bytearray(SEEDS[name][:8_000])
    for _ in range(data.draw(st.integers(0, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    cut = data.draw(st.integers(1, len(body)))
    _outcome(bytes(body[:cut]), name, tmp_path)


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_wrong_encodings(name: str, tmp_path: Path) -> None:
    text = SEEDS[name].decode("utf-8")
    for encoding in ("utf-16", "utf-32", "latin-1", "cp037"):
        _outcome(text.encode(encoding, errors="replace"), name, tmp_path)
    _outcome(SEEDS[name] + b"\xff\xfe\x00", name, tmp_path)


DEEP = 10_000_000
NESTED: dict[str, bytes] = {
    "node-link": b'{"nodes": ' + b"[" * DEEP,
    "graphml": b"<graphml>" + b"<a>" * (DEEP // 3),
    "sndlib-xml": b"<network>" + b"<a>" * (DEEP // 3),
    "gml": b"graph [ a " + b"[ a " * (DEEP // 4),
    "malt": b"entity { a " + b"{ a " * (DEEP // 4),
    "dot": b"graph {" + b"{" * 1_000_000,
    "containerlab": b"topology:\n  nodes: " + b"[" * DEEP,
    "netlab": b"links: " + b"{a: " * (DEEP // 4),
    "sndlib": b"?SNDlib native format;\nNODES " + b"(" * 1_000_000,
    "rfc8345": b'{"networks": ' + b'{"a":' * (DEEP // 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NESTED))
def test_nesting_is_bounded_in_time_and_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "deep.txt"
    file.write_bytes(NESTED[name])
    start = time.process_time()
    with pytest.raises(DataError):
        load_graph(file, ReadOptions(format=name))
    assert time.process_time() - start < 20


def test_memory_stays_within_a_multiple_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_bytes(NESTED["node-link"])
    tracemalloc.start()
    with pytest.raises(DataError):
        load_graph(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15 * DEEP


def test_xml_entities_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bomb.graphml"
    file.write_text(
        '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
        '<graphml><graph><node id="&b;"/></graph></graphml>'
    )
    with pytest.raises(DataError, match="document type"):
        load_graph(file)


def test_yaml_aliases_cannot_blow_up(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    file = tmp_path / "bomb.yml"
    file.write_text("\n".join([*lines, "nodes: [r1]", "links: []"]))
    with pytest.raises(DataError, match="aliases"):
        load_graph(file)


def test_huge_labels_and_limits(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    file.write_text(json.dumps({"nodes": [{"id": "a", "label": "x" * 200_000}], "links": []}))
    with pytest.raises(DataError, match="200000 characters"):
        load_graph(file)
    file.write_text(json.dumps({"nodes": [{"id": n} for n in range(50)], "links": []}))
    with pytest.raises(DataError, match="50 nodes"):
        load_graph(file, settings=Settings(max_nodes=49))
    file.write_text("[[[[[[[]]]]]]]")
    with pytest.raises(DataError, match="nested"):
        load_graph(file, settings=Settings(max_depth=4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"nodes": [], "links": []}', "no nodes"),
        ('{"nodes": [{"id": 1}, {"id": "1"}], "links": []}', "both used"),
        ('{"nodes": [{"id": "a"}, {"id": "a"}], "links": []}', "more than once"),
        ('{"nodes": [{"id": "a"}], "links": [], "edges": []}', "both `links` and `edges`"),
        ('{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}', "no node record"),
        ("", "empty"),
    ],
)
def test_nothing_is_lost_in_silence(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        load_graph(file)
    assert caught.value.hint
    assert str(file) in str(caught.value)


def test_a_truncated_parquet_file(tmp_path: Path) -> None:
    files = write_graph(load_graph("abilene").graph, tmp_path / "a.parquet")
    whole = files[1].read_bytes()
    for cut in range(4, len(whole), 97):
        files[1].write_bytes(whole[:cut])
        with pytest.raises(DataError):
            load_graph(files[1])
