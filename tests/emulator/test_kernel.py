"""The kernel backend: life and death of the worker, commands in nodes, impairments, and the untouched host."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nl2net.emulator import (
    AddFilter,
    RemoveRoute,
    SetImpairment,
    SetLink,
    SetMtu,
    Topology,
    build,
    mesh,
    online_boutique,
    star,
)
from nl2net.emulator.kernel.client import KernelEmulator
from nl2net.errors import Nl2netError, Unavailable
from tests.emulator.host import alive, descendants, host_state, networks

pytestmark = pytest.mark.kernel
ROOT = Path(__file__).resolve().parents[2]


def kernel_network(topology: Topology) -> KernelEmulator:
    network = build(topology, backend="kernel")
    assert isinstance(network, KernelEmulator)
    return network


def wait_until_gone(processes: set[int], seconds: float = 10.0) -> set[int]:
    limit = time.monotonic() + seconds
    left = set(processes)
    while left and time.monotonic() < limit:
        left = {process for process in left if alive(process)}
        time.sleep(0.02)
    return left


def test_nothing_outside_changes(kernel: str) -> None:
    before = host_state()
    with kernel_network(star()) as network:
        network.apply(SetMtu("r1", "eth1", 900))
        network.apply(AddFilter("r1", "forward", "drop"))
        network.apply(SetImpairment("h11", "eth0", delay_ms=5))
        network.ping_matrix([("h11", "h31")])
        worker = network.worker_pid
        assert host_state() == before
    assert not wait_until_gone({worker})
    assert host_state() == before


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_worker_leaves_nothing_behind(shell: str, seed: int) -> None:
    before = host_state()
    own = networks({os.getpid()})
    network = kernel_network(star(subnets=2, hosts=1))
    assert network.apply(SetImpairment("h11", "eth0", delay_ms=20)).accepted
    worker = network.worker_pid
    failures: list[Exception] = []

    def command() -> None:
        try:
            network.exec("h11", "sleep 100 & sleep 100", timeout_s=60)
        except Nl2netError as error:
            failures.append(error)

    thread = threading.Thread(target=command)
    thread.start()
    time.sleep(0.2 + random.Random(seed).random() / 2)
    family = {worker, *descendants(worker)}
    assert len(family) >= 2  # at least the relay
    assert networks(family) - own
    os.kill(worker, signal.SIGKILL)
    thread.join(20)
    assert not wait_until_gone(family)
    assert isinstance(failures[0], Unavailable)
    with pytest.raises(Unavailable):
        network.ping_matrix()
    network.close()
    assert host_state() == before


def test_a_killed_parent_takes_everything_along(kernel: str) -> None:
    before = host_state()
    code = (
        "import sys, time\n"
        "from nl2net.emulator import build, star, SetImpairment\n"
        "network = build(star(subnets=2, hosts=1), backend='kernel')\n"
        "network.apply(SetImpairment('h11', 'eth0', delay_ms=20))\n"
        "print(network.worker_pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        family = {worker, *descendants(worker)}
        parent.kill()
    assert not wait_until_gone(family)
    assert host_state() == before


def test_an_ordinary_user_gets_the_same(kernel: str) -> None:
    """The worker's own path without root: no capability, no set-uid program."""
    code = (
        "import os\n"
        "from nl2net.emulator import star\n"
        "from nl2net.emulator.expand import expand\n"
        "from nl2net.emulator.interface import all_pairs\n"
        "from nl2net.emulator.kernel import system\n"
        "from nl2net.emulator.kernel.network import Network\n"
        "if os.geteuid() == 0:\n"
        "    os.setgroups([]); os.setresgid(12345, 12345, 12345); os.setresuid(12345, 12345, 12345)\n"
        "    system.prctl(system.PR_SET_DUMPABLE, 1)\n"
        "status = open('/proc/self/status', 'rb').read()\n"
        "assert b'CapEff:\\t0000000000000000' in status\n"
        "system.enter()\n"
        "topology = expand(star())\n"
        "network = Network(topology)\n"
        "probes = network.ping(all_pairs(topology), 0.5)\n"
        "os.write(1, b'%d of %d' % (sum(probe[0] == 'ok' for probe in probes), len(probes)))\n"
        "network.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "42 of 42", done.stderr


def test_root_is_given_up_before_the_namespace(shell: str) -> None:
    """Uid 0 inside must not be the real one, which could write kernel-wide settings."""
    with kernel_network(star(subnets=2, hosts=1)) as network:
        status = Path(f"/proc/{network.worker_pid}/status").read_text(encoding="utf-8")
        real = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1]
        assert real != "0"
        assert network.exec("h11", "id -u").output == "0\n"
        refused = network.exec("h11", "sysctl -w kernel.panic=7")
        assert refused.status != 0


