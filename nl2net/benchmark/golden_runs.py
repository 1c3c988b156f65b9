"""Golden runs: a suite, an agent by name, and a run folder that holds a copy of the suite."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nl2net.benchmark.agents import Agent, NoopAgent, OracleAgent
from nl2net.benchmark.runs import NO_CAPS, Caps, Manifest, Record, RunFolder, open_run, run_cases
from nl2net.errors import DataError, UserError
from nl2net.golden.case import Case
from nl2net.golden.suite import Suite, load_suite, write_suite
from nl2net.locations import default_locations

AGENTS = ("assistant", "oracle", "noop")


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """What to run; everything here is part of the manifest."""

    suite: str
    agent: str = "assistant"
    model: str | None = None
    samples: int | None = None
    library: str | None = None
    limit: int | None = None
    trials: int = 1
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    """A run with its records and cases."""

    path: Path
    manifest: Manifest
    records: Sequence[Record]
    cases: Sequence[Case]


def make_agent(options: GoldenRun, cases: Sequence[Case]) -> Agent:
    """The agent of a run.

    Raises
    ------
    UserError
        There is no agent of that name.
    """
    if options.agent == "oracle":
        return OracleAgent(cases)
    if options.agent == "noop":
        return NoopAgent()
    if options.agent != "assistant":
        raise UserError(f"unknown agent {options.agent!r}", hint=f"Known are {', '.join(AGENTS)}.")
    module = import_module("nl2net.benchmark.assistant_agent")  # brings the sandbox and a model
    agent: Agent = module.make_agent(
        model=options.model, samples=options.samples, library=options.library, seed=options.seed, cases=cases
    )
    return agent


def _default_folder(options: GoldenRun, suite: Suite) -> Path:
    parts = (suite.header.name, options.agent, options.model or "", suite.header.digest[7:15])
    name = "-".join(part for part in parts if part).replace("/", "_")
    return default_locations().data / "runs" / name


def run_golden(
    options: GoldenRun,
    out: Path | None = None,
    *,
    caps: Caps = NO_CAPS,
    workers: int = 1,
    progress: Callable[[Record], None] | None = None,
) -> Finished:
    """Run, or go on with, a golden run.

    Parameters
    ----------
    options : GoldenRun
        Suite, agent and settings.
    out : Path, optional
        Run folder; by default one below the data folder, named after suite and agent.
    caps : Caps
        Spending limits.
    workers : int
        Questions answered at the same time.
    progress : callable, optional
        Called with each new record.
    """
    suite = load_suite(options.suite)
    cases = list(suite.cases)
    if options.limit is not None and options.limit < len(cases):
        picked = set(random.Random(options.seed).sample(range(len(cases)), options.limit))  # noqa: S311
        cases = [case for position, case in enumerate(cases) if position in picked]
    path = out or _default_folder(options, suite)
    settings: dict[str, Any] = {key: value for key, value in asdict(options).items() if key not in ("suite", "agent")}
    manifest = Manifest(
        suite.header.name, suite.header.digest, options.agent, settings, trials=options.trials, seed=options.seed
    )
    folder = RunFolder(path, manifest)
    write_suite(suite, path / "suite.jsonl")
    agent = make_agent(options, cases)
    records = run_cases(cases, agent, folder, workers=workers, caps=caps, progress=progress)
    return Finished(path, manifest, records, cases)


def open_golden(path: Path) -> Finished:
    """Read a run folder with the suite in it.

    Raises
    ------
    DataError
        The folder holds no golden run.
    """
    manifest, records = open_run(path)
    suite = load_suite(path / "suite.jsonl")
    if suite.header.digest != manifest.digest:
        raise DataError("the suite of the folder is not the one that was run", path=path)
    return Finished(path, manifest, records, suite.cases)
