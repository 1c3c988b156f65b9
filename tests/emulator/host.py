"""What of this machine the emulator must never change, read without changing it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

# Counters and clocks that move by themselves.
_MOVING = ("count", "flush", "netdev_budget", "tcp_mem", "udp_mem", "neigh/default/gc")


def host_state() -> dict[str, object]:
    """Interfaces, routes, filters, network sysctls, named namespaces and mounts."""
    interfaces = sorted(path.name for path in Path("/sys/class/net").iterdir())
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    routes = Path("/proc/net/route").read_text(encoding="ascii").splitlines()
    state: dict[str, object] = {
        "interfaces": {name: _interface(name) for name in interfaces},
        "routes": sorted(" ".join(line.split()[:4]) for line in routes),
        "named": sorted(path.name for path in Path("/run/netns").iterdir()) if Path("/run/netns").exists() else [],
        "mounts": sorted(line.split()[1] for line in mounts.splitlines()),
        "sysctls": _sysctls(),
    }
    nft = shutil.which("nft", path="/usr/sbin:/usr/bin")
    if nft:
        done = subprocess.run([nft, "-s", "list", "ruleset"], capture_output=True, text=True, check=False)
        state["filters"] = done.stdout
    return state


def _interface(name: str) -> str:
    folder = Path("/sys/class/net", name)
    return " ".join((folder / item).read_text(encoding="ascii").strip() for item in ("address", "mtu", "flags"))


def _sysctls() -> dict[str, str]:
    found = {}
    for root in ("/proc/sys/net", "/proc/sys/user", "/proc/sys/kernel"):
        for path in Path(root).rglob("*"):
            if path.is_file() and _stands_still(str(path)):
                try:
                    found[str(path)] = path.read_text(encoding="utf-8", errors="replace").strip()
                except OSError:
                    continue
    return found


def _stands_still(path: str) -> bool:
    if path.startswith("/proc/sys/kernel"):
        return path.endswith(("hostname", "domainname", "core_pattern", "panic", "modprobe", "printk"))
    return not any(word in path for word in _MOVING)


def descendants(root: int) -> set[int]:
    """Process ids below a process."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    found: set[int] = set()
    waiting = [root]
    for process in waiting:
        children = {child for child, parent in parents.items() if parent == process} - found
        found |= children
        waiting += children
    return found


def alive(process: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def networks(processes: set[int]) -> set[str]:
    """Network namespaces that processes are in or hold open."""
    found = set()
    for process in processes:
        try:
            found.add(str(Path(f"/proc/{process}/ns/net").readlink()))
            for item in Path(f"/proc/{process}/fd").iterdir():
                target = str(item.readlink())
                if target.startswith("net:"):
                    found.add(target)
        except OSError:
            continue
    return found
