"""Run folders as entries of a report, and reports as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nl2net.benchmark.bench_records import BenchRecord
from nl2net.benchmark.bench_report import Entry, reproduction
from nl2net.benchmark.bench_runs import BenchFinished, open_bench
from nl2net.benchmark.bench_summary import Pair, compare_agents, overlap_share, summarise, summary_json
from nl2net.benchmark.board import BoardRow
from nl2net.benchmark.runs import Manifest
from nl2net.errors import UserError


def name_of(manifest: Manifest) -> str:
    """Agent, and its model where it has one."""
    model = manifest.settings.get("model")
    return f"{manifest.agent} ({model})" if model else manifest.agent


def entry_of(finished: BenchFinished) -> Entry:
    """A run as an entry."""
    manifest = finished.manifest
    return Entry(
        name_of(manifest), manifest, finished.records, summarise(finished.records), finished.cut or finished.decided
    )


def open_entries(paths: Sequence[Path]) -> list[Entry]:
    """Read run folders; shards of one run become one entry.

    Raises
    ------
    UserError
        Two runs of one agent are of different suites, or hold the same task.
    """
    groups: dict[str, list[BenchFinished]] = {}
    for path in dict.fromkeys(path.resolve() for path in paths):
        finished = open_bench(path)
        groups.setdefault(name_of(finished.manifest), []).append(finished)
    return [_together(name, runs) for name, runs in groups.items()]


def _together(name: str, runs: Sequence[BenchFinished]) -> Entry:
    first = runs[0].manifest
    if any(run.manifest.digest != first.digest for run in runs):
        raise UserError(f"two runs of {name} are of different suites", hint="Report them one by one.")
    records: dict[Any, BenchRecord] = {}
    for run in runs:
        if any(record.key in records for record in run.records):
            raise UserError(f"two runs of {name} hold the same task", hint="Only shards are put together.")
        records |= {record.key: record for record in run.records}
    planned = sum(run.planned for run in runs)
    settings = {**first.settings, "planned": planned}
    manifest = Manifest(**{**asdict(first), "settings": settings})
    return Entry(name, manifest, list(records.values()), summarise(list(records.values())))


def choose(entries: Sequence[Entry], wanted: Sequence[str]) -> list[Entry]:
    """The entries of these names or run folders, in this order.

    Raises
    ------
    UserError
        There is none of that name.
    """
    found = []
    for name in wanted:
        path = Path(name)
        asked = name_of(open_bench(path).manifest) if path.is_dir() else name
        entry = next((entry for entry in entries if asked in (entry.name, entry.manifest.agent)), None)
        if entry is None:
            raise UserError(f"no run of {name!r}", hint=f"There are {', '.join(entry.name for entry in entries)}.")
        found.append(entry)
    return found


def pairs_of(entries: Sequence[Entry]) -> list[Pair]:
    """All pairs of entries on their common tasks; none for a single one."""
    return compare_agents({entry.name: entry.records for entry in entries}) if len(entries) > 1 else []


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as plain JSON."""
    return {
        "agent": entry.name,
        "suite": entry.manifest.suite,
        "digest": entry.manifest.digest,
        "settings": dict(entry.manifest.settings),
        "records": len(entry.records),
        "command": reproduction(entry.manifest),
        **summary_json(entry.summary),
    }


def run_json(finished: BenchFinished, entry: Entry) -> dict[str, Any]:
    """What ``bench run --json`` prints."""
    return {
        "version": 1,
        "run": str(finished.path),
        "planned": finished.planned,
        "cut": finished.cut,
        "left_out": list(finished.left_out),
        "lost_calls": finished.lost_calls,
        **entry_json(entry),
    }


def report_json(entries: Sequence[Entry], pairs: Sequence[Pair], rows: Sequence[BoardRow]) -> dict[str, Any]:
    """What ``bench report --json`` prints."""
    return {
        "version": 1,
        "entries": [entry_json(entry) for entry in entries],
        "pairs": [asdict(pair) for pair in pairs],
        "overlapping_pairs": overlap_share([entry.summary.overall for entry in entries]),
        "board": [{"rank": row.rank, **row.data} for row in rows],
    }
