"""What happened in a stream of route changes: second origins, more specifics, leaks, flaps, withdrawals."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nl2net.incident.impact.asgraph import Relations, leaks_in
from nl2net.incident.impact.updates import Change, UpdateFile


@dataclass(frozen=True, slots=True)
class Held:
    """A time during which at least one peer held a route.

    ``end`` is ``None`` if it still did at the end of the file.
    """

    start: int
    end: int | None
    peers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SecondOrigin:
    """A prefix with more than one origin AS; ``timed`` origins came and went again within the file."""

    prefix: str
    origins: tuple[int, ...]
    timed: tuple[tuple[int, Held], ...]
    since_start: bool


@dataclass(frozen=True, slots=True)
class MoreSpecific:
    """A prefix inside one of another AS."""

    prefix: str
    origin: int
    covering: str
    owner: int
    held: Held


@dataclass(frozen=True, slots=True)
class Leak:
    """An AS that passed routes from one provider or peer to another."""

    leaker: int
    learned_from: int
    leaked_to: int
    prefixes: tuple[str, ...]
    peers: tuple[int, ...]
    first: int
    back_by: int | None


@dataclass(frozen=True, slots=True)
class Flap:
    """A prefix that was withdrawn again and again."""

    prefix: str
    origin: int | None
    withdrawals: int
    peers: int


def spoken_moment(seconds: int | None) -> str:
    """A moment in UTC.

    Examples
    --------
    >>> spoken_moment(1930263080)
    '2031-03-03 00:11:20 UTC'
    """
    return "the end of the file" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def holding(changes: Iterable[Change], prefix: str, origin: int) -> Held:
    """When peers held a route to a prefix with an origin, from the first to the last of them."""
    holders: set[str] = set()
    seen: set[int] = set()
    start: int | None = None
    end: int | None = None
    for change in changes:
        if change.prefix != prefix:
            continue
        if change.kind == "A" and change.origin == origin:
            start = change.time if start is None else start
            holders.add(change.peer)
            seen.add(change.peer_as)
        elif change.peer in holders:
            holders.discard(change.peer)
            end = change.time
    return Held(start or 0, None if holders else end, tuple(sorted(seen)))


def second_origins(stream: UpdateFile, *, version: int | None = None) -> list[SecondOrigin]:
    """Prefixes that were announced with more than one origin AS.

    Parameters
    ----------
    stream : UpdateFile
        The changes.
    version : int, optional
        4 or 6 for one address family.
    """
    origins: dict[str, list[int]] = defaultdict(list)
    for change in stream.changes:
        if change.origin is not None and change.origin not in origins[change.prefix]:
            origins[change.prefix].append(change.origin)
    begin = min((c.time for c in stream.changes), default=0)
    found = []
    for prefix, listed in origins.items():
        if len(listed) < 2 or (version and ipaddress.ip_network(prefix).version != version):
            continue
        spans = {origin: holding(stream.changes, prefix, origin) for origin in listed}
        timed = tuple((o, h) for o, h in spans.items() if h.start > begin and h.end is not None and o != listed[0])
        together = sum(h.start <= begin + 60 for h in spans.values()) > 1
        found.append(SecondOrigin(prefix, tuple(sorted(listed)), timed, together))
    return sorted(found, key=lambda s: ipaddress.ip_network(s.prefix).network_address.packed)


def more_specifics(stream: UpdateFile) -> list[MoreSpecific]:
    """Prefixes that lie inside a prefix of another origin and came later than it."""
    first: dict[str, tuple[int, int]] = {}
    for change in stream.changes:
        if change.origin is not None:
            first.setdefault(change.prefix, (change.time, change.origin))
    nets = {ipaddress.ip_network(prefix): prefix for prefix in first}
    found = []
    for network, prefix in nets.items():
        when, origin = first[prefix]
        for length in range(network.prefixlen - 1, 0, -1):
            above = nets.get(network.supernet(new_prefix=length))
            if above is None:
                continue
            told, owner = first[above]
            if owner != origin and told <= when:
                found.append(MoreSpecific(prefix, origin, above, owner, holding(stream.changes, prefix, origin)))
            break
    return sorted(found, key=lambda m: (m.held.start, m.prefix))


def find_leaks(stream: UpdateFile, relations: Relations) -> list[Leak]:
    """Routes against the valley-free rule, by leaker; the one with the most prefixes first."""
    told: dict[tuple[int, int, int], list[Change]] = defaultdict(list)
    for change in stream.changes:
        for place in leaks_in(change.path, relations):
            told[place].append(change)
    found = []
    for (before, leaker, after), changes in told.items():
        prefixes = tuple(sorted({c.prefix for c in changes}))
        found.append(
            Leak(
                leaker,
                before,
                after,
                prefixes,
                tuple(sorted({c.peer_as for c in changes})),
                min(c.time for c in changes),
                _back_by(stream.changes, changes, relations),
            )
        )
    return sorted(found, key=lambda leak: (-len(leak.prefixes), leak.first))


def _back_by(changes: Sequence[Change], leaked: Sequence[Change], relations: Relations) -> int | None:
    """When the last leaked route was replaced by a clean one or withdrawn."""
    open_routes = {(c.peer, c.prefix): c.time for c in leaked}
    last: int | None = None
    for change in changes:
        key = (change.peer, change.prefix)
        if key in open_routes and change.time > open_routes[key] and not leaks_in(change.path, relations):
            del open_routes[key]
            last = change.time
    return None if open_routes else last


def find_flaps(stream: UpdateFile, *, least: int = 3) -> list[Flap]:
    """Prefixes that one peer withdrew ``least`` times or more."""
    counts = Counter((c.prefix, c.peer) for c in stream.changes if c.kind == "W")
    worst: dict[str, int] = {}
    for (prefix, _), count in counts.items():
        worst[prefix] = max(worst.get(prefix, 0), count)
    origins = {c.prefix: c.origin for c in stream.changes if c.origin is not None}
    found = [
        Flap(prefix, origins.get(prefix), count, sum(1 for (p, _), n in counts.items() if p == prefix and n >= least))
        for prefix, count in worst.items()
        if count >= least
    ]
    return sorted(found, key=lambda flap: (-flap.withdrawals, flap.prefix))


def withdrawn(stream: UpdateFile, *, top: int = 10) -> list[tuple[str, int]]:
    """Prefixes by number of withdrawals."""
    return Counter(c.prefix for c in stream.changes if c.kind == "W").most_common(top)
