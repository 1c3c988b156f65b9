"""One real attack per layer, each layer alone, in throw-away children. Run by ``doctor`` in a process of its own.

As root the process first enters its own namespaces and becomes nobody: an attack on a single layer must never have
the rights of root or the namespaces of the host. All targets are inert: a marker file, a listener of this process,
signal 0.
"""

from __future__ import annotations

import contextlib
import encodings.idna  # noqa: F401 - the first connect would load it, as nobody
import errno
import json
import mmap
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nl2net.sandbox.process import layers

_DEADLINE_S = 10
Trial = tuple[str, str, bool, str]  # layer, attack, held, what happened


def _attempt(attack: Callable[..., Any], *, with_pipe: bool = False) -> tuple[int, str]:
    """Run an attack in a child; the signal that ended it, and what it reported."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(_DEADLINE_S)
        try:
            said = f"reached: {attack(writer) if with_pipe else attack()}"
        except BaseException as error:  # the answer is how it failed
            code = error.errno if isinstance(error, OSError) else None
            said = errno.errorcode.get(code or 0, type(error).__name__)
        with contextlib.suppress(OSError):
            os.write(writer, said.encode()[:500])
        # Layers that close descriptors leave the pipe on number 3.
        with contextlib.suppress(OSError):
            os.write(3, said.encode()[:500])
        os._exit(0)
    os.close(writer)
    answer = b"".join(iter(lambda: os.read(reader, 4096), b""))
    os.close(reader)
    _, status = os.waitpid(child, 0)
    return (os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0), answer.decode("utf-8", "replace")


def _judge(layer: str, attack: str, expected: tuple[str, ...], outcome: tuple[int, str]) -> Trial:
    killed_by, said = outcome
    found = signal.Signals(killed_by).name if killed_by else said
    return layer, attack, any(found.startswith(word) for word in expected), found or "no answer"


def _write_everywhere(writer: int) -> str:
    os.environ["PLANTED"] = "1"
    layers.keep_only_pipe(writer)
    for descriptor in range(4, 21):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"x")
            return f"descriptor {descriptor}"
    if "PLANTED" in os.environ:
        return "environment"
    raise OSError(errno.EBADF, "nothing but the pipe")


def _limited(attack: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        layers.limit_resources(memory_bytes=100 << 20, cpu_s=1)
        return attack()

    return run


def _spin() -> None:
    while True:
        pass


def _write_file(folder: str) -> str:
    with (Path(folder) / "written").open("wb", buffering=0) as stream:
        stream.write(b"x")
    return "written"


def _connect(port: int) -> str:
    layers.leave_namespaces()
    with socket.socket() as link:
        link.settimeout(2)
        link.connect(("127.0.0.1", port))
        return "connected"


def _read_marker(marker: str) -> str:
    layers.forbid_privileges()
    layers.restrict_files()
    return Path(marker).read_text()


def _map_code() -> str:
    layers.forbid_writable_code()
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    return "mapped"


def _filtered(attack: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        layers.forbid_privileges()
        layers.filter_calls(os.uname().machine)
        return attack()

    return run


def _trials(folder: str, marker: str, port: int) -> Iterator[Trial]:
    parent = os.getpid()
    yield _judge(
        "descriptors",
        "write to descriptors 4 to 20, read a planted variable",
        ("EBADF",),
        _attempt(_write_everywhere, with_pipe=True),
    )
    yield _judge(
        "rlimits",
        "take 400 MB with a budget of 100",
        ("MemoryError",),
        _attempt(_limited(lambda: len(bytearray(400 << 20)))),
    )
    yield _judge("rlimits", "spin with 1 s of CPU time", ("SIGKILL", "SIGXCPU"), _attempt(_limited(_spin)))
    yield _judge("rlimits", "write a file", ("EFBIG",), _attempt(_limited(lambda: _write_file(folder))))
    yield _judge("user", "act as root", ("EPERM",), _attempt(lambda: os.setuid(0)))
    refused = ("ENETUNREACH", "ECONNREFUSED", "TimeoutError", "ETIMEDOUT", "EADDRNOTAVAIL")
    yield _judge("namespaces", "connect to a listener on loopback", refused, _attempt(lambda: _connect(port)))
    yield _judge("landlock", "read a readable file", ("EACCES",), _attempt(lambda: _read_marker(marker)))
    yield _judge("mdwe", "map memory that is writable and executable", ("EACCES", "EPERM"), _attempt(_map_code))
    attacks: tuple[tuple[str, tuple[str, ...], Callable[[], Any]], ...] = (
        ("make a socket", ("SIGSYS",), socket.socket),
        ("fork", ("EAGAIN", "SIGSYS"), os.fork),
        ("start a program", ("SIGSYS",), lambda: os.execv(sys.executable, [sys.executable, "-V"])),  # noqa: S606
        ("signal 0 to the parent", ("SIGSYS",), lambda: os.kill(parent, 0)),
        ("make a file in memory", ("SIGSYS",), lambda: os.memfd_create("x")),
        ("read a readable file", ("EACCES",), lambda: Path(marker).read_text()),
        ("map executable memory", ("EPERM",), lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)),
    )
    for name, expected, attack in attacks:
        yield _judge("seccomp", name, expected, _attempt(_filtered(attack)))


def _isolate() -> None:
    """As root: own namespaces, then nobody for good."""
    if os.geteuid() != 0:
        return
    layers.leave_namespaces()
    layers.raise_loopback()
    layers.drop_user()
    if 0 in (os.getuid(), os.geteuid(), os.getgid()):
        raise SystemExit("still root: no attack is run")


def main() -> None:
    """Run all trials and print them as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # the trials run as nobody
        marker = Path(folder) / "marker"
        marker.write_text("marker")
        marker.chmod(0o644)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _isolate()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            listener = socket.create_server(("127.0.0.1", 0))
            found = list(_trials(folder, str(marker), listener.getsockname()[1]))
            os.write(writer, json.dumps(found).encode())
            os._exit(0)
        os.close(writer)
        data = b"".join(iter(lambda: os.read(reader, 65536), b""))
        os.waitpid(child, 0)
    sys.stdout.write(data.decode())
