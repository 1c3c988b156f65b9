"""What works on this machine, found by trial and never from a version number."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nl2net.locations import atomic_write, default_locations

PROGRAM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NEEDED = ("veth", "nft", "bridge", "icmp")
_OPTIONAL = ("conntrack", "tbf", "netem", "bubblewrap", "namespaces", "bird")
_PROGRAMS = {
    "kubectl": "drive the emulated cluster by hand",
}
NOT_TRIED = "not tried, no user namespace"
_SIMULATOR = "or use the simulated backend"
_WITHOUT = {
    "conntrack": "Without it a connection may outlive the policy that allowed it.",
    "tbf": "Only byte rates need it; they are refused.",
    "netem": "Not needed: delay, jitter and loss are made by a relay and by nft.",
    "bubblewrap": "Commands in nodes are kept apart by namespaces, where these work.",
    "namespaces": "Only needed for commands in nodes where bubblewrap is missing.",
    "bird": "Only for routing protocols in emulated networks.",
}
_ADVICE = {
    ("userns", errno.ENOSPC): f"Raise user.max_user_namespaces, {_SIMULATOR}.",
    ("userns", errno.EPERM): "Run outside this container, or give it NET_ADMIN and SYS_ADMIN, or set "
    f"kernel.unprivileged_userns_clone to 1, {_SIMULATOR}.",
    ("userns", errno.EINVAL): "The process has several threads: a bug of nl2net, please report it.",
    ("veth", errno.EPERM): f"An AppArmor profile that allows user namespaces is needed, {_SIMULATOR}.",
    ("nft", errno.ENOENT): f"Install the program nft (Debian: apt-get install nftables), {_SIMULATOR}.",
    ("bubblewrap", errno.ENOENT): "Install the program bwrap (Debian: apt-get install bubblewrap), or do without: "
    "commands in nodes are then kept apart by namespaces, where these work.",
    ("bird", errno.ENOENT): "Only for routing protocols in emulated networks (Debian: apt-get install bird2).",
}


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing that was tried: whether it works, why not, and what to do."""

    name: str
    works: bool
    reason: str = ""
    advice: str = ""
    needed: bool = False


def kernel_refusal() -> Capability | None:
    """The first thing that the kernel backend needs and cannot have, or ``None`` when it works."""
    return next((item for item in capabilities() if item.needed and not item.works), None)


@lru_cache(maxsize=1)
def capabilities() -> tuple[Capability, ...]:
    """Try everything, once per boot, user, kernel and set of programs."""
    if not sys.platform.startswith("linux"):
        reason = f"network namespaces need Linux, this is {platform.system()}"
        return (Capability("userns", False, reason, f"Use a Linux machine, {_SIMULATOR}.", True),)
    path = default_locations().cache / "capability.json"
    key = _fingerprint()
    stored = _stored(path, key)
    if stored is not None:
        return _judge(stored)
    outcome = _run_trials()
    with suppress(OSError), atomic_write(path) as stream:
        stream.write(json.dumps({"key": key, "outcome": outcome}).encode())
    return _judge(outcome)


def _fingerprint() -> str:
    """Boot, user, kernel and programs: a trial holds as long as none of them changes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot = ""
    names = ("nft", "ip", "tc", "bwrap", "bird")
    # The trials themselves belong to the key: a new version of nl2net asks for others.
    programs = [*(shutil.which(name, path=PROGRAM_PATH) for name in names), *_NEEDED, *_OPTIONAL]
    return json.dumps(
        [boot, os.geteuid(), platform.release(), programs, sys.executable, os.getpid() if not boot else 0]
    )


def _stored(path: Path, key: str) -> Mapping[str, Mapping[str, object]] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["key"] != key or data["outcome"]["userns"]["errno"]:
            return None
        outcome: Mapping[str, Mapping[str, object]] = data["outcome"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return outcome


def _run_trials() -> Mapping[str, Mapping[str, object]]:
    command = [sys.executable, "-m", "nl2net.emulator.kernel.trial", *_NEEDED, *_OPTIONAL]
    environment = {**os.environ, "PATH": PROGRAM_PATH}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        loaded: Mapping[str, Mapping[str, object]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return {"userns": {"errno": errno.EIO, "message": f"the trial failed: {error}"}}
    return loaded


def _judge(outcome: Mapping[str, Mapping[str, object]]) -> tuple[Capability, ...]:
    found = []
    for name in ("userns", *_NEEDED, *_OPTIONAL):
        entry = outcome.get(name, {"errno": errno.EIO, "message": NOT_TRIED})
        code = int(str(entry["errno"]))
        needed = name == "userns" or name in _NEEDED
        otherwise = f"Needed for the kernel backend, {_SIMULATOR}." if needed else _WITHOUT.get(name, "")
        advice = _ADVICE.get((name, code), otherwise)
        found.append(Capability(name, code == 0, str(entry["message"]), "" if code == 0 else advice, needed))
    for program, use in _PROGRAMS.items():
        there = shutil.which(program, path=PROGRAM_PATH) is not None
        found.append(Capability(program, there, "" if there else "not installed", "" if there else f"Only for: {use}."))
    return tuple(found)
