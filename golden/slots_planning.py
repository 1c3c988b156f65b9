"""Slot types of data centre models."""

from __future__ import annotations

from collections.abc import Sequence

from nl2net.golden.built import BuiltGraph
from nl2net.golden.slots import Draw, NoOperand, slot

_GIGA = 1_000_000_000
_SMALL_KINDS = ("BLOCK", "SPINE", "GROUP", "RACK", "DOMAIN")
SPEEDS = (1_000_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000)


def _put(draw: Draw, name: str, node: str) -> None:
    data = draw.built.nodes[node]
    draw.put_private(name, node, "node", text=data["name"], kind=data["kind"])


def ports_below(built: BuiltGraph, entity: str) -> list[str]:
    """Ports below an entity by containment, once per graph."""
    key = f"ports {entity}"
    if key not in built.cache:
        found: list[str] = []
        queue = [entity]
        while queue:
            for child in built.children[queue.pop()]:
                (found if built.nodes[child]["kind"] == built.words["PORT"] else queue).append(child)
        built.cache[key] = found
    return list(built.cache[key])


def capacity_below(built: BuiltGraph, entity: str) -> int:
    """Summed capacity of the ports below an entity, once per graph."""
    key = f"capacity {entity}"
    if key not in built.cache:
        built.cache[key] = sum(built.nodes[p][built.words["cap"]] for p in ports_below(built, entity))
    return int(built.cache[key])


def _groups_of(built: BuiltGraph, block: str) -> list[str]:
    return [g for g in built.children[block] if built.nodes[g]["kind"] == built.words["GROUP"]]


def _simple(kind: str) -> None:
    @slot(kind.lower())
    def draw_one(draw: Draw, name: str, arguments: Sequence[str]) -> None:
        _put(draw, name, draw.pick(draw.built.kind(kind)))


for _kind in ("BLOCK", "GROUP", "SWITCH", "PORT", "RACK", "CP", "DOMAIN"):
    _simple(_kind)


def _put_kind(draw: Draw, name: str, kinds: Sequence[str]) -> None:
    word = draw.stream.pick(kinds)
    draw.put(name, draw.built.words[word])
    draw.put(f"{name}_word", draw.built.words[f"{word.lower()}_word"])
    draw.put(f"{name}_words", draw.built.words[f"{word.lower()}_words"])


