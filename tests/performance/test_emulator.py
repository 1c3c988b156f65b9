"""The emulator against the way with the `ip` command, one process per step, in the same run.

Ratios are asserted, for the machine may be busy; the seconds are printed and kept in the benchmark's extra information.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from nl2net.emulator import DeletePolicy, Topology, build, mesh, online_boutique
from nl2net.emulator.capability import kernel_refusal
from nl2net.emulator.kernel.client import KernelEmulator
from nl2net.emulator.topology import topology_to_json

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.slow,
    pytest.mark.skipif(kernel_refusal() is not None, reason=f"KERNEL BACKEND NOT MEASURED: {kernel_refusal()}"),
]
SMALL = mesh(3, [(0, 1), (1, 2), (2, 0)], hosts=2, link_routes=False)

SOME_ROUTES = 300

# One `ip` process per step, in namespaces of its own: what a shell script would do.
_BY_COMMAND = """
import json, subprocess, sys, time
from nl2net.emulator.kernel import system
from nl2net.emulator.topology import topology_from_json
topology = topology_from_json(json.load(sys.stdin))
pairs = int(sys.argv[1])
hosts = [node.name for node in topology.nodes if node.name.startswith("h")]
system.enter()
def ip(*words):
    subprocess.run(["/usr/sbin/ip", *words], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "none", "/run"], check=True)
started = time.perf_counter()
for node in topology.nodes:
    ip("netns", "add", node.name)
    ip("-n", node.name, "link", "set", "lo", "up")
    if node.forwards:
        ip("netns", "exec", node.name, "/usr/sbin/sysctl", "-qw", "net.ipv4.ip_forward=1")
for link in topology.links:
    a, b = link.a, link.b
    peer = ("peer", "name", b.interface, "netns", b.node)
    ip("link", "add", "name", a.interface, "netns", a.node, "type", "veth", *peer)
    for end in (a, b):
        for address in end.addresses:
            ip("-n", end.node, "addr", "add", address, "dev", end.interface)
        ip("-n", end.node, "link", "set", end.interface, "up")
wired = time.perf_counter() - started
some = topology.routes[:SOME_ROUTES]
for route in some:
    ip("-n", route.node, "route", "add", route.prefix, *(("via", route.via) if route.via else ("dev", route.dev)))
# Thousands of processes would take minutes and each does the same: the rest is reckoned from the first ones.
built = wired + (time.perf_counter() - started - wired) * len(topology.routes) / len(some)
started = time.perf_counter()
asked = [(x, y) for x in hosts for y in hosts if x != y][:pairs]
for x, y in asked:
    words = ["/usr/sbin/ip", "netns", "exec", x, "/usr/bin/ping", "-nqc1", "-W1", topology.address(y)]
    subprocess.run(words, check=False, stdout=subprocess.DEVNULL)
