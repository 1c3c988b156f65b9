"""Trials of what this kernel lets us do, one name on the command line; prints one JSON line.

Each runs in a process of its own, because entering a user namespace cannot be undone.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from nl2net.emulator.kernel import jail, netlink, shell, system

_PAIR = netlink.End("trial0", 10, 1500), netlink.End("trial1", 11, 1500)


def _pair() -> None:
    other = system.new_network()
    with netlink.Netlink() as link:
        link.require([netlink.veth(*_PAIR, far_network=other)], "veth")
        link.require([netlink.address(netlink.NEWADDR, 10, "10.99.0.1/24")], "address")


def _program(*arguments: str, feed: str = "") -> None:
    if shutil.which(arguments[0]) is None:
        raise OSError(errno.ENOENT, f"the program {arguments[0]} is not installed")
    done = subprocess.run(arguments, input=feed, capture_output=True, text=True, timeout=10, check=False)
    if done.returncode:
        text = (done.stderr or done.stdout).strip().splitlines()
        raise OSError(errno.EOPNOTSUPP, f"{arguments[0]}: {text[0] if text else done.returncode}")


def _nft() -> None:
    chain = "chain trial_c { type filter hook forward priority 0; policy accept;\n ct state established accept\n }"
    _program("nft", "-f", "-", feed=f"table ip trial_t {{\n{chain}\n}}\n")


def _bridge() -> None:
    with netlink.Netlink() as link:
        link.require([netlink.bridge("br0", 20)], "bridge")


def _icmp() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()


def _queue(*discipline: str) -> None:
    _pair()
    _program("tc", "qdisc", "add", "dev", "trial0", "root", *discipline)


def _bubblewrap() -> None:
    _program(*shell.wrap(["/bin/sh", "-c", "exit 0"]))


def _jail() -> None:
    """Commands in nodes where bubblewrap is missing."""
    reader, writer = os.pipe()
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    keeper = jail.start(["/bin/sh", "-c", "exit 0"], jail.Place(environment), output=writer, limit=lambda: None)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read()
    if os.waitpid(keeper, 0)[1]:
        raise OSError(errno.EPERM, said.decode(errors="replace").strip().removeprefix("nl2net: ") or "it ended")


def _bird() -> None:
    """Whether BIRD takes a file of ours; a daemon is not started for this."""
    text = "router id 0.0.0.1;\nprotocol device { }\nprotocol ospf v2 area0 { ipv4 { }; area 0 { }; }\n"
    descriptor = os.memfd_create("bird.conf", 0)
    os.write(descriptor, text.encode())
    if shutil.which("bird") is None:
        raise OSError(errno.ENOENT, "the program bird is not installed")
    words = ["bird", "-p", "-c", f"/proc/self/fd/{descriptor}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=10, check=False, pass_fds=[descriptor])
    if done.returncode:
        raise OSError(errno.EOPNOTSUPP, (done.stderr or done.stdout).strip()[:200])


def _conntrack() -> None:
    _nft()
    netlink.forget_connections()


TRIALS: dict[str, Callable[[], None]] = {
    "veth": _pair,
    "nft": _nft,
    "bridge": _bridge,
    "icmp": _icmp,
    "conntrack": _conntrack,
    "netem": lambda: _queue("netem", "delay", "1ms"),
    "tbf": lambda: _queue("tbf", "rate", "1mbit", "burst", "32kbit", "latency", "100ms"),
    "bubblewrap": _bubblewrap,
    "namespaces": _jail,
    "bird": _bird,
}


def run(names: list[str]) -> dict[str, dict[str, object]]:
    """Enter the namespaces once, then try each name in a forked child; the outcome by name."""
    try:
        system.enter()
    except OSError as error:
        return {"userns": {"errno": error.errno, "message": error.strerror or str(error)}}
    outcome: dict[str, dict[str, object]] = {"userns": {"errno": 0, "message": ""}}
    for name in names:
        outcome[name] = _forked(TRIALS[name])
    return outcome


def _forked(trial: Callable[[], None]) -> dict[str, object]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        outcome: dict[str, object] = {"errno": 0, "message": ""}
        try:
            system.unshare(system.CLONE_NEWNET)
            trial()
        except (OSError, subprocess.SubprocessError) as error:
            outcome = {
                "errno": getattr(error, "errno", 0) or errno.EIO,
                "message": str(getattr(error, "strerror", None) or error),
            }
        os.write(writer, json.dumps(outcome).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    loaded: dict[str, object] = json.loads(text) if text else {"errno": errno.EIO, "message": "the trial died"}
    return loaded


if __name__ == "__main__":
    if not Path("/proc/self/ns/net").exists():
        print(json.dumps({"userns": {"errno": errno.ENOSYS, "message": "no namespaces here"}}))  # noqa: T201
    else:
        print(json.dumps(run(sys.argv[1:])))  # noqa: T201 - the answer of this program
