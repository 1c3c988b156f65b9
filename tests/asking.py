"""Opens an assistant that talks to a scripted server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripted_server import ScriptedServer

from nl2net.assistant.entries import Entry
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.loop import Assistant
from nl2net.assistant.store import Store
from nl2net.config import Settings
from nl2net.graphs import LoadedGraph
from nl2net.llm import ChatClient, Endpoint
from nl2net.locations import Locations
from nl2net.sandbox import Sandbox


def fenced(body: str, arguments: str = "graph") -> str:
    """A reply with one program; ``body`` is one line."""
    return f"```python\ndef answer({arguments}):\n    {body}\n```"


@contextmanager
def asking(
    graph: LoadedGraph,
    server: ScriptedServer,
    locations: Locations,
    *,
    sandbox: Sandbox,
    entries: tuple[Entry, ...] = (),
) -> Iterator[Assistant]:
    endpoint = Endpoint(server.base_url, "scripted", api_key="secret-key-of-the-test")
    store = Store(locations.store)
    try:
        yield Assistant(
            graph,
            sandbox=sandbox,
            settings=Settings(),
            locations=locations,
            client_factory=lambda gate: ChatClient(endpoint, gate=gate, retries=0),
            library=ProgramLibrary(entries),
            store=store,
        )
    finally:
        store.close()


def locations_in(folder: Path) -> Locations:
    return Locations(folder / "config", folder / "data", folder / "cache", folder / "run")
