"""Command lines that a model wrote, in bubblewrap inside a node's namespace.

The host's files are visible read-only without home, run and temporary folders; own PID, IPC and UTS namespaces; no
capability but network administration and raw sockets, which hold for the node's namespace only.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import time
from pathlib import Path

from nl2net.emulator.kernel.connect import Servers
from nl2net.emulator.kernel.spaces import PROGRAM_PATH, Spaces, find_program
from nl2net.emulator.results import CommandResult
from nl2net.errors import Unavailable

MAX_PROCESSES = 128
MAX_MEMORY = 512 * 1024 * 1024
TEMPORARY_BYTES = 32 * 1024 * 1024
_TEMPORARY = "/tmp"  # noqa: S108 - a memory file system of the command's own
_COVERED = (_TEMPORARY, "/var/tmp", "/home", "/root", "/run")  # noqa: S108


def wrap(line: str, *, home: str = "") -> list[str]:
    """Arguments of bubblewrap around one command line."""
    arguments = [find_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # bubblewrap makes all of /proc/sys read-only; the net part belongs to the node and sysctl must work on it.
    arguments += ["--bind", "/proc/sys/net", "/proc/sys/net"]
    covered = [*_COVERED, home] if home and home != "/" and Path(home).is_dir() else list(_COVERED)
    for folder in dict.fromkeys(covered):
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            arguments += ["--size", str(TEMPORARY_BYTES), "--tmpfs", folder]
    arguments += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_RAW"]
    arguments += [
        "--clearenv",
        "--setenv",
        "PATH",
        PROGRAM_PATH,
        "--setenv",
        "LC_ALL",
        "C",
        "--setenv",
        "HOME",
        _TEMPORARY,
    ]
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    return [*arguments, "--chdir", _TEMPORARY, "--", shell, "-c", line]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (TEMPORARY_BYTES, TEMPORARY_BYTES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_line(
    spaces: Spaces, servers: Servers, command: tuple[str, str], *, timeout_s: float, limit: int, home: str
) -> CommandResult:
    """Run a command line; its listeners keep answering meanwhile.

    Raises
    ------
    Unavailable
        There is no bubblewrap; a bare shell is never used instead.
    """
    node, line = command
    try:
        arguments = wrap(line, home=home)
    except OSError as error:
        raise Unavailable(f"no command can run in a node: {error}", hint="apt-get install bubblewrap") from None
    started = time.monotonic()
    with spaces.inside(node):
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_limit,
            env={"PATH": PROGRAM_PATH},
        )
    with process:
        output, truncated, timed_out = _collect(process, servers, started + timeout_s, limit)
        if timed_out:
            process.kill()
    status = -1 if timed_out else process.returncode
    return CommandResult(status, output, truncated, timed_out, time.monotonic() - started)


def _collect(process: subprocess.Popen[bytes], servers: Servers, deadline: float, limit: int) -> tuple[str, bool, bool]:
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    found = bytearray()
    truncated = False
    with select.epoll() as poll:
        for descriptor in (pipe, *servers.descriptors()):
            poll.register(descriptor, select.EPOLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return found.decode(errors="replace"), truncated, True
            for descriptor, _ in poll.poll(left):
                if descriptor != pipe:
                    servers.serve(descriptor)
                    continue
                data = os.read(pipe, 65536)
                if not data:
                    return found.decode(errors="replace"), truncated, False
                room = limit - len(found)
                found += data[:room]
                truncated = truncated or len(data) > room
