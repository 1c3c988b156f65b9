"""Starting, finding and stopping the server of the built-in model."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.errors import EndpointError
from nl2net.llm.catalogue import LocalModel
from nl2net.locations import Locations, private_folder

START_TIMEOUT_S = 120.0
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server of the built-in model that answers."""

    model: str
    pid: int
    port: int
    token: str

    @property
    def base_url(self) -> str:
        return f"http://{_HOST}:{self.port}/v1"

    def __repr__(self) -> str:
        return f"RunningServer(model={self.model!r}, pid={self.pid}, port={self.port})"


def state_file(name: str, locations: Locations) -> Path:
    """Where a server says how to reach it; mode 0600."""
    return locations.runtime / f"{name}.json"


def log_file(name: str, locations: Locations) -> Path:
    """What the server process prints; empty unless it fails."""
    return locations.runtime / f"{name}.log"


def find_server(name: str, *, locations: Locations) -> RunningServer | None:
    """The running server of a local model, or ``None``."""
    try:
        server = RunningServer(**json.loads(state_file(name, locations).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    health = _call(server, "GET", "/health", timeout_s=5.0)
    return server if health is not None and health.get("model") == name else None


def ensure_server(
    model: LocalModel, *, locations: Locations, idle_stop_s: float = 900.0, timeout_s: float = START_TIMEOUT_S
) -> RunningServer:
    """The server of a local model, started if none is running.

    Any number of processes may call this at once: a lock file lets one of them start it and the others find it.

    Raises
    ------
    EndpointError
        The weights or the ``local`` extra are missing, or the server does not come up; with the end of its log.
    """
    found = find_server(model.name, locations=locations)
    if found is not None:
        return found
    weights = model.require(locations)
    private_folder(locations.runtime)
    with _start_lock(locations.runtime / f"{model.name}.lock", timeout_s):
        found = find_server(model.name, locations=locations)
        if found is not None:
            return found
        state_file(model.name, locations).unlink(missing_ok=True)  # left by a server that was killed
        return _start(model, weights, locations=locations, idle_stop_s=idle_stop_s, timeout_s=timeout_s)


def stop_server(name: str, *, locations: Locations, timeout_s: float = 10.0) -> bool:
    """Ask a running server to end; whether there was one."""
    server = find_server(name, locations=locations)
    if server is None:
        return False
    _call(server, "POST", "/shutdown", timeout_s=5.0)
    deadline = time.monotonic() + timeout_s
    while state_file(name, locations).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return True


def default_threads() -> int:
    """Threads for the model: the processors this process may use, at most 8."""
    return max(1, min(len(os.sched_getaffinity(0)), 8))


@contextlib.contextmanager
def _start_lock(path: Path, timeout_s: float) -> Iterator[None]:
    """An exclusive lock that the kernel drops if its holder dies."""
    deadline = time.monotonic() + timeout_s
    with path.open("a") as stream:
        path.chmod(0o600)
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EndpointError(
                        "another process has been starting the model server for too long", hint=f"Remove {path}."
                    ) from None
                time.sleep(0.1)
        yield


def _start(
    model: LocalModel, weights: Path, *, locations: Locations, idle_stop_s: float, timeout_s: float
) -> RunningServer:
    plan = {
        "model": model.name,
        "weights": str(weights),
        "token": secrets.token_urlsafe(32),
        "state_file": str(state_file(model.name, locations)),
        "idle_stop_s": idle_stop_s,
        "threads": default_threads(),
    }
    log = log_file(model.name, locations)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "nl2net.llm.serving"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=locations.runtime,
            start_new_session=True,
            env=_environment(),
        )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(json.dumps(plan).encode() + b"\n")
    return _await(process, model.name, locations=locations, timeout_s=timeout_s)


def _environment() -> dict[str, str]:
    """The environment of the server: no keys, and OpenMP threads that sleep when they have nothing to do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "NL2NET_"))}
    return kept | {"OMP_WAIT_POLICY": "passive"}


def _await(process: subprocess.Popen[bytes], name: str, *, locations: Locations, timeout_s: float) -> RunningServer:
    deadline = time.monotonic() + timeout_s
    try:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EndpointError(
                    f"the server of {name!r} ended while starting: {_last_line(log_file(name, locations))}",
                    hint="`pip install 'nl2net[local]'` brings what it needs; `nl2net model serve` shows its output.",
                )
            if state_file(name, locations).exists():
                server = find_server(name, locations=locations)
                if server is not None and server.pid == process.pid:
                    # The server outlives this process on purpose; without this, Python warns of it at exit.
                    process.returncode = 0
                    return server
            time.sleep(0.05)
        raise EndpointError(f"the server of {name!r} was not ready within {timeout_s:.0f} s")
    except BaseException:
        process.kill()
        process.wait()
        state_file(name, locations).unlink(missing_ok=True)
        raise


def _last_line(log: Path) -> str:
    try:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    return lines[-1][:300] if lines else "it said nothing"


def _call(server: RunningServer, method: str, path: str, *, timeout_s: float) -> dict[str, Any] | None:
    """Ask our own server something that carries no content: its health, or to end. Never goes through a proxy."""
    request = urllib.request.Request(
        f"http://{_HOST}:{server.port}{path}",
        method=method,
        headers={"authorization": f"Bearer {server.token}"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout_s) as response:
            found = json.loads(response.read(65536))
            return found if isinstance(found, dict) else None
    except (OSError, ValueError, urllib.error.URLError):
        return None
