"""Verdicts of probes: one lost packet is no lost pair, and a link is used only when the kernel carries frames on it."""

from __future__ import annotations

import pytest

from nl2net.emulator import Reason, SetImpairment, SetLink, build, online_boutique, star
from nl2net.emulator.kernel.icmp import Echo, IdleClock, _divide

pytestmark = pytest.mark.kernel


def swallow_first(match: str) -> str:
    """A command line that drops the first packet of a kind on its way through a node, and lets all others pass."""
    chain = "type filter hook forward priority -5; policy accept;"
    return (
        f"nft 'add table ip once; add chain ip once c {{ {chain} }}; "
        f"add rule ip once c {match} numgen inc mod 100000 < 1 drop'"
    )


def test_one_lost_echo_is_no_lost_pair(shell: str) -> None:
    with build(star(subnets=2, hosts=1), backend="kernel") as network:
        assert network.exec("r1", swallow_first("icmp type echo-request")).status == 0
        (probe,) = network.ping_matrix([("h11", "h21")]).probes
        assert probe.ok
        assert probe.rtt_ms is not None
        assert probe.rtt_ms < 75  # of the second request: the first was lost a slice of the idle time earlier
        assert "drop" in network.exec("r1", "nft list table ip once").output


def test_one_lost_packet_is_no_closed_port_and_no_unknown_name(shell: str) -> None:
    """The kernel repeats a SYN only after a second, and a resolver's question is repeated by nobody but us."""
    with build(star(subnets=2, hosts=1), backend="kernel") as network:
        assert network.exec("r1", swallow_first("tcp flags syn / syn,ack")).status == 0
        assert network.tcp_matrix([("h11", "h21", 80)]).probes[0].ok
    with build(online_boutique(policies=False), backend="kernel") as network:
        assert network.exec("node", swallow_first("udp dport 53")).status == 0
        assert network.tcp_matrix([("frontend", "adservice", 9555)]).probes[0].ok


def test_a_pair_that_stays_silent_is_lost(shell: str) -> None:
    with build(star(subnets=2, hosts=1), backend="kernel") as network:
        network.exec(
            "r1", "nft 'add table ip t; add chain ip t c { type filter hook forward priority -5; policy drop; }'"
        )
        assert network.ping_matrix([("h11", "h21")]).probes[0].reason is Reason.TIMEOUT
        assert network.tcp_matrix([("h11", "h21", 80)]).probes[0].reason is Reason.TIMEOUT


def test_nothing_is_repeated_where_loss_is_what_is_measured(kernel: str) -> None:
    """A pair that is asked twice would show 9 % where 30 % of the packets are lost."""
    with build(star(subnets=2, hosts=1), backend="kernel") as network:
        assert network.ping_matrix().loss == 0
        assert network.apply(SetImpairment("h11", "eth0", packets_s=20)).accepted
        lost = network.ping_matrix([("h11", "r1")] * 40).loss
        assert lost > 0.7


def test_links_have_two_numbers_and_follow_every_change(shell: str) -> None:
    """With equal numbers at both ends the kernel brings a link up as late as a second after."""
    with build(star(subnets=2, hosts=1), backend="kernel") as network:
        found = [network.exec(name, "ip -o link show type veth").output.split(":")[0] for name in ("h11", "h21")]
        peers = [network.exec(name, "ip -o link show type veth").output.split("@if")[1] for name in ("h11", "h21")]
        assert all(not peer.startswith(f"{number}:") for number, peer in zip(found, peers, strict=True))
        for up in (False, True, False, True):
            network.apply(SetLink("r1", "eth2", up=up))
            assert network.ping_matrix([("r1", "h21")]).probes[0].ok is up


def test_patience_grows_with_slow_answers_only() -> None:
    quick, slow = IdleClock(0.4), IdleClock(0.4)
    slow.saw(0.25)
    waits = 0
    while not quick.over:
        quick.note(False)
        slow.note(False)
        waits += 1
    assert waits == 4
    assert not slow.over
    assert quick.again
    assert not quick.again


def test_threads_share_a_matrix_by_source() -> None:
    echoes = [Echo(f"h{i % 7}", f"t{i}") for i in range(100)]
    parts = _divide(echoes, 3)
    assert sorted(position for part in parts for position in part) == list(range(100))
    sources = [{echoes[position].source for position in part} for part in parts]
    assert sum(len(found) for found in sources) == 7
