"""Which model answers: flag, settings, ``OPENAI_*``, a server on this machine, the built-in model, in this order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from nl2net.config import Settings
from nl2net.errors import UserError
from nl2net.llm.catalogue import LocalModel, catalogue, local_model
from nl2net.llm.endpoint import Endpoint, Kind, Origin
from nl2net.llm.gate import Gate, ProbeGate, is_loopback
from nl2net.llm.probe import KNOWN_SERVERS, LocalServer, chat_models, find_local_servers, list_models
from nl2net.locations import Locations, default_locations

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4o-mini"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A model name, or an address, and where it was asked for."""

    model: str | None
    origin: Origin


def resolve_endpoint(
    settings: Settings,
    *,
    model: str | None = None,
    environ: Mapping[str, str] | None = None,
    locations: Locations | None = None,
    gate: Gate | None = None,
    servers: Sequence[LocalServer] = KNOWN_SERVERS,
) -> Endpoint:
    """Find the endpoint to ask. Nothing is started, and nothing about the graph is sent.

    Parameters
    ----------
    settings : Settings
        ``model``, ``base_url``, ``probe_local_servers``, ``idle_stop_s``.
    model : str, optional
        The flag ``--model``: ``builtin``, ``builtin-small``, or a name at the endpoint that the rest decides.
    environ : mapping, optional
        Environment, default ``os.environ``.
    locations : Locations, optional
        Where weights and the state of the built-in server lie.
    gate : Gate, optional
        For model listings; the default lets only requests to this machine pass.
    servers : sequence of LocalServer
        Where to look on this machine.

    Raises
    ------
    UserError
        The named model is nowhere.
    EndpointError
        The built-in model is asked for, or left over, and its weights are missing.

    Examples
    --------
    >>> found = resolve_endpoint(Settings(), model="m", environ={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"})
    >>> found.model, found.base_url, found.origin
    ('m', 'http://h/v1', 'environment')
    """
    environ = os.environ if environ is None else environ
    locations = locations or default_locations()
    wish = _Wish(model, "flag") if model else _Wish(settings.model, "settings")
    if wish.model in catalogue():
        return builtin_endpoint(wish.model, settings, locations=locations, origin=wish.origin)
    remote = _configured(settings, wish, environ, gate)
    if remote is not None:
        return remote
    found = find_local_servers(servers, gate=gate) if settings.probe_local_servers else []
    for server in found:
        if wish.model is None or wish.model in server.models:
            name = wish.model or server.models[0]
            return Endpoint(server.base_url, name, kind=server.kind, origin="loopback")
    if wish.model is not None:
        known = ", ".join([*catalogue(), *(name for server in found for name in server.models)])
        raise UserError(
            f"no endpoint is set for model {wish.model!r}",
            hint=f"Set OPENAI_API_KEY or OPENAI_BASE_URL, or take one that is here: {known}.",
        )
    return builtin_endpoint("builtin", settings, locations=locations, origin="built-in")


def builtin_endpoint(name: str, settings: Settings, *, locations: Locations, origin: Origin = "built-in") -> Endpoint:
    """The endpoint of a local model; its server starts when the endpoint is opened.

    Raises
    ------
    EndpointError
        Its weights are missing.
    """
    entry: LocalModel = local_model(name)
    entry.require(locations)

    def start() -> Endpoint:
        from nl2net.llm.local import ensure_server

        server = ensure_server(entry, locations=locations, idle_stop_s=settings.idle_stop_s)
        return Endpoint(server.base_url, name, api_key=server.token, kind="builtin", origin=origin)

    return Endpoint("", name, kind="builtin", origin=origin, opener=start)


def _configured(settings: Settings, wish: _Wish, environ: Mapping[str, str], gate: Gate | None) -> Endpoint | None:
    """The endpoint of the settings or of ``OPENAI_*``."""
    key = environ.get("OPENAI_API_KEY", "")
    origin: Origin
    if settings.base_url:
        base_url, origin = settings.base_url, "settings"
    elif environ.get("OPENAI_BASE_URL"):
        base_url, origin = environ["OPENAI_BASE_URL"], "environment"
    elif key:
        base_url, origin = OPENAI_URL, "environment"
    else:
        return None
    base_url = _checked_url(base_url)
    kind: Kind = "openai" if base_url == OPENAI_URL else "compatible"
    unnamed = Endpoint(base_url, "", api_key=key, kind=kind, origin=origin)
    name = wish.model or environ.get("OPENAI_MODEL") or (OPENAI_MODEL if kind == "openai" else _first(unnamed, gate))
    return Endpoint(base_url, name, api_key=key, kind=kind, origin=origin)


def _checked_url(text: str) -> str:
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(
            f"the base URL {text!r} is not an http or https address", hint="It looks like http://127.0.0.1:8000/v1."
        )
    if parts.username or parts.password:
        raise UserError("the base URL holds a user name or a password", hint="Put the key into OPENAI_API_KEY.")
    return text.strip().rstrip("/")


def _first(endpoint: Endpoint, gate: Gate | None) -> str:
    """The best model that an endpoint lists, for those that did not say which."""
    if gate is None and not is_loopback(endpoint.base_url):
        raise UserError(
            f"no model is named for {endpoint.base_url}", hint="Give --model, or set OPENAI_MODEL or NL2NET_MODEL."
        )
    names = chat_models(list_models(endpoint, gate=gate or ProbeGate()))
    if not names:
        raise UserError(f"{endpoint.base_url} lists no chat model", hint="Load one there, or give --model.")
    return names[0]
