"""What is built: nodes, links, addresses, routes and, for a cluster, pods and services. JSON in and out."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from nl2net.emulator.kubernetes.objects import Cluster, Port
from nl2net.errors import DataError

LOOPBACK = "lo"
MAX_INTERFACE_NAME = 15


class NodeKind(StrEnum):
    """Role of a node; only routers forward unless a node says otherwise."""

    HOST = "host"
    ROUTER = "router"
    SWITCH = "switch"
    POD = "pod"


@dataclass(frozen=True, slots=True)
class Node:
    """One network node.

    Attributes
    ----------
    name : str
        Unique in the topology.
    kind : NodeKind
        A switch joins its links to one segment and has no addresses.
    forwarding : bool, optional
        ``None`` means: routers forward, others do not.
    listens : tuple of Port
        TCP ports that answer with the node's name.
    loopback : tuple of str
        Extra ``/32`` addresses on the loopback interface.
    """

    name: str
    kind: NodeKind = NodeKind.HOST
    forwarding: bool | None = None
    listens: tuple[Port, ...] = ()
    loopback: tuple[str, ...] = ()

    @property
    def forwards(self) -> bool:
        """Whether packets of others are passed on when the network has been built."""
        return self.kind is NodeKind.ROUTER if self.forwarding is None else self.forwarding


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a link: the node, its interface and the addresses there (``10.0.0.1/24``)."""

    node: str
    interface: str
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A point-to-point link between two interfaces."""

    a: Endpoint
    b: Endpoint
    mtu: int = 1500


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """A route that is set when the network is built; ``type`` is unicast, blackhole, prohibit or unreachable."""

    node: str
    prefix: str
    via: str = ""
    dev: str = ""
    metric: int = 0
    type: str = "unicast"


@dataclass(frozen=True)
class Topology:
    """A network to build. A ``cluster`` is expanded to one routing node and one node per pod.

    Examples
    --------
    >>> left = Endpoint("h1", "eth0", ("10.0.0.1/24",))
    >>> right = Endpoint("h2", "eth0", ("10.0.0.2/24",))
    >>> pair = Topology("pair", (Node("h1"), Node("h2")), (Link(left, right),))
    >>> pair.address("h2")
    '10.0.0.2'
    """

    name: str
    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    routes: tuple[StaticRoute, ...] = ()
    cluster: Cluster | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def interfaces(self) -> Mapping[tuple[str, str], Endpoint]:
        """Link ends by node and interface, in the order of the links."""
        return {(end.node, end.interface): end for link in self.links for end in (link.a, link.b)}

    @cached_property
    def addresses(self) -> Mapping[str, tuple[str, ...]]:
        """Addresses without prefix length per node, as the topology gives them; those of the loopback first."""
        found = {node.name: [address.partition("/")[0] for address in node.loopback] for node in self.nodes}
        for (node, _), end in self.interfaces.items():
            found[node].extend(address.partition("/")[0] for address in end.addresses)
        return {name: tuple(values) for name, values in found.items()}

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """Node by address; the first owner when an address is given twice."""
        found: dict[str, str] = {}
        for name, values in self.addresses.items():
            for value in values:
                found.setdefault(value, name)
        return found

    def address(self, node: str) -> str:
        """First address of a node, or an error that names the node."""
        values = self.addresses.get(node)
        if not values:
            raise DataError(f"node {node!r} has no address", hint="Probe hosts and routers; switches have none.")
        return values[0]

    def probed(self) -> tuple[str, ...]:
        """Nodes of the default ping matrix: all with an address but the cluster's node and its name server."""
        hidden = {"node", "kube-system/kube-dns"} if self.cluster is not None else set()
        return tuple(node.name for node in self.nodes if self.addresses[node.name] and node.name not in hidden)

    def find(self, name: str) -> str:
        """The node of that name; for pods the bare name is enough where it is unique."""
        if name in self.by_name:
            return name
        matches = [node for node in self.by_name if node.rpartition("/")[2] == name]
        if len(matches) == 1:
            return matches[0]
        known = ", ".join(sorted(self.by_name)[:12])
        what = "is not unique" if matches else "is unknown"
        raise DataError(f"node {name!r} {what}", hint=f"Known nodes: {known}")


