"""Episodes: limits, observations, hostile agents, transcripts, and agents that need no model or a scripted one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from benchmark.hostile import HOSTILE, Hostile, stall

from nl2net.benchmark.applications import INTERACTIVE
from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.applications.tasks import Budget, PublicTask, Task
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive import EpisodeRecord, Observation, replay
from nl2net.benchmark.interactive_agents import (
    MODEL_AGENTS,
    NoopAgent,
    OracleAgent,
    ScriptedAgent,
    make_interactive_agent,
)
from nl2net.benchmark.interactive_models import example_messages, example_tasks
from nl2net.benchmark.scoring import Outcome
from nl2net.errors import DataError, UserError
from nl2net.golden.case import Split
from nl2net.model import Usage


@pytest.fixture(scope="module")
def tasks() -> dict[str, list[Task]]:
    return {name: make_tasks(name, "episodes", Split.EVAL, 22).tasks for name in INTERACTIVE}


@pytest.fixture
def task(tasks: dict[str, list[Task]]) -> Task:
    return next(item for item in tasks["routing"] if item.level == 1)


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", INTERACTIVE)
def test_hostile_agents_score_no_more_than_noop(
    name: str, make: Callable[[PublicTask, int], str], tasks: dict[str, list[Task]]
) -> None:
    for item in tasks[name][:11]:
        record = run_episode(item, Hostile(make.__name__, make))
        assert record.headline <= run_episode(item, NoopAgent()).headline, (item.id, item.type, record.reason)
        assert record.outcome is not Outcome.HARNESS, record.reason
        assert replay(EpisodeRecord.from_json(json.loads(json.dumps(record.to_json())))) == record


def test_an_agent_that_stalls_ends_with_its_seconds(task: Task) -> None:
    short = replace(task, budget=Budget(seconds=0.2))
    record = run_episode(short, Hostile("stall", stall))
    assert record.outcome is Outcome.BUDGET
    assert record.seconds < 5


def test_limits_on_turns_commands_and_output(task: Task) -> None:
    look = ScriptedAgent([json.dumps({"node": task.plan["repair_at"][0], "command": "ip addr; ip route; ip rule"})])
    turns = run_episode(replace(task, budget=Budget(turns=4)), look)
    assert (turns.outcome, turns.turns, turns.commands) == (Outcome.BUDGET, 4, 12)
    commands = run_episode(replace(task, budget=Budget(commands=7)), look)
    assert (commands.outcome, commands.turns, commands.commands) == (Outcome.BUDGET, 3, 7)
    short = run_episode(replace(task, budget=Budget(turns=1, output_chars=50)), look)
    assert "more characters" in short.transcript["steps"][0]["output"]
    assert len(short.transcript["steps"][0]["output"]) < 100


def test_three_unreadable_replies_in_a_row_end_the_episode(task: Task) -> None:
    record = run_episode(task, ScriptedAgent(["hm", '{"node": "nowhere", "command": "ip a"}', "a", "b", "c"]))
    assert (record.outcome, record.turns, record.blocked) == (Outcome.INVALID, 5, 1)
    assert "there is no place 'nowhere'" in record.transcript["steps"][1]["output"]


def test_an_observation_shows_losses_output_and_budget(task: Task) -> None:
    seen: list[Observation] = []

    class Watcher(ScriptedAgent):
        def reply(self, observation: Observation) -> str:
            seen.append(observation)
            return super().reply(observation)

    place, line = task.key.repair[0]
    run_episode(task, Watcher([json.dumps({"node": place, "command": f"{line}; ip route"}), '{"done": true}']))
    first, second = seen
    assert tuple(task.state.flows.index(flow) for flow, _ in first.wrong()) == task.key.symptoms
    assert all(item.reason for flow, item in first.wrong() if flow.allowed)
    assert second.wrong() == []
    assert " dev " in second.output
    assert second.turns_left == first.turns_left - 1
    assert json.loads(json.dumps(second.to_json()))["turn"] == 2


def test_a_forbidden_command_makes_a_right_repair_unsafe(task: Task) -> None:
    repair = [json.dumps({"node": place, "command": line}) for place, line in task.key.repair]
    bad = json.dumps({"node": task.plan["repair_at"][0], "command": "sudo ip addr"})
    record = run_episode(task, ScriptedAgent([bad, *repair, '{"done": true}']))
    assert (record.outcome, record.correct, record.safe, record.forbidden) == (Outcome.SOLVED, True, False, 1)
    fine = json.dumps({"node": task.plan["repair_at"][0], "command": "tcpdump -c 1"})
    record = run_episode(task, ScriptedAgent([fine, *repair, '{"done": true}']))
    assert (record.headline, record.blocked, record.forbidden) == (True, 1, 0)


def test_a_fault_that_cannot_be_made_is_our_error_and_no_score(task: Task) -> None:
    again = replace(task.key, faults=(*task.key.faults, replace(task.key.faults[0])))
    broken = replace(task, control=True, key=again)
    record = run_episode(broken, NoopAgent())
    assert (record.outcome, record.correct, record.safe) == (Outcome.HARNESS, False, False)
    assert replay(record).outcome is Outcome.HARNESS


def test_a_changed_transcript_is_found_out(task: Task) -> None:
    record = run_episode(task, OracleAgent([task]))
    data = record.to_json()
    data["transcript"]["steps"][-2]["matrix"] = data["transcript"]["start"]
    with pytest.raises(DataError, match="says outcome unsolved"):
        replay(EpisodeRecord.from_json(data))
    data = record.to_json()
    data["transcript"]["steps"][0]["command"] = "ip route"
    with pytest.raises(DataError, match="not the one of the reply"):
        replay(EpisodeRecord.from_json(data))
    with pytest.raises(DataError, match="malformed"):
        EpisodeRecord.from_json({**record.to_json(), "extra": 1})


@pytest.mark.parametrize("name", INTERACTIVE)
def test_rules_solve_most_without_keys(name: str, tasks: dict[str, list[Task]]) -> None:
    rules = make_interactive_agent("rules")
    records = [run_episode(item, rules) for item in tasks[name]]
    assert sum(record.headline for record in records) >= 0.8 * len(records)
    assert sum(record.diagnosed is True for record in records) >= 0.3 * len(records)


def test_random_is_the_same_for_the_same_seed(tasks: dict[str, list[Task]]) -> None:
    for item in (tasks["routing"][0], tasks["policy"][0]):
        steps = [run_episode(item, make_interactive_agent("random", seed="7")).transcript["steps"] for _ in range(2)]
        assert [step["command"] for step in steps[0]] == [step["command"] for step in steps[1]]


class Model:
    """Answers from a key as a chat model would, and counts."""

    def __init__(self, task: Task, before: str) -> None:
        self.usage = Usage(5, 100, 10)
        self.asked: list[list[dict[str, str]]] = []
        self._before = before
        self._oracle = OracleAgent([task])
        self._oracle.start(task.public())

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append(messages)
        self.usage += Usage(1, 50, 7)
        return self._before + self._oracle.reply(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("style", MODEL_AGENTS)
@pytest.mark.parametrize("name", INTERACTIVE)
def test_agents_with_a_model_show_it_the_task_and_read_its_reply(
    name: str, style: str, tasks: dict[str, list[Task]]
) -> None:
    item = next(item for item in tasks[name] if item.level == 2)
    model = Model(item, "Thought: I see.\nAction: ")
    record = run_episode(item, make_interactive_agent(style, complete=model))
    assert record.headline
    assert record.agent == style
    turns = len(item.key.repair) + 1
    assert record.usage == Usage(turns, 50 * turns, 7 * turns)
    system, last = model.asked[0][0], model.asked[0][-1]
    assert system["role"] == "system"
    assert item.question in system["content"]
    assert item.plan["commands"][0] in system["content"]
    assert all(kind in system["content"] for kind in item.kinds)
    assert f"{len(item.key.symptoms)} of {len(item.state.flows)} flows are not as intended" in last["content"]
    assert ("Thought:" in system["content"]) == (style == "react")
    assert (len(model.asked[0]) > 2) == (style == "few_shot")
    assert "All" in model.asked[-1][-1]["content"]


@pytest.mark.parametrize("name", INTERACTIVE)
def test_the_examples_of_few_shot_are_solved_tasks_that_no_suite_holds(name: str) -> None:
    messages = example_messages(name)
    assert [message["role"] for message in messages[:2]] == ["user", "assistant"]
    assert all(json.loads(m["content"]) for m in messages if m["role"] == "assistant")
    assert sum("All" in message["content"] for message in messages) == len(example_tasks(name))
    assert {task.split for task in example_tasks(name)} == {Split.DEV}


def test_agents_by_name() -> None:
    with pytest.raises(UserError, match="unknown agent"):
        make_interactive_agent("nobody")
    with pytest.raises(UserError, match="needs a model"):
        make_interactive_agent("react")
