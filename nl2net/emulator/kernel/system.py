"""Namespaces and privileges: the few system calls that Python 3.11 does not offer."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
UNPRIVILEGED = 65534
NETNS = "/proc/self/ns/net"
_SYS_KEYCTL, _JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}, 1

_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 16384, 1 << 18
_COVERED: set[str] = set()

_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: int) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _call("unshare", flags)


def setns(descriptor: int) -> None:
    """Move the calling thread into a network namespace."""
    _call("setns", descriptor, CLONE_NEWNET)


def prctl(option: int, value: int) -> None:
    """Set one attribute of this process."""
    _call("prctl", option, value, 0, 0, 0)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount in this process's own mount namespace."""
    data = options.encode() or None
    if _LIBC.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {target}: {os.strerror(code)}")


def private_memory(folder: str) -> None:
    """Cover a folder with a memory file system, for this process and its children only; once."""
    if folder not in _COVERED:
        mount("none", "/", "", _MS_REC | _MS_PRIVATE)
        mount("none", folder, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=16m,mode=700")
        _COVERED.add(folder)


def drop_root() -> None:
    """Become an ordinary user when started as root: uid 0 of a user namespace must not be the real one."""
    if os.geteuid() != 0 or not _is_real(0):
        return
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    # The change of identity hides /proc/self from its new owner; the maps below must be written.
    prctl(PR_SET_DUMPABLE, 1)


def _is_real(uid: int) -> bool:
    """Whether a user id of this namespace is the same outside: in a container of an ordinary user root is not."""
    for line in Path("/proc/self/uid_map").read_bytes().splitlines():
        inside, outside, count = (int(word) for word in line.split())
        if inside <= uid < inside + count:
            return outside + uid - inside == uid
    return False


def enter() -> None:
    """Enter new user, network and mount namespaces as their root.

    Raises
    ------
    OSError
        The kernel refuses; the error number says why (see ``capability``).
    """
    if threading.active_count() != 1:
        raise RuntimeError("the worker has more than one thread and cannot enter a user namespace")
    drop_root()
    uid, gid = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)
    Path("/proc/self/setgroups").write_bytes(b"deny")
    Path("/proc/self/uid_map").write_bytes(b"0 %d 1" % uid)
    Path("/proc/self/gid_map").write_bytes(b"0 %d 1" % gid)
    _seclude()


def _seclude() -> None:
    """Take from all later children what they would share with this user's other processes."""
    # No further user namespace: it would give a command every capability over new namespaces of its own.
    with suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_bytes(b"0")
    # A session keyring of our own: the inherited one may hold keys of whoever started us. Some containers forbid it.
    number = _SYS_KEYCTL.get(os.uname().machine)
    if number is not None:
        _LIBC.syscall(number, _JOIN_SESSION_KEYRING, None)


def new_network() -> int:
    """Make a network namespace and return a descriptor of it; the caller stays where it was."""
    home = os.open(NETNS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        unshare(CLONE_NEWNET)
        return os.open(NETNS, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        setns(home)
        os.close(home)


class Networks:
    """Switches the calling thread between namespaces and always back home."""

    def __init__(self) -> None:
        self.home = os.open(NETNS, os.O_RDONLY | os.O_CLOEXEC)

    @contextmanager
    def inside(self, descriptor: int) -> Iterator[None]:
        """Run a block in a namespace; sockets made there stay there."""
        setns(descriptor)
        try:
            yield
        finally:
            setns(self.home)


def write_sysctl(key: str, value: int) -> bool:
    """Set a key of the current namespace; ``False`` when this kernel has no such key.

    Parts are separated by dots, or by slashes where a part holds dots.
    """
    try:
        descriptor = os.open(_sysctl_path(key), os.O_WRONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        os.write(descriptor, b"%d" % value)
    finally:
        os.close(descriptor)
    return True


def read_sysctl(key: str) -> int:
    """Read a number of the current namespace."""
    return int(Path(_sysctl_path(key)).read_bytes())


def _sysctl_path(key: str) -> str:
    return "/proc/sys/" + (key if "/" in key else key.replace(".", "/"))
