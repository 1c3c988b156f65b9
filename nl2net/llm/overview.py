"""What is there: weights, servers and the endpoint in use, for `nl2net model status` and `nl2net doctor`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from nl2net.config import Settings
from nl2net.errors import Nl2netError
from nl2net.llm.catalogue import LocalModel, catalogue, file_hash
from nl2net.llm.local import find_server
from nl2net.locations import Locations


def status(
    locations: Locations,
    *,
    settings: Settings | None = None,
    environ: Mapping[str, str] | None = None,
    verify: bool = False,
) -> dict[str, Any]:
    """State of model access as plain data, without keys.

    Parameters
    ----------
    locations : Locations
        Where weights and runtime files lie.
    settings, environ : optional
        As for `nl2net.llm.resolve_endpoint`.
    verify : bool
        Read the weights and compare their hash (seconds).

    Returns
    -------
    dict
        ``local_extra``, ``models`` (by name), ``endpoint`` (what a question would use, or why there is none).
    """
    return {
        "local_extra": importlib.util.find_spec("llama_cpp") is not None,
        "models": {name: _model(entry, locations, verify=verify) for name, entry in catalogue().items()},
        "endpoint": _endpoint(settings or Settings(), locations, environ),
    }


def _model(entry: LocalModel, locations: Locations, *, verify: bool) -> dict[str, Any]:
    path = entry.path(locations)
    present = entry.present(locations)
    server = find_server(entry.name, locations=locations)
    found: dict[str, Any] = {
        "title": entry.title,
        "path": str(path),
        "bytes": entry.bytes,
        "present": present,
        "verified": (file_hash(path) == entry.sha256) if verify and present else None,
        "running": server is not None,
    }
    return found | ({"pid": server.pid, "port": server.port} if server is not None else {})


def _endpoint(settings: Settings, locations: Locations, environ: Mapping[str, str] | None) -> dict[str, Any]:
    from nl2net.llm.resolve import resolve_endpoint

    try:
        found = resolve_endpoint(settings, environ=environ, locations=locations)
    except Nl2netError as error:
        return {"error": str(error), "hint": error.hint}
    return {"model": found.model, "base_url": found.base_url, "kind": found.kind, "origin": found.origin}
