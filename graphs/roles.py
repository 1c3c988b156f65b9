"""What an attribute is for, by its name, type and shape, so that a program can be adapted to other names.

Only the primary attribute of a role gets it: where a numeric ``LinkSpeedRaw`` exists, the text ``LinkSpeed`` is not
the capacity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nl2net.model import AttributeSchema

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Words in order of weight: the earlier, the surer.
_NUMERIC: dict[str, tuple[str, ...]] = {
    "latency": ("latency", "delay", "rtt", "jitter"),
    "capacity": ("capacity", "bandwidth", "bw", "speed", "linkspeed", "bitrate", "throughput", "cap"),
    "traffic": (
        "traffic", "bytes", "byte", "octets", "volume", "demand", "load", "utilization", "utilisation", "usage",
        "packets", "packet", "pkts", "flows", "connections", "connection", "sessions", "value",
    ),
    "distance": ("distance", "dist", "length", "km", "kilometers", "kilometres", "miles"),
    "cost": ("cost", "metric", "weight", "igp", "price"),
    "count": ("count", "num", "number", "total"),
}  # fmt: skip
_COORDINATES = {"lat", "latitude", "lon", "long", "longitude", "lng", "x", "y", "pos", "position", "coordinates"}
_TIMES = {"time", "timestamp", "date", "created", "updated", "seen", "since", "until", "modified", "expires"}
_SITES = ("site", "city", "location", "pop", "datacenter", "building", "room", "campus", "region", "country", "area")
_ADDRESSES = {"ip", "ipv4", "ipv6", "address", "addr", "mac", "loopback", "mgmt", "router"}
_PREFIXES = {"prefix", "subnet", "cidr", "network"}
_SINGLE = {"capacity", "distance", "cost", "latency", "name", "kind", "site"}
# Numbers on nodes that describe a picture or an order, not the network.
_NOT_MEASURES = {"color", "colour", "size", "width", "index", "idx", "id", "vlan", "asn", "units", "unit", "type"}
_PER_DIRECTION = {"in", "out", "rx", "tx", "max", "min", "avg", "used", "free", "residual"}


def words(name: str) -> list[str]:
    """Lower-case words of an attribute name.

    Examples
    --------
    >>> words("LinkSpeedRaw"), words("physical_capacity_bps"), words("if_in_octets")
    (['link', 'speed', 'raw'], ['physical', 'capacity', 'bps'], ['if', 'in', 'octets'])
    """
    return [word.lower() for word in _WORD.findall(name)]


@dataclass(frozen=True, slots=True)
class _Guess:
    role: str
    rank: int


def _numeric_role(parts: list[str], owner: str) -> _Guess | None:
    if not parts or _NOT_MEASURES & set(parts):
        return None
    if {"bps", "mbps", "gbps", "kbps"} & set(parts):
        traffic = next((word for word in parts if word in _NUMERIC["traffic"]), None)
        return _Guess("traffic", 0) if traffic else _Guess("capacity", 0)
    if "ms" in parts and len(parts) == 1:
        return _Guess("latency", 5)
    for role, known in _NUMERIC.items():
        for rank, word in enumerate(known):
            if word in parts:
                # `byte_weight` is traffic, not a cost: the more telling word comes first in the table.
                return _Guess(role, 10 * rank + len(parts) + 5 * bool(_PER_DIRECTION & set(parts)))
    return None


def guess_role(attribute: AttributeSchema) -> _Guess | None:
    """The role of one attribute by itself, and how sure (lower is surer)."""
    parts = words(attribute.name)
    present = set(parts)
    if attribute.name in ("name", "kind"):
        return _Guess(attribute.name, 0)
    if present & _COORDINATES and len(parts) <= 2 and attribute.type != "text":
        return _Guess("coordinate", 0)
    if attribute.type in ("integer", "number"):
        if present & _TIMES:
            return _Guess("time", 0)
        return _numeric_role(parts, attribute.owner)
    if attribute.type == "date" or attribute.shape in ("ISO date", "ISO time"):
        return _Guess("time", 0)
    if attribute.type != "text":
        return None
    if attribute.shape in ("IPv4", "IPv6", "MAC"):
        return _Guess("address", 0 if attribute.shape != "MAC" else 1)
    if attribute.shape == "CIDR":
        # An interface address carries its length too: the name decides.
        return _Guess("address" if present & _ADDRESSES and not present & _PREFIXES else "prefix", 0)
    if present & {"label", "hostname", "sysname"} and attribute.owner == "node":
        return _Guess("name", 5)
    for rank, word in enumerate(_SITES):
        if word in present and not present & {"code", "id", "type"}:
            return _Guess("site", 10 * rank + len(parts))
    return None


def assign_roles(attributes: Sequence[AttributeSchema]) -> tuple[AttributeSchema, ...]:
    """Attributes with their roles; of the single roles only the surest one per owner has it.

    Among equals the attribute on more records wins, then the one that was first in the file.
    """
    guesses = [guess_role(attribute) for attribute in attributes]
    best: dict[tuple[str, str], tuple[int, float, int]] = {}
    for index, (attribute, guess) in enumerate(zip(attributes, guesses, strict=True)):
        if guess is None or guess.role not in _SINGLE:
            continue
        key = (attribute.owner, guess.role)
        rank = (guess.rank, -attribute.count, index)
        best[key] = min(best.get(key, rank), rank)
    chosen = {(owner, role): rank[2] for (owner, role), rank in best.items()}
    result = []
    for index, (attribute, guess) in enumerate(zip(attributes, guesses, strict=True)):
        role = guess.role if guess is not None else ""
        if role in _SINGLE and chosen[attribute.owner, role] != index:
            role = ""
        result.append(replace(attribute, role=role))
    return tuple(result)
