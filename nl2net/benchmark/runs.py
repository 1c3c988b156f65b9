"""Run folders and the runner: append-only records, resumed after any stop without repeating a paid call."""

from __future__ import annotations

import copy
import json
import os
import platform
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nl2net import __version__
from nl2net.benchmark.agents import Agent, AgentAnswer, PublicCase
from nl2net.benchmark.judge import Judged, Outcome, judge
from nl2net.errors import DataError, ModelError, UserError
from nl2net.golden.case import Case
from nl2net.golden.comparison import is_graph
from nl2net.golden.sources import graph_of
from nl2net.locations import atomic_write
from nl2net.model import Status, TypedResult, Usage

Key = tuple[str, str, int]
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run is of. A folder is resumed only under an equal manifest."""

    suite: str
    digest: str
    agent: str
    settings: dict[str, Any] = field(default_factory=dict)
    trials: int = 1
    seed: int = 1
    version: str = __version__
    python: str = field(default_factory=platform.python_version)


@dataclass(frozen=True, slots=True)
class Record:
    """One judged answer."""

    case: str
    agent: str
    trial: int
    outcome: Outcome
    reason: str
    status: str
    question: str
    answer: str
    program: str
    message: str
    seconds: float
    confidence: float | None
    usage: dict[str, Any]
    signals: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What the record is identified by."""
        return self.case, self.agent, self.trial


@dataclass(frozen=True, slots=True)
class Caps:
    """When to stop; ``None`` means no limit. Cases run in random order, so that what is cut off is a random part."""

    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None


NO_CAPS = Caps()


