"""The parent's end of a worker process: start it clean, ask it, cancel it, end it."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.errors import Unavailable
from nl2net.sandbox.process import wire

_START_S = 120.0
_LOAD_S = 600.0
_CANCEL_S = 0.08
_TICK_S = 0.02
# What the worker may take on top of the child's deadline: fork, copy, and a machine under load.
_SLACK_S = 60.0

_BOOT = "import sys; sys.path.extend(sys.argv[2:]); from nl2net.sandbox.process.zygote import main; main(sys.argv[1])"

ENVIRONMENT: Mapping[str, str] = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker is started.

    ``language`` is the module of wall one; the escape tests put a weaker one in its place, from ``paths``, and leave
    out layers with ``emulate``. The product uses the defaults. ``prefix`` goes in front of the command line. A parser
    worker loads ``modules`` and skips the libraries of programs (``warm``).
    """

    language: str = "nl2net.sandbox.language"
    idle_s: float = 900.0
    emulate: Mapping[str, int] | None = None
    paths: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    allow_read_paths: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    warm: bool = True

    def to_json(self, adopt: int) -> str:
        """The part that the worker reads."""
        return json.dumps(
            {
                "language": self.language,
                "idle_s": self.idle_s,
                "emulate": dict(self.emulate or {}),
                "allow_read_paths": list(self.allow_read_paths),
                "modules": list(self.modules),
                "warm": self.warm,
                "adopt": adopt,
            }
        )


class WorkerDied(Exception):
    """The worker closed its pipe; a new one can be started."""


def _search_path(extra: tuple[str, ...]) -> list[str]:
    """Folders of the parent's own module path, for a package that is found through ``PYTHONPATH``.

    They are appended, so they never come before the installed packages; relative entries are left out.
    """
    return [*extra, *(entry for entry in sys.path if Path(entry).is_absolute())]


