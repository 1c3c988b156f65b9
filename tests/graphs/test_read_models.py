"""SNDlib, lab topologies, RFC 8345 and DOT as their tools write them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pydot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.errors import DataError
from nl2net.graphs import LoadedGraph, ReadOptions, load_graph

NATIVE = """\
?SNDlib native format; type: network; version: 1.0
# network sample

META (
   granularity = YEAR
   unit = MBITPERSEC
)

# NODE SECTION: <node_id> [(<longitude>, <latitude>)]
NODES (
  Aachen ( 6.04 50.76 )
  7 ( 8.66 50.14 )
  Depot
)
LINKS (
  L1 ( Aachen 7 ) 0.00 0.00 0.00 52.00 ( 40.00 3290.00 160.00 9860.00 )
  12 ( 7 Aachen ) 10.00 0.00 1.50 0.00 ( )
  3 ( 7 Depot ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
)
DEMANDS (
  D1 ( Aachen 7 ) 1 12.50 UNLIMITED
  2 ( 7 Aachen ) 1 3.00 4
)
ADMISSIBLE_PATHS (
  D1 ( P_0 ( L1 ) P_1 ( 12 ) )
)
"""
XML = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta><granularity>YEAR</granularity><unit>MBITPERSEC</unit></meta>
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="K\xf6ln"><coordinates><x>6.96</x><y>50.94</y></coordinates></node>
   <node id="Ulm"><coordinates><x>9.99</x><y>48.40</y></coordinates></node>
  </nodes>
  <links>
   <link id="L1"><source>K\xf6ln</source><target>Ulm</target>
    <preInstalledModule><capacity>0.0</capacity><cost>0.0</cost></preInstalledModule>
    <additionalModules><addModule><capacity>40.0</capacity><cost>3290.0</cost></addModule>
     <addModule><capacity>160.0</capacity><cost>9860.0</cost></addModule></additionalModules></link>
   <link id="L2"><source>Ulm</source><target>K\xf6ln</target></link>
  </links>
 </networkStructure>
 <demands><demand id="D1"><source>K\xf6ln</source><target>Ulm</target><demandValue>179.0</demandValue>
  <admissiblePaths><admissiblePath id="P_0"><linkId>L1</linkId></admissiblePath></admissiblePaths></demand></demands>
</network>
"""


def _load(folder: Path, name: str, content: str | bytes, **options: Any) -> LoadedGraph:
    file = folder / name
    file.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return load_graph(file, ReadOptions(**options))


def test_sndlib_native(tmp_path: Path) -> None:
    graph = _load(tmp_path, "g.txt", NATIVE).graph
    assert type(graph) is nx.MultiGraph
    assert graph.nodes["Aachen"] == {"name": "Aachen", "Longitude": 6.04, "Latitude": 50.76}
    assert graph.nodes["Depot"] == {"name": "Depot"}
    links = {data["link_id"]: (u, v, data) for u, v, data in graph.edges(data=True)}
    assert links.keys() == {"L1", "12", "3"}
    assert links["L1"][2]["modules"] == [{"capacity": 40.0, "cost": 3290.0}, {"capacity": 160.0, "cost": 9860.0}]
    assert links["L1"][2]["setup_cost"] == 52.0
    assert (links["12"][2]["preinstalled_capacity"], links["12"][2]["routing_cost"]) == (10.0, 1.5)
    assert {links["3"][0], links["3"][1]} == {"7", "Depot"}
    demands = graph.graph["tables"]["demands"]
    assert [(row["demand_id"], row["source"], row["target"], row["demand_value"]) for row in demands] == [
        ("D1", "Aachen", "7", 12.5),
        ("2", "7", "Aachen", 3.0),
    ]
    assert graph.graph["units"]["preinstalled_capacity"] == "Mbit/s"


def test_sndlib_xml_in_latin_1(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "g.xml", XML.encode("latin-1"))
    assert loaded.provenance["format"] == "sndlib-xml"
    assert set(loaded.graph) == {"Köln", "Ulm"}
    assert loaded.graph.number_of_edges() == 2
    assert loaded.graph.nodes["Köln"]["Longitude"] == 6.96
    first = next(d for _, _, d in loaded.graph.edges(data=True) if d["link_id"] == "L1")
    assert [module["capacity"] for module in first["modules"]] == [40.0, 160.0]
    assert loaded.graph.graph["tables"]["demands"][0]["demand_value"] == 179.0


CLAB = """\
name: mixed
topology:
  defaults:
    kind: linux
    image: alpine:3
  kinds:
    nokia_srlinux:
      image: srl:24
      type: ixr-d3
  groups:
    spines:
      kind: nokia_srlinux
      type: ixr-d5
  nodes:
    s1: {group: spines}
    l1: {kind: nokia_srlinux, startup-config: secret.cfg, env: {TOKEN: x}}
    br-lan: {kind: bridge}
    c1:
  links:
    - endpoints: ["s1:e1-1", "l1:e1-49"]
    - endpoints: ["l1:e1-1", "br-lan:p1"]
    - endpoints: ["c1:eth1", "host:veth7"]
    - type: veth
      mtu: 1500
      endpoints:
        - {node: s1, interface: e1-2}
        - {node: c1, interface: eth2}
    - type: mgmt-net
      endpoint: {node: s1, interface: e1-4}
      host-interface: srl-e1-4
"""


def test_containerlab_inherits_and_reads_every_kind_of_link(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "mixed.clab.yml", CLAB)
    nodes = loaded.graph.nodes
    assert (nodes["s1"]["kind"], nodes["s1"]["type"], nodes["s1"]["image"]) == ("nokia_srlinux", "ixr-d5", "srl:24")
    assert (nodes["c1"]["kind"], nodes["c1"]["image"]) == ("linux", "alpine:3")
    assert (nodes["br-lan"]["kind"], nodes["host"]["kind"], nodes["mgmt-net"]["kind"]) == (
        "segment", "external", "external",
    )  # fmt: skip
    assert "secret" not in repr(dict(nodes)) and "TOKEN" not in repr(dict(nodes))
    assert loaded.graph.edges["s1", "l1"]["ports"] == {"s1": "e1-1", "l1": "e1-49"}
    assert loaded.graph.edges["s1", "c1"]["ports"] == {"s1": "e1-2", "c1": "eth2"}
    assert loaded.graph.number_of_edges() == 5


def test_containerlab_templates_and_tags_are_not_executed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Go template"):
        _load(tmp_path, "t.clab.yml", CLAB.replace("alpine:3", "{{ .image }}"))
    with pytest.raises(DataError, match=r"tag|not readable|YAML"):
        _load(tmp_path, "t.clab.yml", CLAB.replace("alpine:3", "!!python/object/apply:os.getcwd []"))


def test_netlab_spellings(tmp_path: Path) -> None:
    text = """\
defaults.device: frr
nodes: [r1, r2, h-1, {name: r3, bgp.as: 65001}]
links:
- r1-r2
- [r2, r3]
- r1-h-1
- {r1: {ipv4: 10.1.0.1/24}, r3: , h-1: {ifname: eth9}, bandwidth: 1000}
- r3:
- group: core
  mtu: 9000
  members: [r1-r3, {r2: , r3: }]
- interfaces: [{node: r1}, {node: r2, ipv4: 7}]
"""
    loaded = _load(tmp_path, "topology.yml", text)
    assert loaded.provenance["format"] == "netlab"
    graph = loaded.graph
    pairs = sorted("-".join(sorted((u, v))) for u, v in graph.edges() if "segment" not in u + v)
    assert pairs == ["h-1-r1", "r1-r2", "r1-r2", "r1-r3", "r2-r3", "r2-r3"]
    segment = next(node for node, data in graph.nodes(data=True) if data["kind"] == "segment")
    assert set(graph[segment]) == {"r1", "r3", "h-1"}
    assert loaded.provenance["skipped"] == {"link with one end": 1}
    assert graph.nodes["r1"]["device"] == "frr"


def _rfc8345(prefix: str) -> dict[str, Any]:
    def link(a: str, b: str) -> dict[str, Any]:
        return {"link-id": f"{a}-{b}", "source": {"source-node": a, "source-tp": f"to-{b}"},
                "destination": {"dest-node": b, "dest-tp": f"to-{a}"}}  # fmt: skip

    layer: dict[str, Any] = {
        "network-id": "l3",
        "node": [
            {"node-id": name, f"{prefix}termination-point": [{"tp-id": "x"}],
             "ietf-l3-unicast-topology:l3-node-attributes": {"router-id": ["192.0.2.1"]}}
            for name in ("a", "b")
        ],
        f"{prefix}link": [link("a", "b"), link("b", "a")],
    }  # fmt: skip
    under = {"network-id": "l1", "node": [{"node-id": "a"}]}
    layer["node"][0]["supporting-node"] = [{"network-ref": "l1", "node-ref": "a"}]
    return {"ietf-network:networks" if prefix else "networks": {"network": [layer, under]}}


@pytest.mark.parametrize("prefix", ["", "ietf-network-topology:"])
def test_rfc8345_with_and_without_prefixes(prefix: str, tmp_path: Path) -> None:
    body = json.dumps(_rfc8345(prefix))
    graph = _load(tmp_path, "n.json", body).graph
    assert type(graph) is nx.DiGraph
    assert set(graph.edges()) == {("l3/a", "l3/b"), ("l3/b", "l3/a"), ("l3/a", "l1/a")}
    assert graph.edges["l3/a", "l3/b"]["ports"] == {"l3/a": "to-b", "l3/b": "to-a"}
    assert graph.nodes["l3/a"]["router-id"] == ["192.0.2.1"]
    folded = _load(tmp_path, "n.json", body, layer="l3").graph
    assert (type(folded), folded.number_of_edges()) == (nx.Graph, 1)


def test_a_layer_with_a_link_without_reverse_stays_directed(tmp_path: Path) -> None:
    document = _rfc8345("")
    document["networks"]["network"][0]["link"].pop()
    loaded = _load(tmp_path, "n.json", json.dumps(document), layer="l3")
    assert loaded.graph.is_directed()
    assert any(finding.rule == "one-sided" for finding in loaded.report)


NAME = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True), st.sampled_from(["r 1", "ü", "7", "a-b"])
)
RESERVED = re.compile(r"(?i)(?:strict|graph|digraph|node|edge|subgraph)")


