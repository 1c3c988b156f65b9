"""From a file, a registered name or a sample name to a `LoadedGraph`."""

from __future__ import annotations

import difflib
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from nl2net.config import Settings
from nl2net.errors import DataError, Nl2netError
from nl2net.graphs.describe import FromColumns
from nl2net.graphs.draft import Draft
from nl2net.graphs.limits import Limits
from nl2net.graphs.loaded import LoadedGraph, ReadOptions, SchemaOptions
from nl2net.graphs.normal import build_graph
from nl2net.graphs.reader import Reader, choose_reader
from nl2net.graphs.registry import find_registered, registered_names
from nl2net.graphs.samples import find_sample, sample_names
from nl2net.graphs.schema import derive_schema
from nl2net.graphs.sharing import check_names
from nl2net.graphs.source import Source
from nl2net.locations import Locations, default_locations
from nl2net.model import QualityFinding

_DEFAULT_OPTIONS = ReadOptions()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Garbage collection off: millions of small dicts make every pass of it long, and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # Puts all that was made into the oldest generation; otherwise the next allocation would walk it as young.
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


def _resolve(
    source: str | Path, options: ReadOptions, schema_options: SchemaOptions | None, locations: Locations | None
) -> tuple[str, Path, ReadOptions, SchemaOptions]:
    path = Path(source).expanduser()
    if path.exists():
        stem = path.name if path.is_dir() else path.name.split(".")[0] or path.name
        return stem, path, options, schema_options or SchemaOptions()
    locations = locations or default_locations()
    name = str(source)
    entry = find_registered(name, locations)
    if entry is not None:
        chosen = options if options != ReadOptions() else entry.options
        return entry.name, entry.path, chosen, schema_options or entry.schema_options
    sample = find_sample(name)
    if sample is not None:
        return sample.name, sample.path, options, schema_options or SchemaOptions()
    if path.suffix or len(path.parts) > 1:
        raise DataError("no such file", path=path, hint="Check the path, or list names with `nl2net graph list`.")
    known = [*registered_names(locations), *sample_names()]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Known names: {', '.join(known)}."
    raise DataError(f"{name!r} is neither a file nor the name of a graph", hint=hint)


def _read(reader: Reader, source: Source, options: ReadOptions) -> Draft:
    """Run a reader; whatever a parser library throws becomes a `DataError`."""
    try:
        return reader.read(source, options)
    except Nl2netError:
        raise
    except MemoryError:
        raise source.error(f"too large to read as {reader.name}") from None
    except ImportError as error:
        raise source.error(
            f"the format {reader.name} needs the package {error.name}", hint="pip install 'nl2net[formats]'"
        ) from None
    except Exception as error:
        raise source.error(
            f"not readable as {reader.name}: {type(error).__name__}: {str(error)[:200]}",
            hint="The file may be truncated, or of another format (--format).",
        ) from None


def load_graph(
    source: str | Path,
    options: ReadOptions = _DEFAULT_OPTIONS,
    *,
    locations: Locations | None = None,
    settings: Settings | None = None,
    schema_options: SchemaOptions | None = None,
) -> LoadedGraph:
    """Load a graph in normal form, with its schema, report and fingerprint.

    Parameters
    ----------
    source : str or Path
        A file, a folder, the name of a registered graph, or the name of a shipped sample.
    options : ReadOptions
        How to read it; for a registered graph those stored with it, unless others are given.
    locations : Locations, optional
        Where registered graphs lie.
    settings : Settings, optional
        Limits on size and nesting.
    schema_options : SchemaOptions, optional
        What the schema may say beyond names, types and counts; for a registered graph those stored with it.

    Raises
    ------
    DataError
        Unknown name, unreadable file, or a limit; names file, line or field, and the way out.
    UserError
        An option that does not fit, such as sharing values of node names.

    Notes
    -----
    A file of that name in the working folder goes before a registered graph, and that before a sample.

    Examples
    --------
    >>> loaded = load_graph("abilene")
    >>> loaded.graph
    <networkx.classes.graph.Graph object at ...>
    >>> loaded.schema.nodes, loaded.schema.edges, loaded.provenance["format"]
    (11, 14, 'graphml')
    """
    name, path, options, wanted = _resolve(source, options, schema_options, locations)
    file = Source(path, Limits.from_settings(settings or Settings()))
    with _no_collection():
        reader = choose_reader(file, options)
        draft = _read(reader, file, options)
        view = build_graph(draft, file, options)
        check_names(wanted, view)
        schema = derive_schema(view, wanted)
    return LoadedGraph(
        name=name,
        path=path,
        graph=view.graph,
        schema=schema,
        schema_options=wanted,
        provenance={
            "file": str(path),
            "format": reader.name,
            "reader_version": reader.version,
            "class": schema.graph_class.name,
            "options": asdict(options),
            "read": dict(draft.counts),
            "used": {"nodes": schema.nodes, "edges": schema.edges},
            "skipped": dict(draft.skipped),
        },
        derived=FromColumns(view, schema, (*file.findings, *draft.findings, *_skipped(draft))),
    )


def _skipped(draft: Draft) -> Iterator[QualityFinding]:
    for reason, count in draft.skipped.items():
        yield QualityFinding("skipped", "warning", count, f"records left out: {reason}")
