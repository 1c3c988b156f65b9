"""Data files of a corpus.

BGP updates, AS relationships, AS links. They are described here and computed on elsewhere.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePosixPath

from nl2net.incident.readers.build import Block, Parsed
from nl2net.incident.records import SourceClass

_UPDATES_WORDS = (
    "BGP update file stream: messages, announcements, withdrawals, prefixes, AS paths, AS graph, neighbours, origin "
    "AS, more than "
    "one origin, more specific prefixes, route leaks, hijack, flapping, collector peers, timeline."
)
_RELATION_WORDS = (
    "AS relationships file: providers, customers and peers; valley-free check of route leaks, removal of an AS."
)
_CABLE_WORDS = (
    "Cable map: submarine cables, landings, countries, routes, latitude; which countries are isolated if cables fail."
)
_CABLE_TABLES = {
    "landings.csv": ("id", "lat", "lon", "country"),
    "cables.csv": ("id", "name"),
    "segments.csv": ("cable", "from", "to"),
    "land_borders.csv": ("a", "b"),
}
_LINK_WORDS = "AS links file: graph of neighbouring ASes, neighbours, components, removal of an AS."


def describe_data(name: str, raw: bytes, *, unpack: Callable[[], bytes]) -> Parsed | None:
    """A description of a data file for the index, or ``None`` if the file is an ordinary document.

    Parameters
    ----------
    name : str
        Path relative to the corpus.
    raw : bytes
        Content of the file as stored.
    unpack : callable
        Returns the unpacked content of a compressed file.

    Examples
    --------
    >>> line = b"BGP4MP|1930262400|A|2001:db8::1|64496|192.0.2.0/27|64496 64499|IGP\\n"
    >>> describe_data("a.updates.txt", line, unpack=lambda: b"").meta["format"]
    'updates'
    """
    base = PurePosixPath(name).name
    if base.endswith((".bz2", ".gz")):
        head = unpack()
        if _looks_like_mrt(head):
            return _describe(name, "mrt", _UPDATES_WORDS, when=_first_time(head))
        return None
    if base.endswith(".mrt") and _looks_like_mrt(raw):
        return _describe(name, "mrt", _UPDATES_WORDS, when=_first_time(raw))
    first = raw[:4096].decode("utf-8", "replace")
    if re.match(r"(?:#[^\n]*\n)*BGP4MP(?:_ET)?\|\d+", first):
        seconds = re.search(r"^BGP4MP(?:_ET)?\|(\d+)", first, re.MULTILINE)
        return _describe(name, "updates", _UPDATES_WORDS, when=int(seconds.group(1)) if seconds else None)
    rows = [line for line in first.split("\n")[:-1] if line and not line.startswith("#")]
    if rows and all(re.fullmatch(r"\d+\|\d+\|-?\d(?:\|\w+)?\r?", line) for line in rows):
        return _describe(name, "as-rel", _RELATION_WORDS, when=None)
    if base in _CABLE_TABLES and set(_CABLE_TABLES[base]) <= set(first.split("\n")[0].strip().split(",")):
        return _describe(name, "cable-table", _CABLE_WORDS, when=None)
    if base.endswith(".csv") and re.match(r"as_?a,as_?b\b|asn?1,asn?2\b|source_as,target_as\b", first, re.IGNORECASE):
        return _describe(name, "as-links", _LINK_WORDS, when=None)
    return None


def _looks_like_mrt(head: bytes) -> bool:
    if len(head) < 12:
        return False
    _, kind, subtype, length = struct.unpack(">IHHI", head[:12])
    return kind in (13, 16, 17) and subtype < 64 and length < 1 << 20


def _first_time(head: bytes) -> int:
    return int(struct.unpack(">I", head[:4])[0])


def _describe(name: str, fmt: str, words: str, *, when: int | None) -> Parsed:
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", PurePosixPath(name).name) if part]
    day = ""
    spoken = ""
    if when is not None:
        moment = datetime.fromtimestamp(when, UTC)
        day = moment.date().isoformat()
        spoken = f" First record {moment:%Y-%m-%d %H:%M} UTC, {moment.day} {moment:%B %Y}."
    invented = " Invented synthetic stream." if "synthetic" in name else ""
    return Parsed(
        title=f"{' '.join(parts)} {PurePosixPath(name).name}",
        blocks=[Block(f"{words}{spoken}{invented}")],
        source_class=SourceClass.PRIMARY_MEASUREMENT,
        incident_date=day,
        kind="data",
        meta={"format": fmt, "first": when},
    )