# pydot calls names of pyparsing that pyparsing calls old.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@settings(max_examples=40, deadline=None)
@given(
    names=st.lists(NAME.filter(lambda name: not RESERVED.fullmatch(name)), min_size=2, max_size=5, unique=True),
    directed=st.booleans(),
    data=st.data(),
)
def test_dot_equals_pydot_where_pydot_is_right(
    names: list[str], directed: bool, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ends = st.sampled_from(names)
    links = data.draw(st.lists(st.tuples(ends, ends), max_size=6))
    mark = "->" if directed else "--"
    lines = [f'"{name}" [label="n {name}"];' for name in names]
    lines += [f'"{u}" {mark} "{v}" [w={number}];' for number, (u, v) in enumerate(links)]
    text = f"{'digraph' if directed else 'graph'} {{\n" + "\n".join(lines) + "\n}\n"
    ours = _load(tmp_path_factory.mktemp("dot"), "g.dot", text, multigraph=True).graph
    theirs: Any = (pydot.graph_from_dot_data(text) or [])[0]
    plain = {node.get_name().strip('"') for node in theirs.get_nodes()}
    assert set(ours) == plain
    wanted = sorted((e.get_source().strip('"'), e.get_destination().strip('"')) for e in theirs.get_edges())
    found = sorted((u, v) for u, v in ours.edges())
    order = (lambda pair: pair) if directed else (lambda pair: tuple(sorted(pair)))
    assert sorted(map(order, found)) == sorted(map(order, wanted))


def test_dot_ports_chains_groups_and_colons_in_names(tmp_path: Path) -> None:
    text = (
        'graph fabric { node [role=leaf]; "leaf01":"swp1" -- "spine01":"swp1" [speed="100"]; '
        "leaf01:swp2:ne -- spine02;\n"
        '"2001:db8::1" -- a -- {b c} /* group */; // end\n }'
    )
    graph = _load(tmp_path, "g.dot", text).graph
    assert set(graph) == {"leaf01", "spine01", "spine02", "2001:db8::1", "a", "b", "c"}
    assert graph.edges["leaf01", "spine01"] == {"speed": 100, "ports": {"leaf01": "swp1", "spine01": "swp1"}}
    assert graph.edges["leaf01", "spine02"]["ports"] == {"leaf01": "swp2"}
    assert graph.has_edge("a", "b") and graph.has_edge("a", "c") and not graph.has_edge("b", "c")
