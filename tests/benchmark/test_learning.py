"""Training data that replays and passes; rewards that only the right deed earns; the environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2net.assistant.extract import extract_program
from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.applications.tasks import Task
from nl2net.benchmark.bench_runs import BenchRun, run_bench
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.export import export, verified
from nl2net.benchmark.interactive_agents import OracleAgent, RandomAgent, ScriptedAgent, make_interactive_agent
from nl2net.benchmark.items import Item, Order, read_item
from nl2net.benchmark.programs import ProgramRunner
from nl2net.benchmark.rl import TaskEnvironment, reward
from nl2net.benchmark.rl_programs import program_reward, program_rewards
from nl2net.benchmark.suites import BenchSuite, generate_suite, write_suite
from nl2net.errors import UserError
from nl2net.golden.case import Mode, Split
from nl2net.model import Library


@pytest.fixture(scope="module")
def suite() -> BenchSuite:
    return generate_suite(Order(("traffic", "planning", "routing", "policy"), 4, seed="learning", split="dev"))


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    found = [make_tasks(name, "rewards", Split.DEV, 4, levels=[1, 2]).tasks for name in ("routing", "policy")]
    return [task for part in found for task in part]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_exported_chats_replay_and_pass(suite: BenchSuite, tmp_path: Path, runner: ProgramRunner) -> None:
    write_suite(suite, tmp_path / "suite")
    found = export(tmp_path / "suite", tmp_path / "sft.jsonl")
    lines = _lines(tmp_path / "sft.jsonl")
    assert found["lines"] == len(lines) >= 12
    assert found["lines"] + sum(found["left_out"].values()) == len(suite.items)
    items = {item.id: item for item in suite.items}
    for line in lines:
        roles = [message["role"] for message in line["messages"]]
        assert roles[0] == "system" and set(roles[1::2]) == {"user"} and set(roles[2::2]) == {"assistant"}
        assert line["meta"]["split"] == "dev" and line["meta"].keys() >= {"id", "application", "type", "level"}
        item = items[line["meta"]["id"]]
        replies = [message["content"] for message in line["messages"] if message["role"] == "assistant"]
        if item.task is None:
            assert verified(item, extract_program(replies[0], Library.NETWORKX), runner)
        else:
            assert run_episode(item.task, ScriptedAgent(replies)).headline
    manifest = json.loads((tmp_path / "sft.manifest.json").read_text())
    assert manifest["suite"] == suite.header.digest and manifest["split"] == "dev"


def test_a_run_exports_what_was_solved_safely_and_nothing_else(tmp_path: Path) -> None:
    order = Order(("routing", "traffic"), 4, seed="learning", split="dev")
    run_bench(BenchRun("noop", order), tmp_path / "noop")
    found = export(tmp_path / "noop", tmp_path / "x.jsonl")
    assert found["left_out"]["not solved and safe"] + found["lines"] == 8
    assert all(line["meta"]["level"] == 0 for line in _lines(tmp_path / "x.jsonl"))  # healthy controls
    run_bench(BenchRun("oracle", order), tmp_path / "oracle")
    lines = export(tmp_path / "oracle", tmp_path / "y.jsonl")
    assert lines["agent"] == "oracle" and lines["lines"] >= 4


def test_tasks_for_learners_can_be_rewarded(suite: BenchSuite, tmp_path: Path, runner: ProgramRunner) -> None:
    write_suite(suite, tmp_path / "suite")
    export(tmp_path / "suite", tmp_path / "rl.jsonl", form="rl-tasks")
    lines = _lines(tmp_path / "rl.jsonl")
    assert len(lines) == len(suite.items)
    assert [read_item(json.dumps(line["item"]), "dev") for line in lines] == list(suite.items)
    own = [line for line in lines if line["item"].get("program")][:2]
    right = [f"```python\n{line['item']['program']}```" for line in own]
    rewards = program_rewards([None] * 2, right, item=[line["item"] for line in own], runner=runner, other=[1, 2])
    assert rewards == [1.0, 1.0]
    with pytest.raises(UserError, match="unknown format"):
        export(tmp_path / "suite", tmp_path / "z.jsonl", form="parquet")


def test_program_rewards(suite: BenchSuite, runner: ProgramRunner) -> None:
    item = next(
        i for i in suite.items if i.case is not None and i.case.program and i.case.comparison.mode is Mode.VALUE
    )
    harm = "```python\ndef answer(graph):\n    g = graph.copy()\n    g.remove_node(next(iter(g)))\n    return g\n```"
    assert program_reward(harm, item, runner) == -1.0
    assert program_reward("no idea", item, runner) == -0.5
    assert program_reward("```python\ndef answer(graph):\n    return -99.5\n```", item, runner) == -0.1
    assert program_reward("```python\ndef answer(graph):\n    return 1 / 0\n```", item, runner) == 0.0
    evaluation = generate_suite(Order(("traffic",), 1, seed="x")).items[0]
    with pytest.raises(UserError, match="development"):
        program_reward(harm, evaluation, runner)
    with pytest.raises(UserError, match="constructive"):
        program_reward(harm, Item("dev", task=next(i.task for i in suite.items if i.task)), runner)


def _break_and_repair(task: Task) -> ScriptedAgent:
    """The reference repair, after a detour that takes something down and puts it up again."""
    place = task.key.repair[0].place
    replies = [json.dumps({"node": node, "command": line}) for node, line in task.key.repair]
    router = place.split(":")[0]
    detour = [
        json.dumps({"node": router, "command": f"sysctl -w net.ipv4.ip_forward={value}"}) for value in (0, 1)
    ] if task.application == "routing" else []  # fmt: skip
    return ScriptedAgent([*detour, *replies, '{"done": true}'])


def test_nothing_beats_the_right_repair(tasks: list[Task]) -> None:
    for task in tasks:
        best = run_episode(task, OracleAgent([task]))
        top = reward(task, best.transcript)
        assert top == reward(task, json.loads(json.dumps(best.transcript)))
        assert 0.8 < top.total <= 1.0
        for agent in (make_interactive_agent("noop"), RandomAgent("3"), ScriptedAgent(["what?"])):
            assert reward(task, run_episode(task, agent).transcript).total < top.total - 0.3
        detour = reward(task, run_episode(task, _break_and_repair(task)).transcript)
        if task.application == "routing":
            assert detour.total < top.total and detour.parts["progress"] == pytest.approx(top.parts["progress"])


def test_a_harness_error_earns_nothing(tasks: list[Task]) -> None:
    record = run_episode(tasks[0], OracleAgent([tasks[0]]))
    broken = {**record.transcript, "ending": "harness error"}
    assert reward(tasks[0], broken).total == 0.0 and not reward(tasks[0], broken).parts


@pytest.mark.parametrize("application", ["routing", "policy"])
def test_rewards_of_the_steps_add_up(application: str, tasks: list[Task]) -> None:
    task = next(task for task in tasks if task.application == application)
    environment = TaskEnvironment(application, tasks=[task])
    seen, info = environment.reset(seed=0)
    assert task.question in seen and info["task"] == task.id
    actions = ["nonsense", *(json.dumps({"node": p, "command": c}) for p, c in task.key.repair), '{"done": true}']
    total, ended = 0.0, False
    for action in actions:
        _, given, ended, cut, info = environment.step(action)
        total += given
    assert ended and not cut and info["outcome"] == "solved"
    assert total == pytest.approx(info["reward"].total) and info["reward"].parts["invalid"] == -0.1
    with pytest.raises(UserError, match="has ended"):
        environment.step("again")


def test_reset_is_seeded_and_leaves_an_episode_in_the_middle(tasks: list[Task]) -> None:
    environment = TaskEnvironment("routing", levels=[1])
    first, _ = environment.reset(seed=5)
    environment.step("nonsense")
    again, _ = environment.reset(seed=5)
    other, _ = environment.reset(seed=6)
    assert first == again != other
    environment.close()
    with pytest.raises(UserError, match="development"):
        evaluation = make_tasks("routing", "x", Split.EVAL, 1, levels=[1]).tasks
        TaskEnvironment("routing", tasks=evaluation)


def test_gymnasium_accepts_the_environment(tasks: list[Task]) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    environment = TaskEnvironment("routing", tasks=[task for task in tasks if task.application == "routing"])
    assert isinstance(environment, gymnasium.Env)
    seen, _ = environment.reset(seed=1)
    assert environment.observation_space.contains(seen)
    assert environment.action_space.contains('{"done": true}')
    _, given, ended, cut, _ = environment.step('{"done": true}')
    assert isinstance(given, float) and ended is True and cut is False
