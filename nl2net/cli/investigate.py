"""``nl2net investigate``: answer a question about an incident from documents and data, with cited evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("investigate")(investigate)


def investigate(
    question: Annotated[str | None, typer.Argument(help="The question, in plain words.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="Folder of documents and data files.")] = None,
    model: Annotated[str, typer.Option(help="`none`, or a model that fills what the rules leave open.")] = "none",
    as_of: Annotated[str, typer.Option(help="Hide documents published after this date.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Serve web pages from the cache only.")] = False,
    any_domain: Annotated[
        bool, typer.Option("--any-domain", help="Allow the web source to reach any public domain.")
    ] = False,
    web: Annotated[bool, typer.Option("--web", help="Read what the web source of corpus.toml may fetch.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the version-1 envelope.")] = False,
    learn: Annotated[str | None, typer.Option(help="Ask the standing questions of a profile.")] = None,
    quiz: Annotated[Path | None, typer.Option(help="Test what the corpus can answer, without keys.")] = None,
    evaluate: Annotated[Path | None, typer.Option(help="Score a question file with keys.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Repeat a recorded run without corpus or model.")] = None,
    arm: Annotated[str, typer.Option(help="With --evaluate: ours, closed-book, one-shot, hotnets or floor.")] = "ours",
    out: Annotated[Path | None, typer.Option(help="Record the run, or write the log of --evaluate.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the report as Markdown.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page with timeline and map.")] = None,
    pin: Annotated[list[str] | None, typer.Option(help="Always read this document.")] = None,
    ban: Annotated[list[str] | None, typer.Option(help="Never read this document.")] = None,
    revoke: Annotated[
        str | None, typer.Option(help="Take down all claims and answers of a document, then stop.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=10, help="Most rounds of search.")] = 3,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most model tokens.")] = 20_000,
    max_time: Annotated[float, typer.Option(min=0.1, help="Most seconds.")] = 120.0,
    accept_unsealed: Annotated[
        bool, typer.Option("--i-accept-unsealed-execution", help="Run event models even where they cannot be sealed.")
    ] = False,
) -> None:
    """Answer a question about a network incident; every sentence carries a quote or a computation."""
    from nl2net.incident.command import Request, run_request

    request = Request(
        question=question,
        corpus=corpus,
        model=model,
        as_of=as_of,
        offline=offline,
        any_domain=any_domain,
        web=web,
        as_json=as_json,
        learn=learn,
        quiz=quiz,
        evaluate=evaluate,
        replay=replay,
        arm=arm,
        out=out,
        markdown=markdown,
        html=html,
        pinned=tuple(pin or ()),
        banned=tuple(ban or ()),
        revoke=revoke,
        rounds=rounds,
        max_tokens=max_tokens,
        max_time=max_time,
        accept_unsealed=accept_unsealed,
    )
    code = run_request(request, write=typer.echo, note=lambda text: typer.echo(text, err=True))
    if code:
        raise typer.Exit(code)
