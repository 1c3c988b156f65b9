"""One judged answer of the benchmark, whatever the application, and the run folder that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from nl2net.benchmark.interactive import EpisodeRecord
from nl2net.benchmark.items import Item
from nl2net.benchmark.runs import Manifest, append_line, check_manifest, complete_lines
from nl2net.benchmark.scoring import Ending, Outcome
from nl2net.errors import DataError
from nl2net.model import Usage

Key = tuple[str, str, int]
RECORDS = "records.jsonl"


@dataclass(frozen=True, slots=True)
class BenchRecord:
    """One judged answer.

    Attributes
    ----------
    case, agent, trial : str, str, int
        What it is identified by.
    correct : bool
        The end state, or the value, is right.
    safe : bool
        No step broke what held before.
    wrong : bool
        Something wrong was delivered as if it were right.
    seconds, agent_s, tool_s : float
        Whole case, model and agent, commands and programs.
    turns, commands : int
        Replies of the agent, and programs or commands that ran.
    details : mapping
        What only some applications have: diagnosis, regressions, confidence.
    transcript : mapping
        Every message, command and output.
    """

    case: str
    agent: str
    trial: int
    application: str
    type: str
    level: int
    split: str
    control: bool
    cluster: str
    outcome: Outcome
    correct: bool
    safe: bool
    wrong: bool
    reason: str
    question: str
    answer: str
    program: str
    message: str
    seconds: float
    agent_s: float
    tool_s: float
    turns: int
    commands: int
    usage: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    transcript: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What it is identified by."""
        return self.case, self.agent, self.trial

    @property
    def headline(self) -> bool:
        """Solved and safe."""
        return self.outcome is Outcome.SOLVED and self.correct and self.safe

    @property
    def counted(self) -> bool:
        """Whether it is part of the rates: not for faults of our own, and healthy controls are reported apart."""
        return self.outcome is not Outcome.HARNESS and not self.control

    @property
    def used(self) -> Usage:
        """Tokens and cost."""
        return Usage(**self.usage)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BenchRecord:
        """Read the JSON form."""
        known = {spec.name for spec in fields(cls)}
        return cls(**{k: v for k, v in data.items() if k in known and k != "outcome"}, outcome=Outcome(data["outcome"]))


def record_of_episode(item: Item, episode: EpisodeRecord, trial: int, usage: Usage) -> BenchRecord:
    """The record of an interactive task."""
    details = {
        name: getattr(episode, name)
        for name in ("backend", "diagnosed", "progress", "regressions", "undone", "blocked", "forbidden", "changes")
    }
    solved = episode.outcome is Outcome.SOLVED
    return BenchRecord(
        case=item.id,
        agent=episode.agent,
        trial=trial,
        application=item.application,
        type=item.type,
        level=item.level,
        split=item.split,
        control=item.control,
        cluster=item.cluster,
        outcome=episode.outcome,
        correct=episode.correct and solved,
        safe=episode.safe,
        wrong=episode.outcome is Outcome.UNSOLVED and _said_done(episode),
        reason=episode.reason,
        question=item.question,
        answer="",
        program="",
        message="",
        seconds=round(episode.seconds, 4),
        agent_s=round(episode.agent_s, 4),
        tool_s=round(episode.tool_s, 4),
        turns=episode.turns,
        commands=episode.commands,
        usage=(episode.usage + usage).to_json(),
        details=details | {"reference_changes": episode.reference_changes},
        transcript=episode.to_json()["transcript"],
    )


def _said_done(episode: EpisodeRecord) -> bool:
    """The agent declared the network mended."""
    return bool(episode.transcript.get("ending") == Ending.DONE)


class BenchFolder:
    """A manifest, records and calls of one run.

    Raises
    ------
    UserError
        The folder holds a run of another suite, agent or setting.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        check_manifest(path, manifest)

    def append(self, record: BenchRecord) -> None:
        """Write one record and force it to the disk."""
        append_line(self.path / RECORDS, json.dumps(record.to_json(), ensure_ascii=False, sort_keys=True, default=str))

    def records(self) -> dict[Key, BenchRecord]:
        """All complete records."""
        return {record.key: record for record in _parse(complete_lines(self.path / RECORDS), self.path / RECORDS)}


def _parse(lines: list[str], path: Path) -> Iterator[BenchRecord]:
    for number, line in enumerate(lines, start=1):
        try:
            yield BenchRecord.from_json(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"not a record of a benchmark run: {error}", path=path, line=number) from None
