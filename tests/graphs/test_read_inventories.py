"""Neighbour tables, Batfish frames and NetBox exports as their tools write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2net.errors import DataError
from nl2net.graphs import LoadedGraph, ReadOptions, load_graph

ARISTA = """\
sw-a1#show lldp neighbors
Last table change time   : 0:08:21 ago
Number of table inserts  : 4

Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et1           sw-b1.example.net        Ethernet5           120
Et2           sw-b2.example.net        Ethernet5           120
Ma1           oob                      ge-0/0/12           120
"""
JUNOS = """\
Local Interface    Parent Interface    Chassis Id          Port info          System Name
ge-0/0/1           -                   00:1c:73:00:00:01   Ethernet7          leaf1
ge-0/0/2           ae0                 00:1c:73:00:00:02   xe-0/0/2           leaf2
"""
IOS_LLDP = """\
Capability codes:
    (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
    (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other

Device ID           Local Intf     Hold-time  Capability      Port ID
core1               Gi0/1          120        B,R             Te1/1/1
phone-17            Gi0/7          180        B,T             PORT 1
ap-attic            Gi0/9          120        W               eth0

Total entries displayed: 3
"""
CDP_DETAIL = """\
-------------------------
Device ID: dist1.example.net
Entry address(es):
  IP address: 192.0.2.1
Platform: cisco WS-C4500X-16,  Capabilities: Router Switch IGMP
Interface: GigabitEthernet1/0/1,  Port ID (outgoing port): TenGigabitEthernet1/1
Holdtime : 144 sec

Version :
Cisco IOS Software

advertisement version: 2
Duplex: full
"""


def _load(folder: Path, name: str, content: Any, **options: Any) -> LoadedGraph:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return load_graph(file, ReadOptions(**options))


def _links(loaded: LoadedGraph) -> set[frozenset[tuple[str, str | None]]]:
    """Links as pairs of node and port."""
    return {
        frozenset((end, data.get("ports", {}).get(end)) for end in (u, v))
        for u, v, data in loaded.graph.edges(data=True)
    }


@pytest.mark.parametrize(
    ("text", "local", "links"),
    [
        (
            ARISTA,
            "sw-a1",
            {("Et1", "sw-b1.example.net", "Ethernet5"), ("Et2", "sw-b2.example.net", "Ethernet5"),
             ("Ma1", "oob", "ge-0/0/12")},
        ),
        (JUNOS, "edge7", {("ge-0/0/1", "leaf1", "Ethernet7"), ("ge-0/0/2", "leaf2", "xe-0/0/2")}),
        (
            IOS_LLDP,
            "edge7",
            {("Gi0/1", "core1", "Te1/1/1"), ("Gi0/7", "phone-17", "PORT 1"), ("Gi0/9", "ap-attic", "eth0")},
        ),
        (CDP_DETAIL, "edge7", {("GigabitEthernet1/0/1", "dist1.example.net", "TenGigabitEthernet1/1")}),
    ],
)  # fmt: skip
def test_tables_of_several_vendors(text: str, local: str, links: set[tuple[str, str, str]], tmp_path: Path) -> None:
    loaded = _load(tmp_path, "edge7.txt", text)
    assert loaded.provenance["format"] == "neighbours"
    assert _links(loaded) == {frozenset({(local, port), (peer, far)}) for port, peer, far in links}


def test_phones_and_access_points_are_endpoints(tmp_path: Path) -> None:
    nodes = _load(tmp_path, "edge7.txt", IOS_LLDP).graph.nodes
    assert {node: data["kind"] for node, data in nodes.items()} == {
        "edge7": "device", "core1": "device", "phone-17": "endpoint", "ap-attic": "endpoint",
    }  # fmt: skip


def test_an_unnamed_device_is_called_local_and_said_so(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "show_lldp_neighbors.txt", JUNOS)
    assert "local" in loaded.graph
    assert any(finding.rule == "local-name" for finding in loaded.report)
    assert "pe1" in _load(tmp_path, "show_lldp_neighbors.txt", JUNOS, local="pe1").graph


def test_napalm_of_several_devices_folds_both_ends(tmp_path: Path) -> None:
    document = {
        "core1": {"lldp_neighbors": {"et1": [{"hostname": "leaf1.example.net", "port": "et49"}],
                                     "et2": [{"hostname": "leaf2", "port": "et49"}]}},
        "leaf1": {"lldp_neighbors": {"et49": [{"hostname": "core1", "port": "et1"}]}},
        "leaf2": {"lldp_neighbors": {"et48": [{"hostname": "core1", "port": "et3"}]}},
    }  # fmt: skip
    loaded = _load(tmp_path, "lldp.json", document)
    assert loaded.provenance["format"] == "napalm"
    assert _links(loaded) == {
        frozenset({("core1", "et1"), ("leaf1", "et49")}),
        frozenset({("core1", "et2"), ("leaf2", "et49")}),
        frozenset({("leaf2", "et48"), ("core1", "et3")}),
    }
    found = {finding.rule: finding.count for finding in loaded.report}
    assert found["one-sided"] == 2
    assert found["merged-name"] == 1


def test_names_in_different_domains_stay_apart(tmp_path: Path) -> None:
    rows = {"et1": [{"hostname": "core1", "port": "a"}], "et2": [{"hostname": "core1.lab.net", "port": "b"}],
            "et3": [{"hostname": "core1.example.net", "port": "c"}]}  # fmt: skip
    loaded = _load(tmp_path, "sw1.json", {"get_lldp_neighbors": rows})
    assert set(loaded.graph) == {"sw1", "core1", "core1.lab.net", "core1.example.net"}
    assert any("stay apart" in finding.message for finding in loaded.report)


def test_napalm_detail(tmp_path: Path) -> None:
    row = {"remote_system_name": "spine1", "remote_port": "Ethernet3", "remote_port_description": "to leaf",
           "remote_chassis_id": "00:00:5e:00:53:01", "remote_system_capab": ["bridge"]}  # fmt: skip
    loaded = _load(tmp_path, "leaf9.json", {"lldp_neighbors_detail": {"Ethernet1": [row]}})
    assert _links(loaded) == {frozenset({("leaf9", "Ethernet1"), ("spine1", "Ethernet3")})}


@pytest.mark.parametrize("rows", [1, 4])
def test_a_layer_1_frame_of_pybatfish(rows: int, tmp_path: Path) -> None:
    cells = [
        ("as1border1[GigabitEthernet1/0]", "as2border1[GigabitEthernet0/0]"),
        ("as2border1[GigabitEthernet0/0]", "as1border1[GigabitEthernet1/0]"),
        ("as2border1[GigabitEthernet1/0]", "core[Bundle-Ether1.100]"),
        ("core[Bundle-Ether1.100]", "as2border1[GigabitEthernet1/0]"),
    ][:rows]
    body = "".join(f"{number},{a},{b}\n" for number, (a, b) in enumerate(cells))
    loaded = _load(tmp_path, "layer1.csv", f",Interface,Remote_Interface\n{body}")
    assert loaded.provenance["format"] == "batfish-frame"
    wanted = {frozenset({("as1border1", "GigabitEthernet1/0"), ("as2border1", "GigabitEthernet0/0")})}
    if rows == 4:
        wanted.add(frozenset({("as2border1", "GigabitEthernet1/0"), ("core", "Bundle-Ether1.100")}))
    assert _links(loaded) == wanted


def test_a_layer_3_frame_of_pybatfish_keeps_its_columns(tmp_path: Path) -> None:
    text = "Interface,IPs,Remote_Interface,Remote_IPs\na[e0],['10.0.0.1'],b[e1],['10.0.0.2']\n"
    assert _links(_load(tmp_path, "edges.csv", text)) == {frozenset({("a", "e0"), ("b", "e1")})}


def _end(kind: str, key: int, name: str, device: tuple[int, str] | None) -> dict[str, Any]:
    body: dict[str, Any] = {"id": key, "url": f"/api/{key}/", "display": name, "name": name, "cable": 1}
    if device is not None:
        body["device"] = {"id": device[0], "url": "/api/d/", "display": device[1], "name": device[1]}
    return {"object_type": f"dcim.{kind}", "object_id": key, "object": body}


def _cable(key: int, a: dict[str, Any], b: dict[str, Any], **more: Any) -> dict[str, Any]:
    status = {"value": "connected", "label": "Connected"}
    return {"id": key, "display": f"#{key}", "type": "cat6", "a_terminations": [a], "b_terminations": [b],
            "status": status, "tags": [], "custom_fields": {}, **more}  # fmt: skip


def test_netbox_rest_with_a_panel_power_and_a_missing_page(tmp_path: Path) -> None:
    r1, r2, panel = (1, "r1"), (2, "r2"), (3, "panel")
    cables = [
        _cable(1, _end("interface", 10, "xe-0", r1), _end("frontport", 20, "f1", panel)),
        _cable(2, _end("rearport", 21, "back", panel), _end("interface", 11, "xe-1", r2)),
        _cable(3, _end("interface", 12, "xe-2", r1), _end("interface", 13, "xe-2", r2), length=3, label="blue"),
        _cable(4, _end("powerport", 14, "psu", r1), _end("poweroutlet", 15, "o1", panel)),
    ]
    document = {
        "cables": {"count": 9, "next": "x", "results": cables},
        "front_ports": [{"id": 20, "name": "f1", "device": {"id": 3, "name": "panel"},
                         "rear_port": {"id": 21, "name": "back"}, "rear_port_position": 1}],
        "rear_ports": [{"id": 21, "name": "back", "device": {"id": 3, "name": "panel"}, "positions": 1}],
        "devices": [{"id": 1, "name": "r1", "site": {"id": 5, "name": "Zürich"}, "serial": "007",
                     "role": {"id": 8, "name": "router"}}],
    }  # fmt: skip
    loaded = _load(tmp_path, "netbox.json", document)
    assert loaded.provenance["format"] == "netbox-rest"
    assert _links(loaded) == {
        frozenset({("device:r1", "xe-0"), ("device:r2", "xe-1")}),
        frozenset({("device:r1", "xe-2"), ("device:r2", "xe-2")}),
    }
    assert loaded.graph.nodes["device:r1"]["site"] == "Zürich"
    assert loaded.graph.nodes["device:r1"]["role"] == "router"
    assert loaded.graph.nodes["device:r1"]["serial"] == "007"
    assert loaded.provenance["skipped"]["power cable"] == 1
    assert any("4 of 9 records" in finding.message for finding in loaded.report)


def test_netbox_csv_export(tmp_path: Path) -> None:
    text = (
        "Side A Device,Side A Type,Side A Name,Side B Device,Side B Type,Side B Name,Status\n"
        "r1,dcim.interface,xe-0,r2,dcim.interface,xe-1,connected\n"
        "r1,dcim.powerport,psu,pdu,dcim.poweroutlet,o1,connected\n"
    )
    for header in (text, text.lower().replace("side a ", "side_a_").replace("side b ", "side_b_")):
        loaded = _load(tmp_path, "cables.csv", header)
        assert loaded.provenance["format"] == "netbox-csv"
        assert _links(loaded) == {frozenset({("r1", "xe-0"), ("r2", "xe-1")})}
        assert loaded.provenance["skipped"]["power cable"] == 1


def test_netbox_dump_without_cables_is_no_empty_success(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no nodes"):
        _load(tmp_path, "d.json", [{"model": "extras.tag", "pk": 1, "fields": {"name": "x"}}])
