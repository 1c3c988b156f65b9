"""`nl2net segment`: roles, policies, their report and their proof."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nl2net.segmentation.readers import FlowOptions

segment = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Roles and policies from flow logs.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Format = Annotated[str | None, typer.Option("--format", help="Format of the logs, or aws:FIELDS; default by content.")]
Zone = Annotated[str | None, typer.Option("--timezone", help="Zone of stamps that carry none; default UTC.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first line that cannot be read.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(segment, name="segment")


def _say(text: str) -> None:
    sys.stderr.write(f"nl2net: {text}\n")


def _print(body: Any) -> None:
    sys.stdout.write(json.dumps(body, indent=1, default=str) + "\n")


def _moment(text: str) -> int:
    from datetime import UTC, datetime

    from nl2net.errors import UserError

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"not a time: {text!r}", hint="Write --window 2026-09-21T00:00/2026-09-22T00:00.") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)


def _window(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("/")
    return _moment(first), _moment(last) if last else 2**62


def _flow_options(format_name: str | None, zone: str | None, strict: bool, window: str | None = None) -> FlowOptions:
    from nl2net.segmentation.readers import FlowOptions

    return FlowOptions(format_name, zone, strict, _window(window))


@segment.command()
def roles(
    flows: Annotated[list[Path], typer.Argument(help="Flow logs: files or folders, plain, gzip or zstd.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for roles.csv and everything else.")],
    format_name: Format = None,
    window: Annotated[str | None, typer.Option("--window", help="FROM/TO in ISO form, UTC unless it says so.")] = None,
    hints: Annotated[Path | None, typer.Option("--hints", help="JSON with together, apart, labels and names.")] = None,
    previous: Annotated[Path | None, typer.Option("--previous", help="Folder of the run before: keeps ids.")] = None,
    internal: Annotated[
        list[str] | None, typer.Option("--internal", help="Own prefix; default private ranges.")
    ] = None,
    timezone: Zone = None,
    strict: Strict = False,
    engine: Annotated[str, typer.Option("--engine", help="duckdb or pyspark.")] = "duckdb",
    memory: Annotated[int, typer.Option("--memory", help="Memory of the engine in MB.")] = 700,
    as_json: Json = False,
) -> None:
    """Read flow logs and infer the role of every endpoint."""
    from nl2net.segmentation.endpoints import PRIVATE, Scope
    from nl2net.segmentation.engines import make_engine
    from nl2net.segmentation.hints import Hints, load_hints
    from nl2net.segmentation.report import build_report, render_text
    from nl2net.segmentation.workspace import RunOptions, infer_from_files

    options = RunOptions(
        flows=_flow_options(format_name, timezone, strict, window),
        hints=load_hints(hints) if hints else Hints(),
        scope=Scope(tuple(internal) if internal else PRIVATE),
        previous=previous,
    )
    chosen = make_engine(engine, memory_mb=memory) if engine == "duckdb" else make_engine(engine)
    run = infer_from_files(flows, out, options, engine=chosen)
    if run.report.bad:
        _say(f"{run.report.bad} lines could not be read; roles.json names samples, --strict stops at the first")
    report = build_report(out)
    if as_json:
        _print(report)
    else:
        sys.stdout.write(render_text({"roles": report["roles"]}))
    _say(f"wrote {out / 'roles.csv'}")


@segment.command()
def policy(
    folder: Annotated[Path, typer.Argument(help="Folder that `segment roles` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for rules.csv and the compiled targets.")],
    mode: Annotated[str, typer.Option("--mode", help="strict, role or generalised.")] = "role",
    target: Annotated[list[str] | None, typer.Option("--target", help="Repeatable; default all six.")] = None,
    holdout: Annotated[list[Path] | None, typer.Option("--holdout", help="Logs of a later window.")] = None,
    labels: Annotated[Path | None, typer.Option("--labels", help="YAML list of address, namespace, labels.")] = None,
    format_name: Format = None,
    timezone: Zone = None,
    as_json: Json = False,
) -> None:
    """Write rules with evidence, the review list, and files for each target, checked."""
    import shutil

    from nl2net.segmentation.compilers import Target
    from nl2net.segmentation.draft import build_draft, later_edges, write_draft
    from nl2net.segmentation.policy.rules import Mode
    from nl2net.segmentation.report import build_report, render_text
    from nl2net.segmentation.workspace import open_workspace

    chosen = _choice(Mode, mode, "mode")
    targets = [_choice(Target, name, "target") for name in target] if target else list(Target)
    workspace = open_workspace(folder)
    later = later_edges(holdout, out / "holdout", _flow_options(format_name, timezone, False)) if holdout else None
    draft = write_draft(build_draft(workspace, mode=chosen, holdout=later, labels=labels), out, targets)
    for name in ("roles.json", "roles.csv"):
        if (folder / name).resolve() != (out / name).resolve():
            shutil.copyfile(folder / name, out / name)
    report = build_report(out)
    if as_json:
        _print(report["draft"])
    else:
        sys.stdout.write(render_text({"draft": report["draft"]}))
    _say(f"wrote {out / 'rules.csv'}")
    if any(check.ok is False for check in draft.checks):
        raise typer.Exit(1)


def _choice(kind: Any, text: str, word: str) -> Any:
    from nl2net.errors import UserError

    try:
        return kind(text)
    except ValueError:
        raise UserError(f"unknown {word} {text!r}", hint=f"One of {', '.join(item.value for item in kind)}.") from None


@segment.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="Folder that `segment policy` wrote.")],
    backend: Annotated[str, typer.Option("--backend", help="auto, kernel, simulated or cluster.")] = "auto",
    members: Annotated[int, typer.Option("--members", min=1, help="Pods per role at most.")] = 3,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Connects at most.")] = 6000,
    as_json: Json = False,
) -> None:
    """Open real connections before and after the compiled policies, and compare with the rules."""
    from dataclasses import asdict

    from nl2net.errors import DataError
    from nl2net.locations import atomic_write
    from nl2net.segmentation.draft import inventory_from_json
    from nl2net.segmentation.policy.output import read_policy_json
    from nl2net.segmentation.report import proof_line
    from nl2net.segmentation.verify import load_manifests, verify_policy

    rules = read_policy_json(folder / "policy.json")
    try:
        facts = json.loads((folder / "draft.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("missing", path=folder / "draft.json", hint="Run nl2net segment policy first.") from None
    manifests = load_manifests(folder / "kubernetes")
    proof = verify_policy(rules, manifests, inventory_from_json(facts), backend=backend, members=members, pairs=pairs)
    body = asdict(proof)
    del body["open_pairs"]
    body["ok"] = proof.ok
    with atomic_write(folder / "proof.json") as stream:
        stream.write(json.dumps(body, indent=1).encode())
    if as_json:
        _print(body)
    else:
        lines = [proof_line(body)]
        lines += [
            f"  {m.client} > {m.server}:{m.port} intended {m.intended}, {m.seen} ({m.rule})"
            for m in proof.mismatches[:20]
        ]
        lines += [f"  no name lookup from {pod}" for pod in proof.dns_broken[:20]]
        lines += [f"not measured: {text}" for text in proof.not_measured]
        sys.stdout.write("\n".join(lines) + "\n")
    if not proof.ok:
        raise typer.Exit(1)


@segment.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Folder that `segment roles` or `segment policy` wrote.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write one HTML file with pictures.")] = None,
    why: Annotated[str | None, typer.Option("--why", help="ROLE,ROLE: why are these two not one role?")] = None,
    as_json: Json = False,
) -> None:
    """Role cards, rules, metrics and what would break."""
    from nl2net.segmentation.report import build_report, render_html, render_text

    if why is not None:
        _explain_pair(folder, why, as_json)
        return
    body = build_report(folder)
    if html is not None:
        from nl2net.locations import atomic_write

        with atomic_write(html) as stream:
            stream.write(render_html(body, folder).encode())
        _say(f"wrote {html}")
    if as_json:
        _print(body)
    elif html is None:
        sys.stdout.write(render_text(body))


def _explain_pair(folder: Path, pair: str, as_json: bool) -> None:
    from dataclasses import asdict

    from nl2net.errors import UserError
    from nl2net.segmentation.explain import Explainer
    from nl2net.segmentation.workspace import open_workspace

    first, _, second = pair.partition(",")
    if not second:
        raise UserError("--why needs two roles", hint="Write --why ROLE,ROLE.")
    workspace = open_workspace(folder)
    tokens = Explainer(workspace.model, workspace.ids).why_apart(first.strip(), second.strip())
    if as_json:
        _print([asdict(token) for token in tokens])
        return
    lines = [
        f"{token.text}: {token.share:.0%} of {first}, {token.share_there:.0%} of {second.strip()}" for token in tokens
    ]
    sys.stdout.write("\n".join(lines or ["the two show the same tokens"]) + "\n")
