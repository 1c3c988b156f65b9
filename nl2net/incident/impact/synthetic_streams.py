"""An invented stream of route changes with planted events, and the AS relationships behind it."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

_START = 1_940_000_000
_PEERS = (64496, 64497)


class _Tape:
    """Route changes in the line format of a BGP reader, sorted by time."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []

    def tell(self, when: int, peer: int, prefix: str, path: list[int]) -> None:
        """A peer announces a prefix."""
        self._write(when, "A", peer, f"{prefix}|{' '.join(map(str, path))}|IGP")

    def take(self, when: int, peer: int, prefix: str) -> None:
        """A peer withdraws a prefix."""
        self._write(when, "W", peer, f"{prefix}||")

    def _write(self, when: int, kind: str, peer: int, rest: str) -> None:
        head = f"BGP4MP|{_START + when}|{kind}|2001:db8:ffff::{peer - 64495}|{peer}"
        self._lines.append((when, f"{head}|{rest}"))

    def text(self) -> str:
        """The whole stream."""
        return "\n".join(line for _, line in sorted(self._lines, key=lambda item: item[0])) + "\n"


def make_stream(source: random.Random) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """Files of a stream and the facts planted in it.

    Parameters
    ----------
    source : random.Random
        Draws AS numbers and times.

    Notes
    -----
    Two peers are the top. Mid ASes hang below both; stubs below mid ASes; one group of stubs sits behind a single AS.
    """
    mids = sorted(source.sample(range(64500, 64511), 4))
    stubs = sorted(source.sample(range(65536, 65551), 8))
    gate, behind = stubs[0], stubs[1:3]
    relations = [f"{_PEERS[0]}|{_PEERS[1]}|0"]
    relations += [f"{top}|{mid}|-1" for top in _PEERS for mid in mids]
    homes = {gate: mids[0]}
    relations.append(f"{mids[0]}|{gate}|-1")
    relations += [f"{gate}|{stub}|-1" for stub in behind]
    multi = stubs[3]
    relations += [f"{mids[1]}|{multi}|-1", f"{mids[2]}|{multi}|-1"]
    for number, stub in enumerate(stubs[4:]):
        homes[stub] = mids[(number + 1) % len(mids)]
        relations.append(f"{homes[stub]}|{stub}|-1")
    tape = _Tape()
    owned = {stub: f"192.0.2.{16 * number}/28" for number, stub in enumerate(stubs)}
    for stub, prefix in owned.items():
        path = [gate, stub] if stub in behind else [stub]
        above = [mids[0]] if stub in behind else [mids[1]] if stub == multi else [homes[stub]]
        for peer in _PEERS:
            tape.tell(0, peer, prefix, [peer, *above, *path])
    victim, thief = stubs[4], stubs[5]
    inside = owned[victim].replace("/28", "/30")
    begin, end = source.randint(300, 700), source.randint(900, 1500)
    for peer in _PEERS:
        tape.tell(begin, peer, inside, [peer, homes[thief], thief])
        tape.take(end, peer, inside)
    second, usurper = stubs[6], stubs[7]
    start, stop = source.randint(1600, 1900), source.randint(2000, 2400)
    tape.tell(start, _PEERS[0], owned[second], [_PEERS[0], homes[usurper], usurper])
    tape.tell(stop, _PEERS[0], owned[second], [_PEERS[0], homes[second], second])
    leaked = [owned[stub] for stub in stubs[4:7]]
    at = source.randint(2500, 2700)
    for number, prefix in enumerate(leaked):
        owner = stubs[4 + number]
        tape.tell(at + number, _PEERS[1], prefix, [_PEERS[1], mids[2], multi, mids[1], _PEERS[0], homes[owner], owner])
        tape.tell(at + 300, _PEERS[1], prefix, [_PEERS[1], homes[owner], owner])
    for turn in range(4):
        tape.take(3000 + 60 * turn, _PEERS[0], owned[gate])
        tape.tell(3030 + 60 * turn, _PEERS[0], owned[gate], [_PEERS[0], mids[0], gate])
    files = {
        "bgp/stream-w.updates.txt": tape.text().encode(),
        "bgp/stream-w.as-rel.txt": ("\n".join(relations) + "\n").encode(),
    }
    return files, _facts(
        inside, thief, begin, end, owned[second], usurper, multi, len(leaked), owned[gate], gate, behind
    )


def _clock(seconds: int) -> str:
    return f"{datetime.fromtimestamp(_START + seconds, UTC):%H:%M:%S}"


def _facts(
    inside: str, thief: int, begin: int, end: int, second: str, usurper: int, *rest: Any
) -> list[dict[str, Any]]:
    multi, leaked, flapping, gate, behind = rest
    return [
        {
            "question": "In the stream stream-w, which prefix was announced as a more specific of another network, "
            "by which AS, and from when to when?",
            "match": [inside.replace(".", "\\."), str(thief), _clock(begin), _clock(end)],
            "answer": [inside, thief],
            "event": "RouteEvents",
        },
        {
            "question": "In the stream stream-w, which prefix had a second origin for a limited time, and which AS "
            "was it?",
            "match": [second.replace(".", "\\."), str(usurper)],
            "answer": [second, usurper],
            "event": "RouteEvents",
        },
        {
            "question": "In the stream stream-w, which AS leaked routes and how many prefixes were leaked?",
            "match": [str(multi), f"\\b{leaked} prefixes"],
            "answer": [multi, leaked],
            "event": "RouteEvents",
        },
        {
            "question": "Which prefix flapped in the stream stream-w?",
            "match": [flapping.replace(".", "\\.")],
            "answer": flapping,
            "event": "RouteEvents",
        },
        {
            "question": f"Which ASes are cut off in stream-w if AS{gate} is removed?",
            "match": [str(stub) for stub in behind],
            "answer": list(behind),
            "event": "AsRemoval",
        },
    ]
