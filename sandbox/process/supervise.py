"""Fork one child per request, copy what it says, and end it. Runs in the worker; never parses what a child says."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

_CHUNK = 1 << 18
_GRACE_S = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a child ended, as its supervisor saw it.

    ``reason`` is ``done``, ``time``, ``output``, ``cancelled`` or ``orphaned``; ``killed_by`` is the signal that ended
    a child before its supervisor did, else 0.
    """

    reason: str
    killed_by: int
    exit_code: int
    wall_s: float
    cpu_s: float
    peak_mb: float

    def to_json(self) -> dict[str, Any]:
        """JSON form for the parent."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Watch:
    """Limits that the supervisor keeps: a deadline, a cap on bytes, and the descriptor on which a cancel comes."""

    wall_s: float
    most_bytes: int
    control: int


def thread_count() -> int:
    """Threads of this process; only a process with one may fork here."""
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208 - a bare name list is all that is wanted


def run_child(body: Callable[[int, int], None], watch: Watch) -> tuple[Verdict, bytes]:
    """Run ``body(pipe, supervisor)`` in a forked child and return its verdict and its bytes.

    The child is gone, with its process group, when this returns.
    """
    started = time.monotonic()
    supervisor = os.getpid()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            body(writer, supervisor)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    reason, data = "cancelled", b""
    try:
        reason, data = _copy(reader, watch, started + watch.wall_s)
    finally:
        os.close(reader)
        killed_by, exit_code, cpu_s, peak_mb = _end(child, patient=reason == "done")
    verdict = Verdict(reason, killed_by, exit_code, time.monotonic() - started, cpu_s, peak_mb)
    return verdict, data


def _copy(reader: int, watch: Watch, deadline: float) -> tuple[str, bytes]:
    data = bytearray()
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return "time", bytes(data)
        ready, _, _ = select.select([reader, watch.control], [], [], left)
        if watch.control in ready:
            # An empty frame means cancel; the end of the stream means that the parent is gone.
            return ("cancelled" if os.read(watch.control, 4) else "orphaned"), bytes(data)
        if reader in ready:
            chunk = os.read(reader, _CHUNK)
            if not chunk:
                return "done", bytes(data)
            data += chunk
            if len(data) > watch.most_bytes:
                return "output", bytes(data[: watch.most_bytes])


def _own_end(child: int) -> tuple[int, int]:
    """Signal and exit code of a child that ended by itself; its pipe closes an instant before it does."""
    limit = time.monotonic() + _GRACE_S
    while True:
        found = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is not None:
            if found.si_code == os.CLD_EXITED:
                return 0, found.si_status
            return found.si_status, -1
        if time.monotonic() > limit:
            return 0, -1
        time.sleep(0.0005)


def _end(child: int, *, patient: bool) -> tuple[int, int, float, float]:
    killed_by, exit_code = _own_end(child) if patient else (0, -1)
    # Before its first step the child is not yet its own group, hence both.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    _, _, usage = os.wait4(child, 0)
    return killed_by, exit_code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
