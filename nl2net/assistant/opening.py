"""Opens everything that a question needs, in one place for all front ends: graph, sandbox, library, store, client."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from nl2net.assistant.entries import Entry, load_entries
from nl2net.assistant.gate import PrivacyGate
from nl2net.assistant.library import ProgramLibrary
from nl2net.assistant.loop import Assistant
from nl2net.assistant.store import Store
from nl2net.config import Settings
from nl2net.graphs import LoadedGraph, ReadOptions, load_graph
from nl2net.locations import Locations
from nl2net.sandbox import Limits, Sandbox


@dataclass(frozen=True, slots=True)
class Opened:
    """An assistant and the seconds that loading its graph took."""

    assistant: Assistant
    load_s: float


def shipped_entries() -> list[Entry]:
    """Pairs of the golden suite's development split, as made by `nl2net.assistant.seeding`."""
    return load_entries(Path(str(files("nl2net.assistant").joinpath("data/library.jsonl"))))


def open_library(locations: Locations) -> ProgramLibrary:
    """Shipped pairs and the programs that this user approved; with sentence vectors where the embedder was fetched."""
    from nl2net.llm import open_embedder

    shipped = shipped_entries()
    embed = open_embedder(locations)
    vectors = shipped_vectors(shipped) if embed is not None else {}
    return ProgramLibrary([*load_entries(locations.library), *shipped], embed=embed, vectors=vectors)


def shipped_vectors(entries: Sequence[Entry]) -> dict[str, Any]:
    """Vectors of the shipped entries by key; empty when the file does not belong to them."""
    import numpy as np

    path = Path(str(files("nl2net.assistant").joinpath("data/library.npy")))
    if not path.is_file():
        return {}
    matrix = np.load(path, allow_pickle=False)
    return {entry.key: row for entry, row in zip(entries, matrix, strict=True)} if len(matrix) == len(entries) else {}


def open_client(gate: PrivacyGate, settings: Settings, locations: Locations, environ: Mapping[str, str]) -> Any:
    """A chat client for the endpoint that the settings lead to."""
    from nl2net.llm import Budget, ChatClient, resolve_endpoint

    endpoint = resolve_endpoint(settings, model=settings.model, environ=environ, locations=locations)
    budget = Budget(max_cost_usd=settings.max_cost_usd, max_tokens=settings.max_tokens)
    return ChatClient(endpoint, gate=gate, budget=budget, timeout_s=settings.request_timeout_s)


@contextmanager
def open_assistant(
    source: str | Path | LoadedGraph,
    *,
    settings: Settings,
    locations: Locations,
    read_options: ReadOptions | None = None,
    accept_unsealed: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Opened]:
    """An assistant for one graph, closed at the end of the block.

    Parameters
    ----------
    source : str, Path or LoadedGraph
        File, registered name or shipped sample, or a graph that is already loaded.
    settings, locations : Settings, Locations
    read_options : ReadOptions, optional
        How to read a file.
    accept_unsealed : bool
        ``--i-accept-unsealed-execution``; only ever from a command line.
    environ : mapping, optional
        Environment, default ``os.environ``.
    """
    started = time.perf_counter()
    if isinstance(source, LoadedGraph):
        graph = source
    else:
        graph = load_graph(source, read_options or ReadOptions(), locations=locations, settings=settings)
    load_s = time.perf_counter() - started
    limits = Limits(wall_s=settings.timeout_s, cpu_s=settings.timeout_s, memory_mb=settings.memory_mb)
    environment = dict(os.environ if environ is None else environ)
    store = Store(locations.store)
    if settings.retention_days is not None:
        store.forget_older_than(settings.retention_days)
    sandbox = Sandbox(limits=limits, accept_unsealed=accept_unsealed)
    try:
        assistant = Assistant(
            graph,
            sandbox=sandbox,
            settings=settings,
            locations=locations,
            client_factory=lambda gate: open_client(gate, settings, locations, environment),
            library=open_library(locations),
            store=store,
        )
        yield Opened(assistant, load_s)
    finally:
        sandbox.close()
        store.close()
