"""Nodes as anonymous network namespaces: made, wired and addressed from a topology."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from nl2net.emulator.kernel import netlink, system
from nl2net.emulator.topology import LOOPBACK, Link, Node, NodeKind, StaticRoute, Topology
from nl2net.errors import Unavailable

BRIDGE_INDEX = 2
FIRST_INDEX = 10
RETRANSMISSION_MS = 40
ARP_REQUESTS = 5  # 200 ms: a next hop counts as dead only after a pause that a busy machine does not make
LINK_WAIT_S = 20.0
WAITING_BYTES = 1 << 24  # all pings of a matrix may wait for one ARP answer
# Programs live where an ordinary user's PATH often does not look.
PROGRAM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# New namespaces copy the host's present values: everything that decides a packet's fate is set.
_COMMON = {
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
    "net.ipv4.icmp_ratelimit": 0,
    "net.ipv4.icmp_ratemask": 0,
    "net.ipv4.icmp_msgs_per_sec": 1_000_000,
    "net.ipv4.icmp_msgs_burst": 100_000,
    "net.ipv4.icmp_echo_ignore_all": 0,
    "net.ipv4.icmp_echo_ignore_broadcasts": 1,
    "net.ipv4.icmp_errors_use_inbound_ifaddr": 0,
    "net.ipv4.ip_default_ttl": 64,
    "net.ipv4.ip_no_pmtu_disc": 0,
    "net.ipv4.ip_forward_use_pmtu": 0,
}
_PER_DEVICE = {
    "rp_filter": 0,
    "accept_redirects": 0,
    "secure_redirects": 0,
    "send_redirects": 0,
    "accept_local": 0,
    "arp_ignore": 0,
    "arp_announce": 0,
    "arp_filter": 0,
    "arp_notify": 0,
    "drop_gratuitous_arp": 0,
    "promote_secondaries": 0,
    "ignore_routes_with_linkdown": 0,
    "proxy_arp": 0,
    "log_martians": 0,
    "route_localnet": 0,
}


@dataclass(slots=True)
class Space:
    """One node: its namespace descriptor and the index of each interface."""

    node: Node
    descriptor: int
    index: dict[str, int] = field(default_factory=lambda: {LOOPBACK: 1})
    programs_ran: bool = False  # nft or a command line: filters must be read back from the kernel

    @property
    def name(self) -> str:
        """Name of the node."""
        return self.node.name

    def interface(self, index: int) -> str:
        """Name of an interface by index; empty when it is none of the topology's."""
        return next((name for name, number in self.index.items() if number == index), "")


class Spaces:
    """All nodes of one network."""

    def __init__(self) -> None:
        self.networks = system.Networks()
        self.by_name: dict[str, Space] = {}

    def __getitem__(self, name: str) -> Space:
        return self.by_name[name]

    def __iter__(self) -> Iterator[Space]:
        return iter(self.by_name.values())

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Run a block in the namespace of a node."""
        with self.networks.inside(self.by_name[name].descriptor):
            yield

    @contextmanager
    def link(self, name: str) -> Iterator[netlink.Netlink]:
        """A netlink socket of a node, closed afterwards: descriptors are scarce in large networks."""
        with self.inside(name):
            socket = netlink.Netlink()
        try:
            yield socket
        finally:
            socket.close()

    def close(self) -> None:
        """Drop the namespaces; the kernel takes their links and routes down."""
        for space in self:
            os.close(space.descriptor)
        self.by_name.clear()

    def run(self, name: str, arguments: list[str], *, feed: str = "") -> str:
        """Run a program inside a node; its output, or an `OSError` with the first line of its complaint."""
        self.by_name[name].programs_ran = True
        with self.inside(name):
            done = subprocess.run(
                [find_program(arguments[0]), *arguments[1:]],
                input=feed.encode(),
                capture_output=True,
                timeout=30,
                check=False,
                env={"PATH": PROGRAM_PATH, "LC_ALL": "C"},
            )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise OSError(done.returncode, f"{arguments[0]} in {name}: {lines[0] if lines else 'failed'}")
        return done.stdout.decode(errors="replace")


def find_program(name: str) -> str:
    """Path of a program of the system, or an `OSError` that names it."""
    found = shutil.which(name, path=PROGRAM_PATH)
    if found is None:
        raise OSError(2, f"the program {name} is not installed")
    return found


def build_spaces(topology: Topology) -> Spaces:
    """Make namespaces, links, addresses and routes."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    spaces = Spaces()
    for node in topology.nodes:
        space = Space(node, system.new_network())
        spaces.by_name[node.name] = space
        with spaces.networks.inside(space.descriptor):
            _configure(node)
    _wire(topology, spaces)
    routes: dict[str, list[StaticRoute]] = {}
    for route in topology.routes:
        routes.setdefault(route.node, []).append(route)
    for space in spaces:
        _address(topology, spaces, space, routes.get(space.name, []))
    set_retransmission(spaces, RETRANSMISSION_MS)
    late = wait_for_links(topology, spaces)
    if late:
        spaces.close()
        raise Unavailable(f"the kernel did not bring up {len(late)} links within {LINK_WAIT_S:.0f} s: {late[0]}")
    return spaces


