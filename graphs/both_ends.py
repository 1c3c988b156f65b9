"""Links that each end reports by itself: fold them to one, and say which were seen from one side only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nl2net.graphs.draft import Draft


@dataclass(slots=True)
class Sighting:
    """One row of a neighbour table: what ``host`` sees on ``port``."""

    host: str
    port: str | None
    peer: str
    peer_port: str | None
    attributes: dict[str, Any] = field(default_factory=dict)


def merge_names(sightings: Iterable[Sighting], draft: Draft) -> list[Sighting]:
    """Give a device one name where it occurs short and in full.

    A short name is the same device as the only full name that begins with it and a dot; with two such names (in
    different domains) nothing is merged, and both cases are reported.
    """
    rows = list(sightings)
    names = dict.fromkeys(name for row in rows for name in (row.host, row.peer))
    full: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if "." in name and not name.replace(".", "").isdigit():
            full[name.partition(".")[0]].append(name)
    merged = {short: found[0] for short, found in full.items() if short in names and len(found) == 1}
    unclear = [short for short, found in full.items() if short in names and len(found) > 1]
    if merged:
        draft.find(
            "merged-name",
            len(merged),
            "devices occur with a short and a full name; they were taken for the same",
            examples=(f"{short} = {name}" for short, name in merged.items()),
        )
    if unclear:
        draft.find("merged-name", len(unclear), "short names fit several domains; they stay apart", examples=unclear)
    back = {name: short for short, name in merged.items()}
    for row in rows:
        row.host, row.peer = back.get(row.host, row.host), back.get(row.peer, row.peer)
    return rows


def add_links(sightings: Iterable[Sighting], draft: Draft, *, hosts: set[str] | None = None) -> None:
    """Add each link once.

    Parameters
    ----------
    sightings : iterable of Sighting
        All rows.
    draft : Draft
        Takes the links.
    hosts : set of str, optional
        Devices whose own table is there; a link to one of them that it does not report is listed as one-sided.
    """
    waiting: dict[tuple[str, str | None, str, str | None], list[int]] = defaultdict(list)
    one_sided: dict[int, str] = {}
    for row in sightings:
        mates = waiting[row.peer, row.peer_port, row.host, row.port]
        if mates and (row.host, row.port) != (row.peer, row.peer_port):
            one_sided.pop(mates.pop(), None)
            continue
        index = len(draft.sources)
        draft.add_edge(row.host, row.peer, row.attributes, ports=(row.port, row.peer_port))
        waiting[row.host, row.port, row.peer, row.peer_port].append(index)
        if hosts is not None and row.peer in hosts:
            one_sided[index] = f"{row.host} - {row.peer}"
    if one_sided:
        draft.find(
            "one-sided",
            len(one_sided),
            "links are reported by one end only although the other end has a table",
            examples=one_sided.values(),
        )
