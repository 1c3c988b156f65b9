"""Routing daemons: one BIRD per router, started in its namespace as the worker's own user, with a generated file.

References
----------
BIRD 2 user's guide, chapters on the OSPF, BGP, Direct and Kernel protocols; RFC 2328; RFC 4271.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nl2net.emulator.kernel import netlink, system
from nl2net.emulator.kernel.spaces import PROGRAM_PATH, Spaces, find_program
from nl2net.emulator.topology import Endpoint, NodeKind, Topology
from nl2net.errors import Unavailable, UserError

PROTOCOLS = ("ospf", "bgp")
FIRST_AS = 4_200_000_000  # private numbers of four bytes
_FOLDER = "/run"
_START_S = 0.3
_STOP_S = 3.0
# The shortest that the protocols allow in whole seconds: an emulated fault is waited for.
_HELLO, _DEAD = 1, 4
_TIMERS = "hold time 3; keepalive time 1; connect delay time 1; connect retry time 1; error wait time 1, 2;"


def routers_of(topology: Topology) -> list[str]:
    """Nodes that get a daemon."""
    return [node.name for node in topology.nodes if node.kind is NodeKind.ROUTER]


def segments(topology: Topology) -> dict[tuple[str, str], list[Endpoint]]:
    """The other ends that each interface reaches directly or through switches."""
    switches = {node.name for node in topology.nodes if node.kind is NodeKind.SWITCH}
    joined: dict[str, list[Endpoint]] = {}
    found: dict[tuple[str, str], list[Endpoint]] = {}
    for link in topology.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            joined.setdefault(near.node, []).append(far)
    for link in topology.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near.node not in switches:
                found[near.node, near.interface] = _reached(far, joined, switches, {near.node})
    return found


def _reached(far: Endpoint, joined: dict[str, list[Endpoint]], switches: set[str], seen: set[str]) -> list[Endpoint]:
    if far.node not in switches:
        return [far]
    if far.node in seen:
        return []
    seen.add(far.node)
    others = [other for other in joined[far.node] if other.node not in seen]
    return [end for other in others for end in _reached(other, joined, switches, seen)]


def configuration(topology: Topology, router: str, protocol: str) -> str:
    """The daemon's file of one router.

    Examples
    --------
    >>> from nl2net.emulator.shipped import ring
    >>> "type ptp" in configuration(ring(), "r0", "ospf")
    True
    """
    names = routers_of(topology)
    number = names.index(router) + 1
    lines = [
        "log stderr { error, fatal };",
        f"router id 0.0.{number // 256}.{number % 256};",
        "protocol device { scan time 1; }",
        "protocol kernel { scan time 1; ipv4 { import none; export where source != RTS_DEVICE; }; }",
    ]
    body = _ospf if protocol == "ospf" else _bgp
    return "\n".join([*lines, *body(topology, router, names)]) + "\n"


def _ospf(topology: Topology, router: str, names: list[str]) -> Iterator[str]:
    yield "protocol ospf v2 area0 { ipv4 { import all; export none; }; area 0 {"
    yield '  interface "lo" { stub yes; };'
    for (node, interface), others in segments(topology).items():
        if node != router:
            continue
        if not any(end.node in names for end in others):
            yield f'  interface "{interface}" {{ stub yes; }};'
        else:
            kind = "ptp" if len(others) == 1 else "broadcast"
            wait = "" if kind == "ptp" else " wait 2;"
            yield f'  interface "{interface}" {{ type {kind}; hello {_HELLO}; dead {_DEAD}; retransmit 2;{wait} }};'
    yield "}; }"


def _bgp(topology: Topology, router: str, names: list[str]) -> Iterator[str]:
    yield "protocol direct { ipv4; }"
    count = 0
    for (node, interface), others in segments(topology).items():
        for end in others:
            if node != router or end.node not in names or not end.addresses:
                continue
            count += 1
            address = end.addresses[0].partition("/")[0]
            own = topology.interfaces[node, interface].addresses[0].partition("/")[0]
            yield f"protocol bgp b{count} {{ {_TIMERS}"
            yield f"  local {own} as {FIRST_AS + names.index(router)};"
            yield f"  neighbor {address} as {FIRST_AS + names.index(end.node)};"
            yield "  direct; ipv4 { import all; export where source ~ [ RTS_DEVICE, RTS_BGP ]; next hop self; }; }"


class Daemons:
    """The daemons of one network."""

    def __init__(self, spaces: Spaces, topology: Topology) -> None:
        self._spaces, self._topology = spaces, topology
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, protocol: str) -> int:
        """Replace the routers' static routes by a protocol; the number of daemons.

        Raises
        ------
        Unavailable
            BIRD is not installed, or a daemon ended at once; says what it wrote.
        UserError
            Routing runs already, or the protocol is unknown.
        """
        if protocol not in PROTOCOLS:
            raise UserError(f"unknown routing protocol {protocol!r}", hint=f"One of: {', '.join(PROTOCOLS)}")
        if self._running:
            raise UserError("routing daemons run already", hint="Stop them first.")
        try:
            program = find_program("bird")
        except OSError as error:
            raise Unavailable(f"no routing daemons: {error}", hint="apt-get install bird2") from None
        routers = routers_of(self._topology)
        system.private_memory(_FOLDER)
        for name in routers:
            self._forget_static(name)
            self._running[name] = self._launch(program, name, configuration(self._topology, name, protocol))
        time.sleep(_START_S)
        for name, process in self._running.items():
            if process.poll() is not None:
                said = Path(_FOLDER, f"{self._stem(name)}.log").read_bytes().decode(errors="replace")
                self.stop()
                raise Unavailable(f"the routing daemon of {name} ended: {said.strip()[:300]}")
        return len(routers)

    def _stem(self, name: str) -> str:
        return f"bird-{routers_of(self._topology).index(name)}"  # a node's name may hold a slash

    def _launch(self, program: str, name: str, text: str) -> subprocess.Popen[bytes]:
        stem = self._stem(name)
        Path(_FOLDER, f"{stem}.conf").write_bytes(text.encode())
        words = [program, "-f", "-c", f"{_FOLDER}/{stem}.conf", "-s", f"{_FOLDER}/{stem}.ctl"]
        with Path(_FOLDER, f"{stem}.log").open("wb") as log, self._spaces.inside(name):
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": PROGRAM_PATH},
                preexec_fn=_die_with_worker,
            )

    def _forget_static(self, name: str) -> None:
        index = self._spaces[name].index
        requests = [
            netlink.route(netlink.DELROUTE, netlink.RouteSpec(r.prefix, r.via, index.get(r.dev, 0), r.metric, r.type))
            for r in self._topology.routes
            if r.node == name and r.type == "unicast"
        ]
        with self._spaces.link(name) as link:
            link.send(requests)  # one that is gone already is no fault

    def stop(self) -> int:
        """End all daemons, which take their routes along; how many there were."""
        count = len(self._running)
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.terminate()
        limit = time.monotonic() + _STOP_S
        for process in self._running.values():
            try:
                process.wait(max(limit - time.monotonic(), 0.01))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
        return count


def _die_with_worker() -> None:
    os.setsid()
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
