"""The simulator against what is known of Linux, the command front end, and operations as values."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.emulator import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    Emulator,
    FlushAddresses,
    Operation,
    Reason,
    RemoveRoute,
    SetImpairment,
    SetLink,
    SetMtu,
    Topology,
    build,
    mesh,
    online_boutique,
    operation_from_json,
    operation_to_json,
    star,
    topology_from_json,
    topology_to_json,
)
from nl2net.emulator.expand import expand
from nl2net.emulator.fromgraph import topology_from_edges
from nl2net.errors import DataError, Unavailable, UserError
from tests.emulator.cases import any_fault, cluster_case


@pytest.fixture
def network() -> Emulator:
    return build(star(), backend="simulated")


def test_link_down_loses_static_routes_and_up_restores_only_connected_ones(network: Emulator) -> None:
    applied = network.apply(SetLink("h11", "eth0", up=False))
    assert [operation.op for operation in applied.inverse] == ["set_link", "add_route"]
    network.apply(SetLink("h11", "eth0", up=True))
    assert [r["prefix"] for r in network.state()["nodes"]["h11"]["routes"]] == ["10.0.1.0/24"]


def test_own_address_as_gateway_is_a_dead_route(network: Emulator) -> None:
    """Pitfall 2: the kernel accepts it, and then treats every destination as on-link."""
    network.apply(RemoveRoute("h11", "0.0.0.0/0"))
    assert network.apply(AddRoute("h11", "0.0.0.0/0", via="10.0.1.2")).accepted
    assert network.ping_matrix([("h11", "h31")]).probes[0].reason is Reason.HOST_UNREACHABLE


def test_wrong_masks_without_symptom(network: Emulator) -> None:
    """Pitfall 15: masks of 8 and 16 on the router break nothing."""
    for length, lossy in ((8, False), (16, False), (32, True)):
        before = network.snapshot()
        network.apply(FlushAddresses("r1", "eth1"))
        network.apply(AddAddress("r1", "eth1", f"10.0.1.1/{length}"))
        assert (network.ping_matrix().loss > 0) is lossy
        network.restore(before)


def test_prohibit_rule_leaves_local_delivery(network: Emulator) -> None:
    network.apply(AddRule("r1", "prohibit", 0))
    assert network.ping_matrix([("h11", "h31")]).probes[0].ok is False
    assert network.ping_matrix([("r1", "r1")]).probes[0].ok


def test_small_mtu_names_the_place() -> None:
    with build(mesh(3, [(0, 1), (1, 2)]), backend="simulated") as network:
        network.apply(SetMtu("r1", "to2n1", 80))
        probe = network.ping_matrix([("h0", "h2")]).probes[0]
        assert (probe.reason, probe.place) == (Reason.FRAG_NEEDED, "r1")


def test_a_loop_ends_by_ttl() -> None:
    with build(mesh(3, [(0, 1), (1, 2)]), backend="simulated") as network:
        network.apply(RemoveRoute("r1", "10.0.2.0/24"))
        network.apply(AddRoute("r1", "10.0.2.0/24", via="10.255.0.1"))
        assert network.ping_matrix([("h0", "h2")]).probes[0].reason is Reason.TTL_EXCEEDED


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (AddAddress("r1", "eth1", "10.0.1.1/24"), "exists"),
        (AddRoute("r1", "10.9.0.0/16", via="172.16.0.1"), "invalid-gateway"),
        (AddRoute("h11", "0.0.0.0/0", via="10.0.1.1"), "exists"),
        (RemoveRoute("r1", "10.99.0.0/16"), "not-found"),
        (SetMtu("r1", "eth1", 67), "invalid"),
    ],
)
def test_refusals_have_a_class(network: Emulator, operation: Operation, reason: str) -> None:
    applied = network.apply(operation)
    assert (applied.accepted, applied.reason, applied.inverse) == (False, reason, ())


@pytest.mark.parametrize(
    "operation",
    [
        SetLink("r9", "eth1", up=True),
        SetLink("r1", "eth9", up=True),
        AddAddress("s1", "port0", "10.0.0.1/24"),
        AddAddress("r1", "lo", "10.0.0.1/24"),
        AddAddress("r1", "eth1", "224.0.0.1/24"),
        AddFilter("r1", "forward", "drop", port=80),
        AddRoute("r1", "10.0.0.1/8", via="10.0.1.2"),
        AddRoute("r1", "10.0.0.0/8"),
        SetImpairment("r1", "eth1", loss=1.5),
    ],
)
def test_nonsense_is_an_error_and_not_a_refusal(network: Emulator, operation: Operation) -> None:
    with pytest.raises(UserError):
        network.apply(operation)


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_inverses_lead_back(draw: random.Random, count: int) -> None:
    topology = mesh(3, [(0, 1), (1, 2)])
    with build(topology, backend="simulated") as network:
        first = network.snapshot()
        done = [network.apply(any_fault(draw, topology)) for _ in range(count)]
        for applied in reversed(done):
            assert all(step.accepted for step in network.apply_all(applied.inverse))
        assert network.snapshot().digest == first.digest
        network.apply_all([any_fault(draw, topology) for _ in range(count)])
        network.restore(first)
        assert network.snapshot().digest == first.digest


@given(st.randoms(use_true_random=False))
def test_operations_survive_json(draw: random.Random) -> None:
    operation = any_fault(draw, mesh(2, [(0, 1)]))
    assert operation_from_json(operation_to_json(operation)) == operation


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"op": "reboot"},
        {"op": "set_link", "node": "a"},
        {"op": "set_mtu", "node": "a", "interface": "b", "mtu": True},
        {"op": "set_link", "node": "a", "interface": "b", "up": 1},
        {"op": "set_forwarding", "node": "a", "enabled": True, "x": 1},
    ],
)
def test_malformed_operations_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(UserError):
        operation_from_json(data)


@pytest.mark.parametrize("make", [star, online_boutique, lambda: cluster_case(random.Random(3)).topology])
def test_topologies_survive_json(make: Callable[[], Topology]) -> None:
    topology = make()
    assert topology_to_json(topology_from_json(topology_to_json(topology))) == topology_to_json(topology)
    full = expand(topology)
    assert expand(full) is full


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"nodes": [{"name": "a"}, {"name": "a"}]},
        {"links": [{"a": {"node": "x", "interface": "e"}, "b": {"node": "a", "interface": "e"}}]},
        {"links": [{"a": {"node": "a", "interface": "e" * 16}, "b": {"node": "b", "interface": "e"}}]},
        {"links": [{"a": {"node": "a", "interface": "e", "addresses": ["10.0.0.1"]}}]},
        {"links": [{"a": {"node": "a", "interface": "e"}, "b": {"node": "b", "interface": "e"}, "mtu": 10}]},
        {"routes": [{"node": "a", "prefix": "10.0.0.1/8"}]},
        {"routes": [{"node": "a", "prefix": "10.0.0.0/8", "colour": "red"}]},
        {"nodes": 7},
    ],
)
def test_malformed_topologies_are_refused(change: dict[str, object]) -> None:
    base = {"format": "nl2net-topology", "version": 1, "name": "t", "nodes": [{"name": "a"}, {"name": "b"}]}
    with pytest.raises(DataError):
        topology_from_json({**base, **change})


def test_a_topology_that_the_kernel_would_refuse_is_an_error() -> None:
    data = topology_to_json(star())
    data["routes"].append({"node": "r1", "prefix": "10.7.0.0/16", "via": "192.0.2.1"})
    with pytest.raises(DataError, match="invalid-gateway"):
        build(topology_from_json(data), backend="simulated")


def test_backends_that_cannot_be_had_say_so() -> None:
    with pytest.raises(Unavailable, match="mininet"):
        build(star(), backend="mininet")
    with pytest.raises(UserError):
        build(star(), backend="other")


def test_simulator_says_what_it_does_not_measure(network: Emulator) -> None:
    matrix = network.ping_matrix()
    assert "round-trip time" in matrix.not_measured
    assert all(probe.rtt_ms is None for probe in matrix.probes)


class TestCommandLines:
    """The shell front end."""

    @pytest.mark.parametrize(
        ("node", "line", "status", "part"),
        [
            ("r1", "ip -br a show eth2", 0, "10.0.2.1/24"),
            ("r1", "ip route", 0, "10.0.3.0/24 dev eth3 proto kernel"),
            (
                "h11",
                "ip route del default && ip route add default via 10.0.1.1 dev eth0; ip r",
                0,
                "default via 10.0.1.1",
            ),
            ("h11", "ip route add default via 10.0.1.1", 2, "File exists"),
            ("h11", "ip route add 10.8.0.0/16 via 192.0.2.1", 2, "invalid gateway"),
            ("r1", "ip link set dev eth1 mtu 900 down; ip link show eth1", 0, "mtu 900 state DOWN"),
            ("r1", "ip rule add prohibit pref 0; ip rule", 0, "from all prohibit"),
            ("r1", "ip rule add prohibit pref 0; ip rule del pref 0; ip rule", 0, "lookup main"),
            (
                "r1",
                "iptables -A FORWARD -s 10.0.1.0/24 -p tcp --dport 80 -j DROP; iptables -S",
                0,
                "--dport 80 -j DROP",
            ),
            ("r1", "iptables -P INPUT DROP && iptables -L", 0, "-P INPUT DROP"),
            ("r1", "iptables -D FORWARD -j DROP", 1, "Bad rule"),
            ("r1", "sysctl -w net.ipv4.ip_forward=0", 0, "net.ipv4.ip_forward = 0"),
            ("h11", "ping -c3 -W1 10.0.3.2", 0, "3 received"),
            ("h11", "ping -c 1 10.77.0.1", 1, "100% packet loss"),
            ("h11", "ifconfig eth0 10.0.1.9 netmask 255.255.255.0; ifconfig eth0", 0, "10.0.1.9/24"),
            ("h11", "route del default gw 10.0.1.1 && route -n", 0, "10.0.1.0/24"),
            ("r1", "nft flush ruleset; nft list ruleset", 0, "-P FORWARD ACCEPT"),
            ("r1", "false || echo repaired", 0, "repaired"),
            ("r1", "reboot", 127, "not supported by the simulator"),
            ("r1", "ip tunnel add x", 127, "not supported"),
            ("r1", "ip route | head", 127, "not supported"),
            ("r1", "echo 1 > /etc/passwd", 127, "not supported"),
            ("r1", "iptables -A FORWARD -m ttl --ttl-eq 9 -j DROP", 127, "not supported"),
            ("r1", "echo 'unclosed", 2, "syntax error"),
        ],
    )
    def test_lines(self, network: Emulator, node: str, line: str, status: int, part: str) -> None:
        result = network.exec(node, line)
        assert result.status == status, result.output
        assert part in result.output

    def test_a_repair_by_commands(self, network: Emulator) -> None:
        network.apply(SetLink("r1", "eth2", up=False))
        assert network.ping_matrix().loss > 0
        network.exec("r1", "ip link set eth2 up")
        assert network.ping_matrix().loss == 0

    @given(st.text(max_size=60))
    def test_any_text_is_answered(self, line: str) -> None:
        with build(star(subnets=2, hosts=1), backend="simulated") as small:
            assert small.exec("r1", line).status >= 0

    def test_kubectl(self) -> None:
        with build(online_boutique(), backend="simulated") as cluster:
            before = sum(probe.ok for probe in cluster.tcp_matrix().probes)
            patch = """kubectl patch netpol adservice --type=json -p '[{"op": "remove", "path": "/spec/ingress/0"}]'"""
            assert cluster.exec("frontend", patch).output.endswith("patched\n")
            assert sum(probe.ok for probe in cluster.tcp_matrix().probes) == before - 1
            assert "adservice" in cluster.exec("frontend", "kubectl get netpol").output
            assert cluster.exec("frontend", "kubectl get netpol none").status == 1
            assert cluster.exec("frontend", "kubectl drain node").status == 127


def test_plain_graphs_become_networks() -> None:
    kinds = {"Core A": "router", "Core B": "router", "Edge": "router", "web": "server"}
    edges = [("Core A", "Core B"), ("Core B", "Edge"), ("Core A", "Edge"), ("Edge", "web"), ("web", "web")]
    with build(topology_from_edges("g", kinds, edges), backend="simulated") as network:
        assert network.ping_matrix().loss == 0
        assert [hop.node for hop in network.path("Core A", "web").hops] == ["Core A", "Edge", "web"]
    with pytest.raises(DataError):
        topology_from_edges("g", {}, [])
