"""``nl2net doctor``: attack the sandbox and say what held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from nl2net.errors import Nl2netError


def _model_status() -> dict[str, Any]:
    """State of model access; a broken setting is reported and hides nothing of the sandbox."""
    from nl2net.config import load_settings
    from nl2net.llm import status
    from nl2net.locations import default_locations

    try:
        return status(default_locations(), settings=load_settings())
    except Nl2netError as error:
        return {"problem": str(error)}


def _emulator_status() -> list[dict[str, Any]]:
    """What the emulator can do here, found by trial."""
    from dataclasses import asdict

    from nl2net.emulator.capability import capabilities

    return [asdict(item) for item in capabilities()]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
        """Try one real attack per sandbox layer and print what held."""
        from nl2net.sandbox import doctor as sandbox_doctor

        report = sandbox_doctor.examine()
        models = _model_status()
        emulator = _emulator_status()
        if as_json:
            typer.echo(json.dumps({**report.to_json(), "models": models, "emulator": emulator}, ensure_ascii=False))
        else:
            _show(report, models)
            _show_emulator(emulator)
        if not report.healthy:
            raise typer.Exit(5)


def _show(report: Any, models: dict[str, Any]) -> None:
    from nl2net.sandbox import doctor as sandbox_doctor
    from nl2net.sandbox.process.seal import HELD

    typer.echo(sandbox_doctor.summary(report))
    for name, value in report.layers.layers.items():
        if value != HELD:
            typer.echo(f"  {name}: {value}. {sandbox_doctor.way_out(name)}".rstrip())
    for trial in report.trials:
        typer.echo(f"  {'held' if trial.held else 'NOT HELD':8}  {trial.layer:13}  {trial.attack}: {trial.seen}")
    for line in _model_lines(models):
        typer.echo(line)
    typer.echo("versions: " + ", ".join(f"{name} {value}" for name, value in report.versions.items()))


def _show_emulator(found: list[dict[str, Any]]) -> None:
    from nl2net.emulator.capability import NOT_TRIED

    kernel = all(item["works"] for item in found if item["needed"])
    typer.echo(f"emulator: {'kernel and simulated backends work' if kernel else 'only the simulated backend works'}")
    untried = [item["name"] for item in found if item["reason"] == NOT_TRIED]
    works = [item["name"] for item in found if item["works"]]
    if works:
        typer.echo(f"  tried and working: {', '.join(works)}")
    for item in found:
        if not item["works"] and item["reason"] != NOT_TRIED:
            kind = "needed" if item["needed"] else "optional"
            typer.echo(f"  {item['name']} ({kind}): {item['reason'].rstrip('.')}. {item['advice']}".rstrip())
    if untried:
        typer.echo(f"  not tried for that reason: {', '.join(untried)}")


def _model_lines(models: dict[str, Any]) -> Iterator[str]:
    """What a person wants to know of model access: the endpoint in use, and which weights are here."""
    endpoint = models.get("endpoint")
    if isinstance(endpoint, dict):
        where = endpoint.get("base_url") or "this machine"
        yield f"model: {endpoint.get('model')} at {where} ({endpoint.get('origin')})"
    for name, facts in (models.get("models") or {}).items():
        state = "here" if facts["present"] else f"not here; fetch with `nl2net model pull {name}`"
        yield f"  {name}: {facts['title']}: {state}" + (", server running" if facts["running"] else "")
    if models.get("local_extra") is False:
        yield "  the runtime of the local models is not installed: pip install 'nl2net[local]'"
    for name in models.keys() - {"endpoint", "models", "local_extra"}:
        yield f"  {name}: {models[name]}"
