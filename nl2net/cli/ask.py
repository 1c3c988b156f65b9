"""``nl2net ask``: one question, one checked answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nl2net.cli.graph_options import ReadFlags, read_flags

if TYPE_CHECKING:
    from nl2net.assistant import Answer, Opened

_GRAPH = typer.Option("--graph", "-g", help="File, registered graph or shipped sample.")
_JSON = typer.Option("--json", help="Print one JSON envelope.")
_UNSEALED = typer.Option(
    "--i-accept-unsealed-execution", help="Run programs even where the operating system cannot seal them."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="ask")(read_flags(ask))


def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain language.")],
    graph: Annotated[str, _GRAPH],
    flags: ReadFlags,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model name; `builtin` or `builtin-small`.")
    ] = None,
    library: Annotated[str | None, typer.Option("--library", help="auto, networkx, pandas or sql.")] = None,
    as_json: Annotated[bool, _JSON] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write the program, do not run it.")] = False,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help="Print what would be sent, send nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print findings and every attempt.")] = False,
    save: Annotated[Path | None, typer.Option("--save", help="Save the program as a script for `nl2net run`.")] = None,
    apply: Annotated[Path | None, typer.Option("--apply", help="Write the changed network to this new file.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", min=1, max=32, help="Programs to draw.")] = None,
    repairs: Annotated[int | None, typer.Option("--repairs", min=0, max=2, help="Repairs of each program.")] = None,
    no_mask: Annotated[bool, typer.Option("--no-mask", help="Send the question as typed.")] = False,
    assume: Annotated[bool, typer.Option("--assume", help="Take the first reading instead of asking back.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Seconds for one program run.")] = None,
    memory: Annotated[int | None, typer.Option("--memory", help="Megabytes for one program run.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", help="Cap in US dollars.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="Cap on tokens.")] = None,
    unsealed: Annotated[bool, _UNSEALED] = False,
) -> None:
    """Ask a question of a network."""
    from nl2net.assistant import AskOptions, open_assistant
    from nl2net.config import load_settings
    from nl2net.locations import default_locations

    locations = default_locations()
    settings = load_settings(
        {
            "model": model, "library": library, "samples": samples, "repairs": repairs, "timeout_s": timeout,
            "memory_mb": memory, "max_cost_usd": max_cost, "max_tokens": max_tokens, "mask": False if no_mask else None,
        },
        locations=locations,
    )  # fmt: skip
    options = AskOptions(
        library=settings.library, samples=settings.samples, repairs=settings.repairs, mask=settings.mask,
        assume=assume, dry_run=dry_run, threshold=settings.threshold,
    )  # fmt: skip
    _check_target(apply, graph)
    with open_assistant(
        graph, settings=settings, locations=locations, read_options=flags.options(), accept_unsealed=unsealed
    ) as opened:
        if show_prompt:
            _print_prompt(opened.assistant.show_prompt(question, options=options), as_json=as_json)
            return
        answer = _ask(opened, question, options, as_json=as_json)
        saved = _save(opened, answer, save, apply)
    _print(answer, as_json=as_json, explain=explain, saved=saved)
    raise typer.Exit(answer.exit_code)


def _check_target(apply: Path | None, graph: str) -> None:
    from nl2net.errors import UserError

    if apply is not None and Path(graph).exists() and apply.resolve() == Path(graph).resolve():
        raise UserError("--apply names the source itself; a source is never overwritten", hint="Give a new file name.")


def _ask(opened: Opened, question: str, options: Any, *, as_json: bool) -> Answer:
    from dataclasses import replace

    from nl2net.assistant import Hooks

    quiet = as_json or not sys.stderr.isatty()

    def stage(name: str) -> None:
        if not quiet:
            sys.stderr.write(f"\r\033[K{name} ...")
            sys.stderr.flush()

    try:
        answer = opened.assistant.ask(question, options=options, hooks=Hooks(stage=stage))
    finally:
        if not quiet:
            sys.stderr.write("\r\033[K")
    return replace(answer, timing=replace(answer.timing, load_s=opened.load_s))


def _save(opened: Opened, answer: Answer, save: Path | None, apply: Path | None) -> list[str]:
    notes = []
    if save is not None and answer.code and answer.library is not None:
        from nl2net.assistant import save_script, script_header

        save_script(save, answer.code, answer.library, script_header(answer, opened.assistant.graph))
        notes.append(f"saved: {save} (replay: nl2net run {save} --graph {opened.assistant.graph.name})")
    if apply is not None and answer.changes:
        from nl2net.graphs import write_graph
        from nl2net.sandbox.changes import apply_changes

        write_graph(apply_changes(opened.assistant.graph.graph, answer.changes), apply)
        notes.append(f"the changed network was written to {apply}; the source is untouched")
    return notes


def _print_prompt(messages: list[dict[str, str]], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(messages, ensure_ascii=False))
        return
    for message in messages:
        typer.echo(f"--- {message['role']} ---\n{message['content']}\n")


def _print(answer: Answer, *, as_json: bool, explain: bool, saved: list[str]) -> None:
    if as_json:
        typer.echo(json.dumps(answer.to_json(), ensure_ascii=False, default=str))
    else:
        from nl2net.cli.show_answer import print_answer

        print_answer(answer, explain=explain)
    for note in saved:
        typer.echo(note, err=True)
