"""Tracing of NetBox cable paths from interface to interface, through panels and circuits.

Positions of rear ports are stacked: a path that enters a panel at front port 3 leaves the next panel at front port 3.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.source import Source

Tables = dict[str, dict[Any, dict[str, Any]]]
End = tuple[str, Any]

_MAX_STEPS = 1_000


@dataclass(slots=True)
class _Plant:
    """The cable plant: what each end is plugged into."""

    tables: Tables
    cable_of: dict[End, Any] = field(default_factory=dict)
    sides: dict[Any, dict[str, list[End]]] = field(default_factory=dict)
    power: set[Any] = field(default_factory=set)
    front_of: dict[tuple[Any, Any], Any] = field(default_factory=dict)
    circuit_ends: dict[Any, list[Any]] = field(default_factory=dict)

    def row(self, end: End) -> dict[str, Any]:
        return self.tables.get(end[0], {}).get(end[1], {})

    def across(self, end: End) -> list[End]:
        """Ends at the other side of the cable of an end."""
        cable = self.cable_of.get(end)
        sides = self.sides.get(cable, {})
        mine = next((name for name, ends in sides.items() if end in ends), None)
        return [other for name, ends in sides.items() if name != mine for other in ends]


@dataclass(slots=True)
class _Path:
    last: End
    cables: list[Any]
    circuits: list[Any]
    panels: int = 0
    problem: str = ""


def _plant(tables: Tables, source: Source) -> _Plant:
    plant = _Plant(tables)
    for key, row in tables.get("dcim.cabletermination", {}).items():
        kind = row.get("termination_type")
        if not isinstance(kind, (list, tuple)) or len(kind) != 2 or isinstance(row.get("termination_id"), (dict, list)):
            raise source.error("a termination needs a type and an id", field=f"cabletermination {key}")
        end = (f"{kind[0]}.{kind[1]}", row.get("termination_id"))
        cable = row.get("cable")
        plant.cable_of[end] = cable
        plant.sides.setdefault(cable, defaultdict(list))[str(row.get("cable_end"))].append(end)
        if "power" in end[0]:
            plant.power.add(cable)
    for key, row in tables.get("dcim.frontport", {}).items():
        plant.front_of[row.get("rear_port"), row.get("rear_port_position", 1)] = key
    for key, row in tables.get("circuits.circuittermination", {}).items():
        plant.circuit_ends.setdefault(row.get("circuit"), []).append(key)
    return plant


def _follow(plant: _Plant, start: End) -> list[_Path]:
    """All paths from an interface; several only where a cable has several far ends."""
    done: list[_Path] = []
    todo: list[tuple[End, list[Any], list[Any], int, list[Any]]] = [
        (end, [plant.cable_of[start]], [], 0, []) for end in plant.across(start)
    ]
    steps = 0
    while todo:
        end, cables, circuits, panels, stack = todo.pop()
        steps += 1
        path = _Path(end, cables, circuits, panels)
        following, stack, through = _through(plant, end, list(stack))
        if end[0] == "circuits.circuittermination":
            path.circuits = circuits = [*circuits, plant.row(end).get("circuit")]
        if following is None or following not in plant.cable_of:
            path.problem = through if following is None else "half-cabled"
            done.append(path)
            continue
        cable = plant.cable_of[following]
        if cable in cables or steps > _MAX_STEPS:
            path.problem = "loop"
            done.append(path)
            continue
        panels += end[0] in ("dcim.frontport", "dcim.rearport")
        todo.extend((far, [*cables, cable], circuits, panels, stack) for far in plant.across(following))
    return done


def _through(plant: _Plant, end: End, stack: list[Any]) -> tuple[End | None, list[Any], str]:
    """The end on the far side of a panel or circuit, the stack of positions, and why the path ends here."""
    row = plant.row(end)
    if end[0] == "dcim.frontport":
        stack.append(row.get("rear_port_position", 1))
        return ("dcim.rearport", row.get("rear_port")), stack, ""
    if end[0] == "dcim.rearport":
        position = stack.pop() if stack else 1 if row.get("positions", 1) == 1 else None
        front = plant.front_of.get((end[1], position))
        return (None, stack, "split") if front is None else (("dcim.frontport", front), stack, "")
    if end[0] == "circuits.circuittermination":
        others = [key for key in plant.circuit_ends.get(row.get("circuit"), []) if key != end[1]]
        cabled = [key for key in others if ("circuits.circuittermination", key) in plant.cable_of]
        return (("circuits.circuittermination", cabled[0]), stack, "") if cabled else (None, stack, "circuit")
    return None, stack, ""


def trace_paths(tables: Tables, ids: dict[tuple[str, Any], str], draft: Draft, source: Source) -> None:
    """Add one edge of kind ``link`` per path between devices, or from a device to a circuit without a far device."""
    plant = _plant(tables, source)
    if plant.power:
        draft.skip("power cable", len(plant.power))
    seen: set[frozenset[End]] = set()
    traced: set[Any] = set()
    towards_network = 0
    problems: dict[str, list[str]] = defaultdict(list)
    for start in plant.cable_of:
        row = plant.row(start)
        if "power" in start[0] or "device" not in row or start[0] in ("dcim.frontport", "dcim.rearport"):
            continue
        device = ids.get(("dcim.device", row["device"]))
        if device is None:
            continue
        for path in _follow(plant, start):
            traced.update(path.cables)
            key = frozenset((start, path.last))
            if key in seen:
                continue
            seen.add(key)
            far_row = plant.row(path.last)
            far = ids.get(("dcim.device", far_row.get("device")))
            if path.last[0] == "circuits.circuittermination" and path.problem in ("circuit", "half-cabled"):
                far = ids.get(("circuits.circuit", far_row.get("circuit")))
                ends = [tables["circuits.circuittermination"][k] for k in plant.circuit_ends[far_row.get("circuit")]]
                towards_network += any(end.get("provider_network") for end in ends)
            elif path.problem:
                problems[path.problem].append(f"{device} {row.get('name')}")
                continue
            if far is None:
                problems["unknown end"].append(f"{device} {row.get('name')}")
                continue
            _add(draft, plant, path, (device, far), (row, far_row), ids)
    _report(draft, problems, towards_network, len(plant.sides) - len(plant.power | traced))


def _add(
    draft: Draft,
    plant: _Plant,
    path: _Path,
    ends: tuple[str, str],
    rows: tuple[dict[str, Any], dict[str, Any]],
    ids: dict[tuple[str, Any], str],
) -> None:
    values: dict[str, Any] = {"kind": "link", "cables": len(path.cables)}
    if path.panels:
        values["panels"] = path.panels
    circuits = [ids[("circuits.circuit", key)] for key in path.circuits if ("circuits.circuit", key) in ids]
    if circuits:
        values["circuits"] = [name for name in circuits if name != ends[1]]
        values = {key: value for key, value in values.items() if value != []}
    cable = plant.tables.get("dcim.cable", {}).get(path.cables[0], {})
    if len(path.cables) == 1:
        wanted = (("type", "cable_type"), ("status", "status"), ("label", "cable_label"), ("length", "length"))
        values.update({name: cable[field] for field, name in wanted if cable.get(field)})
    speed = rows[0].get("speed")
    if isinstance(speed, int):
        values["speed_kbps"] = speed
        draft.units["speed_kbps"] = "kbit/s"
    far_port = rows[1].get("name") if "device" in rows[1] else None
    draft.add_edge(*ends, values, ports=(rows[0].get("name"), far_port))


def _report(draft: Draft, problems: dict[str, list[str]], towards_network: int, untraced: int) -> None:
    texts = {
        "loop": "cable paths run in a loop",
        "half-cabled": "cable paths end in a panel that is cabled on one side only",
        "split": "cable paths end at a rear port whose position is not known",
        "unknown end": "cable paths end at a record that is not in the export",
    }
    for problem, examples in problems.items():
        message = texts.get(problem, f"cable paths end: {problem}")
        draft.find("dangling", len(examples), message, examples=examples)
    if towards_network:
        draft.find("stub", towards_network, "links end at a circuit towards a provider network", severity="info")
    if untraced > 0:
        draft.find("dangling", untraced, "cables lie on no path from an interface")
