"""An answer as text: the program beside its output, then caveats and provenance."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from nl2net.display import clean
from nl2net.model import Changes, ResultType, Status, TypedResult

if TYPE_CHECKING:
    from nl2net.assistant import Answer

_MAX_ROWS = 50


def print_answer(answer: Answer, *, explain: bool = False) -> None:
    """Print to stdout; colours only on a terminal and never under ``NO_COLOR``."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    if answer.code:
        console.print(Text("program", style="bold"))
        console.print(Syntax(clean(answer.code.rstrip()), _lexer(answer), background_color="default", word_wrap=True))
        console.print()
    if answer.result is not None:
        console.print(Text("result", style="bold"))
        _print_result(console, answer.result, answer.labels)
    if answer.changes is not None:
        _print_changes(console, answer.changes, answer.labels)
    if answer.printed:
        console.print(Text("printed", style="bold"))
        console.print(Text(clean(answer.printed.rstrip())))
    if answer.message:
        console.print(Text(clean(answer.message), style="" if answer.status is Status.ANSWERED else "bold yellow"))
    for choice in answer.choices:
        console.print(Text(f"  - {clean(choice)}"))
    for caveat in answer.caveats:
        console.print(Text(f"note: {clean(caveat)}", style="yellow"))
    if explain:
        _print_attempts(console, answer)
    console.print(Text(provenance_line(answer), style="dim"))


def _lexer(answer: Answer) -> str:
    return "sql" if answer.library == "sql" else "python"


def provenance_line(answer: Answer) -> str:
    """Model, tokens, cost, time, sandbox, what left the machine and where its log lies."""
    usage, timing = answer.usage, answer.timing
    cost = "cost unknown" if usage.cost_usd is None else f"USD {usage.cost_usd:.4f}"
    model = answer.provenance.model or "no model"
    sure = "" if answer.confidence is None else f" | confidence {answer.confidence:.2f}"
    sandbox = f" | sandbox {answer.provenance.sandbox}" if answer.provenance.sandbox else ""
    return (
        f"{answer.status}{sure} | {model} | {usage.prompt_tokens}+{usage.completion_tokens} tokens"
        f"{' (estimated)' if usage.estimated else ''}, {cost} | {timing.total_s:.1f} s (model {timing.model_s:.1f}, "
        f"program {timing.sandbox_s:.2f}){sandbox} | graph {answer.graph['name']} {answer.graph['fingerprint'][7:15]}"
        f" | sent {answer.egress['bytes']} bytes in {answer.egress['requests']} requests, log {answer.egress['log']}"
        f" | history {answer.turn}"
    )


def _name(value: Any, labels: dict[str, str]) -> str:
    """A value as a person reads it: ids get their display name."""
    if isinstance(value, str):
        return f"{clean(labels[value])} ({clean(value)})" if value in labels else clean(value)
    if isinstance(value, list | tuple):
        return (
            " - ".join(_name(item, labels) for item in value)
            if len(value) == 2
            else (", ".join(_name(item, labels) for item in value))
        )
    if isinstance(value, dict):
        return ", ".join(f"{clean(str(k))}: {_name(v, labels)}" for k, v in value.items())
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.6g}" if isinstance(value, float) and abs(value) < 1e6 else clean(str(value))


def _print_result(console: Console, result: TypedResult, labels: dict[str, str]) -> None:
    if result.type is ResultType.TABLE:
        _print_table(console, result, labels)
    elif result.type is ResultType.LIST:
        items = list(result.data)
        for item in items[:_MAX_ROWS]:
            console.print(Text(f"  {_name(item, labels)}"))
        _print_rest(console, len(items[:_MAX_ROWS]), result.rows_total or len(items))
        if not items:
            console.print("  none")
    elif result.type is ResultType.GRAPH:
        nodes, links = len(result.data.get("nodes", ())), len(result.data.get("links", ()))
        console.print(Text(f"  graph with {nodes} nodes and {links} links"))
    elif result.type is ResultType.FIGURE:
        console.print(Text(f"  picture: {result.data}"))
    else:
        console.print(Text(f"  {_name(result.data, labels)}", style="bold"))


def _print_table(console: Console, result: TypedResult, labels: dict[str, str]) -> None:
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    rows = result.data["rows"]
    for position, column in enumerate(result.data["columns"]):
        table.add_column(clean(_heading(str(column), [row[position] for row in rows], labels)), overflow="fold")
    for row in rows[:_MAX_ROWS]:
        table.add_row(*(_name(cell, labels) for cell in row))
    console.print(table)
    _print_rest(console, min(len(rows), _MAX_ROWS), result.rows_total or len(rows))


def _heading(column: str, cells: list[Any], labels: dict[str, str]) -> str:
    """A program that returns tuples names no columns: say at least which hold nodes."""
    if not re.fullmatch(r"column \d+|key", column):
        return column
    if cells and all(isinstance(cell, str) and cell in labels for cell in cells):
        return "node"
    return "value" if column != "key" else ""


def _print_rest(console: Console, shown: int, total: int) -> None:
    if total > shown:
        console.print(Text(f"  ... {total - shown} more of {total}", style="dim"))


def _print_changes(console: Console, changes: Changes, labels: dict[str, str]) -> None:
    console.print(Text("proposed changes (nothing is written without --apply or approval)", style="bold"))
    groups: list[tuple[str, list[str]]] = [
        ("+ node", [_name(n["id"], labels) for n in changes.nodes_added]),
        ("- node", [_name(n, labels) for n in changes.nodes_removed]),
        ("~ node", [f"{_name(n, labels)}: {_difference(d)}" for n, d in changes.nodes_changed.items()]),
        ("+ link", [_link(e, labels) for e in changes.edges_added]),
        ("- link", [_link(e, labels) for e in changes.edges_removed]),
        ("~ link", [f"{_link(e, labels)}: {_difference(e['changed'])}" for e in changes.edges_changed]),
    ]
    for sign, rows in groups:
        for row in rows[:_MAX_ROWS]:
            console.print(Text(f"  {sign} {row}"))
        _print_rest(console, min(len(rows), _MAX_ROWS), len(rows))


def _link(edge: dict[str, Any], labels: dict[str, str]) -> str:
    return f"{_name(edge['source'], labels)} - {_name(edge['target'], labels)}"


def _difference(changed: dict[str, list[Any]]) -> str:
    return ", ".join(f"{clean(k)} {_name(old, {})} -> {_name(new, {})}" for k, (old, new) in changed.items())


def _print_attempts(console: Console, answer: Answer) -> None:
    console.print(Text("attempts", style="bold"))
    for number, attempt in enumerate(answer.attempts, 1):
        console.print(Text(f"  {number}. {attempt.outcome}" + (f": {clean(attempt.error)}" if attempt.error else "")))
        for finding in attempt.findings:
            place = f"line {finding.line}: " if finding.line else ""
            console.print(Text(f"     {finding.severity} {finding.rule}: {place}{clean(finding.message)}"))
        if attempt.feedback:
            console.print(Text(f"     sent back: {clean(attempt.feedback)}", style="dim"))