@slot("kind")
def _any_kind(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    _put_kind(draw, name, (*_SMALL_KINDS, "SWITCH", "PORT", "CHASSIS", "CP"))


@slot("small_kind")
def _small_kind(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    _put_kind(draw, name, _SMALL_KINDS)


@slot("relation")
def _relation(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    relation = draw.built.words[draw.stream.pick(("CONTAINS", "CONTROLS"))]
    draw.put(name, relation)
    draw.put(f"{name}_word", relation)


@slot("container")
def _container(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    kind = draw.stream.pick(("BLOCK", "SPINE", "GROUP", "RACK", "SWITCH"))
    _put(draw, name, draw.pick(draw.built.kind(kind)))
    draw.put(f"{name}_word", draw.built.words[f"{kind.lower()}_word"])


def _two(draw: Draw, name: str, items: Sequence[str]) -> None:
    first, second = draw.stream.sample(items, 2)
    _put(draw, name, first)
    _put(draw, f"{name}2", second)


@slot("two_groups")
def _two_groups(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    _two(draw, "g", draw.built.kind("GROUP"))


@slot("two_switches")
def _two_switches(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    _two(draw, "s", draw.built.kind("SWITCH"))


@slot("group_in_block")
def _group_in_block(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    block = draw.pick(draw.built.kind("BLOCK"))
    _put(draw, "g", draw.stream.pick(_groups_of(draw.built, block)))
    _put(draw, "b", block)


@slot("two_groups_in_block")
def _two_groups_in_block(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    blocks = [b for b in draw.built.kind("BLOCK") if len(_groups_of(draw.built, b)) >= 3]
    block = draw.pick(blocks)
    _two(draw, "g", _groups_of(draw.built, block))
    _put(draw, "b", block)


def _switches_of(built: BuiltGraph, group: str) -> list[str]:
    return [s for s in built.children[group] if built.nodes[s]["kind"] == built.words["SWITCH"]]


@slot("group_and_switch")
def _group_and_switch(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    group = draw.pick([g for g in draw.built.kind("GROUP") if len(_switches_of(draw.built, g)) >= 4])
    _put(draw, "g", group)
    _put(draw, "s", draw.stream.pick(_switches_of(draw.built, group)))


@slot("move")
def _move(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    group = draw.pick(draw.built.kind("GROUP"))
    _put(draw, "s", draw.stream.pick(_switches_of(draw.built, group)))
    _put(draw, "g", group)
    _put(draw, "g2", draw.pick(draw.built.kind("GROUP")))


@slot("recontrol")
def _recontrol(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    point = draw.pick(draw.built.kind("CP"))
    _put(draw, "s", draw.built.controls[point][0])
    _put(draw, "c", point)
    _put(draw, "c2", draw.pick(draw.built.kind("CP")))


@slot("group_switch")
def _group_switch(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    group = draw.pick(draw.built.kind("GROUP"))
    _put(draw, name, draw.stream.pick(_switches_of(draw.built, group)))


@slot("group_port")
def _group_port(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    group = draw.pick(draw.built.kind("GROUP"))
    _put(draw, name, draw.stream.pick(ports_below(draw.built, group)))


@slot("group_rack")
def _group_rack(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A rack that houses switches of a group: named after it."""
    names = {draw.built.nodes[g]["name"] + "rack" for g in draw.built.kind("GROUP")}
    _put(draw, name, draw.pick([r for r in draw.built.kind("RACK") if draw.built.nodes[r]["name"] in names]))


@slot("stage")
def _stage(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, draw.stream.between(2, 3))


@slot("vendor")
def _vendor(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    vendors = sorted({draw.built.nodes[c]["vendor"] for c in draw.built.kind("CHASSIS")})
    draw.put_private(name, draw.pick(vendors), "value")


def speakable(bits: int) -> str:
    """A capacity as an operator says it.

    Examples
    --------
    >>> speakable(2_500_000_000)
    '2.5 Gbit/s'
    """
    giga = bits / _GIGA
    return f"{giga:g} Gbit/s" if giga < 100_000 else f"{giga / 1000:g} Tbit/s"


@slot("speed")
def _speed(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    value = draw.stream.pick(SPEEDS)
    draw.put(name, value)
    draw.put(f"{name}_word", speakable(value))


@slot("switch_threshold")
def _switch_threshold(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A capacity that some but not all switches exceed, and none meets exactly."""
    totals = sorted(capacity_below(draw.built, s) for s in draw.built.kind("SWITCH"))
    value = totals[len(totals) * draw.stream.between(40, 85) // 100] // _GIGA * _GIGA + _GIGA
    if value in totals or not totals[0] < value < totals[-1]:
        raise NoOperand
    draw.put(name, value)
    draw.put(f"{name}_word", speakable(value))


@slot("target")
def _target(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A capacity goal above what the group has now."""
    present = capacity_below(draw.built, draw.values[arguments[0]])
    value = (present // _GIGA // 100 + 1 + draw.stream.between(0, 20)) * 100 * _GIGA
    draw.put(name, value)
    draw.put(f"{name}_word", f"{value // _GIGA} Gbit/s")


@slot("new_port")
def _new_port(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """The next free port name of a switch, in the shape of its other ports."""
    switch = draw.values[arguments[0]]
    names = [draw.built.nodes[p]["name"] for p in ports_below(draw.built, switch)]
    stem = names[0].rstrip("0123456789")
    highest = max(int(text[len(stem) :]) for text in names)
    draw.put_private(name, f"{stem}{highest + draw.stream.between(1, 4)}", "text")


@slot("ending")
def _ending(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """The last part of some switch name."""
    text = draw.built.nodes[draw.pick(draw.built.kind("SWITCH"))]["name"]
    draw.put_private(name, text.rsplit(".", 1)[-1], "text")
