"""Golden runs as their screen needs them: the list, one in full, a comparison, a new one that can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nl2net.errors import Nl2netError, UserError
from nl2net.locations import Locations

if TYPE_CHECKING:
    from nl2net.benchmark.golden_runs import Finished, GoldenRun
    from nl2net.benchmark.runs import Record


class Stopped(Exception):
    """The operator stopped a run; what was answered is in its folder."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the list."""

    path: Path
    suite: str
    agent: str
    answered: int
    correct: int
    wrong: int


def runs_folder(locations: Locations) -> Path:
    """Where ``nl2net golden run`` puts its folders unless told otherwise."""
    return locations.data / "runs"


def list_runs(locations: Locations) -> list[RunLine]:
    """All readable runs, newest first."""
    from nl2net.benchmark.runs import open_run

    folder = runs_folder(locations)
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime):
        try:
            manifest, records = open_run(path)
        except Nl2netError:
            continue  # another kind of run, or a folder of the user's own
        outcomes = [str(record.outcome) for record in records]
        counts = (len(records), outcomes.count("correct"), outcomes.count("wrong-delivered"))
        found.append(RunLine(path, manifest.suite, manifest.agent, *counts))
    return found


def run_text(path: Path) -> tuple[str, list[Record]]:
    """The report of a run and its records, failures first."""
    from nl2net.benchmark.golden_runs import open_golden
    from nl2net.benchmark.report import render_text
    from nl2net.benchmark.summary import summarise

    finished = open_golden(path)
    text = render_text(finished.manifest, summarise(finished.records, finished.cases))
    return text, sorted(finished.records, key=lambda record: str(record.outcome) == "correct")


def compare_text(first: Path, second: Path) -> str:
    """The paired comparison of two runs."""
    from nl2net.benchmark.golden_runs import open_golden
    from nl2net.benchmark.report import render_comparison
    from nl2net.benchmark.summary import compare_runs

    a, b = open_golden(first), open_golden(second)
    return render_comparison(a.manifest, b.manifest, compare_runs(a.records, b.records))


def parse_run(text: str) -> GoldenRun:
    """Options of a new run from a line such as ``traffic-dev assistant 20``.

    Raises
    ------
    UserError
        There is no suite, agent or number of that kind.

    Examples
    --------
    >>> parse_run("traffic-dev oracle 20").limit
    20
    """
    from nl2net.benchmark.golden_runs import AGENTS, GoldenRun
    from nl2net.golden.suite import shipped_suites

    words = text.split()
    if not words or (words[0] not in shipped_suites() and not Path(words[0]).is_file()):
        raise UserError(f"give a suite: {', '.join(shipped_suites())}, or a file")
    agent = next((word for word in words[1:] if word in AGENTS), "assistant")
    rest = [word for word in words[1:] if word not in AGENTS]
    if len(rest) > 1 or not all(word.isdecimal() and int(word) > 0 for word in rest):
        raise UserError(f"{text!r} is no run", hint="SUITE AGENT COUNT, for instance: traffic-dev assistant 20")
    return GoldenRun(words[0], agent, limit=int(rest[0]) if rest else None)


def start_run(
    options: GoldenRun, locations: Locations, *, progress: Callable[[Record], None], stop: threading.Event
) -> Finished:
    """Run a suite, or go on with it; raises `Stopped` after the case in work once ``stop`` is set."""
    from nl2net.benchmark.golden_runs import run_golden

    def each(record: Record) -> None:
        progress(record)
        if stop.is_set():
            raise Stopped

    name = f"{Path(options.suite).stem}-{options.agent}" + (f"-{options.limit}" if options.limit else "")
    return run_golden(options, runs_folder(locations) / name, progress=each)
