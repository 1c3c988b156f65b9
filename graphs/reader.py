"""The contract of a reader, the list of all readers, and the choice among them by content."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from nl2net.errors import DataError, UserError
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.source import Source

PLUGIN_GROUP = "nl2net.loaders"

# Specific formats come before the general ones that would also take their files.
_MODULES = (
    "parquet",
    "suzieq",
    "graphml",
    "sndlib",
    "rfc8345",
    "netbox",
    "neighbours",
    "batfish",
    "node_link",
    "malt",
    "gml",
    "dot",
    "labs",
    "flows",
    "tables",
)


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    Attributes
    ----------
    name : str
        What ``--format`` takes.
    sniff : callable
        Whether a source is of this format, by content first.
    read : callable
        Source and options to a `Draft`; raises `DataError`.
    summary : str
        One line for the list of formats.
    version : str
        Goes into provenance.
    """

    name: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source, ReadOptions], Draft]
    summary: str = ""
    version: str = "1"


@cache
def all_readers() -> dict[str, Reader]:
    """Every reader by name, plug-ins of the group ``nl2net.loaders`` last."""
    found: dict[str, Reader] = {}
    for module in _MODULES:
        for reader in import_module(f"nl2net.graphs.readers.{module}").READERS:
            found[reader.name] = reader
    for point in entry_points(group=PLUGIN_GROUP):
        loaded = point.load()
        for reader in loaded if isinstance(loaded, (tuple, list)) else (loaded,):
            found.setdefault(reader.name, reader)
    return found


def choose_reader(source: Source, options: ReadOptions) -> Reader:
    """The reader for a source: the one that ``--format`` names, or the first that knows the content.

    Raises
    ------
    UserError
        No format of that name.
    DataError
        No reader knows the content.
    """
    readers = all_readers()
    if options.format is not None:
        reader = readers.get(options.format)
        if reader is None:
            near = difflib.get_close_matches(options.format, readers, n=3)
            hint = f"Did you mean {', '.join(near)}?" if near else f"Formats: {', '.join(sorted(readers))}."
            raise UserError(f"no format is called {options.format!r}", hint=hint)
        return reader
    if not source.is_folder and not source.head.strip():
        raise DataError("the file is empty", path=source.path, hint="Export it again.")
    for reader in readers.values():
        if reader.sniff(source):
            return reader
    raise DataError(
        "the content matches no known format",
        path=source.path,
        hint=f"Name it with --format: {', '.join(sorted(readers))}.",
    )
