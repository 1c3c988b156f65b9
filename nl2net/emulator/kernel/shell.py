"""Command lines that a model wrote, apart from this machine inside a node's namespace.

Bubblewrap does it where it is installed, namespaces made here elsewhere (``jail``). The system's programs are visible
read-only and no other file; own process, IPC and name namespaces; no capability but network administration and raw
sockets, which hold for the node's namespace only.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from nl2net.emulator.kernel import jail, view
from nl2net.emulator.kernel.connect import Servers
from nl2net.emulator.kernel.spaces import PROGRAM_PATH, Spaces, find_program
from nl2net.emulator.results import CommandResult
from nl2net.errors import Unavailable

MAX_PROCESSES = 128
MAX_MEMORY = 512 * 1024 * 1024
MAX_TOTAL_MEMORY = 1024 * 1024 * 1024
MAX_FLOOD = 16 * 1024 * 1024  # output beyond the limit is thrown away, but not for ever
LOOK_S = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Way(StrEnum):
    """How a command line is kept apart."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"


def way() -> Way:
    """Bubblewrap where it is installed."""
    try:
        find_program("bwrap")
    except OSError:
        return Way.NAMESPACES
    return Way.BUBBLEWRAP


def wrap(words: list[str], *, extra: tuple[str, ...] = ()) -> list[str]:
    """Arguments of bubblewrap around one command; ``extra`` paths are shown read-only as well."""
    arguments = [find_program("bwrap"), "--dev", "/dev", "--proc", "/proc"]
    for item in view.shown(extra):
        arguments += ["--symlink", item.link, item.path] if item.link else ["--ro-bind", item.path, item.path]
    # bubblewrap makes all of /proc/sys read-only; the net part belongs to the node and sysctl must work on it.
    arguments += ["--bind", "/proc/sys/net", "/proc/sys/net"]
    for folder in view.MEMORY_FOLDERS:
        arguments += ["--size", str(view.TEMPORARY_BYTES), "--tmpfs", folder]
    # Without this, both are memory file systems that a command could fill with half of this machine's memory.
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]
    arguments += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_RAW", "--clearenv"]
    for name, value in _environment().items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--chdir", view.TEMPORARY, "--", *words]


def _environment() -> dict[str, str]:
    return {"PATH": PROGRAM_PATH, **view.ENVIRONMENT}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (view.TEMPORARY_BYTES, view.TEMPORARY_BYTES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_line(
    spaces: Spaces,
    servers: Servers,
    command: tuple[str, str],
    *,
    timeout_s: float,
    limit: int,
    by: Way | None = None,
    extra: tuple[str, ...] = (),
) -> CommandResult:
    """Run a command line; its listeners keep answering meanwhile.

    Raises
    ------
    Unavailable
        Neither bubblewrap nor namespaces can keep it apart; a bare shell is never used instead.
    """
    node, line = command
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    started = time.monotonic()
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        with spaces.inside(node):
            process = _start([shell, "-c", line], writer, by or way(), extra)
        os.close(writer)
        writer = -1
        found, ending = _collect(reader, process, servers, (started + timeout_s, limit))
        status = _end(process) if ending else _wait(process)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    output = found[:limit].decode(errors="replace")
    if status == jail.FAILED and output.startswith("nl2net: "):
        raise Unavailable(f"no command can run in a node: {output.strip()}", hint="apt-get install bubblewrap")
    truncated = len(found) > limit
    if ending == "memory":
        output += f"\n[stopped: more than {MAX_TOTAL_MEMORY >> 20} MiB of memory]"
    return CommandResult(status, output, truncated, ending == "time", time.monotonic() - started)


def _start(words: list[str], writer: int, by: Way, extra: tuple[str, ...]) -> int:
    if by is Way.NAMESPACES:
        return jail.start(words, jail.Place(_environment(), extra), output=writer, limit=_limit)
    process = subprocess.Popen(
        wrap(words, extra=extra),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
        preexec_fn=_limit,
        env={"PATH": PROGRAM_PATH},
    )
    process.returncode = 0  # waited for below, by its number
    return process.pid


def _end(process: int) -> int:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    _wait(process)
    return -1


def _wait(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _collect(pipe: int, process: int, servers: Servers, limits: tuple[float, int]) -> tuple[bytes, str]:
    """What was written, up to one byte more than the limit, and why it was stopped: empty at its own end."""
    deadline, limit = limits
    found, total = bytearray(), 0
    looked = time.monotonic()
    with select.epoll() as poll:
        for descriptor in (pipe, *servers.descriptors()):
            poll.register(descriptor, select.EPOLLIN)
        while True:
            now = time.monotonic()
            if now >= deadline:
                return bytes(found), "time"
            if now - looked >= LOOK_S:
                looked = now
                if _memory(process) > MAX_TOTAL_MEMORY:
                    return bytes(found), "memory"
            for descriptor, _ in poll.poll(min(deadline - now, LOOK_S)):
                if descriptor != pipe:
                    servers.serve(descriptor)
                    continue
                data = os.read(pipe, 65536)
                if not data:
                    return bytes(found), ""
                total += len(data)
                found += data[: limit + 1 - len(found)]
                if total > limit + MAX_FLOOD:
                    return bytes(found), "flood"


def _memory(process: int) -> int:
    """Resident bytes of all processes below one; there is no group limit that an ordinary user may set."""
    total = 0
    for number in _family(process):
        with suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{number}/statm").read_bytes().split()[1]) * _PAGE
    return total


def _family(process: int) -> Iterator[int]:
    waiting = [process]
    for number in waiting:
        yield number
        with suppress(OSError):
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += [int(text) for text in (task / "children").read_bytes().split()]
