"""The server process of the built-in model: OpenAI-compatible, on loopback, with a key, gone when idle.

Started as ``python -m nl2net.llm.serving`` with one line of JSON on standard input (`ServerPlan`): so the key stands
in no process list. It writes its address to a private file once it is ready and removes the file when it ends.
"""

from __future__ import annotations

import argparse
import contextlib
import hmac
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

from nl2net.llm.engine import Engine
from nl2net.locations import atomic_write

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server needs to start."""

    model: str
    weights: str
    token: str
    state_file: str
    idle_stop_s: float
    threads: int
    port: int = 0


@dataclass(frozen=True, slots=True)
class ServerState:
    """Where a running server is; the content of its state file."""

    model: str
    pid: int
    port: int
    token: str

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.port}/v1"


class ModelServer(ThreadingHTTPServer):
    """Holds the engine, takes one job at a time, and watches for idleness."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, plan: ServerPlan, engine: Engine) -> None:
        from nl2net.llm.serving_http import Handler

        super().__init__((HOST, plan.port), Handler)
        self.plan = plan
        self.engine = engine
        self._turn = threading.Lock()
        self._count_lock = threading.Lock()
        self._busy = 0
        self._last_used = time.monotonic()
        self.jobs = 0

    @property
    def state(self) -> ServerState:
        return ServerState(self.plan.model, os.getpid(), self.server_address[1], self.plan.token)

    def allows(self, authorization: str) -> bool:
        """Whether a request brought the key."""
        return hmac.compare_digest(authorization.encode(), f"Bearer {self.plan.token}".encode())

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Count a request, so that the server does not stop under it."""
        with self._count_lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._count_lock:
                self._busy -= 1
                self._last_used = time.monotonic()

    @contextlib.contextmanager
    def turn(self) -> Iterator[Engine]:
        """Wait for the engine."""
        with self._turn:
            self.jobs += 1
            yield self.engine

    def idle_s(self) -> float:
        """Seconds without a request."""
        with self._count_lock:
            return 0.0 if self._busy else time.monotonic() - self._last_used

    def watch(self) -> None:
        """Stop the server when it has been idle for long enough."""
        while self.idle_s() < self.plan.idle_stop_s:
            time.sleep(min(max(self.plan.idle_stop_s - self.idle_s(), 0.05), 30.0))
        self.shutdown()


def serve(plan: ServerPlan) -> None:
    """Load the model and serve until idle, asked to shut down, or terminated."""
    engine = Engine(Path(plan.weights), threads=plan.threads)
    server = ModelServer(plan, engine)
    state_file = Path(plan.state_file)
    with atomic_write(state_file, private=True) as stream:
        stream.write(json.dumps(asdict(server.state)).encode())
    threading.Thread(target=server.watch, daemon=True, name="idle-watch").start()
    # `shutdown` waits for the loop to end, so it must not run on the thread of the loop.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        _remove_own(state_file)
        server.server_close()


def _remove_own(state_file: Path) -> None:
    """Remove the state file unless another server has written it since."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        if json.loads(state_file.read_bytes())["pid"] == os.getpid():
            state_file.unlink()


def main() -> None:
    """Entry point of the process."""
    argparse.ArgumentParser(prog="nl2net-model-server", description=__doc__).parse_args()
    plan = ServerPlan(**json.loads(sys.stdin.readline()))
    with contextlib.suppress(KeyboardInterrupt):
        serve(plan)
    # llama.cpp frees nothing that the system does not free faster.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