def _configure(node: Node) -> None:
    for key, value in _COMMON.items():
        system.write_sysctl(key, value)
    for scope in ("all", "default"):
        for key, value in _PER_DEVICE.items():
            system.write_sysctl(f"net.ipv4.conf.{scope}.{key}", value)
    system.write_sysctl("net.ipv4.ip_forward", int(node.forwards))


def _wire(topology: Topology, spaces: Spaces) -> None:
    # The two ends of a link need different numbers: to the kernel, an interface with the number of its peer is its own
    # lower device, and a change of its carrier waits for up to a second.
    numbers = itertools.count(FIRST_INDEX)
    pending: dict[str, list[netlink.Request]] = {name: [] for name in spaces.by_name}
    bridged: dict[str, list[netlink.Request]] = {name: [] for name in spaces.by_name}
    for space in spaces:
        pending[space.name].append(netlink.set_up(1, True))
        if space.node.kind is NodeKind.SWITCH:
            pending[space.name].append(netlink.bridge("br0", BRIDGE_INDEX))
    for link in topology.links:
        ends = []
        for end in (link.a, link.b):
            space = spaces[end.node]
            space.index[end.interface] = next(numbers)
            ends.append(netlink.End(end.interface, space.index[end.interface], link.mtu))
        far = spaces[link.b.node]
        pending[link.a.node].append(netlink.veth(ends[0], ends[1], far_network=far.descriptor))
        bridged[link.b.node].append(netlink.set_up(ends[1].index, True))
        for end, made in zip((link.a, link.b), ends, strict=True):
            if spaces[end.node].node.kind is NodeKind.SWITCH:
                bridged[end.node].append(netlink.join_bridge(made.index, BRIDGE_INDEX))
    for stage in (pending, bridged):
        for name, requests in stage.items():
            if requests:
                with spaces.link(name) as socket:
                    socket.require(requests, f"links of {name}")


def set_retransmission(spaces: Spaces, milliseconds: int) -> None:
    """Time between ARP requests on every interface; the default of a second delays the first ping after a repair."""
    for space in spaces:
        if space.node.kind is not NodeKind.SWITCH:
            with spaces.networks.inside(space.descriptor):
                for name in space.index:
                    system.write_sysctl(f"net/ipv4/neigh/{name}/retrans_time_ms", milliseconds)
                    system.write_sysctl(f"net/ipv4/neigh/{name}/mcast_solicit", ARP_REQUESTS)
                    system.write_sysctl(f"net/ipv4/neigh/{name}/unres_qlen_bytes", WAITING_BYTES)


def wait_for_links(topology: Topology, spaces: Spaces) -> list[str]:
    """Wait until the kernel has carried every change of a link through; the links that are not there in the end.

    Notes
    -----
    It does so by deferred work, which a busy machine delays. Flags do not show it: a new interface counts as running
    in the state "unknown" before its queue works, and what it is given then is lost.
    """
    limit = time.monotonic() + LINK_WAIT_S
    while True:
        states: dict[tuple[str, int], netlink.LinkState] = {}
        for space in spaces:
            with spaces.link(space.name) as socket:
                for state in netlink.link_states(socket):
                    states[space.name, state.index] = state
        late = [f"{link.a.node} - {link.b.node}" for link in topology.links if not _settled(states, spaces, link)]
        if not late or time.monotonic() > limit:
            return late
        time.sleep(0.002)


def _settled(states: Mapping[tuple[str, int], netlink.LinkState], spaces: Spaces, link: Link) -> bool:
    found = [states.get((end.node, spaces[end.node].index[end.interface])) for end in (link.a, link.b)]
    if any(state is None for state in found):
        return True  # a command line took it away
    ups = [state for state in found if state is not None and state.up]
    wanted = netlink.CARRYING if len(ups) == 2 else netlink.WITHOUT_CARRIER
    return all(state.operational in wanted for state in ups)


def _address(topology: Topology, spaces: Spaces, space: Space, routes: list[StaticRoute]) -> None:
    requests = [netlink.address(netlink.NEWADDR, 1, cidr) for cidr in space.node.loopback]
    for name, index in space.index.items():
        end = topology.interfaces.get((space.name, name))
        for cidr in end.addresses if end else ():
            requests.append(netlink.address(netlink.NEWADDR, index, cidr))
    for route in routes:
        spec = netlink.RouteSpec(route.prefix, route.via, space.index.get(route.dev, 0), route.metric, route.type)
        requests.append(netlink.route(netlink.NEWROUTE, spec))
    if requests:
        with spaces.link(space.name) as socket:
            socket.require(requests, f"addresses and routes of {space.name}")
