"""Assembles the commands and turns errors into exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from nl2net import __version__
from nl2net.errors import Nl2netError

# Each module offers `register(app)`. A new command is one file and one line here.
COMMANDS: tuple[str, ...] = (
    "ask",
    "run",
    "graph",
    "golden",
    "bench",
    "emulate",
    "segment",
    "investigate",
    "curriculum",
    "model",
    "history",
    "tui",
    "mcp",
    "doctor",
    "config",
)

app = typer.Typer(
    name="nl2net",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"nl2net {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Ask questions about private networks in plain language; the data stays on your machine."""


def build_app() -> typer.Typer:
    """The application with every command registered."""
    for name in COMMANDS:
        import_module(f"nl2net.cli.{name}").register(app)
    return app


def _report(error: Nl2netError, *, as_json: bool) -> int:
    if as_json:
        status = {5: "refused", 6: "cannot_answer"}.get(error.exit_code, "failed")
        body = {
            "version": 1,
            "status": status,
            "error": type(error).__name__,
            "message": str(error),
            "hint": error.hint,
            "exit_code": error.exit_code,
        }
        sys.stdout.write(json.dumps(body) + "\n")
    else:
        sys.stderr.write(f"nl2net: {error}\n")
        if error.hint:
            sys.stderr.write(f"  {error.hint}\n")
    return error.exit_code


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of the architecture page."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        build_app()(args=arguments, prog_name="nl2net")
    except Nl2netError as error:
        sys.exit(_report(error, as_json="--json" in arguments))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
