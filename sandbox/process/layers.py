"""The layers of wall two, one function each, by ctypes only: no compiled code of ours, no root, no dependency.

Each function raises ``OSError`` when the kernel refuses; ``seal`` decides what that means.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from functools import cache
from pathlib import Path
from typing import Final

from nl2net.sandbox.process.filter import assemble, pack

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_MDWE: Final = 65
_SECCOMP_MODE_FILTER: Final = 2

CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWNET: Final = 0x40000000

_LANDLOCK_CREATE: Final = 444
_LANDLOCK_ADD_RULE: Final = 445
_LANDLOCK_RESTRICT: Final = 446
_LANDLOCK_READ: Final = 0b1100  # read file, read directory

_CAPABILITY_VERSION: Final = 0x20080522
NOBODY: Final = 65534


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


# Loaded once at import, before any seal: afterwards no file can be opened.
_LIBC: Final = _libc()


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int, pointer: int = 0) -> None:
    """One ``prctl`` call with the unused arguments zero, as newer options demand."""
    unused = ctypes.c_ulong(0)
    arguments = (ctypes.c_ulong(value), ctypes.c_ulong(pointer), unused, unused)
    _checked(_LIBC.prctl(ctypes.c_int(option), *arguments), f"prctl {option}")


def die_with_parent(parent: int) -> None:
    """Be killed when the parent dies; a parent that died before the call is noticed by its number."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def keep_only_pipe(pipe: int) -> None:
    """Own process group, the result pipe on descriptor 3, the null device on 0 to 2, nothing else; no environment."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    if pipe != 3:
        # The null device may itself have landed on 3.
        if null == 3:
            null = os.dup(null)
        os.dup2(pipe, 3)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.closerange(4, 1 << 20)
    os.environ.clear()


def address_space() -> int:
    """Bytes of address space in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def limit_resources(*, memory_bytes: int, cpu_s: int) -> None:
    """Hard limits on memory beyond the present size, CPU seconds, files, core dumps and processes."""
    # Where memory runs out on the whole machine, this process is the one to go.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    space = address_space() + memory_bytes
    for kind, value in (
        (resource.RLIMIT_AS, space),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (value, value))


def leave_namespaces() -> None:
    """Enter fresh network, IPC and host-name namespaces; an ordinary user needs a user namespace for that."""
    flags = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    if os.geteuid() != 0:
        flags |= CLONE_NEWUSER
    _checked(_LIBC.unshare(ctypes.c_int(flags)), "unshare")


def raise_loopback() -> None:
    """Bring up the loopback interface of a fresh network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        fcntl.ioctl(link, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running


def drop_user() -> None:
    """As root, become nobody for good; an ordinary user stays what it is, without any capability.

    A fresh user namespace grants all capabilities inside it, such as the right to change the root folder.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, two words each
    _checked(_LIBC.capset(ctypes.byref(header), ctypes.byref(none)), "capset")


def forbid_privileges() -> None:
    """Not dumpable, and no program can raise privileges any more."""
    prctl(_PR_SET_DUMPABLE, 0)
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def forbid_writable_code() -> None:
    """Memory that was writable can never become executable (kernel 6.3)."""
    prctl(_PR_SET_MDWE, 1)


def landlock_version() -> int:
    """ABI number of Landlock; raises ``OSError`` where it is absent or switched off."""
    return _checked(_LIBC.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)), "landlock")


def restrict_files(allow_read: tuple[str, ...] = ()) -> int:
    """Landlock with no rule at all, or with read access below the given paths; returns the ABI number."""
    version = landlock_version()
    files = (1 << 13) - 1
    files |= (version >= 2) << 13 | (version >= 3) << 14 | (version >= 5) << 15
    attribute = (ctypes.c_uint64 * 3)(files, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(
        _LIBC.syscall(_LANDLOCK_CREATE, ctypes.byref(attribute), ctypes.c_size_t(size), ctypes.c_uint(0)), "landlock"
    )
    try:
        for path in allow_read:
            _allow_reading(ruleset, path)
        _checked(_LIBC.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0)), "landlock")
    finally:
        os.close(ruleset)
    return version


def _allow_reading(ruleset: int, path: str) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = _LANDLOCK_READ if Path(path).is_dir() else 0b100
        rule = bytearray(allowed.to_bytes(8, "little") + descriptor.to_bytes(4, "little"))
        buffer = (ctypes.c_char * len(rule)).from_buffer(rule)
        arguments = (ctypes.c_int(ruleset), ctypes.c_int(1), buffer, ctypes.c_uint(0))
        _checked(_LIBC.syscall(_LANDLOCK_ADD_RULE, *arguments), "landlock rule")
    finally:
        os.close(descriptor)


def limit_descriptors() -> None:
    """No descriptor beyond the four that exist can be made."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))


@cache
def _packed(machine: str) -> bytes:
    return pack(assemble(machine))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def prepare_filter(machine: str) -> None:
    """Assemble the filter ahead of time, so that a child only has to install it."""
    _packed(machine)


def filter_calls(machine: str) -> None:
    """Install the seccomp filter; needs ``forbid_privileges`` first."""
    code = _packed(machine)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
