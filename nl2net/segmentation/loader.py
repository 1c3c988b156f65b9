"""Flow logs as graphs, for `nl2net ask --graph flows/`: the plug-in of the group ``nl2net.loaders``.

A folder or file of flow logs becomes a directed multigraph of endpoints with their roles, one edge per typed edge. A
folder that `nl2net segment roles` wrote becomes a graph of roles, one edge per service between two roles, with the
share of endpoints that use it and when it was first and last seen: "which roles talk to the database but did not last
week?" is then a question like any other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from nl2net.errors import Nl2netError
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

# Whoever opens any graph imports this module, so Ibis, DuckDB and SciPy wait until there is a flow log to read.
if TYPE_CHECKING:
    from nl2net.segmentation.workspace import RolesRun

_UNITS = {"bytes": "B", "connections": "connections", "buckets": "5-minute buckets", "members": "endpoints"}


def is_flow_log(path: Path) -> bool:
    """Whether a file, or the first readable file of a folder, is a flow log, or the folder holds roles."""
    from nl2net.segmentation.readers import flow_files
    from nl2net.segmentation.readers.sniff import plan_for

    if path.is_dir() and (path / "roles.json").is_file() and (path / "edges.parquet").is_file():
        return True
    try:
        files = flow_files([path])
        return all(_plan_fits(plan_for(file).format) for file in files[:3])
    except (Nl2netError, OSError, ValueError):
        return False


def _plan_fits(format_name: str) -> bool:
    # Plain 5-tuple tables belong to the graph readers, which know more of their options.
    return format_name != "five_tuple"


def endpoint_graph(paths: Sequence[Path]) -> Any:
    """Endpoints with roles, and typed edges between them."""
    from nl2net.segmentation.workspace import RunOptions, infer_from_files

    with tempfile.TemporaryDirectory(prefix="nl2net-flows-") as folder:
        run = infer_from_files(paths, Path(folder) / "roles", RunOptions())
    return graph_of_run(run)


def graph_of_run(run: RolesRun) -> Any:
    """The communication graph of one run."""
    from nl2net.segmentation.frames import rows_of

    graph: Any = nx.MultiDiGraph()
    inside = run.model.population.inside
    for role, members in sorted(run.members().items()):
        for name in members:
            graph.add_node(name, kind="endpoint", address=name, role=role, internal=bool(inside.get(name, False)))
    for row in rows_of(run.model.population.edges):
        graph.add_edge(row.client, row.server, **_edge(row))
    return graph


def _edge(row: Any) -> dict[str, Any]:
    from nl2net.segmentation.flows import protocol_name

    return {
        "kind": "talks_to",
        "protocol": protocol_name(int(row.proto)),
        "port": int(row.port),
        "connections": int(row.connections),
        "bytes": int(row.bytes),
        "buckets": int(row.buckets),
        "denied": int(row.denied),
        "first_seen": row.first_seen.isoformat(),
        "last_seen": row.last_seen.isoformat(),
    }


def role_graph(folder: Path) -> Any:
    """Roles of a folder, and the services between them, accepted or for review."""
    from nl2net.segmentation.draft import roles_of
    from nl2net.segmentation.policy.synthesis import synthesise
    from nl2net.segmentation.workspace import open_workspace

    workspace = open_workspace(folder)
    roles = roles_of(workspace)
    policy = synthesise(workspace.model.population, roles)
    graph: Any = nx.MultiDiGraph()
    for role, members in sorted(roles.members.items()):
        graph.add_node(
            role,
            kind="role",
            role=role,
            members=len(members),
            external=role in roles.external,
            quarantined=role in roles.quarantine,
        )
    for rule in policy.rules:
        _add_service(graph, rule.client, rule.server, rule.proto, rule.port_low, rule.evidence, state="accepted")
    for item in policy.review:
        _add_service(graph, item.client, item.server, item.proto, item.port, item.evidence, state=item.reason)
    return graph


def _add_service(graph: Any, client: str, server: str, proto: int, port: int, evidence: Any, *, state: str) -> None:
    from nl2net.segmentation.flows import protocol_name

    graph.add_edge(
        client,
        server,
        kind="calls",
        protocol=protocol_name(proto),
        port=port,
        state=state,
        clients=evidence.clients,
        servers=evidence.servers,
        connections=evidence.connections,
        bytes=evidence.bytes,
        buckets=evidence.buckets,
        denied=evidence.denied,
        first_seen=evidence.first_seen,
        last_seen=evidence.last_seen,
    )


def load_graph(path: Path) -> Any:
    """The graph of a flow log, of a folder of them, or of a folder of roles."""
    if path.is_dir() and (path / "roles.json").is_file():
        return role_graph(path)
    return endpoint_graph([path])


def _read(source: Source, _options: ReadOptions) -> Draft:
    graph = load_graph(source.path)
    draft = Draft(directed=True, units=dict(_UNITS))
    for name, attributes in graph.nodes(data=True):
        draft.add_node(str(name), dict(attributes))
    for client, server, attributes in graph.edges(data=True):
        draft.add_edge(str(client), str(server), dict(attributes))
    draft.counts = {"nodes": graph.number_of_nodes(), "edges": graph.number_of_edges()}
    draft.notes.append("an edge points from client to server; port is the service port of the server")
    draft.notes.append("first_seen and last_seen are ISO stamps in UTC")
    return draft


READERS = (
    Reader(
        "flow_log",
        sniff=lambda source: is_flow_log(source.path),
        read=_read,
        summary="AWS, Azure, GCP, Zeek, nfdump and Hubble flow logs, and folders that `nl2net segment roles` wrote",
    ),
)
