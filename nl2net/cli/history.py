"""``nl2net history``: what was asked, and what to do with it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nl2net.assistant import Store

_JSON = typer.Option("--json", help="Print JSON.")
_NUMBER = typer.Argument(help="Number of the question; see `history list`.")


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Questions asked before: list, show, approve, replay, export.")
    group.command("list")(list_turns)
    group.command("show")(show)
    group.command("approve")(approve)
    group.command("replay")(replay)
    group.command("export")(export)
    app.add_typer(group, name="history")


def _store() -> Store:
    from nl2net.assistant import Store
    from nl2net.locations import default_locations

    return Store(default_locations().store)


def list_turns(
    search: Annotated[str, typer.Option("--search", help="Only questions, graphs or programs with this text.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1)] = 20,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Newest questions first."""
    from nl2net.display import clean

    turns = _store().turns(limit=limit, search=search)
    if as_json:
        keys = ("id", "created", "question", "graph", "status", "library", "approved")
        typer.echo(json.dumps([{key: getattr(turn, key) for key in keys} for turn in turns], ensure_ascii=False))
        return
    for turn in turns:
        mark = f" [{turn.approved}]" if turn.approved else ""
        typer.echo(
            f"{turn.id:>5}  {turn.created[:16]}  {turn.status or 'not finished':<20} "
            f"{clean(turn.graph)}: {clean(turn.question)}{mark}"
        )


def show(number: Annotated[int, _NUMBER], as_json: Annotated[bool, _JSON] = False) -> None:
    """One question with everything that happened."""
    from nl2net.display import clean

    store = _store()
    turn = store.get(number)
    if as_json:
        body = {"id": turn.id, "created": turn.created, "envelope": turn.envelope, "events": store.events(number)}
        typer.echo(json.dumps(body, ensure_ascii=False))
        return
    typer.echo(f"question {turn.id}, {turn.created}, graph {clean(turn.graph)} {turn.fingerprint[:15]}")
    typer.echo(
        f"asked:  {clean(turn.question)}\nsent:   {clean(turn.masked or '-')}\nstatus: {turn.status or 'not finished'}"
    )
    if turn.bound:
        typer.echo(f"\n{clean(turn.bound)}")
    if turn.envelope and turn.envelope.get("result"):
        typer.echo(f"result: {clean(json.dumps(turn.envelope['result']['data'], ensure_ascii=False))[:2000]}")
    for caveat in (turn.envelope or {}).get("caveats", ()):
        typer.echo(f"note: {clean(caveat)}")
    for event in store.events(number):
        typer.echo(f"{event['at']}  {event['stage']}: {clean(str(event.get('outcome', '')))}")


def approve(
    number: Annotated[int, _NUMBER],
    wrong: Annotated[bool, typer.Option("--wrong", help="Mark the answer as wrong instead.")] = False,
) -> None:
    """Put a program into the program library: the same kind of question is then answered from it."""
    from nl2net.assistant import approve_turn
    from nl2net.locations import default_locations

    store = _store()
    if wrong:
        store.approve(number, "wrong")
        typer.echo(f"question {number} is marked as wrong")
        return
    entry = approve_turn(store, number, default_locations().library)
    typer.echo(f"approved: {entry.question}")


def replay(
    number: Annotated[int, _NUMBER],
    graph: Annotated[str | None, typer.Option("--graph", "-g", help="Another graph; default the same.")] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Run the program of a question again, without a model."""
    from nl2net.assistant import Script, open_assistant, run_script
    from nl2net.config import load_settings
    from nl2net.errors import UserError
    from nl2net.locations import default_locations
    from nl2net.model import Library

    turn = _store().get(number)
    if not turn.bound:
        raise UserError(f"question {number} has no program", hint="Choose an answered question.")
    header = {"question": turn.question, "schema": turn.schema_hash}
    locations = default_locations()
    with open_assistant(
        graph or turn.graph, settings=load_settings(locations=locations), locations=locations
    ) as opened:
        answer = run_script(opened.assistant, Script(turn.bound, Library(turn.library or "networkx"), header))
    if as_json:
        typer.echo(json.dumps(answer.to_json(), ensure_ascii=False, default=str))
    else:
        from nl2net.cli.show_answer import print_answer

        print_answer(answer)
    raise typer.Exit(answer.exit_code)


def export(
    number: Annotated[int, _NUMBER],
    path: Annotated[Path, typer.Argument(help="Script (.py, .sql), or .json for the whole record.")],
) -> None:
    """Write the program of a question as a script, or its record as JSON."""
    from nl2net.assistant import render_script
    from nl2net.errors import UserError
    from nl2net.locations import atomic_write
    from nl2net.model import Library

    store = _store()
    turn = store.get(number)
    if path.suffix == ".json":
        body = json.dumps({"envelope": turn.envelope, "events": store.events(number)}, ensure_ascii=False, indent=1)
    elif turn.bound:
        header = {"question": turn.question, "graph": turn.graph, "schema": turn.schema_hash, "library": turn.library}
        body = render_script(turn.bound, Library(turn.library or "networkx"), header)
    else:
        raise UserError(f"question {number} has no program", hint="Export it as .json.")
    with atomic_write(path) as stream:
        stream.write(body.encode())
    typer.echo(f"written: {path}", err=True)
