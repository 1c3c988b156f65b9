"""State of one simulated node, and what each change does to it in a Linux kernel."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from typing import Any

from nl2net.emulator.operations import CHAINS
from nl2net.emulator.results import Reason
from nl2net.emulator.simulated.lookup import LINK, MASKS, Route, RouteTable, text
from nl2net.emulator.transition import route_order

# What a route or rule type means to a packet; "unreachable" differs between the two.
ROUTE_REASONS = {
    "blackhole": Reason.BLACKHOLE,
    "prohibit": Reason.ADMIN_PROHIBITED,
    "unreachable": Reason.HOST_UNREACHABLE,
}
RULE_REASONS = {**ROUTE_REASONS, "unreachable": Reason.NET_UNREACHABLE}


class Refusal(Exception):
    """The kernel would refuse; the argument is the class of the refusal."""


@dataclass(slots=True)
class Address:
    """An address on an interface; a secondary shares the subnet of an earlier one and makes no route."""

    value: int
    length: int
    secondary: bool = False

    @property
    def network(self) -> int:
        """First address of the subnet."""
        return self.value & MASKS[self.length]

    def covers(self, other: int) -> bool:
        """Whether another address is in the subnet."""
        return other & MASKS[self.length] == self.network

    def __str__(self) -> str:
        return f"{text(self.value)}/{self.length}"


@dataclass(slots=True)
class Interface:
    """An interface and the end that it is linked to."""

    name: str
    mtu: int = 1500
    up: bool = True
    addresses: list[Address] = field(default_factory=list)
    peer: tuple[str, str] | None = None
    impairment: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a destination leads: ``local``, ``broadcast``, ``route``, or an error with its reason."""

    kind: str
    route: Route | None = None
    dev: str = ""
    reason: Reason = Reason.OK


@dataclass(slots=True)
class Chain:
    """Filters of one hook, first match decides, else the policy."""

    policy: str = "accept"
    filters: list[dict[str, Any]] = field(default_factory=list)