print(json.dumps([built, (time.perf_counter() - started) / len(asked)]))
"""


def by_command(topology: Topology, pairs: int) -> tuple[float, float]:
    """Seconds to build with one process per step, and seconds per ping of a serial loop."""
    done = subprocess.run(
        [sys.executable, "-c", _BY_COMMAND.replace("SOME_ROUTES", str(SOME_ROUTES)), str(pairs)],
        input=json.dumps(topology_to_json(topology)),
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    built, ping = json.loads(done.stdout)
    return built, ping


def best(work: Callable[[], float], runs: int = 3) -> float:
    """Fastest of some runs."""
    return min(work() for _ in range(runs))


def build_seconds(topology: Topology) -> float:
    """Seconds that the worker needs for the network."""
    with build(topology, backend="kernel") as network:
        assert isinstance(network, KernelEmulator)
        return network.build_s


def host_pairs(topology: Topology) -> list[tuple[str, str]]:
    """All ordered pairs of hosts."""
    hosts = [node.name for node in topology.nodes if node.name.startswith("h")]
    return [(a, b) for a in hosts for b in hosts if a != b]


def matrix_seconds(topology: Topology) -> float:
    """Seconds of a second all-pairs ping of hosts, when ARP is done."""
    pairs = host_pairs(topology)
    with build(topology, backend="kernel") as network:
        assert network.ping_matrix(pairs).loss == 0
        return network.ping_matrix(pairs).wall_s


def report(benchmark: Any, **values: float) -> None:
    """Keep figures with the benchmark and print them."""
    benchmark.extra_info.update(values)
    print({name: round(value, 4) for name, value in values.items()})


def test_three_routers_and_six_hosts(benchmark: Any) -> None:
    command_build, command_ping = by_command(SMALL, 30)
    build_s = best(lambda: build_seconds(SMALL))
    ping_s = best(lambda: matrix_seconds(SMALL))
    benchmark.pedantic(lambda: build_seconds(SMALL), rounds=1)
    ratios = {"build_ratio": command_build / build_s, "ping_ratio": command_ping * 30 / ping_s}
    report(benchmark, build_s=build_s, ping_s=ping_s, **ratios)
    assert ratios["build_ratio"] > 2
    assert ratios["ping_ratio"] > 10


def test_fifty_routers_and_150_hosts(benchmark: Any) -> None:
    edges = [(i, (i + 1) % 50) for i in range(50)] + [(i, (i + 7) % 50) for i in range(50)]
    topology = mesh(50, edges, hosts=3, link_routes=False)
    command_build, command_ping = by_command(topology, 40)
    build_s = best(lambda: build_seconds(topology), 2)
    ping_s = best(lambda: matrix_seconds(topology), 2)
    benchmark.pedantic(lambda: build_seconds(topology), rounds=1)
    ratios = {"build_ratio": command_build / build_s, "ping_ratio": command_ping * 22_350 / ping_s}
    report(benchmark, build_s=build_s, ping_s=ping_s, **ratios)
    assert ratios["build_ratio"] > 3
    assert ratios["ping_ratio"] > 10


def test_hundred_routers_with_ten_thousand_routes(benchmark: Any) -> None:
    edges = [(i, (i + 1) % 100) for i in range(100)] + [(i, (i + 13) % 100) for i in range(100)]
    topology = mesh(100, edges, link_routes=False)
    assert len(topology.routes) == 10_000
    build_s = best(lambda: build_seconds(topology), 2)
    benchmark.pedantic(lambda: build_seconds(topology), rounds=1)
    started = time.perf_counter()
    routes = 200
    script = f"for i in $(seq {routes}); do /usr/sbin/ip -V >/dev/null; done"
    subprocess.run(["/bin/sh", "-c", script], check=True)
    one_process = (time.perf_counter() - started) / routes
    ratio = one_process * len(topology.routes) / build_s  # the processes alone, before any of them does its work
    report(benchmark, build_s=build_s, processes_alone_ratio=ratio)
    assert ratio > 1.5


def test_online_boutique(benchmark: Any) -> None:
    topology = online_boutique()
    opened = online_boutique(policies=False)

    def connects() -> float:
        with build(opened, backend="kernel") as network:
            assert not network.tcp_matrix().failed
            return network.tcp_matrix().wall_s

    def change() -> float:
        with build(topology, backend="kernel") as network:
            times = []
            for _ in range(5):
                started = time.perf_counter()
                applied = network.apply(DeletePolicy("adservice"))
                times.append(time.perf_counter() - started)
                network.apply_all(applied.inverse)
            return min(times)

    build_s, connect_s, change_s = best(lambda: build_seconds(topology)), best(connects), best(change)
    benchmark.pedantic(lambda: build_seconds(topology), rounds=1)
    process_s = probe_process_seconds()
    ratio = process_s * 144 / connect_s
    report(benchmark, build_s=build_s, connect_s=connect_s, change_s=change_s, connect_ratio=ratio)
    assert ratio > 10
    assert change_s < build_s


def probe_process_seconds() -> float:
    """Seconds of one probe process that connects once, as a shell script would start per pair."""
    code = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(server.getsockname())"
    )
    started = time.perf_counter()
    for _ in range(5):
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
    return (time.perf_counter() - started) / 5
