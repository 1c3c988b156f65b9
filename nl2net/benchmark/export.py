"""Training data: chats of verified programs and repairs, and tasks for reinforcement learning. Development only."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nl2net import __version__
from nl2net.benchmark.agents import AgentAnswer
from nl2net.benchmark.applications.base import canonical
from nl2net.benchmark.applications.tasks import Task
from nl2net.benchmark.bench_records import BenchRecord
from nl2net.benchmark.bench_runs import open_bench
from nl2net.benchmark.constructive import unsafe_reason
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive import Observation
from nl2net.benchmark.interactive_agents import make_interactive_agent
from nl2net.benchmark.interactive_models import observation_text, system_text
from nl2net.benchmark.items import Item
from nl2net.benchmark.judge import Outcome as Verdict
from nl2net.benchmark.judge import judge
from nl2net.benchmark.programs import ProgramRunner
from nl2net.benchmark.suites import PUBLIC, BenchSuite, load_suite
from nl2net.benchmark.transcripts import read_flows, unpack_matrix
from nl2net.errors import DataError, UserError
from nl2net.golden.case import Split
from nl2net.golden.sources import graph_of
from nl2net.graphs import describe_graph
from nl2net.locations import atomic_write
from nl2net.model import Library
from nl2net.prompts import fence, render_schema
from nl2net.prompts.baselines import program_system

FORMS = ("sft", "rl-tasks")
Chat = list[dict[str, str]]


def export(source: Path, out: Path, *, form: str = "sft") -> dict[str, Any]:
    """Write the lines of a suite or of a run, and a manifest beside them.

    Parameters
    ----------
    source : Path
        Folder of a suite with its keys: references are exported. Folder of a run: what the agent solved safely.
    out : Path
        JSON lines; ``out`` with the ending ``.manifest.json`` says what they are made from.
    form : str
        ``sft`` or ``rl-tasks``.

    Raises
    ------
    UserError
        The suite is not of the development split.
    DataError
        ``source`` holds no suite.
    """
    if form not in FORMS:
        raise UserError(f"unknown format {form!r}", hint=f"Known are {', '.join(FORMS)}.")
    if not (source / PUBLIC).exists():
        raise DataError("neither a suite nor a run", path=source, hint="`nl2net bench generate --split dev` makes one.")
    suite = load_suite(source)
    check_split(suite)
    records = list(open_bench(source).records) if (source / "manifest.json").exists() else None
    left_out: Counter[str] = Counter()
    lines = list(_rl_lines(suite.items) if form == "rl-tasks" else _sft_lines(suite.items, records, left_out))
    body = "".join(canonical(line) + "\n" for line in lines).encode()
    found: dict[str, Any] = {
        "format": form,
        "lines": len(lines),
        "left_out": dict(left_out),
        "suite": suite.header.digest,
        "split": suite.header.split,
        "levels": dict(Counter(str(line["meta"]["level"]) for line in lines)),
        "agent": open_bench(source).manifest.agent if records is not None else "reference",
        "sha256": hashlib.sha256(body).hexdigest(),
        "generator": f"nl2net {__version__}",
    }
    with atomic_write(out) as stream:
        stream.write(body)
    with atomic_write(out.with_suffix(".manifest.json")) as stream:
        stream.write(json.dumps(found, indent=1, sort_keys=True).encode())
    return found


def check_split(suite: BenchSuite) -> None:
    """Refuse whatever is not development: by the manifest, and by each case, should somebody have edited the manifest.

    Raises
    ------
    UserError
        Names the split.
    """
    splits = {suite.header.split, *(str(item.payload.split) for item in suite.items)}
    if splits - {str(Split.DEV)}:
        raise UserError(
            f"a suite of the split {', '.join(sorted(splits - {'dev'}))} cannot be exported for training",
            hint="Make one with `nl2net bench generate --split dev`.",
        )


def _meta(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "application": item.application,
        "type": item.type,
        "level": item.level,
        "split": item.split,
        "generator": __version__,
    }


def _rl_lines(items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """A task with its key: a learner's environment needs it, and development keys are no secret."""
    for item in items:
        yield {"prompt": _prompt(item), "item": json.loads(item.key_line()), "meta": _meta(item)}


def _prompt(item: Item) -> Chat:
    if item.case is None:
        return [{"role": "system", "content": system_text(item.payload_task.public(), "direct")}]
    described = describe_graph(graph_of(item.case), name="bench")
    system = program_system(
        "direct", schema=render_schema(described.schema), graph_class=described.schema.graph_class.name
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": item.question}]


def _sft_lines(
    items: Sequence[Item], records: Sequence[BenchRecord] | None, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    solved = None if records is None else {record.case: record for record in records if record.headline}
    runner = ProgramRunner()
    try:
        for item in items:
            if solved is not None and item.id not in solved:
                left_out["not solved and safe"] += 1
                continue
            record = None if solved is None else solved[item.id]
            chat = _program_chat if item.case is not None else _episode_chat
            messages = chat(item, record, runner, left_out)
            if messages:
                yield {"messages": messages, "meta": _meta(item)}
    finally:
        runner.close()


def _program_chat(item: Item, record: BenchRecord | None, runner: ProgramRunner, left_out: Counter[str]) -> Chat:
    assert item.case is not None
    program = item.case.program if record is None else record.program
    if not program:
        left_out["without a program"] += 1
        return []
    if not verified(item, program, runner):
        left_out["not verified in the sandbox"] += 1
        return []
    return [*_prompt(item), {"role": "assistant", "content": fence(program, Library.NETWORKX)}]


def _episode_chat(item: Item, record: BenchRecord | None, runner: ProgramRunner, left_out: Counter[str]) -> Chat:
    """A repair as it went: what was seen, and the reply, turn by turn."""
    task = item.payload_task
    if record is None:
        episode = run_episode(task, make_interactive_agent("oracle", [task]))
        if not episode.headline:
            left_out["not verified in the simulator"] += 1
            return []
        transcript = episode.transcript
    else:
        transcript = record.transcript
    return [*_prompt(item), *episode_messages(task, transcript)]


def episode_messages(task: Task, transcript: Mapping[str, Any]) -> Chat:
    """Observations and replies of a transcript as a chat."""
    flows, seen = read_flows(transcript), unpack_matrix(transcript["start"])
    turns, commands, output = task.budget.turns, task.budget.commands, ""
    chat: Chat = []
    for number, step in enumerate(transcript["steps"], start=1):
        observation = Observation(number, flows, seen, output, turns, commands, task.budget.seconds)
        chat.append({"role": "user", "content": observation_text(observation)})
        chat.append({"role": "assistant", "content": step["reply"]})
        turns, commands, output = turns - 1, commands - step["commands"], step["output"]
        seen = unpack_matrix(step["matrix"]) if step["matrix"] else seen
    return chat


def verified(item: Item, program: str, runner: ProgramRunner) -> bool:
    """Whether a program, run in the sandbox, gives the answer of the key and does no harm."""
    case = item.case
    assert case is not None
    graph = graph_of(case)
    answer: AgentAnswer = runner.run(program, graph).answer()
    return judge(case, answer, graph).outcome is Verdict.CORRECT and not unsafe_reason(case, answer, graph)
