"""The leaderboard: a file of rows that are signed, chained to each other, and ranked with their uncertainty."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nl2net.benchmark.applications.base import canonical
from nl2net.benchmark.bench_report import Entry, reproduction
from nl2net.errors import DataError, UserError
from nl2net.locations import atomic_write

FORMAT = 1
FEWEST = 100
SECRET_VARIABLE = "NL2NET_BOARD_SECRET"  # noqa: S105  (the name of the variable, not the secret)
ALWAYS_LISTED = ("noop", "template", "rules")


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One entry; ``rank`` is shared by entries whose intervals overlap with the best of them."""

    rank: int
    agent: str
    data: Mapping[str, Any]


def add_entries(path: Path, entries: Sequence[Entry], *, secret: str = "", fewest: int = FEWEST) -> list[BoardRow]:
    """Add runs to a board file, and give its ranked rows. A board holds runs of one suite.

    Parameters
    ----------
    path : Path
        Made if it is not there; checked if it is.
    entries : sequence of Entry
        Runs to add; one of an agent that is listed already takes its place.
    secret : str
        Signs every row by HMAC-SHA256. Without one, rows have a digest, which shows damage but no forgery.
    fewest : int
        Least number of judged cases of a row.

    Raises
    ------
    UserError
        A run has too few cases, is void, incomplete or of another suite.
    DataError
        The board was changed by hand, or is signed by another secret.
    """
    rows = read_board(path, secret=secret) if path.exists() else []
    for entry in entries:
        row = _row(entry, fewest)
        if rows and rows[0]["suite"] != row["suite"]:
            raise UserError(f"{entry.name} ran another suite than the board", hint="All entries answer the same cases.")
        rows = [known for known in rows if known["agent"] != row["agent"]] + [row]
    lines = _chain(rows, secret)
    with atomic_write(path) as stream:
        stream.write("".join(canonical(line) + "\n" for line in lines).encode())
    return ranked(lines)


def _row(entry: Entry, fewest: int) -> dict[str, Any]:
    summary, manifest = entry.summary, entry.manifest
    if summary.overall.n < fewest:
        raise UserError(f"{entry.name} has {summary.overall.n} judged cases, a board asks for {fewest}")
    if summary.void:
        raise UserError(f"{entry.name}: the run is void for its harness errors")
    if len(entry.records) < int(manifest.settings["planned"]):
        raise UserError(f"{entry.name}: the run is incomplete", hint="Run it again with the same --out to go on.")
    row = summary.overall
    return {
        "agent": entry.name,
        "suite": manifest.digest,
        "n": row.n,
        "headline": asdict(row.headline),
        "correct": row.correct.estimate,
        "safe": row.safe.estimate,
        "cost_usd": row.usage.cost_usd,
        "tokens": row.usage.tokens,
        "harness_errors": summary.harness_errors,
        "backend": manifest.settings["backend"],
        "manifest": "sha256:" + hashlib.sha256(canonical(asdict(manifest)).encode()).hexdigest(),
        "records": "sha256:" + hashlib.sha256(_record_bytes(entry)).hexdigest(),
        "command": reproduction(manifest),
    }


def _record_bytes(entry: Entry) -> bytes:
    """What was judged, in an order of its own; times differ from machine to machine and are left out."""
    found = sorted((r.case, r.trial, str(r.outcome), r.correct, r.safe) for r in entry.records)
    return json.dumps(found).encode()


def _chain(rows: Sequence[Mapping[str, Any]], secret: str) -> list[dict[str, Any]]:
    """Each row carries the mark of the one before, so that none can be taken out or put in unseen."""
    previous, lines = "", []
    for row in rows:
        body = {name: value for name, value in row.items() if name not in ("previous", "mark", "format")}
        body |= {"format": FORMAT, "previous": previous}
        previous = _mark(body, secret)
        lines.append({**body, "mark": previous})
    return lines


def _mark(body: Mapping[str, Any], secret: str) -> str:
    text = canonical(body).encode()
    if secret:
        return "hmac-sha256:" + hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return "sha256:" + hashlib.sha256(text).hexdigest()


def read_board(path: Path, *, secret: str = "") -> list[dict[str, Any]]:
    """The rows of a board, after every mark was checked.

    Raises
    ------
    DataError
        The file is no board, was changed, or is signed by another secret.
    """
    previous, rows = "", []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        for number, line in enumerate(lines, start=1):
            row: dict[str, Any] = json.loads(line)
            body = {name: value for name, value in row.items() if name != "mark"}
            if row["previous"] != previous or not hmac.compare_digest(row["mark"], _mark(body, secret)):
                hint = f"It needs the secret that it was signed with, in {SECRET_VARIABLE}."
                raise DataError("the row does not fit its mark", path=path, line=number, hint=hint)
            previous = row["mark"]
            rows.append(row)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a board: {error}", path=path) from None
    return rows


def ranked(rows: Sequence[Mapping[str, Any]]) -> list[BoardRow]:
    """Rows by rate; a rank is one more than the number of entries that are better beyond their intervals.

    Examples
    --------
    >>> rows = [{"agent": a, "headline": {"estimate": e, "low": e - 0.1, "high": e + 0.1}}
    ...         for a, e in (("x", 0.5), ("y", 0.9), ("z", 0.85))]
    >>> [(row.rank, row.agent) for row in ranked(rows)]
    [(1, 'y'), (1, 'z'), (3, 'x')]
    """
    order = sorted(rows, key=lambda row: (-row["headline"]["estimate"], row["agent"]))
    return [
        BoardRow(1 + sum(o["headline"]["low"] > row["headline"]["high"] for o in rows), row["agent"], row)
        for row in order
    ]


def render_board(rows: Sequence[BoardRow]) -> str:
    """The board for the terminal."""
    lines = ["rank  agent                     n  solved and safe [95 %]    correct  safe   USD"]
    for row in rows:
        data, rate = row.data, row.data["headline"]
        cost = "-" if data["cost_usd"] is None else f"{data['cost_usd']:.4f}"
        text = f"{rate['estimate']:.3f} [{rate['low']:.3f}, {rate['high']:.3f}]"
        lines.append(
            f"{row.rank:>4}  {row.agent:<20}  {data['n']:>5}  {text:<24}  "
            f"{data['correct']:.3f}    {data['safe']:.3f}  {cost}"
        )
    missing = [name for name in ALWAYS_LISTED if name not in {row.agent for row in rows}]
    if missing:
        lines.append(f"not listed yet, and every board should: {', '.join(missing)}")
    return "\n".join(lines) + "\n"
