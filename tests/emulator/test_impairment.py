"""Loss, delay and rate: each way of making them measured, and one that does nothing refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nl2net.emulator import SetImpairment, build, mesh, operation_from_json
from nl2net.emulator.capability import capabilities
from nl2net.emulator.kernel.measure import judge_delay, judge_limit, judge_loss, judge_rate
from nl2net.errors import UserError

pytestmark = pytest.mark.kernel
ROOT = Path(__file__).resolve().parents[2]
WANTED = (
    SetImpairment("r0", "to1n0", loss=0.3),
    SetImpairment("r0", "to1n0", delay_ms=30),
    SetImpairment("r0", "to1n0", delay_ms=30, jitter_ms=5, loss=0.2),
    SetImpairment("r0", "to1n0", rate_kbit=800),
    SetImpairment("r0", "to1n0", packets_s=50),
)


@pytest.mark.parametrize("wanted", WANTED, ids=lambda item: item.op)
def test_each_is_measured_and_undone(kernel: str, wanted: SetImpairment) -> None:
    """With netem where this kernel has it, and with its substitutes elsewhere: nobody needs to know which."""
    with build(mesh(2, [(0, 1)]), backend="kernel") as network:
        before = network.snapshot()
        applied = network.apply(wanted)
        assert applied.accepted, applied
        assert applied.detail.startswith("measured: ")
        assert network.state()["nodes"]["r0"]["impairments"]["to1n0"]["loss"] == wanted.loss
        network.apply_all(applied.inverse)
        assert network.snapshot().digest == before.digest
        assert network.ping_matrix().loss == 0
        assert min(probe.rtt_ms or 0 for probe in network.ping_matrix([("r0", "r1")] * 10).probes) < 25


def test_netem_is_found_by_trial_and_used(kernel: str) -> None:
    netem = next(item for item in capabilities() if item.name == "netem")
    if not netem.works:
        pytest.skip(f"NETEM NOT TESTED: {netem.reason}; its substitutes were")
    with build(mesh(2, [(0, 1)]), backend="kernel") as network:
        assert network.apply(SetImpairment("r0", "to1n0", delay_ms=30, loss=0.2)).accepted
        assert "netem" in network.exec("r0", "tc qdisc show dev to1n0").output


def test_an_effect_that_is_absent_is_refused() -> None:
    """Pitfall 6: what was accepted by a program and changed nothing."""
    plain = {"delay_ms": 40.0, "jitter_ms": 0.0, "loss": 0.0}
    assert judge_delay([0.02, 0.03, 0.02], plain)[0] == "no-effect"
    assert judge_delay([], plain)[0] == "no-effect"
    assert judge_delay([40.2, 41.0, 40.1], plain)[0] == ""
    assert judge_loss(0.0, 0.3)[0] == "no-effect"
    assert judge_loss(0.9, 0.3)[0] == "no-effect"
    assert judge_loss(0.31, 0.3)[0] == ""
    assert judge_limit(0.0)[0] == "no-effect"
    assert judge_rate(90_000, 800)[0] == "no-effect"
    assert judge_rate(0, 800)[0] == "no-effect"


def test_values_without_sense_are_an_error() -> None:
    for field, value in (("loss", 1.5), ("delay_ms", -1), ("rate_kbit", -5)):
        with pytest.raises(UserError, match="set_impairment"):
            operation_from_json({"op": "set_impairment", "node": "r0", "interface": "x", field: value})


def test_loss_before_the_link_is_measured_by_what_arrives(kernel: str) -> None:
    """As netem drops: on the way out, where no rule of ours counts; an nft rule at the exit stands in for it."""
    code = """
import json, os
from nl2net.emulator import mesh
from nl2net.emulator.kernel import relay, system
from nl2net.emulator.kernel.measure import Line, delays, lost_share
from nl2net.emulator.kernel.network import Network
system.enter()
network = Network(mesh(2, [(0, 1)]))
spaces = network.spaces
with spaces.inside("r1"):
    arrivals = relay.packet_socket("to0n0")
with spaces.inside("r0"):
    departures = relay.packet_socket("to1n0", kind=0)
line = Line(arrivals, departures)
plain = lost_share(line, 400, wait_s=0.1)
hook = "type filter hook egress device to1n0 priority 0; policy accept;"
rule = "add rule netdev t c numgen random mod 100 < 30 drop"
spaces.run("r0", ["nft", "-f", "-"], feed=f"add table netdev t\\nadd chain netdev t c {{ {hook} }}\\n{rule}\\n")
lossy = lost_share(line, 400, wait_s=0.1)
late = delays(line, {"delay_ms": 5, "jitter_ms": 0, "loss": 0.3}, relayed=False)
os.write(1, json.dumps([plain, lossy, late]).encode())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    if "egress" in done.stderr:
        pytest.skip("this kernel has no egress hook for nft")
    plain, lossy, late = json.loads(done.stdout or "[]") or pytest.fail(done.stderr)
    assert plain == 0
    assert judge_loss(lossy, 0.3)[0] == ""
    assert len(late) == 5
    assert min(late) < 5
