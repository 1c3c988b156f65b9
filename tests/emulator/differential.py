"""One case on two backends, compared: acceptance, state, pings with reason and place, TCP connections, inverses."""

from __future__ import annotations

from collections.abc import Sequence

from nl2net.emulator import Applied, Emulator, Matrix, Operation, Reason
from tests.emulator.cases import Case

IDLE_S = 0.25
# Linux answers at most a handful of "no route" and "prohibited" losses per source at once (a host-wide limit that no
# namespace can lift), so silence is a right answer of the kernel wherever the simulator names such a reason.
_LIMITED = {Reason.NET_UNREACHABLE, Reason.ADMIN_PROHIBITED, Reason.HOST_UNREACHABLE}


def apply_both(
    kernel: Emulator, simulated: Emulator, operations: Sequence[Operation]
) -> tuple[list[Applied], list[str]]:
    """Apply to both; what the kernel answered, and disagreements."""
    done, wrong = [], []
    for operation in operations:
        left, right = kernel.apply(operation), simulated.apply(operation)
        done.append(left)
        if (left.accepted, left.reason, left.inverse) != (right.accepted, right.reason, right.inverse):
            wrong.append(f"apply {operation}: {left} / {right}")
    if kernel.snapshot().digest != simulated.snapshot().digest:
        wrong.append(f"states differ: {state_difference(kernel, simulated)}")
    return done, wrong


def state_difference(kernel: Emulator, simulated: Emulator) -> str:
    """The first node whose canonical states differ."""
    left, right = kernel.state(), simulated.state()
    pairs = ((name, left["nodes"][name], right["nodes"][name]) for name in left["nodes"])
    return str(next((pair for pair in pairs if pair[1] != pair[2]), ("policies", left["policies"], right["policies"])))


def compare_pings(kernel: Emulator, simulated: Emulator) -> tuple[Matrix, list[str]]:
    """All-pairs pings of both."""
    left, right = kernel.ping_matrix(idle_s=IDLE_S), simulated.ping_matrix()
    wrong = []
    for one, other in zip(left.probes, right.probes, strict=True):
        same = (one.reason, one.place) == (other.reason, other.place)
        limited = one.reason is Reason.TIMEOUT and other.reason in _LIMITED
        if one.ok != other.ok or not (same or limited):
            wrong.append(f"ping {one} / {other}")
    return left, wrong


def compare_connects(kernel: Emulator, simulated: Emulator) -> tuple[Matrix, list[str]]:
    """TCP matrices of both."""
    left, right = kernel.tcp_matrix(idle_s=IDLE_S), simulated.tcp_matrix()
    pairs = zip(left.probes, right.probes, strict=True)
    return left, [f"tcp {one} / {other}" for one, other in pairs if (one.ok, one.stage) != (other.ok, other.stage)]


def undo(kernel: Emulator, simulated: Emulator, done: Sequence[Applied], case: Case, digest: str) -> list[str]:
    """Apply the inverses in reverse order to both; both must be back at the first digest."""
    wrong = []
    for applied in reversed(done):
        for operation in applied.inverse:
            left, right = kernel.apply(operation), simulated.apply(operation)
            if not left.accepted or (left.accepted, left.reason) != (right.accepted, right.reason):
                wrong.append(f"inverse {operation}: {left} / {right}")
    for network in (kernel, simulated):
        if network.snapshot().digest != digest:
            wrong.append(f"inverse of {case.operations} does not restore the {network.backend} state")
    return wrong
