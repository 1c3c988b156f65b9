"""`nl2net emulate`: a network from a topology file, up until it is taken down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nl2net.errors import DataError, UserError

if TYPE_CHECKING:
    from nl2net.emulator.topology import Topology

Name = Annotated[str, typer.Option("--name", help="Which network, where several are up.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

commands = typer.Typer(help="Build an emulated network, break it, measure it.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(commands, name="emulate")


def load_topology(text: str) -> Topology:
    """A shipped topology, a topology file, or any graph that nl2net reads.

    Raises
    ------
    DataError
        There is no such sample, file or graph, or it cannot be emulated.
    """
    from nl2net.emulator.shipped import SAMPLES, sample
    from nl2net.emulator.topology import topology_from_json

    if text in SAMPLES:
        return sample(text)
    path = Path(text)
    if path.is_file() and path.suffix == ".json":
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, ValueError) as error:
            raise DataError(f"not JSON: {error}", path=path) from None
        if isinstance(data, dict) and data.get("format") == "nl2net-topology":
            return topology_from_json(data, path=str(path))
    return _from_graph(text, SAMPLES)


def _from_graph(text: str, samples: tuple[str, ...]) -> Topology:
    from nl2net.emulator.fromgraph import topology_from_edges
    from nl2net.graphs import load_graph

    try:
        loaded = load_graph(text)
    except DataError as error:
        hint = f"Shipped topologies: {', '.join(samples)}. {error.hint}".strip()
        raise DataError(str(error), hint=hint) from None
    graph = loaded.graph
    names = {node: str(data.get("name") or node) for node, data in graph.nodes(data=True)}
    if len(set(names.values())) != len(names):
        names = {node: str(node) for node in names}
    kinds = {names[node]: str(data.get("kind", data.get("type", ""))) for node, data in graph.nodes(data=True)}
    return topology_from_edges(loaded.name, kinds, [(names[a], names[b]) for a, b in graph.edges()])


def _socket(name: str) -> Path:
    from nl2net.emulator.daemon import socket_path
    from nl2net.locations import default_locations

    return socket_path(default_locations(), name)


def _emit(value: Any) -> None:
    typer.echo(json.dumps(value))


@commands.command()
def up(
    topology: Annotated[str, typer.Argument(help="Shipped topology, topology file, graph file or graph name.")],
    backend: Annotated[str, typer.Option(help="auto, kernel, simulated or cluster.")] = "auto",
    name: Name = "default",
    idle: Annotated[float, typer.Option(help="Seconds without a call after which the network ends.")] = 1800.0,
    as_json: Json = False,
) -> None:
    """Build a network and leave it running."""
    from nl2net.emulator.daemon import start
    from nl2net.locations import default_locations

    info = start(load_topology(topology), backend=backend, name=name, locations=default_locations(), idle_s=idle)
    if info["note"]:
        typer.echo(f"nl2net: {info['note']}", err=True)
    if as_json:
        _emit(info)
        return
    typer.echo(f"{info['name']}: {info['nodes']} nodes and {info['links']} links up, {info['backend']} backend")


@commands.command()
def ping(
    pairs: Annotated[list[str] | None, typer.Argument(help="Pairs FROM TO; all pairs when none is given.")] = None,
    tcp: Annotated[bool, typer.Option("--tcp", help="Connect to listening ports and services instead.")] = False,
    png: Annotated[Path | None, typer.Option("--png", help="Write a picture of the matrix.")] = None,
    name: Name = "default",
    as_json: Json = False,
) -> None:
    """Measure who reaches whom, with the reason and place of each loss."""
    from nl2net.emulator.daemon import call
    from nl2net.emulator.picture import draw_matrix, matrix_text
    from nl2net.emulator.results import Matrix

    names = pairs or []
    size = 3 if tcp else 2
    if len(names) % size:
        raise UserError("pairs are FROM TO, and with --tcp FROM TO PORT")
    chosen: list[list[str | int]] = [list(names[start : start + size]) for start in range(0, len(names), size)]
    if tcp:
        try:
            chosen = [[source, target, int(port)] for source, target, port in chosen]
        except ValueError:
            raise UserError("a port is a number") from None
    matrix = Matrix.from_json(call(_socket(name), "tcp" if tcp else "ping", pairs=chosen or None))
    if png is not None:
        draw_matrix(matrix, png, title="TCP connections" if tcp else "Reachability")
    if as_json:
        _emit(matrix.to_json())
    else:
        typer.echo(matrix_text(matrix))
    if png is not None:
        typer.echo(f"picture: {png}", err=True)
    if not tcp and matrix.failed and call(_socket(name), "info")["cluster"]:
        typer.echo("note: the policies of a cluster are about ports; --tcp connects to its services", err=True)


@commands.command("exec")
def exec_line(
    node: Annotated[str, typer.Argument(help="Node in which the line runs.")],
    line: Annotated[str, typer.Argument(help="Command line, as one argument.")],
    timeout: Annotated[float, typer.Option(help="Seconds.")] = 10.0,
    name: Name = "default",
    as_json: Json = False,
) -> None:
    """Run a command line inside a node, isolated from this machine."""
    from nl2net.emulator.daemon import call

    result = call(_socket(name), "exec", node=node, line=line, timeout_s=timeout)
    if as_json:
        _emit(result)
        return
    typer.echo(result["output"], nl=not result["output"].endswith("\n"))
    if result["truncated"]:
        typer.echo("nl2net: the output was cut", err=True)
    if result["timed_out"]:
        typer.echo(f"nl2net: stopped after {timeout} s", err=True)
        raise typer.Exit(4)
    if result["status"]:
        typer.echo(f"nl2net: the command ended with status {result['status']}", err=True)
        raise typer.Exit(1)


@commands.command()
def trace(
    source: Annotated[str, typer.Argument(help="Node.")],
    target: Annotated[str, typer.Argument(help="Node or address.")],
    name: Name = "default",
    as_json: Json = False,
) -> None:
    """Show the way from one node to another and where it ends."""
    from nl2net.emulator.daemon import call

    path = call(_socket(name), "trace", source=source, target=target)
    if as_json:
        _emit(path)
        return
    for number, hop in enumerate(path["hops"]):
        typer.echo(f"{number:>3}  {hop['node']:<24} {hop['address']}")
    place = f" at {path['place']}" if path["place"] else ""
    typer.echo("reached" if path["reason"] == "ok" else f"ended: {path['reason']}{place}")


@commands.command()
def apply(
    operation: Annotated[str, typer.Argument(help='JSON, such as {"op": "set_link", "node": "r1", ...}.')],
    name: Name = "default",
    as_json: Json = False,
) -> None:
    """Carry out one typed change and print what undoes it."""
    from nl2net.emulator.daemon import call

    try:
        body = json.loads(operation)
    except ValueError as error:
        raise UserError(f"the operation is not JSON: {error}") from None
    answer = call(_socket(name), "apply", operation=body)
    if as_json:
        _emit(answer)
        return
    detail = f" ({answer['detail']})" if answer["detail"] else ""
    typer.echo("accepted" + detail if answer["accepted"] else f"refused: {answer['reason']}{detail}")
    for item in answer["inverse"]:
        typer.echo(f"  undo: {json.dumps(item)}")


@commands.command()
def routing(
    protocol: Annotated[str, typer.Argument(help="ospf, bgp or off.")],
    name: Name = "default",
    as_json: Json = False,
) -> None:
    """Let the routers find their routes by a protocol (BIRD) in place of static routes."""
    from nl2net.emulator.daemon import call

    answer = call(_socket(name), "routing", protocol=protocol)
    if as_json:
        _emit(answer)
    elif protocol == "off":
        typer.echo(f"{answer['daemons']} daemons ended, their routes are gone")
    else:
        whole = "all pairs reach" if answer["loss"] == 0 else f"{answer['loss']:.1%} of the pairs do not reach"
        typer.echo(f"{protocol} on {answer['daemons']} routers: {whole} after {answer['wall_s']:.1f} s")


@commands.command("build")
def build_file(
    topology: Annotated[str, typer.Argument(help="Shipped topology, graph file or graph name.")],
    out: Annotated[Path, typer.Option("--out", help="Topology file to write.")],
) -> None:
    """Write the topology file that `up` would build, to be edited by hand."""
    from nl2net.emulator.topology import check_topology, topology_to_json
    from nl2net.locations import atomic_write

    network = check_topology(load_topology(topology))
    with atomic_write(out) as stream:
        stream.write(json.dumps(topology_to_json(network), indent=1).encode() + b"\n")
    typer.echo(f"{out}: {len(network.nodes)} nodes, {len(network.links)} links, {len(network.routes)} routes")


@commands.command()
def down(name: Name = "default") -> None:
    """End the network; nothing of it is left."""
    from nl2net.emulator.daemon import call

    call(_socket(name), "down")
    typer.echo("down")