class WorkerProcess:
    """One worker process; requests are answered one at a time.

    Parameters
    ----------
    options : WorkerOptions
        How to start it.
    base : WorkerProcess, optional
        Fork the worker off this one, which has imported everything and holds no data, instead of starting anew. The
        new worker gets pipes of its own, so that the base never sees what is sent to it.
    """

    def __init__(self, options: WorkerOptions, *, base: WorkerProcess | None = None) -> None:
        self._lock = threading.Lock()
        # Two threads may wait for the start at once; the message that ends it comes only once.
        self._starting = threading.Lock()
        self._forking = threading.Lock()
        self._ready = False
        self._process: subprocess.Popen[bytes] | None = None
        self._adopt: socket.socket | None = None
        if base is None:
            self._start(options)
        else:
            self._fork_from(base)

    def _start(self, options: WorkerOptions) -> None:
        self._adopt, theirs = socket.socketpair()
        to_read, self._in = os.pipe()
        self._out, to_write = os.pipe()
        self._err, to_say = os.pipe()
        # -s and -P instead of -I: that would also ignore the hash seed.
        command = [*options.prefix, sys.executable, "-s", "-P", "-c", _BOOT, options.to_json(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                [*command, *_search_path(options.paths)],
                stdin=to_read,
                stdout=to_write,
                stderr=to_say,
                env=dict(ENVIRONMENT),
                cwd="/",
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        finally:
            for descriptor in (to_read, to_write, to_say):
                os.close(descriptor)
            theirs.close()
        self.number = self._process.pid

    def _fork_from(self, base: WorkerProcess) -> None:
        self._err = -1
        to_read, self._in = os.pipe()
        self._out, to_write = os.pipe()
        try:
            self.number = base.fork((to_read, to_write))
        except BaseException:
            os.close(self._in)
            os.close(self._out)
            raise
        finally:
            os.close(to_read)
            os.close(to_write)

    def fork(self, pipes: tuple[int, int]) -> int:
        """Let this worker, which must hold no data, fork another that serves these pipes; its process number."""
        self.wait_ready()
        assert self._adopt is not None
        with self._forking:  # the pipes of one request must not be taken for those of another
            socket.send_fds(self._adopt, [b"x"], list(pipes))
            head, _ = self.ask({"kind": "fork"})
        return int(head["number"])

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        if self._process is not None:
            return self._process.poll() is None
        if self._out < 0:
            return False
        # A worker that was forked off is no child of ours: its end of the pipe tells.
        poll = select.poll()
        poll.register(self._out, 0)
        return not poll.poll(0)

    def wait_ready(self) -> None:
        """Wait until the libraries are imported.

        Raises
        ------
        Unavailable
            It did not start; the message ends with what it said.
        """
        with self._starting:
            if self._ready:
                return
            try:
                self._receive(time.monotonic() + _START_S)
            except (wire.Closed, wire.Late):
                said = self._last_words()
                self.kill()
                raise Unavailable(
                    f"the sandbox process did not start: {said or 'no message'}",
                    hint="Run `nl2net doctor` to see which layer or package is missing.",
                ) from None
            self._ready = True

    def _last_words(self) -> str:
        if not select.select([self._err], [], [], 0.2)[0]:
            return ""
        lines = os.read(self._err, 65536).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def ask(
        self, request: Mapping[str, Any], *, wall_s: float = 60.0, cancel: threading.Event | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """Send one request and wait for its head and data.

        Raises
        ------
        WorkerDied
            The process is gone.
        KeyboardInterrupt
            As raised while waiting; the child is dead by then.
        """
        with self._lock:
            self.wait_ready()
            try:
                wire.write_frame(self._in, pickle.dumps(dict(request), 5))
                return self._wait(time.monotonic() + wall_s + _SLACK_S, cancel)
            except (wire.Closed, wire.Late):
                self.kill()
                raise WorkerDied from None
            except BaseException:
                self._stop_child()
                raise

    def load(self, graph: Any) -> None:
        """Send a graph as a stream, so that the worker builds it while the rest is still being written.

        Raises
        ------
        WorkerDied
            The process is gone.
        """
        with self._lock:
            self.wait_ready()
            try:
                wire.write_frame(self._in, pickle.dumps({"kind": "load"}, 5))
                stream = wire.ChunkWriter(self._in)
                pickle.Pickler(stream, 5).dump(graph)
                stream.close()
                self._receive(time.monotonic() + _LOAD_S)
            except (wire.Closed, wire.Late):
                self.kill()
                raise WorkerDied from None
            except BaseException:
                self.kill()  # half a graph is of no use
                raise

    def interrupt(self) -> None:
        """Kill the process and leave its pipes to the thread that waits for it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.number, signal.SIGKILL)

    def _wait(self, deadline: float, cancel: threading.Event | None) -> tuple[dict[str, Any], bytes]:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise wire.Late
            if select.select([self._out], [], [], min(left, _TICK_S) if cancel else left)[0]:
                return self._receive(deadline)
            if cancel is not None and cancel.is_set():
                wire.write_frame(self._in, b"")
                return self._receive(time.monotonic() + _CANCEL_S)

    def _receive(self, deadline: float) -> tuple[dict[str, Any], bytes]:
        head = json.loads(wire.read_frame(self._out, deadline=deadline))
        return head, wire.read_frame(self._out, deadline=deadline)

    def _stop_child(self) -> None:
        try:
            wire.write_frame(self._in, b"")
            self._receive(time.monotonic() + _CANCEL_S)
        except (wire.Closed, wire.Late, ValueError):
            self.kill()

    def close(self) -> None:
        """Let the process go by closing its pipes; kill it if it stays."""
        self._close_pipe("_in")
        limit = time.monotonic() + 1.0
        while self._out >= 0 and self.alive and time.monotonic() < limit:
            time.sleep(0.005)
        self.kill()

    def kill(self) -> None:
        """Kill the process; its child dies with it."""
        if self._out >= 0 and self.alive:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(self.number, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        for name in ("_in", "_out", "_err"):
            self._close_pipe(name)
        if self._adopt is not None:
            self._adopt.close()

    def _close_pipe(self, name: str) -> None:
        descriptor = getattr(self, name)
        if descriptor >= 0:
            setattr(self, name, -1)
            os.close(descriptor)


def fresh(worker: WorkerProcess | None, options: WorkerOptions, *, base: WorkerProcess | None = None) -> WorkerProcess:
    """The worker itself while it lives, else a new one, forked off ``base`` where there is one."""
    if worker is not None:
        if worker.alive:
            return worker
        worker.kill()  # closes its pipes
    return WorkerProcess(options, base=base)
