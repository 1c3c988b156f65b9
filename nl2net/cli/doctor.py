"""``nl2net doctor``: attack the sandbox and say what held."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Annotated, Any

import typer


def _model_status() -> dict[str, Any]:
    """State of the models, where that part is installed."""
    status = getattr(import_module("nl2net.llm"), "status", None)
    if status is None:
        return {}
    found = status()
    return found if isinstance(found, dict) else {"model": str(found)}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
        """Try one real attack per sandbox layer and print what held."""
        from nl2net.sandbox import doctor as sandbox_doctor

        report = sandbox_doctor.examine()
        models = _model_status()
        if as_json:
            typer.echo(json.dumps({**report.to_json(), "models": models}, ensure_ascii=False))
        else:
            _show(report, models)
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
    for name, value in models.items():
        typer.echo(f"model {name}: {value}")
    typer.echo("versions: " + ", ".join(f"{name} {value}" for name, value in report.versions.items()))