def check_topology(topology: Topology) -> Topology:
    """Refuse what no backend can build.

    Raises
    ------
    DataError
        Names the first fault: doubled names, unknown nodes, malformed addresses, interface names over 15 characters.
    """
    if len(topology.by_name) != len(topology.nodes):
        raise DataError(f"topology {topology.name!r}: a node name occurs twice")
    seen: set[tuple[str, str]] = set()
    for link in topology.links:
        for end in (link.a, link.b):
            _check_endpoint(topology, end)
            if (end.node, end.interface) in seen:
                raise DataError(f"interface {end.interface!r} of {end.node!r} is used by two links")
            seen.add((end.node, end.interface))
        if not 68 <= link.mtu <= 65535:
            raise DataError(f"link {link.a.node} - {link.b.node}: MTU {link.mtu} is not between 68 and 65535")
    for route in topology.routes:
        if route.node not in topology.by_name:
            raise DataError(f"route to {route.prefix}: node {route.node!r} is unknown")
        _network(route.prefix, f"route of {route.node}")
    for node in topology.nodes:
        for address in node.loopback:
            _interface(address, f"loopback of {node.name}")
    return topology


def _check_endpoint(topology: Topology, end: Endpoint) -> None:
    node = topology.by_name.get(end.node)
    if node is None:
        raise DataError(f"link end: node {end.node!r} is unknown")
    name = end.interface
    bad = not name or len(name) > MAX_INTERFACE_NAME or "/" in name or name in {LOOPBACK, ".", "..", "br0"}
    if bad or any(character.isspace() or character in ":\"'" for character in name):
        raise DataError(
            f"interface name {name!r} of {end.node!r} cannot be used",
            hint=f"Use 1 to {MAX_INTERFACE_NAME} characters without spaces, slashes or quotes; not lo, not br0.",
        )
    if node.kind is NodeKind.SWITCH and end.addresses:
        raise DataError(f"switch {end.node!r} cannot have addresses")
    for address in end.addresses:
        _interface(address, f"{end.node} {name}")


def _interface(text: str, where: str) -> None:
    try:
        ipaddress.IPv4Interface(text)
    except ValueError:
        raise DataError(f"{where}: {text!r} is not an IPv4 address with prefix length") from None


def _network(text: str, where: str) -> None:
    try:
        ipaddress.IPv4Network(text)
    except ValueError:
        raise DataError(f"{where}: {text!r} is not an IPv4 prefix", hint="Host bits must be zero.") from None


def topology_to_json(topology: Topology) -> dict[str, Any]:
    """JSON form, without empty fields."""
    data: dict[str, Any] = {"format": "nl2net-topology", "version": 1, "name": topology.name}
    data["nodes"] = [_node_json(node) for node in topology.nodes]
    data["links"] = [{"a": _end_json(link.a), "b": _end_json(link.b), "mtu": link.mtu} for link in topology.links]
    data["routes"] = [_slim({name: getattr(r, name) for name in StaticRoute.__slots__}) for r in topology.routes]
    if topology.cluster is not None:
        data["cluster"] = topology.cluster.to_json()
    return data


def _slim(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in ("", 0, (), [], None)}


def _node_json(node: Node) -> dict[str, Any]:
    data = _slim({"name": node.name, "kind": str(node.kind), "loopback": list(node.loopback)})
    if node.forwarding is not None:
        data["forwarding"] = node.forwarding
    if node.listens:
        data["listens"] = [port.to_json() for port in node.listens]
    return data


def _end_json(end: Endpoint) -> dict[str, Any]:
    return {"node": end.node, "interface": end.interface, "addresses": list(end.addresses)}


def topology_from_json(data: Mapping[str, Any], *, path: str = "") -> Topology:
    """Read the JSON form and check it.

    Raises
    ------
    DataError
        A field is missing, unknown or malformed; names the field.
    """
    where = path or None
    if data.get("format") != "nl2net-topology" or data.get("version") != 1:
        raise DataError("not a topology file: format is not 'nl2net-topology' version 1", path=where, field="format")
    try:
        topology = Topology(
            name=str(data["name"]),
            nodes=tuple(_node_from(item) for item in data.get("nodes", ())),
            links=tuple(
                Link(_end_from(i["a"]), _end_from(i["b"]), int(i.get("mtu", 1500))) for i in _items(data, "links")
            ),
            routes=tuple(StaticRoute(**item) for item in _items(data, "routes")),
            cluster=Cluster.from_json(data["cluster"]) if data.get("cluster") else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"malformed topology: {type(error).__name__}: {error}", path=where) from None
    return check_topology(topology)


def _items(data: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    value = data.get(name, ())
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} is not a list")
    return value


def _node_from(item: Mapping[str, Any]) -> Node:
    forwarding = item.get("forwarding")
    return Node(
        name=str(item["name"]),
        kind=NodeKind(item.get("kind", "host")),
        forwarding=None if forwarding is None else bool(forwarding),
        listens=tuple(Port.from_json(port) for port in item.get("listens", ())),
        loopback=tuple(str(address) for address in item.get("loopback", ())),
    )


def _end_from(item: Mapping[str, Any]) -> Endpoint:
    return Endpoint(str(item["node"]), str(item["interface"]), tuple(str(a) for a in item.get("addresses", ())))
