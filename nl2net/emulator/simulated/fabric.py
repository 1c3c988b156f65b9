"""Layer 2: which interfaces a frame reaches over links and switches, and how large it may be on the way."""

from __future__ import annotations

from dataclasses import dataclass

from nl2net.emulator.simulated.node import Interface, NodeModel

# A veth end takes frames of its MTU plus Ethernet header and VLAN tag: 4 bytes more than the MTU, counted in IP bytes.
INGRESS_SLACK = 4


@dataclass(frozen=True, slots=True)
class Reached:
    """An interface on the same segment; ``limit`` is the largest IP packet that arrives there."""

    node: str
    interface: str
    limit: int


class Fabric:
    """Links and switches. Segments are computed once and forgotten when a link or an MTU changes."""

    def __init__(self, nodes: dict[str, NodeModel]) -> None:
        self._nodes = nodes
        self._segments: dict[tuple[str, str], tuple[Reached, ...]] = {}
        self._asked: dict[tuple[str, str, int], Reached | None] = {}

    def forget(self) -> None:
        """A link, an address, an MTU or an impairment changed."""
        self._segments.clear()
        self._asked.clear()

    def segment(self, node: str, interface: str) -> tuple[Reached, ...]:
        """Interfaces of hosts and routers that a frame from this interface reaches."""
        key = (node, interface)
        if key not in self._segments:
            self._segments[key] = tuple(self._flood(node, interface))
        return self._segments[key]

    def _flood(self, node: str, interface: str) -> list[Reached]:
        found: list[Reached] = []
        waiting = [(node, interface, 1 << 30)]
        visited: set[str] = set()
        while waiting:
            here, port, limit = waiting.pop()
            sender = self._nodes[here].interfaces[port]
            crossed = self._cross(sender)
            if crossed is None:
                continue
            other, far = crossed
            limit = min(limit, far.mtu + INGRESS_SLACK)
            if not other.switch:
                found.append(Reached(other.name, far.name, limit))
                continue
            if other.name in visited:
                continue
            visited.add(other.name)
            for name, out in other.interfaces.items():
                if name not in {far.name, "lo"} and out.up:
                    waiting.append((other.name, name, min(limit, out.mtu + INGRESS_SLACK)))
        return found

    def _cross(self, sender: Interface) -> tuple[NodeModel, Interface] | None:
        if sender.peer is None or not sender.up or sender.impairment.get("loss") == 1.0:
            return None
        other = self._nodes[sender.peer[0]]
        far = other.interfaces[sender.peer[1]]
        return (other, far) if far.up else None

    def ask(self, node: str, interface: str, address: int) -> Reached | None:
        """ARP: who on the segment owns the address on any of its interfaces, and can the answer come back?"""
        key = (node, interface, address)
        if key not in self._asked:
            self._asked[key] = self._ask(node, interface, address)
        return self._asked[key]

    def _ask(self, node: str, interface: str, address: int) -> Reached | None:
        for reached in self.segment(node, interface):
            owner = self._nodes[reached.node]
            if reached.node != node and address in owner.locals and self._answers(reached, node, interface):
                return reached
        return None

    def _answers(self, reached: Reached, node: str, interface: str) -> bool:
        back = self.segment(reached.node, reached.interface)
        return any(item.node == node and item.interface == interface for item in back)
