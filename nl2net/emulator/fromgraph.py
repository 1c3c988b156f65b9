"""A plain graph as a network that can be built: addresses and shortest-path routes are chosen here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nl2net.emulator.kubernetes.objects import Port
from nl2net.emulator.naming import interface_names
from nl2net.emulator.topology import Endpoint, Link, Node, NodeKind, StaticRoute, Topology
from nl2net.errors import DataError

MAX_NODES = 300
_LINKS_PER_BLOCK = 62
_HOSTS = frozenset({"host", "server", "pc", "client", "endpoint", "vm"})


def topology_from_edges(name: str, kinds: Mapping[str, str], edges: Iterable[tuple[str, str]]) -> Topology:
    """Give every node a block 10.x.y.0/24 with its own address and its links, and route all blocks along fewest hops.

    Parameters
    ----------
    name : str
        Name of the network.
    kinds : mapping of str to str
        Kind of each node; hosts and servers do not forward, everything else does.
    edges : iterable of (str, str)
        Links; loops and doubled links are left out, direction has no meaning.

    Raises
    ------
    DataError
        More than 300 nodes, or a node with too many links.

    Examples
    --------
    >>> net = topology_from_edges("line", {"a": "router", "b": "router", "c": "host"}, [("a", "b"), ("b", "c")])
    >>> net.address("c"), len(net.routes)
    ('10.0.2.1', 6)
    """
    names = list(kinds)
    if not 1 <= len(names) <= MAX_NODES:
        raise DataError(f"a network of {len(names)} nodes cannot be emulated", hint=f"Use 1 to {MAX_NODES} nodes.")
    index = {node: position for position, node in enumerate(names)}
    pairs = sorted({(min(index[a], index[b]), max(index[a], index[b])) for a, b in edges if a != b})
    nodes = tuple(
        Node(node, _kind(kinds[node]), listens=(Port(80),), loopback=(f"{_block(position)}.1/32",))
        for node, position in index.items()
    )
    links, gateways = _links(names, pairs)
    return Topology(name, nodes, links, tuple(_routes(nodes, pairs, gateways)))


def _kind(text: str) -> NodeKind:
    return NodeKind.HOST if text.lower() in _HOSTS else NodeKind.ROUTER


def _block(position: int) -> str:
    return f"10.{position // 250}.{position % 250}"


def _links(names: list[str], pairs: list[tuple[int, int]]) -> tuple[tuple[Link, ...], dict[tuple[int, int], str]]:
    owned = dict.fromkeys(range(len(names)), 0)
    labels = interface_names(names, pairs)
    links, gateways = [], {}
    for a, b in pairs:
        owner = a if owned[a] <= owned[b] else b
        if owned[owner] >= _LINKS_PER_BLOCK:
            raise DataError(
                f"node {names[owner]!r} has too many links", hint=f"{2 * _LINKS_PER_BLOCK} can be emulated."
            )
        owned[owner] += 1
        low = 4 * owned[owner]
        other = b if owner == a else a
        gateways[other, owner], gateways[owner, other] = f"{_block(owner)}.{low + 1}", f"{_block(owner)}.{low + 2}"
        near = Endpoint(names[owner], labels[owner, other], (f"{_block(owner)}.{low + 1}/30",))
        far = Endpoint(names[other], labels[other, owner], (f"{_block(owner)}.{low + 2}/30",))
        links.append(Link(near, far))
    return tuple(links), gateways


def _routes(
    nodes: tuple[Node, ...], pairs: list[tuple[int, int]], gateways: dict[tuple[int, int], str]
) -> list[StaticRoute]:
    neighbours: dict[int, list[int]] = {position: [] for position in range(len(nodes))}
    for a, b in pairs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    found = []
    for target in neighbours:
        nearer, waiting = {target: target}, [target]
        for here in waiting:
            if here != target and not nodes[here].forwards:
                continue  # a host passes nothing on
            for other in neighbours[here]:
                if other not in nearer:
                    nearer[other] = here
                    waiting.append(other)
        found += [
            StaticRoute(nodes[position].name, f"{_block(target)}.0/24", via=gateways[position, step])
            for position, step in nearer.items()
            if position != target
        ]
    return found
