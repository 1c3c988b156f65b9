"""What a command line inside a node sees of this machine's files: its programs, and nothing that belongs to anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TEMPORARY = "/tmp"  # noqa: S108 - a memory file system of the command's own
TEMPORARY_BYTES = 32 * 1024 * 1024
MEMORY_FOLDERS = (TEMPORARY, "/run", "/dev/shm")  # noqa: S108
DEVICES = ("null", "zero", "full", "random", "urandom")
ENVIRONMENT = {"LC_ALL": "C", "HOME": TEMPORARY}
# What of /etc the network programs and the C library read; the rest is this machine's business.
_ETC = (
    "alternatives",
    "ethertypes",
    "group",
    "hosts",
    "iproute2",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "networks",
    "nsswitch.conf",
    "passwd",
    "protocols",
    "rpc",
    "services",
    "xtables",
)
_PROGRAM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


@dataclass(frozen=True, slots=True)
class Shown:
    """One path: shown read-only, or made again as the symbolic link that it is."""

    path: str
    link: str = ""


def shown(extra: tuple[str, ...] = ()) -> Iterator[Shown]:
    """Paths in the order in which they can be mounted."""
    for text in (*_PROGRAM_FOLDERS, *(f"/etc/{name}" for name in _ETC), *extra):
        path = Path(text)
        if path.is_symlink() and text in _PROGRAM_FOLDERS:
            yield Shown(text, str(path.readlink()))
        elif path.exists():
            yield Shown(text)
