"""`nl2net graph`: register, list, show, describe, check and convert graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from nl2net.cli.graph_options import (
    CoarseOption,
    ReadFlags,
    ShareRangeOption,
    ShareValuesOption,
    read_flags,
    schema_options,
)

commands = typer.Typer(no_args_is_help=True, help="Register, list, show, describe, check and convert graphs.")

GraphArgument = Annotated[str, typer.Argument(metavar="GRAPH", help="A file, a registered name or a sample name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(commands, name="graph")


def _load(name: str, options: Any, schema: Any = None) -> Any:
    from nl2net.config import load_settings
    from nl2net.graphs import load_graph

    return load_graph(name, options, settings=load_settings(), schema_options=schema)


@commands.command("add")
@read_flags
def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File or folder to read.")],
    flags: ReadFlags,
    name: Annotated[str | None, typer.Option("--name", help="Name of the graph; default the file's.")] = None,
    share_values: ShareValuesOption = None,
    share_range: ShareRangeOption = None,
    coarse_counts: CoarseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Register FILE with its options under a name; the file itself stays where it is."""
    from nl2net.graphs import RegisteredGraph, SchemaOptions, register_graph
    from nl2net.locations import default_locations

    options = flags.options()
    wanted = schema_options(share_values, share_range, coarse_counts) or SchemaOptions()
    loaded = _load(str(file), options, wanted)
    entry = RegisteredGraph(name or loaded.name, file.expanduser().resolve(), options, wanted)
    register_graph(entry, default_locations())
    if as_json:
        typer.echo(json.dumps({"name": entry.name, **_summary(loaded)}))
        return
    typer.echo(f"{entry.name}: {_one_line(loaded)}")
    _notes_of_report(loaded)


def _summary(loaded: Any) -> dict[str, Any]:
    schema = loaded.schema
    return {
        "class": schema.graph_class.name,
        "nodes": schema.nodes,
        "edges": schema.edges,
        "components": schema.components,
        "format": loaded.provenance["format"],
        "file": loaded.provenance["file"],
        "fingerprint": loaded.fingerprint,
        "schema_hash": loaded.schema_hash,
    }


def _one_line(loaded: Any) -> str:
    schema = loaded.schema
    return (
        f"{schema.graph_class.name}, {schema.nodes} nodes, {schema.edges} edges, read as {loaded.provenance['format']}"
    )


def _notes_of_report(loaded: Any) -> None:
    warnings = [finding for finding in loaded.report if finding.severity != "info"]
    if warnings:
        typer.echo(f"{len(warnings)} findings; see them with `nl2net graph check`", err=True)


@commands.command("list")
def list_graphs(as_json: JsonOption = False) -> None:
    """List registered graphs and shipped samples."""
    from nl2net.display import clean_line
    from nl2net.graphs import all_samples, list_registered
    from nl2net.locations import default_locations

    entries = list_registered(default_locations())
    if as_json:
        body = {
            "registered": [{"name": entry.name, "path": str(entry.path)} for entry in entries],
            "samples": [{"name": sample.name, "summary": sample.summary} for sample in all_samples()],
        }
        typer.echo(json.dumps(body))
        return
    for entry in entries:
        missing = "" if entry.path.exists() else "  (the file is gone)"
        typer.echo(f"{entry.name:<12} {clean_line(str(entry.path))}{missing}")
    for sample in all_samples():
        typer.echo(f"{sample.name:<12} sample: {sample.summary}")


@commands.command("show")
@read_flags
def show(
    graph: GraphArgument,
    flags: ReadFlags,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw the topology to this file.")] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Nodes and links to print.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Print a graph as tables, and draw it with --png."""
    options = flags.options()
    loaded = _load(graph, options)
    drawn = None
    if png is not None:
        from nl2net.graphs.drawing import draw_graph

        drawn = draw_graph(loaded.graph, png, title=loaded.name)
    if as_json:
        picture = {"png": str(png), "drawn": drawn} if png is not None else {}
        typer.echo(json.dumps({"name": loaded.name, **_summary(loaded), **picture}))
        return
    from nl2net.cli.graph_tables import print_graph

    print_graph(loaded, rows)
    if png is not None:
        typer.echo(f"{png}: {drawn}", err=True)


@commands.command("schema")
@read_flags
def schema(
    graph: GraphArgument,
    flags: ReadFlags,
    share_values: ShareValuesOption = None,
    share_range: ShareRangeOption = None,
    coarse_counts: CoarseOption = False,
) -> None:
    """Print exactly what a model would be told of a graph; options for a registered graph are kept with it."""
    from dataclasses import replace

    from nl2net.graphs import register_graph
    from nl2net.graphs.registry import find_registered
    from nl2net.locations import default_locations
    from nl2net.prompts import render_schema

    options = flags.options()
    wanted = schema_options(share_values, share_range, coarse_counts)
    loaded = _load(graph, options, wanted)
    typer.echo(render_schema(loaded.schema, coarse=loaded.schema_options.coarse_counts))
    entry = find_registered(graph, default_locations()) if wanted is not None else None
    if entry is not None and wanted is not None and entry.path == loaded.path:
        register_graph(replace(entry, schema_options=wanted), default_locations())
        typer.echo(f"kept with {entry.name}: what the schema may say", err=True)


@commands.command("check")
@read_flags
def check(
    graph: GraphArgument,
    flags: ReadFlags,
    as_json: JsonOption = False,
) -> None:
    """Print the data-quality report of a graph."""
    from dataclasses import asdict

    options = flags.options()
    loaded = _load(graph, options)
    if as_json:
        findings = [asdict(finding) for finding in loaded.report]
        body = {"name": loaded.name, **_summary(loaded), "provenance": dict(loaded.provenance), "findings": findings}
        typer.echo(json.dumps(body))
        return
    from nl2net.cli.graph_tables import print_report

    print_report(loaded)


@commands.command("convert")
@read_flags
def convert(
    file: Annotated[str, typer.Argument(metavar="FROM", help="A file, a registered name or a sample name.")],
    to: Annotated[Path, typer.Argument(metavar="TO", help="File with suffix .json, .graphml, .csv, .parquet or .dot.")],
    flags: ReadFlags,
) -> None:
    """Read a graph and write it in another format."""
    from nl2net.graphs import write_graph

    options = flags.options()
    for written in write_graph(_load(file, options).graph, to):
        typer.echo(str(written))
