"""A command line apart from this machine without bubblewrap: namespaces and mounts made by the worker itself.

The same as in ``shell.wrap``: programs read-only, memory file systems, own process, IPC and name namespaces, only
CAP_NET_ADMIN and CAP_NET_RAW. It runs in a forked child of the worker, which is root in its own user namespace.

References
----------
mount_setattr(2), pivot_root(2), pid_namespaces(7), capabilities(7).
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from nl2net.emulator.kernel import system, view

FAILED = 125  # exit status of a jail that could not be made
_CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWPID = 0x04000000, 0x08000000, 0x20000000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2
_SYS_MOUNT_SETATTR, _SYS_PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAP_NET_ADMIN, _CAP_NET_RAW, _CAP_VERSION_3 = 12, 13, 0x20080522
_BASE = view.TEMPORARY
_PROC_LOCKED = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")


@dataclass(frozen=True, slots=True)
class Place:
    """Environment of a command, and paths that it sees beside the system's programs."""

    environment: dict[str, str]
    extra: tuple[str, ...] = ()


def start(words: list[str], place: Place, *, output: int, limit: Callable[[], None]) -> int:
    """Fork the jail in the present network namespace; the process id of its keeper, which ends with the command."""
    keeper = os.fork()
    if keeper:
        return keeper
    status = FAILED
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        _descriptors(output)
        os.setsid()
        system.unshare(system.CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWIPC | _CLONE_NEWUTS)
        child = os.fork()
        if child == 0:
            _become(words, place, limit)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except OSError as error:
        os.write(2, f"nl2net: no place for a command: {error}\n".encode())
    finally:
        os._exit(status if status >= 0 else 128 - status)


def _become(words: list[str], place: Place, limit: Callable[[], None]) -> NoReturn:
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        _mount_all(place.extra)
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        limit()
        _drop_capabilities()
        os.chdir(view.TEMPORARY)
        # The first process of a namespace ignores signals and must reap: a shell of its own does that.
        os.execve("/bin/sh", ["/bin/sh", "-c", '"$@" & wait $!', "sh", *words], place.environment)  # noqa: S606
    except OSError as error:
        os.write(2, f"nl2net: no place for a command: {error}\n".encode())
    finally:
        os._exit(FAILED)


def _descriptors(output: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _mount_all(extra: tuple[str, ...]) -> None:
    """Build the new root in a memory file system, then make it the root and throw the old one away."""
    system.mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    listed = list(view.shown(extra))
    system.mount("none", _BASE, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={view.TEMPORARY_BYTES},mode=755")
    for item in listed:
        target = _BASE + item.path
        if item.link:
            Path(target).symlink_to(item.link)
            continue
        _place(Path(item.path), target)
        system.mount(item.path, target, "", _MS_BIND | _MS_REC)
        _read_only(target, recursive=True)
    _devices()
    _processes()
    for folder in view.MEMORY_FOLDERS:
        Path(_BASE + folder).mkdir(parents=True, exist_ok=True)
        system.mount("none", _BASE + folder, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={view.TEMPORARY_BYTES},mode=1777")
    old = f"{_BASE}/.old"
    Path(old).mkdir()
    machine = os.uname().machine
    if machine not in _SYS_PIVOT_ROOT:
        raise OSError(errno.ENOSYS, f"not made for {machine}, only with bubblewrap")
    _call("syscall", _SYS_PIVOT_ROOT[machine], _BASE.encode(), old.encode())
    os.chdir("/")
    _call("umount2", b"/.old", _MNT_DETACH)
    Path("/.old").rmdir()
    _read_only("/")


def _devices() -> None:
    for name in view.DEVICES:
        target = f"{_BASE}/dev/{name}"
        _place(Path("/dev", name), target)
        system.mount(f"/dev/{name}", target, "", _MS_BIND)
    for link, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(f"{_BASE}/dev/{link}").symlink_to(target)


def _processes() -> None:
    """A fresh procfs; of its switches only those of the network, which belong to the node, can be set."""
    proc = f"{_BASE}/proc"
    Path(proc).mkdir()
    system.mount("proc", proc, "proc", _MS_NOSUID | _MS_NODEV)
    for name in _PROC_LOCKED:
        path = f"{proc}/{name}"
        if Path(path).exists():
            system.mount(path, path, "", _MS_BIND | _MS_REC)
            _read_only(path)
    network = f"{proc}/sys/net"
    system.mount(network, network, "", _MS_BIND)
    _set_attributes(network, 0, _ATTR_RDONLY)


def _place(source: Path, target: str) -> None:
    if source.is_dir():
        Path(target).mkdir(parents=True, exist_ok=True)
    else:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))


def _read_only(path: str, *, recursive: bool = False) -> None:
    _set_attributes(path, _ATTR_RDONLY | _ATTR_NOSUID, 0, _AT_RECURSIVE if recursive else 0)


def _set_attributes(path: str, wanted: int, unwanted: int, flags: int = 0) -> None:
    attributes = struct.pack("=QQQQ", wanted, unwanted, 0, 0)
    _call("syscall", _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, attributes, len(attributes))


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        code = ctypes.get_errno()
        where = next((word.decode() for word in arguments if isinstance(word, bytes)), "")
        raise OSError(code, f"{name} {where}: {os.strerror(code)}")


def _drop_capabilities() -> None:
    kept = (_CAP_NET_ADMIN, _CAP_NET_RAW)
    for number in range(64):
        if number not in kept:
            with suppress(OSError):  # beyond the last one that this kernel knows
                system.prctl(_PR_CAPBSET_DROP, number)
    system.prctl(_PR_SET_NO_NEW_PRIVS, 1)
    mask = sum(1 << number for number in kept)
    header = struct.pack("=Ii", _CAP_VERSION_3, 0)
    _call("capset", header, struct.pack("=IIIIII", mask, mask, mask, 0, 0, 0))