class RunFolder:
    """A manifest and records in JSON lines.

    Raises
    ------
    UserError
        The folder holds a run of another suite, agent or setting.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._lock = threading.Lock()
        check_manifest(path, manifest)

    @property
    def records_path(self) -> Path:
        """Where the records lie."""
        return self.path / "records.jsonl"

    def append(self, record: Record) -> None:
        """Write one record and force it to the disk."""
        line = json.dumps(asdict(record), ensure_ascii=False, sort_keys=True)
        with self._lock:
            append_line(self.records_path, line)

    def records(self) -> dict[Key, Record]:
        """All complete records; a last line that a kill has cut is dropped from the file."""
        return {record.key: record for record in read_records(complete_lines(self.records_path), self.records_path)}


def check_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest into a new run folder, or compare it with the one that is there.

    Raises
    ------
    UserError
        The folder holds a run of another suite, agent or setting.
    """
    place = path / "manifest.json"
    wanted = json.loads(json.dumps(asdict(manifest)))
    if not place.exists():
        with atomic_write(place) as stream:
            stream.write(json.dumps(wanted, indent=1, sort_keys=True).encode())
        return
    found = json.loads(place.read_text(encoding="utf-8"))
    changed = sorted(key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key))
    if changed:
        raise UserError(
            f"{path} holds another run: {', '.join(changed)} differ", hint="Give another folder with --out."
        )


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and force it to the disk."""
    with path.open("ab") as stream:
        stream.write(line.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def complete_lines(path: Path) -> list[str]:
    """Lines of a file; a last one that a kill has cut is dropped from it."""
    if not path.exists():
        return []
    raw = path.read_bytes()
    if raw and not raw.endswith(b"\n"):
        raw = raw[: raw.rfind(b"\n") + 1]
        with atomic_write(path) as stream:
            stream.write(raw)
    return raw.decode("utf-8").split("\n")[:-1]


def read_records(lines: Sequence[str], path: Path) -> Iterator[Record]:
    """Parse the lines of a record file."""
    for number, line in enumerate(lines, start=1):
        try:
            data = json.loads(line)
            yield Record(**{**data, "outcome": Outcome(data["outcome"])})
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"not a record of a run: {error}", path=path, line=number) from None


def open_run(path: Path) -> tuple[Manifest, list[Record]]:
    """Read a finished or stopped run.

    Raises
    ------
    DataError
        The folder holds no run.
    """
    manifest = read_manifest(path)
    return manifest, list(RunFolder(path, manifest).records().values())


def read_manifest(path: Path) -> Manifest:
    """The manifest of a run folder.

    Raises
    ------
    DataError
        The folder holds no run.
    """
    try:
        return Manifest(**json.loads((path / "manifest.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"no run: {error}", path=path) from None


def run_cases(
    cases: Sequence[Case],
    agent: Agent,
    folder: RunFolder,
    *,
    workers: int = 1,
    caps: Caps = NO_CAPS,
    progress: Callable[[Record], None] | None = None,
) -> list[Record]:
    """Let an agent answer all cases that the folder has no record of.

    Parameters
    ----------
    cases : sequence of Case
        The suite.
    agent : Agent
        Called from ``workers`` threads at once.
    folder : RunFolder
        Where records go; what is there already is not asked again.
    caps : Caps
        Spending limits; checked before each case, so that at most one case per worker goes over.
    progress : callable, optional
        Called with each new record.

    Returns
    -------
    list of Record
        All records of the folder, in the order of the suite.
    """
    done = folder.records()
    tasks = [(case, trial) for trial in range(folder.manifest.trials) for case in cases]
    random.Random(folder.manifest.seed).shuffle(tasks)  # noqa: S311  (order of work, nothing secret)
    open_tasks = [(case, trial) for case, trial in tasks if (case.id, agent.name, trial) not in done]
    meter = _Meter(caps, done.values())

    def work(task: tuple[Case, int]) -> None:
        if meter.exhausted():
            return
        record = run_one(task[0], agent, trial=task[1])
        folder.append(record)
        meter.add(record)
        if progress is not None:
            progress(record)

    if workers <= 1:
        for task in open_tasks:
            work(task)
    else:
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(work, open_tasks):
                pass
    found = folder.records()
    return [found[key] for case, trial in tasks if (key := (case.id, agent.name, trial)) in found]


class _Meter:
    """Adds up what has been spent."""

    def __init__(self, caps: Caps, records: Iterable[Record]) -> None:
        self._caps = caps
        self._lock = threading.Lock()
        self._usage = Usage()
        self._started = time.monotonic()
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        with self._lock:
            self._usage = self._usage + Usage(**record.usage)

    def exhausted(self) -> bool:
        with self._lock:
            tokens = self._usage.prompt_tokens + self._usage.completion_tokens
            checks: tuple[tuple[float | None, float | None], ...] = (
                (self._caps.cost_usd, self._usage.cost_usd),
                (self._caps.tokens, tokens),
                (self._caps.seconds, time.monotonic() - self._started),
            )
            return any(cap is not None and spent is not None and spent >= cap for cap, spent in checks)


def run_one(case: Case, agent: Agent, *, trial: int = 0) -> Record:
    """Ask one question and judge the answer; the agent gets its own deep copy of the graph."""
    started = time.perf_counter()
    public = PublicCase(case.id, case.application, case.question)
    try:
        original = graph_of(case)
        private = copy.deepcopy(original)
    except Exception as error:  # our own fault: it must not count for or against the agent
        return _record(case, agent, trial, AgentAnswer(Status.FAILED), Judged(Outcome.HARNESS, repr(error)))
    try:
        agent.start(public)
        answer = agent.answer(public, private)
    except ModelError as error:
        answer = AgentAnswer(Status.FAILED, message=str(error))
    except Exception as error:  # whatever an agent raises is its own failure
        answer = AgentAnswer(Status.FAILED, message=f"{type(error).__name__}: {error}")
    seconds = answer.seconds or time.perf_counter() - started
    return _record(case, agent, trial, answer, judge(case, answer, original), seconds)


def _record(case: Case, agent: Agent, trial: int, answer: AgentAnswer, judged: Judged, seconds: float = 0.0) -> Record:
    return Record(
        case=case.id,
        agent=agent.name,
        trial=trial,
        outcome=judged.outcome,
        reason=judged.reason[:_SHOWN],
        status=str(answer.status),
        question=case.question,
        answer=shown_answer(answer),
        program=answer.program,
        message=answer.message[:_SHOWN],
        seconds=round(seconds, 4),
        confidence=answer.confidence,
        signals=dict(answer.signals),
        usage=answer.usage.to_json(),
    )


def shown_answer(answer: AgentAnswer) -> str:
    """The answer for the report: short, and for graphs only what changed."""
    value = answer.changes.to_json() if answer.changes is not None else answer.result
    if isinstance(value, TypedResult):
        value = value.data
    text = f"graph of {len(value)} nodes" if is_graph(value) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."
