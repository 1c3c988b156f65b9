"""An invented stream of route changes with planted events, and the AS relationships behind it."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

_START = 1_940_000_000
_PEERS = (64496, 64497)


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
    lines: list[tuple[int, str]] = []

    def tell(when: int, peer: int, prefix: str, path: list[int]) -> None:
        lines.append(
            (
                when,
                f"BGP4MP|{_START + when}|A|2001:db8:ffff::{peer - 64495}|{peer}|{prefix}|{' '.join(map(str, path))}|"
                f"IGP",
            )
        )

    def take(when: int, peer: int, prefix: str) -> None:
        lines.append((when, f"BGP4MP|{_START + when}|W|2001:db8:ffff::{peer - 64495}|{peer}|{prefix}||"))

    owned = {stub: f"192.0.2.{16 * number}/28" for number, stub in enumerate(stubs)}
    for stub, prefix in owned.items():
        path = [gate, stub] if stub in behind else [stub]
        above = [mids[0]] if stub in behind else [mids[1]] if stub == multi else [homes[stub]]
        for peer in _PEERS:
            tell(0, peer, prefix, [peer, *above, *path])
    victim, thief = stubs[4], stubs[5]
    inside = owned[victim].replace("/28", "/30")
    begin, end = source.randint(300, 700), source.randint(900, 1500)
    for peer in _PEERS:
        tell(begin, peer, inside, [peer, homes[thief], thief])
        take(end, peer, inside)
    second, usurper = stubs[6], stubs[7]
    start, stop = source.randint(1600, 1900), source.randint(2000, 2400)
    tell(start, _PEERS[0], owned[second], [_PEERS[0], homes[usurper], usurper])
    tell(stop, _PEERS[0], owned[second], [_PEERS[0], homes[second], second])
    leaked = [owned[stub] for stub in stubs[4:7]]
    at = source.randint(2500, 2700)
    for number, prefix in enumerate(leaked):
        owner = stubs[4 + number]
        tell(at + number, _PEERS[1], prefix, [_PEERS[1], mids[2], multi, mids[1], _PEERS[0], homes[owner], owner])
        tell(at + 300, _PEERS[1], prefix, [_PEERS[1], homes[owner], owner])
    for turn in range(4):
        take(3000 + 60 * turn, _PEERS[0], owned[gate])
        tell(3030 + 60 * turn, _PEERS[0], owned[gate], [_PEERS[0], mids[0], gate])
    text = "\n".join(line for _, line in sorted(lines, key=lambda item: item[0])) + "\n"
    files = {
        "bgp/stream-w.updates.txt": text.encode(),
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
