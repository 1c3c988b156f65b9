"""Routing tables: longest prefix, then lowest metric, then age, one dictionary per prefix length."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# Route scopes as Linux numbers them; a gateway must be reached over a route of at least link scope.
UNIVERSE, LINK, HOST = 0, 253, 254
MASKS = tuple((0xFFFFFFFF << (32 - length)) & 0xFFFFFFFF for length in range(33))


@lru_cache(maxsize=65536)
def number(text: str) -> int:
    """An IPv4 address as an integer."""
    return int(ipaddress.IPv4Address(text))


@lru_cache(maxsize=65536)
def text(value: int) -> str:
    """An integer as an IPv4 address."""
    return str(ipaddress.IPv4Address(value))


@dataclass(frozen=True, slots=True)
class Route:
    """One route. ``next_hop`` is the address that ARP asks for, ``None`` for on-link routes.

    ``next_hop`` differs from ``via`` only for a gateway that is an own address: Linux accepts such a route and then
    treats every destination as on-link.
    """

    network: int
    length: int
    via: int | None = None
    dev: str = ""
    metric: int = 0
    type: str = "unicast"
    connected: bool = False
    scope: int = UNIVERSE
    next_hop: int | None = None
    source: int | None = None

    @property
    def prefix(self) -> str:
        """The destination as text."""
        return f"{text(self.network)}/{self.length}"


class RouteTable:
    """The main table of one node.

    Examples
    --------
    >>> table = RouteTable()
    >>> table.insert(Route(number("10.0.0.0"), 8, dev="eth0"))
    >>> table.insert(Route(number("10.1.0.0"), 16, dev="eth1"))
    >>> table.find(number("10.1.2.3")).dev
    'eth1'
    """

    def __init__(self) -> None:
        self._tables: dict[int, dict[int, list[Route]]] = {}
        self._lengths: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Route]:
        for length in self._lengths:
            for routes in self._tables[length].values():
                yield from routes

    def at(self, network: int, length: int) -> list[Route]:
        """Routes of exactly this prefix, in the order in which they are tried."""
        return self._tables.get(length, {}).get(network, [])

    def insert(self, route: Route) -> None:
        """Add a route behind those of the same metric."""
        if route.length not in self._tables:
            self._tables[route.length] = {}
            self._lengths = tuple(sorted(self._tables, reverse=True))
        routes = self._tables[route.length].setdefault(route.network, [])
        routes.append(route)
        routes.sort(key=lambda item: item.metric)

    def remove(self, route: Route) -> None:
        """Take out one route that is in the table."""
        routes = self._tables[route.length][route.network]
        routes.remove(route)
        if not routes:
            del self._tables[route.length][route.network]

    def remove_through(self, dev: str) -> None:
        """Take out every route through a device."""
        for route in [route for route in self if route.dev == dev]:
            self.remove(route)

    def find(self, target: int, *, dev: str = "", scope: int = UNIVERSE) -> Route | None:
        """The route that decides, or ``None``; only routes of at least this scope and, if given, through ``dev``."""
        for length in self._lengths:
            for route in self._tables[length].get(target & MASKS[length], ()):
                if route.scope < scope:
                    continue
                if route.type != "unicast" or not dev or route.dev == dev:
                    return route
        return None