class NodeModel:
    """Interfaces, routes, rules and filters of one node."""

    def __init__(self, name: str, *, forwarding: bool = False, switch: bool = False) -> None:
        self.name = name
        self.forwarding = forwarding
        self.switch = switch
        self.interfaces: dict[str, Interface] = {"lo": Interface("lo", mtu=65536)}
        self.routes = RouteTable()
        self.rules: list[tuple[int, str]] = []
        self.chains = {chain: Chain() for chain in CHAINS}
        self.locals: dict[int, str] = {}
        self.broadcasts: dict[int, str] = {}
        self._decisions: dict[int, Decision] = {}

    # Addresses -----------------------------------------------------------------------------------------------------

    def add_address(self, name: str, cidr: str) -> None:
        """Add an address; a primary one on an interface that is up brings its connected route."""
        parsed = ipaddress.IPv4Interface(cidr)
        address = Address(int(parsed.ip), parsed.network.prefixlen)
        interface = self.interfaces[name]
        for other in interface.addresses:
            if other.length == address.length and other.network == address.network:
                if other.value == address.value:
                    raise Refusal("exists")
                address.secondary = True
        place = len(interface.addresses)
        if not address.secondary:
            place = sum(not item.secondary for item in interface.addresses)
        interface.addresses.insert(place, address)
        self._refresh()
        if interface.up and not address.secondary:
            self._connect(name, address)

    def remove_address(self, name: str, cidr: str) -> None:
        """Remove an address, the secondaries of a primary, and every route when it was the last one."""
        parsed = ipaddress.IPv4Interface(cidr)
        interface = self.interfaces[name]
        key = (int(parsed.ip), parsed.network.prefixlen)
        found = next((item for item in interface.addresses if (item.value, item.length) == key), None)
        if found is None:
            raise Refusal("not-found")
        gone = [found]
        if not found.secondary:
            gone += [
                a for a in interface.addresses if a.secondary and a.length == found.length and found.covers(a.value)
            ]
        interface.addresses = [item for item in interface.addresses if item not in gone]
        if not found.secondary:
            for route in [r for r in self.routes.at(found.network, found.length) if r.connected and r.dev == name]:
                if route.source == found.value:
                    self.routes.remove(route)
        self._refresh()
        if not interface.addresses:
            self.routes.remove_through(name)

    def flush(self, name: str) -> None:
        """Remove all addresses."""
        while self.interfaces[name].addresses:
            self.remove_address(name, str(self.interfaces[name].addresses[0]))

    def _connect(self, name: str, address: Address) -> None:
        if address.length == 32 or name == "lo":
            return
        exists = any(
            r.dev == name and r.connected and r.source == address.value
            for r in self.routes.at(address.network, address.length)
        )
        if not exists:
            self.routes.insert(
                Route(address.network, address.length, dev=name, connected=True, scope=LINK, source=address.value)
            )

    def _refresh(self) -> None:
        self.locals, self.broadcasts = {}, {}
        for interface in self.interfaces.values():
            for address in interface.addresses:
                self.locals.setdefault(address.value, interface.name)
                if interface.up and address.length < 31 and interface.name != "lo":
                    broadcast = address.network | (~MASKS[address.length] & 0xFFFFFFFF)
                    self.broadcasts.setdefault(broadcast, interface.name)

    # Links ---------------------------------------------------------------------------------------------------------

    def set_link(self, name: str, up: bool) -> None:
        """Down takes every route of the interface away, up brings back only the connected ones."""
        interface = self.interfaces[name]
        if interface.up == up:
            return
        interface.up = up
        self._refresh()
        if not up:
            self.routes.remove_through(name)
            return
        for address in interface.addresses:
            if not address.secondary:
                self._connect(name, address)

    def set_mtu(self, name: str, mtu: int) -> None:
        """Below 68 bytes IPv4 cannot work and veth refuses; above 65535 as well."""
        if not 68 <= mtu <= 65535:
            raise Refusal("invalid")
        self.interfaces[name].mtu = mtu

    # Routes --------------------------------------------------------------------------------------------------------

    def add_route(self, wanted: Route) -> None:
        """Add a route as the kernel does: the next hop is checked first, then whether it exists."""
        route = wanted
        if wanted.type != "unicast":
            route = Route(wanted.network, wanted.length, metric=wanted.metric, type=wanted.type)
        elif wanted.via is not None:
            route = self._through_gateway(wanted, wanted.via)
        else:
            if not self.interfaces[wanted.dev].up:
                raise Refusal("link-down")
            source = self._source_of_connected(wanted) if wanted.connected else None
            route = Route(
                wanted.network,
                wanted.length,
                None,
                wanted.dev,
                wanted.metric,
                "unicast",
                wanted.connected,
                LINK,
                None,
                source,
            )
        if any(other.metric == route.metric for other in self.routes.at(route.network, route.length)):
            raise Refusal("exists")
        self.routes.insert(route)

    def _through_gateway(self, wanted: Route, via: int) -> Route:
        # The gateway is looked up like a packet: local addresses first, then rules, then the main table.
        plain = Route(wanted.network, wanted.length, via, wanted.dev, wanted.metric)
        owner = self.locals.get(via, "")
        if owner and wanted.dev in {"", owner}:
            if not self.interfaces[owner].up:
                raise Refusal("link-down")
            return replace(plain, dev=owner)
        if self.rules or (via in self.broadcasts and wanted.dev in {"", self.broadcasts[via]}):
            raise Refusal("invalid-gateway")
        found = self.routes.find(via, dev=wanted.dev, scope=LINK)
        if found is None or found.type != "unicast":
            raise Refusal("invalid-gateway")
        return replace(plain, dev=found.dev, next_hop=via)

    def _source_of_connected(self, wanted: Route) -> int | None:
        covering = (
            a.value
            for a in self.interfaces[wanted.dev].addresses
            if a.length == wanted.length and a.network == wanted.network and not a.secondary
        )
        return next(covering, None)

    def remove_route(self, wanted: Route) -> None:
        """Remove the first route that matches what is given."""
        for route in self.routes.at(wanted.network, wanted.length):
            if (
                route.type == wanted.type
                and wanted.metric in {0, route.metric}
                and wanted.dev in {"", route.dev}
                and wanted.via in {None, route.via}
            ):
                self.routes.remove(route)
                return
        raise Refusal("not-found")

    def add_rule(self, preference: int, action: str) -> None:
        """Add a rule for all packets."""
        if (preference, action) in self.rules:
            raise Refusal("exists")
        self.rules.append((preference, action))
        self.rules.sort(key=lambda rule: rule[0])

    def remove_rule(self, preference: int, action: str) -> None:
        """Remove a rule for all packets."""
        if (preference, action) not in self.rules:
            raise Refusal("not-found")
        self.rules.remove((preference, action))

    # Decisions -----------------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Something about this node changed: decide afresh."""
        self._decisions.clear()

    def decide(self, target: int) -> Decision:
        """Local delivery first, then rules, then the main table; remembered until `forget`."""
        found = self._decisions.get(target)
        if found is None:
            found = self._decisions[target] = self._decide(target)
        return found

    def _decide(self, target: int) -> Decision:
        if target in self.locals:
            return Decision("local", dev=self.locals[target])
        if target in self.broadcasts:
            return Decision("broadcast", dev=self.broadcasts[target])
        if self.rules:
            return Decision("error", reason=RULE_REASONS[self.rules[0][1]])
        route = self.routes.find(target)
        if route is None:
            return Decision("error", reason=Reason.NET_UNREACHABLE)
        if route.type != "unicast":
            return Decision("error", reason=ROUTE_REASONS[route.type])
        return Decision("route", route, route.dev)

    def source_for(self, route: Route) -> int:
        """Source address of a packet over a route: the one that covers the gateway, else the first, else any."""
        if route.source is not None:
            return route.source
        primaries = [a for a in self.interfaces[route.dev].addresses if not a.secondary]
        if route.via is not None:
            for address in primaries:
                if address.covers(route.via):
                    return address.value
        if primaries:
            return primaries[0].value
        for interface in self.interfaces.values():
            for address in interface.addresses:
                if not address.secondary:
                    return address.value
        return 0

    def state(self) -> dict[str, Any]:
        """Canonical state, as the kernel backend reads it from the kernel."""
        routes = [
            {
                "prefix": route.prefix,
                "via": "" if route.via is None else text(route.via),
                "dev": route.dev,
                "metric": route.metric,
                "type": route.type,
                "connected": route.connected,
            }
            for route in self.routes
        ]
        return {
            "forwarding": self.forwarding,
            "interfaces": {
                i.name: {"up": i.up, "mtu": i.mtu, "addresses": [str(a) for a in i.addresses]}
                for i in self.interfaces.values()
            },
            "routes": sorted(routes, key=route_order),
            "rules": [{"preference": preference, "action": action} for preference, action in self.rules],
            "chains": {
                n: {"policy": c.policy, "filters": [dict(f) for f in c.filters]} for n, c in self.chains.items()
            },
            "impairments": {i.name: dict(i.impairment) for i in self.interfaces.values() if i.impairment},
        }