def test_parallel_networks_do_not_meet(kernel: str) -> None:
    with kernel_network(star()) as one, kernel_network(star()) as other:
        one.apply(SetLink("r1", "eth1", up=False))
        assert one.ping_matrix().loss > 0.3
        assert other.ping_matrix().loss == 0


def test_snapshot_restores_everything(shell: str) -> None:
    with kernel_network(mesh(3, [(0, 1), (1, 2)])) as network:
        first = network.snapshot()
        network.apply(SetLink("r1", "to0n0", up=False))
        network.apply(SetMtu("r2", "host0", 900))
        network.apply(AddFilter("r1", "forward", "reject", source="10.0.0.0/24"))
        network.apply(RemoveRoute("h0", "0.0.0.0/0"))
        line = "iptables -A INPUT -m ttl --ttl-eq 9 -j DROP; nft add table inet mine; ip rule add prohibit pref 0"
        assert network.exec("r2", line).status == 0
        assert network.snapshot().digest != first.digest
        network.restore(first)
        assert network.snapshot().digest == first.digest
        assert network.ping_matrix().loss == 0


def test_filters_are_the_ones_that_iptables_shows(shell: str) -> None:
    with kernel_network(star(subnets=2, hosts=1)) as network:
        network.apply(AddFilter("r1", "forward", "drop", source="10.0.1.0/24", protocol="tcp", port=80))
        listing = network.exec("r1", "iptables -S FORWARD").output
        assert "-A FORWARD -s 10.0.1.0/24 -p tcp" in listing
        assert network.exec("r1", "iptables -D FORWARD 1").status == 0
        assert network.state()["nodes"]["r1"]["chains"]["forward"]["filters"] == []


class TestCommands:
    """Lines that a model wrote."""

    def test_cannot_write_see_or_reach_anything_else(self, shell: str, tmp_path: Path) -> None:
        with socket.socket() as listener, kernel_network(star(subnets=2, hosts=1)) as network:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            port = listener.getsockname()[1]
            for line in (
                "touch /etc/mark",
                f"touch {tmp_path}/mark",
                f"touch {ROOT}/mark",
                "echo 1 > /proc/sys/kernel/panic",
                "echo 1 > /proc/sysrq-trigger",
                "mount -t tmpfs none /mnt",
                "mount -o remount,rw /",
                f"timeout 2 bash -c 'echo > /dev/tcp/127.0.0.1/{port}'",
                "cat /etc/shadow",
                "chroot / true",
                "mknod /tmp/disk b 8 0",
                "ls /dev/kmsg /dev/mem /dev/vda",
                f"ls /proc/{os.getpid()}",
                f"kill -0 {os.getpid()}",
                f"kill -0 {network.worker_pid}",
            ):
                assert network.exec("h11", line).status != 0, line
            processes = network.exec("h11", "ls /proc | grep -c '^[0-9]'").output
            assert int(processes) < 8
            links = network.exec("h11", "ls /proc/self/net/dev_snmp6 2>/dev/null; ip -o link | wc -l").output
            assert links.split()[-1] == "2"
            capabilities = network.exec("h11", "grep CapEff /proc/self/status").output
            assert int(capabilities.split()[1], 16) == (1 << 12) | (1 << 13)

    def test_see_no_secret_of_the_environment(self, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "canary-4711")
        with kernel_network(star(subnets=2, hosts=1)) as network:
            output = network.exec("h11", "env; cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n'").output
            assert "PATH=" in output
            assert "canary" not in output

    def test_end_in_time(self, shell: str) -> None:
        """Pitfall 9: killing only the shell would leave its child on the pipe for its whole life."""
        with kernel_network(star(subnets=2, hosts=1)) as network:
            worker = network.worker_pid
            for line in (
                "sleep 100",
                "sleep 100 & sleep 100",
                "setsid sleep 100 & wait",
                "bomb() { bomb | bomb & }; bomb; wait",
            ):
                started = time.monotonic()
                result = network.exec("h11", line, timeout_s=0.5)
                assert time.monotonic() - started < 10, line
                assert result.timed_out or line.startswith("bomb"), line
            assert not wait_until_gone(descendants(worker))
            assert network.ping_matrix().loss == 0

    def test_output_is_cut(self, shell: str) -> None:
        with kernel_network(star(subnets=2, hosts=1)) as network:
            result = network.exec("h11", "head -c 1000000 /dev/zero | tr '\\0' x", output_bytes=1000)
            assert (len(result.output), result.truncated, result.status) == (1000, True, 0)

    def test_memory_and_files_are_limited(self, shell: str) -> None:
        with kernel_network(star(subnets=2, hosts=1)) as network:
            assert network.exec("h11", "head -c 100000000 /dev/zero > /tmp/big", timeout_s=30).status != 0


