"""The MCP server: six tools, and nothing of a result unless the operator allows it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from scripted_server import ScriptedServer

from nl2net.config import Settings
from nl2net.errors import UserError
from nl2net.graphs import ReadOptions, SchemaOptions
from nl2net.graphs.registry import RegisteredGraph, register_graph
from nl2net.locations import Locations
from nl2net.mcp_server import Exposure, Tools, build_server

ROWS = "```python\ndef answer(graph):\n    return sorted([[n, graph.degree(n)] for n in graph])\n```"
WEIGH = "Weigh the nodes by their frobnication, but not SECRET-CORE"


@contextmanager
def tools_of(locations: Locations, folder: Path, results: Exposure) -> Iterator[Tools]:
    path = folder / "plant.json"
    nodes = [{"id": name, "site": "SECRET-SITE"} for name in ("SECRET-CORE", "SECRET-EDGE")]
    path.write_text(json.dumps({"nodes": nodes, "links": [{"source": "SECRET-CORE", "target": "SECRET-EDGE"}]}))
    register_graph(RegisteredGraph("plant", path, ReadOptions(), SchemaOptions()), locations)
    with ScriptedServer([ROWS]) as server:
        settings = Settings(model="scripted", base_url=server.base_url, probe_local_servers=False, threshold=0.0)
        tools = Tools(settings, locations, results, environ={"OPENAI_API_KEY": "k"})
        try:
            yield tools
        finally:
            tools.close()


@pytest.mark.parametrize("results", ["none", "summary"])
def test_no_value_and_no_name_reaches_the_client(locations: Locations, tmp_path: Path, results: Exposure) -> None:
    with tools_of(locations, tmp_path, results) as tools:
        seen: list[Any] = [tools.list_graphs(), tools.describe_schema("plant"), tools.ask("plant", WEIGH)]
        assert seen[-1]["status"] == "answered", seen[-1]
        assert ("result" in seen[-1]) == (results == "summary")
        seen += [tools.run_saved(seen[-1]["history"]), tools.history(), tools.history(search="SECRET-CORE")]
        assert "SECRET" not in json.dumps(seen)
        assert str(tmp_path) not in json.dumps(seen)
        assert tools.history()[0]["status"] == "answered"


def test_full_exposes_the_value(locations: Locations, tmp_path: Path) -> None:
    with tools_of(locations, tmp_path, "full") as tools:
        assert "SECRET-CORE" in json.dumps(tools.ask("plant", WEIGH)["result"])


def test_files_cannot_be_opened_by_path(locations: Locations, tmp_path: Path) -> None:
    with tools_of(locations, tmp_path, "none") as tools:
        for name in (str(tmp_path / "plant.json"), "../plant.json", "/etc/passwd"):
            with pytest.raises(UserError, match="no registered graph"):
                tools.describe_schema(name)
        for name in ("..", "../..", "", "nothing"):
            with pytest.raises(UserError, match="no golden run"):
                tools.golden_report(name)


async def test_six_tools_are_offered(locations: Locations, tmp_path: Path) -> None:
    with tools_of(locations, tmp_path, "none") as tools:
        names = [tool.name for tool in await build_server(tools).list_tools()]
    assert names == ["list_graphs", "describe_schema", "ask", "run_saved", "history", "golden_report"]


@pytest.mark.slow
async def test_a_real_client_over_stdio(tmp_path: Path) -> None:
    command = "from nl2net.cli import main; main(['mcp'])"
    server = StdioServerParameters(command=sys.executable, args=["-c", command], env={"NL2NET_HOME": str(tmp_path)})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert len((await session.list_tools()).tools) == 6
        found = await session.call_tool("describe_schema", {"graph": "abilene"})
        assert not found.isError and "Latitude" in found.content[0].text  # type: ignore[union-attr]
        missing = await session.call_tool("ask", {"graph": "nowhere", "question": "How many nodes?"})
        assert missing.isError and "no registered graph" in missing.content[0].text  # type: ignore[union-attr]
