"""A place where attacks may run: unprivileged user, private namespaces, limits around the whole run.

Control runs (any layer removed) never run as root and never in the host's namespaces. ``enter`` makes the place in a
forked process, checks it, and refuses to go on when anything is missing.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import secrets
import select
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from typing import Any

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
SPACES = ("mnt", "net", "ipc", "pid", "uts")
NOBODY = 65534
MEMORY_AROUND = 8 << 30
PROCESSES_AROUND = 256
_libc = ctypes.CDLL(None, use_errno=True)


class NoArena(RuntimeError):
    """The place cannot be made here, so nothing hostile is run."""


@dataclass(frozen=True)
class Arena:
    """Names that snippets use, and the tokens that must not come out."""

    folder: Path
    secret_token: str
    canary: str
    planted: str
    port: int
    touched: int  # read end: one byte for each touch of a listener

    def names(self) -> dict[str, Any]:
        """Bare names of the corpus and their values."""
        return {
            "SECRET_PATH": str(self.folder / "secret.txt"),
            "WRITE_PATH": str(self.folder / "written"),
            "MARK_PATH": str(self.folder / "mark"),
            "PROC_ROOT": "/proc",
            "PROC_ENV": "/proc/self/environ",
            "TOUCH_PATH": "/usr/bin/touch",
            "PORT": self.port,
        }

    def clean(self) -> None:
        """Remove marker files and forget touches."""
        for name in ("written", "mark"):
            (self.folder / name).unlink(missing_ok=True)
        while select.select([self.touched], [], [], 0)[0]:
            os.read(self.touched, 4096)

    def was_touched(self, wait: float = 0.15) -> bool:
        """Whether a listener was touched since the last ``clean``."""
        return bool(select.select([self.touched], [], [], wait)[0])


def enter(work: Callable[[Arena], Any], *, timeout: float = 900) -> Any:
    """Run ``work`` in an arena in a forked process and return its JSON value.

    Raises
    ------
    NoArena
        When the place cannot be made or ``work`` failed; with the reason.
    """
    host = {space: os.readlink(f"/proc/self/ns/{space}") for space in SPACES}
    folder = Path(tempfile.mkdtemp(prefix="arena-"))
    folder.chmod(0o777)
    out = folder / "result.json"
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            # An attack writes to every small descriptor; those of the test runner are not its prey.
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            code = _outer(work, folder, out, host)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _wait(pid, timeout)
    try:
        if not out.exists():
            raise NoArena("the isolated process ended without a result")
        answer = json.loads(out.read_text())
    finally:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()
        folder.rmdir()
    if "failed" in answer:
        raise NoArena(answer["failed"])
    return answer["value"]


def _wait(pid: int, timeout: float) -> None:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _outer(work: Callable[[Arena], Any], folder: Path, out: Path, host: dict[str, str]) -> int:
    """Unshare, then go on in a child that is the first process of the new process namespace."""
    root = os.geteuid() == 0
    uid, gid = os.getuid(), os.getgid()
    flags = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET | (0 if root else NEWUSER)
    if _libc.unshare(flags) != 0:
        out.write_text(json.dumps({"failed": f"unshare: {os.strerror(ctypes.get_errno())}"}))
        return 1
    if not root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answer = _inner(work, folder, host, root=root)
            code = 0
        except BaseException as error:
            traceback.print_exc()
            answer = {"failed": f"{type(error).__name__}: {error}"}
        try:
            out.write_text(json.dumps(answer))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _inner(work: Callable[[Arena], Any], folder: Path, host: dict[str, str], *, root: bool) -> dict[str, Any]:
    _mount(b"none", b"/", None, 0x4000 | 0x40000)  # private, recursively
    _mount(b"proc", b"/proc", b"proc", 0)
    if root:
        _open_interpreter()
    _loopback_up()
    arena = _furnish(folder)
    if root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    # A change of user makes a process undumpable, which hides its memory from itself: an attack would lose its teeth.
    _libc.prctl(4, 1, 0, 0, 0)
    _libc.prctl(38, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_AROUND, MEMORY_AROUND))
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES_AROUND, PROCESSES_AROUND))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    check_isolated(host)
    os.environ["ESCAPE_CANARY"] = arena.canary
    return {"value": work(arena)}


def _open_interpreter() -> None:
    """Let an unprivileged user start this interpreter, in this mount namespace only.

    An interpreter below a private home folder cannot be started by nobody: lay a fresh folder over the closed one and
    show nothing but the interpreter in it.
    """
    prefix = Path(sys.base_prefix)
    closed = [folder for folder in reversed(prefix.parents) if not folder.stat().st_mode & 0o001]
    if not closed:
        return
    held = os.open(prefix, os.O_PATH)
    _mount(b"none", os.fsencode(closed[0]), b"tmpfs", 0)
    closed[0].chmod(0o755)
    prefix.mkdir(parents=True)
    _mount(f"/proc/self/fd/{held}".encode(), os.fsencode(prefix), None, 0x1000)
    os.close(held)


def check_isolated(host: dict[str, str]) -> None:
    """Refuse to go on as root or in a namespace of the host.

    Raises
    ------
    NoArena
    """
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()):
        raise NoArena("still root")
    shared = [s for s in SPACES if os.readlink(f"/proc/self/ns/{s}") == host[s]]
    if shared:
        raise NoArena(f"still in the host's namespaces: {', '.join(shared)}")
    if resource.getrlimit(resource.RLIMIT_AS)[0] > MEMORY_AROUND:
        raise NoArena("no memory limit")


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int) -> None:
    if _libc.mount(source, target, kind, flags, None) != 0:
        raise NoArena(f"mount {target.decode()}: {os.strerror(ctypes.get_errno())}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        ioctl(link, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))


def _furnish(folder: Path) -> Arena:
    """Secret file, tokens, listeners."""
    secret = secrets.token_hex(16)
    (folder / "secret.txt").write_text(secret + "\n")
    (folder / "secret.txt").chmod(0o644)
    read_end, write_end = os.pipe()
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    tcp.listen(16)
    port = tcp.getsockname()[1]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", port))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"\0escape-probe-{port}")
    unix.listen(16)
    if os.fork() == 0:
        os.close(read_end)
        _serve(tcp, udp, unix, write_end)
    for held in (tcp, udp, unix):
        held.close()
    os.close(write_end)
    return Arena(folder, secret, secrets.token_hex(16), secrets.token_hex(16), port, read_end)


def _serve(tcp: socket.socket, udp: socket.socket, unix: socket.socket, touched: int) -> None:
    """Answer and count touches until the arena ends (this process dies with its namespace)."""
    while True:
        for ready in select.select([tcp, udp, unix], [], [])[0]:
            os.write(touched, b"x")
            if ready is udp:
                udp.recv(4096)
                continue
            with ready.accept()[0] as client:
                client.settimeout(1)
                try:
                    if ready is tcp:
                        client.recv(4096)
                        client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n1\n2")
                except OSError:
                    print("listener: client left", file=sys.stderr)