class TestImpairments:
    """Each is measured after it was set; one without effect is a refusal."""

    def test_delay_and_jitter(self, kernel: str) -> None:
        with kernel_network(mesh(2, [(0, 1)])) as network:
            applied = network.apply(SetImpairment("r0", "to1n0", delay_ms=40, jitter_ms=4))
            assert applied.accepted
            assert applied.detail.startswith("measured")
            network.ping_matrix([("r0", "r1")])
            probe = network.ping_matrix([("r0", "r1")]).probes[0]
            assert probe.rtt_ms is not None
            assert 34 <= probe.rtt_ms < 400
            back = network.tcp_matrix([("h1", "h0", 80)]).probes[0]
            assert back.ok
            network.apply_all(applied.inverse)
            # One time alone says little where something else may use the processor.
            assert min(probe.rtt_ms or 0 for probe in network.ping_matrix([("r0", "r1")] * 10).probes) < 34

    def test_loss_is_what_was_asked(self, kernel: str) -> None:
        with kernel_network(mesh(2, [(0, 1)])) as network:
            assert network.apply(SetImpairment("r0", "to1n0", loss=0.3)).accepted
            while network.ping_matrix([("r0", "r1")]).failed:
                continue  # ARP is lost as well; what is asked here is the loss of packets
            lost = network.ping_matrix([("r0", "r1")] * 600).loss
            assert 0.2 < lost < 0.4

    def test_packet_rate_and_byte_rate(self, kernel: str) -> None:
        with kernel_network(mesh(2, [(0, 1)])) as network:
            assert network.apply(SetImpairment("r0", "to1n0", packets_s=20)).accepted
            assert network.apply(SetImpairment("r0", "to1n0", rate_kbit=800)).accepted
            assert network.apply(SetImpairment("r0", "to1n0")).accepted
            assert network.ping_matrix().loss == 0

    def test_an_impairment_that_cannot_be_made_is_refused(self, kernel: str) -> None:
        """Pitfall 6: never a silent no-op."""
        with kernel_network(mesh(2, [(0, 1)])) as network:
            network.apply(SetLink("r0", "to1n0", up=False))
            applied = network.apply(SetImpairment("r0", "to1n0", delay_ms=40))
            assert not applied.accepted
            assert network.state()["nodes"]["r0"]["impairments"] == {}


def test_paths_agree_with_the_simulator(kernel: str) -> None:
    topology = mesh(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    with kernel_network(topology) as network, build(topology, backend="simulated") as simulated:
        assert network.path("h0", "h4") == simulated.path("h0", "h4")
        for emulator in (network, simulated):
            emulator.apply(RemoveRoute("r3", "10.0.4.0/24"))
        assert network.path("h0", "h4") == simulated.path("h0", "h4")
        assert network.path("h0", "h4").reason == "net-unreachable"


def test_idle_deadline_holds_under_load(kernel: str) -> None:
    """Pitfall 4: with a fixed deadline open pairs were called closed while something else used the processor."""
    burn = "import time\nstop = time.time() + 6\nwhile time.time() < stop: pass"
    with kernel_network(online_boutique(policies=False)) as network:
        loops = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(3)]
        try:
            for _ in range(3):
                assert not network.tcp_matrix().failed
                assert not network.ping_matrix().failed
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
