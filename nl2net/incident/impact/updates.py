"""Route changes from MRT files and from one-line dumps.

References
----------
RFC 6396 (MRT), RFC 4271 (BGP-4), RFC 4760 (multiprotocol), RFC 6793 (four-byte AS numbers), RFC 8050 (additional
paths in MRT).
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nl2net.errors import DataError
from nl2net.incident.readers.registry import unpack

_BGP4MP = (16, 17)  # BGP4MP and BGP4MP_ET
_MESSAGE = {
    1: (2, False),
    4: (4, False),
    6: (2, False),
    7: (4, False),
    8: (2, True),
    9: (4, True),
    10: (2, True),
    11: (4, True),
}
_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True)
class Change:
    """One announcement or withdrawal of one prefix as one peer told it.

    ``path`` holds AS numbers as written, prepending included; ``sets`` tells whether an AS set or confederation was
    left out.
    """

    time: int
    kind: str  # "A" or "W"
    peer: str
    peer_as: int
    prefix: str
    path: tuple[int, ...] = ()
    sets: bool = False

    @property
    def origin(self) -> int | None:
        """The last AS of the path, ``None`` for a withdrawal or where a set stands at the end."""
        return self.path[-1] if self.path and not self.sets else None


@dataclass(frozen=True, slots=True)
class UpdateFile:
    """All changes of a file, in order, with the number of BGP messages they came in."""

    name: str
    messages: int
    changes: tuple[Change, ...]


def load_updates(path: Path, *, name: str = "") -> UpdateFile:
    """Read an update file.

    Parameters
    ----------
    path : Path
        MRT, plain or packed with bzip2 or gzip, or one-line text as the bgpdump tool writes it.
    name : str
        How to call it, by default its file name.

    Raises
    ------
    DataError
        The file is damaged; the message names the record or the line.
    """
    return parse_updates(path.read_bytes(), name=name or path.name)


def parse_updates(raw: bytes, *, name: str) -> UpdateFile:
    """As `load_updates`, for content that was read already.

    Parameters
    ----------
    raw : bytes
        Content of the file as stored.
    name : str
        Its name; the suffix tells how it is packed.
    """
    if name.endswith((".bz2", ".gz")):
        raw = unpack(raw, name=name, limit=_LIMIT)
    if raw.lstrip().startswith((b"#", b"BGP4MP")):
        changes = tuple(_from_lines(raw.decode("utf-8", "replace"), name))
        return UpdateFile(name, len(changes), changes)
    messages = 0
    found: list[Change] = []
    for number, (when, subtype, body) in enumerate(_records(raw, name), start=1):
        if subtype not in _MESSAGE:
            continue
        messages += 1
        try:
            found += _message(when, body, *_MESSAGE[subtype])
        except (struct.error, IndexError, ValueError) as error:
            raise DataError(f"record {number}: {error}", path=name, hint="The file is cut or damaged.") from None
    return UpdateFile(name, messages, tuple(found))


def _from_lines(text: str, name: str) -> Iterator[Change]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.rstrip("\r").split("|")
        if len(parts) < 6 or parts[2] not in ("A", "W") or not parts[1].replace(".", "").isdigit():
            raise DataError(
                "no update line", path=name, line=number, hint="Expected BGP4MP|time|A or W|peer|AS|prefix|path|origin."
            )
        words = parts[6].split() if len(parts) > 6 else []
        path = tuple(int(word) for word in words if word.isdigit())
        prefix = str(ipaddress.ip_network(parts[5], strict=False))
        yield Change(int(float(parts[1])), parts[2], parts[3], int(parts[4]), prefix, path, len(path) != len(words))


def _records(raw: bytes, name: str) -> Iterator[tuple[int, int, bytes]]:
    position = 0
    while position + 12 <= len(raw):
        when, kind, subtype, length = struct.unpack_from(">IHHI", raw, position)
        position += 12
        if position + length > len(raw):
            raise DataError(f"record at byte {position - 12} is cut", path=name, hint="Fetch the file again.")
        body = raw[position : position + length]
        position += length
        if kind in _BGP4MP:
            yield when, subtype, body[4:] if kind == 17 else body
    if position != len(raw):
        raise DataError("bytes left over at the end", path=name, hint="Fetch the file again.")


def _message(when: int, body: bytes, width: int, add_path: bool) -> Iterator[Change]:
    peer_as = int.from_bytes(body[:width], "big")
    family = struct.unpack_from(">H", body, 2 * width + 2)[0]
    size = 16 if family == 2 else 4
    start = 2 * width + 4
    peer = str(ipaddress.ip_address(body[start : start + size]))
    message = body[start + 2 * size :]
    if len(message) < 23 or message[18] != 2:
        return
    withdrawn_size = struct.unpack_from(">H", message, 19)[0]
    place = 21 + withdrawn_size
    gone = _prefixes(message[21:place], 4, add_path)
    size_attributes = struct.unpack_from(">H", message, place)[0]
    attributes = message[place + 2 : place + 2 + size_attributes]
    told = _prefixes(message[place + 2 + size_attributes :], 4, add_path)
    path, sets, more, less = _attributes(attributes, width, add_path)
    for prefix in [*gone, *less]:
        yield Change(when, "W", peer, peer_as, prefix)
    for prefix in [*told, *more]:
        yield Change(when, "A", peer, peer_as, prefix, path, sets)


def _attributes(raw: bytes, width: int, add_path: bool) -> tuple[tuple[int, ...], bool, list[str], list[str]]:
    path: tuple[int, ...] = ()
    sets = False
    new_path: tuple[int, ...] = ()
    more: list[str] = []
    less: list[str] = []
    place = 0
    while place < len(raw):
        flags, kind = raw[place], raw[place + 1]
        long = bool(flags & 0x10)
        length = struct.unpack_from(">H" if long else ">B", raw, place + 2)[0]
        start = place + (4 if long else 3)
        value = raw[start : start + length]
        if len(value) != length:
            raise ValueError("an attribute is cut")
        place = start + length
        if kind == 2:
            path, sets = _as_path(value, width)
        elif kind == 17:
            new_path, _ = _as_path(value, 4)
        elif kind == 14:
            more = _reachable(value, add_path)
        elif kind == 15:
            afi = struct.unpack_from(">H", value)[0]
            less = _prefixes(value[3:], 16 if afi == 2 else 4, add_path) if afi in (1, 2) and value[2] in (1, 2) else []
    if new_path and len(new_path) <= len(path):
        path = path[: len(path) - len(new_path)] + new_path
    return path, sets, more, less


def _as_path(value: bytes, width: int) -> tuple[tuple[int, ...], bool]:
    path: list[int] = []
    sets = False
    place = 0
    while place < len(value):
        kind, count = value[place], value[place + 1]
        numbers = value[place + 2 : place + 2 + count * width]
        place += 2 + count * width
        if kind == 2:
            path += [int.from_bytes(numbers[i : i + width], "big") for i in range(0, len(numbers), width)]
        else:
            sets = True
    return tuple(path), sets


def _reachable(value: bytes, add_path: bool) -> list[str]:
    afi, safi, hop = struct.unpack_from(">HBB", value)
    if afi not in (1, 2) or safi not in (1, 2):
        return []
    return _prefixes(value[5 + hop :], 16 if afi == 2 else 4, add_path)


def _prefixes(raw: bytes, size: int, add_path: bool) -> list[str]:
    found = []
    place = 0
    while place < len(raw):
        place += 4 if add_path else 0
        bits = raw[place]
        used = (bits + 7) // 8
        if bits > size * 8 or place + 1 + used > len(raw):
            raise ValueError("a prefix is cut or too long")
        address = raw[place + 1 : place + 1 + used].ljust(size, b"\0")
        found.append(str(ipaddress.ip_network((address, bits), strict=False)))
        place += 1 + used
    return found
