"""Routing daemons: generated files, cold start, failover, and what is left after them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nl2net.emulator import Endpoint, Link, Node, NodeKind, SetLink, StaticRoute, Topology, build, ring
from nl2net.emulator.capability import capabilities
from nl2net.emulator.kernel.routing import configuration, segments
from nl2net.errors import Unavailable, UserError
from tests.emulator.host import descendants

HOSTS = [(a, b) for a in ("h0", "h1", "h2", "h3") for b in ("h0", "h1", "h2", "h3") if a != b]


@pytest.fixture
def bird(kernel: str) -> str:
    """The kernel backend where BIRD works as well; tests without it are skipped with the reason."""
    found = next(item for item in capabilities() if item.name == "bird")
    if not found.works:
        pytest.skip(f"ROUTING DAEMONS NOT TESTED: {found.reason}. {found.advice}")
    return kernel


def shared_segment() -> Topology:
    """Two routers and a host on one switch, and a host behind each router."""
    nodes = (
        *(Node(name, NodeKind.ROUTER) for name in ("ra", "rb")),
        Node("s", NodeKind.SWITCH),
        *(Node(name) for name in ("h", "ha", "hb")),
    )
    links = (
        Link(Endpoint("ra", "lan", ("10.0.0.1/24",)), Endpoint("s", "p1")),
        Link(Endpoint("rb", "lan", ("10.0.0.2/24",)), Endpoint("s", "p2")),
        Link(Endpoint("h", "eth0", ("10.0.0.9/24",)), Endpoint("s", "p3")),
        Link(Endpoint("ra", "home", ("10.0.1.1/24",)), Endpoint("ha", "eth0", ("10.0.1.2/24",))),
        Link(Endpoint("rb", "home", ("10.0.2.1/24",)), Endpoint("hb", "eth0", ("10.0.2.2/24",))),
    )
    gateways = (("h", "10.0.0.1"), ("ha", "10.0.1.1"), ("hb", "10.0.2.1"))
    return Topology("lan", nodes, links, tuple(StaticRoute(host, "0.0.0.0/0", via=via) for host, via in gateways))


def test_files_follow_the_topology() -> None:
    topology = shared_segment()
    assert [end.node for end in segments(topology)["ra", "lan"]] == ["rb", "h"]
    ospf = configuration(topology, "ra", "ospf")
    assert 'interface "lan" { type broadcast' in ospf
    assert 'interface "home" { stub yes; }' in ospf
    bgp = configuration(topology, "rb", "bgp")
    assert re.findall(r"neighbor (\S+) as (\d+)", bgp) == [("10.0.0.1", "4200000000")]


@pytest.mark.kernel
@pytest.mark.parametrize("protocol", ["ospf", "bgp"])
def test_a_ring_converges_and_heals(bird: str, protocol: str) -> None:
    with build(ring(), backend="kernel") as network:
        first = network.snapshot()
        started = network.start_routing(protocol)
        assert (started.loss, started.daemons, started.protocol) == (0, 4, protocol)
        assert all(route["metric"] for route in network.state()["nodes"]["r0"]["routes"] if route["via"])  # BIRD's
        assert [hop.node for hop in network.path("h0", "h1").hops] == ["h0", "r0", "r1", "h1"]
        with pytest.raises(UserError, match="run already"):
            network.start_routing(protocol)
        interface = next(name for node, name in network.topology.interfaces if node == "r0" and name.startswith("to1"))
        assert network.apply(SetLink("r0", interface, up=False)).accepted
        healed = network.wait_until_whole(HOSTS, limit_s=30)  # type: ignore[attr-defined]
        assert healed.loss == 0
        assert [hop.node for hop in network.path("h0", "h1").hops] == ["h0", "r0", "r3", "r2", "r1", "h1"]
        print(f"{protocol}: cold {started.wall_s:.1f} s, link down {healed.wall_s:.1f} s")
        assert network.stop_routing() == 4
        assert not [route for route in network.state()["nodes"]["r2"]["routes"] if route["via"]]
        network.restore(first)
        assert network.ping_matrix().loss == 0


@pytest.mark.kernel
def test_routers_on_one_switch_and_a_killed_network(bird: str) -> None:
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    network = build(shared_segment(), backend="kernel")
    assert network.ping_matrix([("ha", "hb")]).loss == 1
    assert network.start_routing("ospf").loss == 0
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts  # the daemons' folder is the worker's own
    worker = network.worker_pid  # type: ignore[attr-defined]
    assert len(descendants(worker)) == 2
    network.close()
    assert not descendants(worker)


def test_the_simulator_says_that_it_has_none() -> None:
    with build(ring(), backend="simulated") as network:
        with pytest.raises(Unavailable, match="no routing protocol"):
            network.start_routing()
        assert network.stop_routing() == 0


@pytest.mark.kernel
def test_an_unknown_protocol_is_an_error(kernel: str) -> None:
    with build(ring(), backend="kernel") as network, pytest.raises(UserError, match="rip"):
        network.start_routing("rip")
