"""Graphs that a user registered by `nl2net graph add`: the path of the file, and how to read and describe it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nl2net.errors import DataError, UserError
from nl2net.graphs.loaded import ReadOptions, SchemaOptions
from nl2net.locations import Locations, atomic_write, private_folder

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class RegisteredGraph:
    """One entry; stored as a JSON file of its own with mode 0600."""

    name: str
    path: Path
    options: ReadOptions
    schema_options: SchemaOptions


def _file(name: str, locations: Locations) -> Path:
    return locations.graphs / f"{name}.json"


def register_graph(entry: RegisteredGraph, locations: Locations) -> Path:
    """Store an entry, over an earlier one of the same name.

    Raises
    ------
    UserError
        The name holds anything but letters, digits, dots, hyphens and underscores.
    """
    if not _NAME.fullmatch(entry.name):
        raise UserError(
            f"{entry.name!r} cannot be a name of a graph",
            hint="Give one with --name: letters, digits, dots, hyphens and underscores.",
        )
    private_folder(locations.graphs)
    schema = entry.schema_options
    body = {
        "version": 1,
        "path": str(entry.path),
        "options": {**asdict(entry.options), "units": dict(entry.options.units)},
        "schema": {
            "share_values": sorted(schema.share_values),
            "share_range": sorted(schema.share_range),
            "coarse_counts": schema.coarse_counts,
        },
    }
    target = _file(entry.name, locations)
    with atomic_write(target, private=True) as stream:
        stream.write(json.dumps(body, indent=1).encode())
    return target


def _parse(name: str, file: Path) -> RegisteredGraph:
    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        schema = body["schema"]
        return RegisteredGraph(
            name,
            Path(body["path"]),
            ReadOptions(**body["options"]),
            SchemaOptions(
                frozenset(schema["share_values"]), frozenset(schema["share_range"]), bool(schema["coarse_counts"])
            ),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            "not a readable entry of a registered graph", path=file, hint="Add the graph again with `nl2net graph add`."
        ) from None


def find_registered(name: str, locations: Locations) -> RegisteredGraph | None:
    """The entry of that name, or ``None``."""
    if not _NAME.fullmatch(name):
        return None
    file = _file(name, locations)
    return _parse(name, file) if file.is_file() else None


def registered_names(locations: Locations) -> tuple[str, ...]:
    """Names of all entries, sorted."""
    if not locations.graphs.is_dir():
        return ()
    return tuple(sorted(file.stem for file in locations.graphs.glob("*.json")))


def list_registered(locations: Locations) -> tuple[RegisteredGraph, ...]:
    """All entries, sorted by name."""
    return tuple(_parse(name, _file(name, locations)) for name in registered_names(locations))
