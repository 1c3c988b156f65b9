"""Data centre models in the manner of MALT: containment and control over entities of several kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from nl2net.errors import UserError
from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import GraphSource
from nl2net.golden.streams import Stream

_KINDS = ("SITE", "BLOCK", "SPINE", "GROUP", "SWITCH", "PORT", "CHASSIS", "RACK", "CP", "DOMAIN")


@dataclass(frozen=True, slots=True)
class Flavour:
    """Vocabulary of one family of networks: kinds with their words, relations, attributes, and shapes of names."""

    kinds: Mapping[str, tuple[str, str, str]]
    contains: str
    controls: str
    capacity: str
    stage: str
    stage_word: str
    site: str
    block: str
    spine: str
    group: str
    switch: str
    port: str


def _kinds(rows: str) -> dict[str, tuple[str, str, str]]:
    found = {}
    for name, row in zip(_KINDS, rows.strip().splitlines(), strict=True):
        kind, singular, plural = (part.strip() for part in row.split("|"))
        found[name] = (kind, singular, plural)
    return found


FLAVOURS: dict[str, Flavour] = {
    "malt": Flavour(
        _kinds(
            """EK_JUPITER | jupiter | jupiters
            EK_SUPERBLOCK | superblock | superblocks
            EK_SPINEBLOCK | spine block | spine blocks
            EK_AGG_BLOCK | aggregation block | aggregation blocks
            EK_PACKET_SWITCH | packet switch | packet switches
            EK_PORT | port | ports
            EK_CHASSIS | chassis | chassis
            EK_RACK | rack | racks
            EK_CONTROL_POINT | control point | control points
            EK_CONTROL_DOMAIN | control domain | control domains"""
        ),
        "RK_CONTAINS", "RK_CONTROLS", "physical_capacity_bps", "switch_loc.stage", "stage",
        "ju{}", "a{}", "s{}", "m{}", "s{stage}c{index}", "p{}",
    ),
    "clos": Flavour(
        _kinds(
            """fabric | fabric | fabrics
            zone | zone | zones
            plane | spine plane | spine planes
            pod | pod | pods
            switch | switch | switches
            port | port | ports
            chassis | chassis | chassis
            rack | rack | racks
            controller | controller | controllers
            control_group | control group | control groups"""
        ),
        "contains", "controls", "speed_bps", "tier", "tier",
        "dc{}", "z{}", "sp{}", "pod{}", "t{stage}-{index}", "eth{}",
    ),
    "wan": Flavour(
        _kinds(
            """network | network | networks
            region | region | regions
            core | core site | core sites
            pop | point of presence | points of presence
            router | router | routers
            interface | interface | interfaces
            shelf | shelf | shelves
            cabinet | cabinet | cabinets
            agent | agent | agents
            realm | management realm | management realms"""
        ),
        "holds", "manages", "bandwidth_bps", "layer", "layer",
        "wan{}", "r{}", "k{}", "x{}", "l{stage}r{index}", "if{}",
    ),
}  # fmt: skip
_SPEEDS = (1_000_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000)
_VENDORS = ("acorn", "borealis", "cobalt", "dunmore", "estuary")


def build_planning(source: GraphSource) -> BuiltGraph:
    """Make the data centre model of a recipe.

    Parameters
    ----------
    source : GraphSource
        Seed, and the options ``flavour`` (``malt``, ``clos``, ``wan``, or by option only ``fattree``, ``backbone``) and
        ``size`` (``small``, ``medium``, ``full``); ``full`` has about 5,500 nodes.
    """
    stream = Stream("planning-graph", 1, source.seed)
    name = str(source.options.get("flavour", stream.pick(("malt", "malt", "malt", "clos", "wan"))))
    size = str(source.options.get("size", stream.pick(("small", "small", "medium"))))
    if name in _SHAPES:
        words, shape = _SHAPES[name]
        flavour = FLAVOURS[words]
        builder: Builder = shape(flavour, stream, size)
    elif name in FLAVOURS:
        flavour = FLAVOURS[name]
        builder = Builder(flavour, stream, size)
    else:
        known = ", ".join((*FLAVOURS, *_SHAPES))
        raise UserError(f"unknown flavour {name!r} of planning graphs", hint=f"Known are {known}.")
    builder.build()
    return BuiltGraph(
        source, builder.graph, _words(flavour), {flavour.capacity: "capacity", "name": "name", "kind": "kind"}
    )


def _words(flavour: Flavour) -> dict[str, str]:
    words = {
        "CONTAINS": flavour.contains,
        "CONTROLS": flavour.controls,
        "cap": flavour.capacity,
        "stage": flavour.stage,
        "stage_word": flavour.stage_word,
    }
    for name, (kind, singular, plural) in flavour.kinds.items():
        words[name] = kind
        words[name.lower() + "_word"] = singular
        words[name.lower() + "_words"] = plural
    return words


class Builder:
    """Grows one model top down; every draw comes from one stream in a fixed order."""

    def __init__(self, flavour: Flavour, stream: Stream, size: str) -> None:
        self.graph: Any = nx.DiGraph()
        self._flavour = flavour
        self._stream = stream
        self._full = size == "full"
        self._ports = (12, 16, 18) if self._full else (4, 5, 6, 8)
        self._usual_ports = stream.pick(self._ports)
        self._groups = (2, 4) if size == "small" else (3, 4) if size == "medium" else (4, 4)
        self._per_stage = {"small": (1, 3), "medium": (3, 4), "full": (7, 9)}[size]
        self._blocks = {"small": 2, "medium": 3, "full": 4}[size]

    def build(self) -> None:
        stream, flavour = self._stream, self._flavour
        site = flavour.site.format(stream.between(1, 9))
        top = self._entity("SITE", site)
        domains = [self._entity("DOMAIN", f"{site}.dom{i}") for i in range(1, self._blocks + 1)]
        for i in range(1, self._blocks + 1):
            name = f"{site}.{flavour.block.format(i)}"
            block = self._entity("BLOCK", name)
            self._relate(top, block)
            for j in range(1, stream.between(*self._groups) + 1):
                self._group(block, f"{name}.{flavour.group.format(j)}", domains=domains)
        for i in range(1, self._blocks + 1):
            name = f"{site}.{flavour.spine.format(i)}"
            spine = self._entity("SPINE", name)
            self._relate(top, spine)
            rack = self._entity("RACK", f"{name}rack")
            self._switches(spine, name, stages=(2,), rack=rack, domain=stream.pick(domains))

    def _entity(self, kind: str, name: str, **attributes: Any) -> str:
        literal = self._flavour.kinds[kind][0]
        node = f"{literal}:{name}"
        self.graph.add_node(node, kind=literal, name=name, **attributes)
        return node

    def _relate(self, parent: str, child: str, *, relation: str | None = None) -> None:
        self.graph.add_edge(parent, child, kind=relation or self._flavour.contains)

    def _group(self, block: str, name: str, *, domains: list[str]) -> None:
        group = self._entity("GROUP", name)
        self._relate(block, group)
        rack = self._entity("RACK", f"{name}rack")
        self._switches(group, name, stages=(2, 3), rack=rack, domain=self._stream.pick(domains))

    def _switches(self, parent: str, name: str, *, stages: tuple[int, ...], rack: str, domain: str) -> None:
        stream = self._stream
        pairs: list[tuple[str, str]] = []
        for stage in stages:
            for index in range(1, self._count(stage) + 1):
                label = f"{name}.{self._flavour.switch.format(stage=stage, index=index)}"
                switch = self._entity("SWITCH", label, **{self._flavour.stage: stage})
                self._relate(parent, switch)
                pairs.append((self._housing(switch, label, rack=rack, domain=domain), switch))
                self._add_ports(switch, label)
        # In some places the control point of another chassis is in charge, so that names do not give it away.
        shift = stream.between(1, 3) if stream.chance(60) else 0
        for position, (_, switch) in enumerate(pairs):
            point = pairs[(position + shift) % len(pairs)][0]
            self._relate(point, switch, relation=self._flavour.controls)

    def _count(self, stage: int) -> int:
        return self._stream.between(*self._per_stage)

    def _housing(self, switch: str, label: str, *, rack: str, domain: str) -> str:
        extra = {"asset_tag": f"AT{self._stream.between(10000, 99999)}"} if self._stream.chance(85) else {}
        chassis = self._entity("CHASSIS", label, vendor=self._stream.pick(_VENDORS[:4]), **extra)
        point = self._entity("CP", label)
        self._relate(rack, chassis)
        self._relate(chassis, switch)
        self._relate(chassis, point)
        self._relate(domain, point)
        return point

    def _add_ports(self, switch: str, label: str) -> None:
        stream = self._stream
        count = self._usual_ports if stream.chance(75) else stream.pick(self._ports)
        speeds = stream.sample(_SPEEDS, 2)
        for index in range(1, count + 1):
            self._port(switch, label, index, speeds[0] if stream.chance(65) else speeds[1])

    def _port(self, switch: str, label: str, index: int, speed: int) -> None:
        name = f"{label}.{self._flavour.port.format(index)}"
        self._relate(switch, self._entity("PORT", name, **{self._flavour.capacity: speed}))


class _FatTree(Builder):
    """A fat tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches, and k/2 planes of core switches.

    Half of the ports of a switch look down and half up; the speed depends on the tier alone.
    """

    def __init__(self, flavour: Flavour, stream: Stream, size: str) -> None:
        super().__init__(flavour, stream, size)
        self._k = {"small": stream.pick((4, 6)), "medium": 8, "full": 16}[size]
        self._edge, self._core = stream.pick(((0, 2), (2, 3), (3, 4), (3, 5)))

    def build(self) -> None:
        stream, flavour, half = self._stream, self._flavour, self._k // 2
        site = flavour.site.format(stream.between(1, 9))
        top = self._entity("SITE", site)
        blocks = 2 if self._k < 8 else 4
        domains = [self._entity("DOMAIN", f"{site}.dom{i}") for i in range(1, blocks + 1)]
        for i in range(1, blocks + 1):
            name = f"{site}.{flavour.block.format(i)}"
            block = self._entity("BLOCK", name)
            self._relate(top, block)
            for j in range(1, self._k // blocks + (i <= self._k % blocks) + 1):
                self._group(block, f"{name}.{flavour.group.format(j)}", domains=domains)
        for i in range(1, half + 1):
            name = f"{site}.{flavour.spine.format(i)}"
            spine = self._entity("SPINE", name)
            self._relate(top, spine)
            rack = self._entity("RACK", f"{name}rack")
            self._switches(spine, name, stages=(4,), rack=rack, domain=stream.pick(domains))

    def _count(self, stage: int) -> int:
        return self._k // 2

    def _add_ports(self, switch: str, label: str) -> None:
        stage = self.graph.nodes[switch][self._flavour.stage]
        for index in range(1, self._k + 1):
            up = index > self._k // 2
            edge = stage == 2 and not up
            self._port(switch, label, index, _SPEEDS[self._edge if edge else self._core])


class _Backbone(Builder):
    """A wide area network: regions of points of presence that differ much in size, and core sites with few fast ports.

    Access routers (stage 2) have many slow ports of mixed speed, aggregation routers (stage 3) fewer and faster ones.
    """

    def __init__(self, flavour: Flavour, stream: Stream, size: str) -> None:
        super().__init__(flavour, stream, size)
        self._blocks = {"small": 2, "medium": 4, "full": 8}[size]
        self._groups = {"small": (2, 3), "medium": (2, 5), "full": (3, 8)}[size]
        self._per_stage = {"small": (1, 3), "medium": (1, 4), "full": (1, 5)}[size]
        self._busy = {"small": (4, 9), "medium": (6, 14), "full": (12, 40)}[size]

    def _add_ports(self, switch: str, label: str) -> None:
        stream = self._stream
        access = self.graph.nodes[switch][self._flavour.stage] == 2 and "." + self._flavour.group[0] in label
        low, high = self._busy
        count = stream.between(low, high) if access else stream.between(2, max(4, low // 2))
        for index in range(1, count + 1):
            self._port(switch, label, index, stream.pick(_SPEEDS[:3] if access else _SPEEDS[3:]))


# Other structures in the words of an existing flavour; never drawn by a seed alone, so that suites stay as they are.
_SHAPES: Mapping[str, tuple[str, type[Builder]]] = {"fattree": ("clos", _FatTree), "backbone": ("wan", _Backbone)}
