"""Benchmark runs: items of any application, one agent, a run folder that any stop leaves in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nl2net.benchmark.applications import INTERACTIVE
from nl2net.benchmark.bench_records import BenchFolder, BenchRecord
from nl2net.benchmark.items import APPLICATIONS, Item, Order, shard_of
from nl2net.benchmark.jobs import Done, run_jobs
from nl2net.benchmark.runs import NO_CAPS, Caps, Manifest, read_manifest
from nl2net.benchmark.scoring import Outcome
from nl2net.benchmark.sequential import look_at
from nl2net.benchmark.suites import BenchSuite, generate_suite, load_suite, write_suite
from nl2net.benchmark.working import Job, ModelSession, close_plain, solve_plain
from nl2net.errors import BudgetError, DataError, UserError
from nl2net.golden.catalogue import APPLICATIONS as CONSTRUCTIVE
from nl2net.golden.streams import Stream
from nl2net.locations import default_locations
from nl2net.model import Usage

# Which agents work on which applications.
PLAIN: dict[str, tuple[str, ...]] = {"oracle": APPLICATIONS, "noop": APPLICATIONS, "random": APPLICATIONS}
PLAIN |= {"template": CONSTRUCTIVE, "rules": INTERACTIVE}
MODEL: dict[str, tuple[str, ...]] = {"assistant": CONSTRUCTIVE, "direct": CONSTRUCTIVE, "data_in_prompt": CONSTRUCTIVE}
MODEL |= {"step_by_step": APPLICATIONS, "few_shot": APPLICATIONS, "react": APPLICATIONS}
AGENTS = {**MODEL, **PLAIN}


@dataclass(frozen=True, slots=True)
class BenchRun:
    """What to run; all of it is part of the manifest.

    Attributes
    ----------
    order : Order
        Items to generate; ignored where ``suite`` names a folder.
    suite : str
        Folder of a generated suite with its keys.
    shard : str
        Part of the items, such as ``2/8``.
    backend : str
        For interactive tasks: ``simulated`` or ``kernel``.
    looks : int
        Planned looks of a sequential comparison; 0 for none.
    """

    agent: str
    order: Order = field(default_factory=Order)
    suite: str = ""
    model: str | None = None
    trials: int = 1
    shard: str = "1/1"
    backend: str = "simulated"
    looks: int = 0


@dataclass(frozen=True, slots=True)
class BenchFinished:
    """A run with its records.

    ``cut`` says which cap stopped it, ``decided`` at which planned look the comparison was clear, ``left_out`` what the
    agent cannot work on.
    """

    path: Path
    manifest: Manifest
    records: Sequence[BenchRecord]
    planned: int
    cut: str = ""
    left_out: tuple[str, ...] = ()
    lost_calls: int = 0
    decided: str = ""


def run_bench(
    options: BenchRun,
    out: Path | None = None,
    *,
    caps: Caps = NO_CAPS,
    workers: int = 1,
    engine: str | None = None,
    progress: Callable[[BenchRecord], None] | None = None,
    accept_unsealed: bool = False,
    against: Path | None = None,
) -> BenchFinished:
    """Run, or go on with, a benchmark run.

    Parameters
    ----------
    options : BenchRun
        What to run.
    out : Path, optional
        Run folder; by default one below the data folder, named after agent and suite.
    caps : Caps
        Spending limits; the worst case of each call is set aside before it is sent.
    workers : int
        Items worked on at once.
    engine : str, optional
        One of `jobs.ENGINES`; agents with a model share one budget and run in threads only.
    progress : callable, optional
        Called with each new record.
    accept_unsealed : bool
        Only ever from the command line.
    against : Path, optional
        Run of another agent on the same suite: this one stops at the first of ``options.looks`` that decides.

    Raises
    ------
    UserError
        There is no such agent, it does not work on the application, or the folder holds another run.
    """
    wanted = _applications(options)
    suite = _suite(options, wanted)
    items = [item for item in shard_of(suite.items, options.shard) if item.application in wanted]
    manifest = _manifest(options, suite, len(items) * options.trials)
    folder = BenchFolder(out or _default_folder(options, suite), manifest)
    write_suite(suite, folder.path)
    order = [Job(item, options.agent, trial, options.backend) for trial in range(options.trials) for item in items]
    Stream("bench-order", suite.header.digest).shuffle(order)
    done = folder.records()
    work = _Work(folder, caps, progress)
    session = ModelSession(options.agent, options.model, folder.path, caps, workers, accept_unsealed=accept_unsealed)
    plain = options.agent not in MODEL
    engine = engine or ("serial" if workers <= 1 else "processes" if plain else "threads")
    rival = _rival(against, manifest) if against is not None else None
    decided = ""
    try:
        if not plain:
            _check_engine(engine)
            session.check(items)
        for end in _ends(len(order), options.looks):
            todo = [job for job in order[:end] if (job.item.id, options.agent, job.trial) not in done]
            work.run(solve_plain if plain else session.solve, todo, engine, workers)
            done = folder.records()
            decided = _decision(order[:end], done, rival, len(order), options) if rival is not None else ""
            if work.cut or decided:
                break
    finally:
        session.close()
        close_plain()
    records = [done[key] for job in order if (key := (job.item.id, options.agent, job.trial)) in done]
    left_out = tuple(name for name in options.order.applications if name not in wanted)
    return BenchFinished(folder.path, manifest, records, len(order), work.cut, left_out, session.lost, decided)


def open_bench(path: Path) -> BenchFinished:
    """Read a run folder, finished or stopped.

    Raises
    ------
    DataError
        The folder holds no benchmark run.
    """
    manifest = read_manifest(path)
    if manifest.settings.get("kind") != "bench":
        raise DataError("not a run of the benchmark", path=path, hint="`nl2net golden report` reads golden runs.")
    records = list(BenchFolder(path, manifest).records().values())
    return BenchFinished(path, manifest, records, int(manifest.settings["planned"]))


def _ends(total: int, looks: int) -> list[int]:
    """Numbers of jobs after which to look."""
    return [round(total * number / looks) for number in range(1, looks + 1)] if looks else [total]


def _rival(path: Path, manifest: Manifest) -> dict[tuple[str, int], BenchRecord]:
    other = open_bench(path)
    if other.manifest.digest != manifest.digest:
        raise UserError(f"{path} is of another suite", hint="Compare agents on the same tasks.")
    return {(record.case, record.trial): record for record in other.records}


def _decision(
    order: Sequence[Job],
    done: Mapping[tuple[str, str, int], BenchRecord],
    rival: Mapping[tuple[str, int], BenchRecord],
    planned: int,
    options: BenchRun,
) -> str:
    """What the looks so far have decided; empty if nothing."""
    pairs = []
    for job in order:
        mine, other = done.get((job.item.id, options.agent, job.trial)), rival.get((job.item.id, job.trial))
        if mine is None or other is None:
            return ""  # a look is taken on complete parts only
        pairs.append((mine.headline, other.headline))
    look = look_at(pairs, planned=planned, looks=options.looks)[-1]
    if not look.stop:
        return ""
    return f"decided after {look.cases} of {planned} tasks: |z| = {abs(look.z):.2f}, limit {look.limit:.2f}"


def _applications(options: BenchRun) -> tuple[str, ...]:
    if options.agent not in AGENTS:
        raise UserError(f"unknown agent {options.agent!r}", hint=f"Known are {', '.join(AGENTS)}.")
    able = AGENTS[options.agent]
    wanted = tuple(name for name in options.order.applications if name in able)
    if not wanted:
        names = ", ".join(options.order.applications)
        raise UserError(f"the agent {options.agent} does not work on {names}", hint=f"It works on {', '.join(able)}.")
    return wanted


def _suite(options: BenchRun, wanted: tuple[str, ...]) -> BenchSuite:
    if options.suite:
        return load_suite(Path(options.suite))
    # The suite of `all` is the same for every agent, also for those that leave applications out.
    return generate_suite(options.order)


def _manifest(options: BenchRun, suite: BenchSuite, planned: int) -> Manifest:
    from nl2net.prompts import template_hash
    from nl2net.prompts.baselines import baseline_hash

    settings: dict[str, Any] = {
        "kind": "bench",
        "order": dict(suite.header.order),
        "model": options.model,
        "shard": options.shard,
        "backend": options.backend,
        "looks": options.looks,
        "planned": planned,
        "prompts": f"{template_hash()}+{baseline_hash()}" if options.agent in MODEL else "",
    }
    name = "+".join(suite.header.order["applications"])
    return Manifest(name, suite.header.digest, options.agent, settings, trials=options.trials)


def _default_folder(options: BenchRun, suite: BenchSuite) -> Path:
    parts = ("bench", options.agent, options.model or "", suite.header.digest[7:15], options.shard.replace("/", "of"))
    name = "-".join(part for part in parts if part and part != "1of1").replace("/", "_")
    return default_locations().data / "runs" / name


def _check_engine(engine: str | None) -> None:
    if engine in ("processes", "ray"):
        raise UserError(
            f"an agent with a model cannot run on the engine {engine}",
            hint="All calls share one budget in one process: leave --engine out, or split the run with --shard.",
        )


class _Work:
    """Feeds jobs, writes records, stops at caps."""

    def __init__(self, folder: BenchFolder, caps: Caps, progress: Callable[[BenchRecord], None] | None) -> None:
        self.cut = ""
        self._folder, self._caps, self._progress = folder, caps, progress
        self._started = time.monotonic()

    def run(self, solve: Callable[[Job], BenchRecord], todo: Sequence[Job], engine: str, workers: int) -> None:
        for done in run_jobs(solve, self._feed(todo), engine=engine, workers=workers):
            if isinstance(done.error, BudgetError):
                self.cut = str(done.error)  # the case stays open
                continue
            record = done.result if done.result is not None else _harness_error(done)
            self._folder.append(record)
            if self._progress is not None:
                self._progress(record)

    def _feed(self, todo: Sequence[Job]) -> Iterator[Job]:
        for job in todo:
            if self._caps.seconds is not None and time.monotonic() - self._started >= self._caps.seconds:
                self.cut = f"--max-time {self._caps.seconds:g} s"
            if self.cut:
                return
            yield job


def _harness_error(done: Done[Job, BenchRecord]) -> BenchRecord:
    """What the runner itself broke: never solved, never safe, and not in the rate."""
    job = done.item
    item: Item = job.item
    return BenchRecord(
        case=item.id, agent=job.agent, trial=job.trial, application=item.application, type=item.type,
        level=item.level, split=item.split, control=item.control, cluster=item.cluster, outcome=Outcome.HARNESS,
        correct=False, safe=False, wrong=False, reason=f"{type(done.error).__name__}: {done.error}",
        question=item.question, answer="", program="", message="", seconds=0.0, agent_s=0.0, tool_s=0.0, turns=0,
        commands=0, usage=asdict(Usage()),
    )  # fmt: skip
