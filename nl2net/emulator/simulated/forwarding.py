"""One packet followed hop by hop, as Linux would forward it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from nl2net.emulator.results import Reason
from nl2net.emulator.simulated.fabric import Fabric, Reached
from nl2net.emulator.simulated.lookup import Route
from nl2net.emulator.simulated.node import NodeModel

MAX_HOPS = 80
ICMP_OVERHEAD = 28
ICMP_ERROR_MAX = 576


@dataclass(frozen=True, slots=True)
class Packet:
    """What routing and filters look at. ``reply`` marks answers and ICMP errors, which cause no errors themselves."""

    source: int
    target: int
    protocol: str = "icmp"
    port: int = 0
    size: int = 84
    ttl: int = 64
    fragment: bool = False
    reply: bool = False

    # Spelt out, because `dataclasses.replace` would take a third of the time of a matrix.
    def sent_from(self, source: int) -> Packet:
        """The same packet with another source."""
        return Packet(source, self.target, self.protocol, self.port, self.size, self.ttl, self.fragment, self.reply)

    def sent_to(self, target: int, port: int) -> Packet:
        """The same packet to another address and port."""
        return Packet(self.source, target, self.protocol, port, self.size, self.ttl, self.fragment, self.reply)


@dataclass(frozen=True, slots=True)
class Fate:
    """Where a packet ended.

    ``reason`` is ``ok`` when ``node`` took it. ``told`` says whether ``node`` reports the loss to the source by ICMP;
    ``at_once`` that the loss is an error of the sending call itself.
    """

    node: str
    packet: Packet
    reason: Reason = Reason.OK
    told: bool = False
    at_once: bool = False
    local: int = 0  # address that an input filter's report comes from


Step = Fate | tuple[str, int, Packet]  # the end, or the next device, next hop and packet
Gate = Callable[[str, Packet, str, str], Packet | None]


class Forwarder:
    """Carries packets over nodes and the fabric; ``gate`` is asked at each forwarding node (services and policies)."""

    def __init__(
        self, nodes: dict[str, NodeModel], fabric: Fabric, translate: Callable[[str, Packet], Packet], gate: Gate
    ):
        self._nodes = nodes
        self._fabric = fabric
        self._translate = translate
        self._gate = gate

    def send(self, name: str, packet: Packet, *, socket: bool = True) -> Fate:
        """Send from a node. ``socket`` tells a program's packet, which sees errors, from one of the kernel's own."""
        node = self._nodes[name]
        decision = node.decide(packet.target)
        if decision.kind == "error":
            return Fate(name, packet, decision.reason, at_once=True)
        if decision.kind == "local":
            packet = packet if packet.source else packet.sent_from(packet.target)
            return self._loop_back(node, packet)
        if decision.kind == "broadcast":
            if socket:
                return Fate(name, packet, Reason.ADMIN_PROHIBITED, at_once=True)
            return self._broadcast(node, decision.dev, packet)
        route = decision.route
        assert route is not None
        packet = packet if packet.source else packet.sent_from(node.source_for(route))
        mtu = node.interfaces[route.dev].mtu
        if packet.size > mtu:
            if not packet.fragment:
                return Fate(name, packet, Reason.FRAG_NEEDED, at_once=True)
            packet = _fragmented(packet, mtu)
        if verdict(node, "output", packet) != "accept":
            return Fate(name, packet, Reason.FILTERED, at_once=True)
        return self._travel(node, route.dev, packet.target if route.next_hop is None else route.next_hop, packet)

    def _loop_back(self, node: NodeModel, packet: Packet) -> Fate:
        if verdict(node, "output", packet) != "accept":
            return Fate(node.name, packet, Reason.FILTERED, at_once=True)
        if verdict(node, "input", packet) != "accept":
            return Fate(node.name, packet, Reason.TIMEOUT)
        return Fate(node.name, packet)

    def _broadcast(self, node: NodeModel, dev: str, packet: Packet) -> Fate:
        if verdict(node, "output", packet) != "accept":
            return Fate(node.name, packet, Reason.TIMEOUT)
        for reached in self._fabric.segment(node.name, dev):
            owner = self._nodes[reached.node]
            if packet.target in owner.locals and packet.size <= reached.limit:
                return self._arrive(owner, packet)
        return Fate(node.name, packet, Reason.TIMEOUT)

    def _travel(self, node: NodeModel, dev: str, next_hop: int, packet: Packet) -> Fate:
        for hops in range(MAX_HOPS):
            if next_hop in node.broadcasts:
                return self._broadcast(node, node.broadcasts[next_hop], packet)
            reached = self._fabric.ask(node.name, dev, next_hop)
            if reached is None:
                return Fate(node.name, packet, Reason.HOST_UNREACHABLE, told=True)
            if packet.size > reached.limit:
                return Fate(node.name, packet, Reason.TIMEOUT)
            node = self._nodes[reached.node]
            packet = self._translate(node.name, packet)
            step = self._receive(node, reached, packet, packet.ttl - hops)
            if isinstance(step, Fate):
                return step
            dev, next_hop, packet = step
        return Fate(node.name, packet, Reason.TTL_EXCEEDED)

    def _receive(self, node: NodeModel, reached: Reached, packet: Packet, ttl: int) -> Step:
        decision = node.decide(packet.target)
        silent = Fate(node.name, packet, Reason.TIMEOUT)
        if packet.source == 0:
            return silent
        if decision.kind == "local":
            return silent if self._is_martian(node, packet.source) else self._arrive(node, packet)
        if decision.kind == "broadcast" or not node.forwarding:
            return silent
        if decision.kind == "error":
            told = decision.reason is not Reason.BLACKHOLE
            return Fate(node.name, packet, decision.reason if told else Reason.TIMEOUT, told=told)
        if self._is_martian(node, packet.source):
            return silent
        if ttl <= 1:
            return Fate(node.name, packet, Reason.TTL_EXCEEDED, told=True)
        assert decision.route is not None
        return self._forward(node, reached, decision.route, packet)

    def _forward(self, node: NodeModel, reached: Reached, route: Route, packet: Packet) -> Step:
        dev = route.dev
        mtu = node.interfaces[dev].mtu
        if packet.size > mtu and not packet.fragment:
            return Fate(node.name, packet, Reason.FRAG_NEEDED, told=True)
        action = verdict(node, "forward", packet)
        if action == "reject":
            return Fate(node.name, packet, Reason.ADMIN_PROHIBITED, told=True)
        passed = None if action == "drop" else self._gate(node.name, packet, reached.interface, dev)
        if passed is None:
            return Fate(node.name, packet, Reason.TIMEOUT)
        packet = passed if passed.size <= mtu else _fragmented(passed, mtu)
        return dev, packet.target if route.next_hop is None else route.next_hop, packet

    def _arrive(self, node: NodeModel, packet: Packet) -> Fate:
        action = verdict(node, "input", packet)
        if action == "accept":
            return Fate(node.name, packet)
        if action == "reject":
            return Fate(node.name, packet, Reason.ADMIN_PROHIBITED, told=True, local=packet.target)
        return Fate(node.name, packet, Reason.TIMEOUT)

    @staticmethod
    def _is_martian(node: NodeModel, source: int) -> bool:
        return source in node.locals or (bool(node.rules) and source in node.broadcasts)

    def report(self, fate: Fate) -> tuple[Fate, int] | None:
        """The ICMP error about a loss on its way to the source: its fate, and the address it names."""
        if not fate.told or fate.packet.reply:
            return None
        node = self._nodes[fate.node]
        decision = node.decide(fate.packet.source)
        if decision.kind == "error":
            return None
        mtu = ICMP_ERROR_MAX if decision.route is None else node.interfaces[decision.route.dev].mtu
        source = fate.local or (fate.packet.source if decision.route is None else node.source_for(decision.route))
        size = min(ICMP_OVERHEAD + fate.packet.size, ICMP_ERROR_MAX, mtu)
        error = Packet(source, fate.packet.source, size=size, fragment=True, reply=True)
        return self.send(fate.node, error, socket=False), source


def _fragmented(packet: Packet, mtu: int) -> Packet:
    return replace(packet, size=20 + (mtu - 20) // 8 * 8)


def verdict(node: NodeModel, chain: str, packet: Packet) -> str:
    """What the filters of a chain decide."""
    rules = node.chains[chain]
    for item in rules.filters:
        if (
            item["protocol"] in {"", packet.protocol}
            and item["port"] in {0, packet.port}
            and (not item["source"] or _inside(packet.source, item["source"]))
            and (not item["destination"] or _inside(packet.target, item["destination"]))
        ):
            return str(item["action"])
    return rules.policy


@lru_cache(maxsize=4096)
def _bounds(prefix: str) -> tuple[int, int]:
    network = ipaddress.IPv4Network(prefix)
    return int(network.network_address), int(network.broadcast_address)


def _inside(address: int, prefix: str) -> bool:
    low, high = _bounds(prefix)
    return low <= address <= high
