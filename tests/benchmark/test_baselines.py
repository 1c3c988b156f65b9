"""Baselines: what they send, how their replies are read, and what they are worth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import pytest
from scripted_server import ReplyScript, Scripted, ScriptedServer

from nl2net.benchmark.agents import AgentAnswer, NoopAgent, OracleAgent, PublicCase
from nl2net.benchmark.bench_records import BenchRecord
from nl2net.benchmark.bench_runs import BenchRun, run_bench
from nl2net.benchmark.constructive import solve_case, unsafe_reason
from nl2net.benchmark.items import Item, Order, make_items
from nl2net.benchmark.model_agents import example_data, make_model_agent, read_json_answer, worked_examples
from nl2net.benchmark.plain_agents import RandomAgent, TemplateAgent
from nl2net.benchmark.programs import ProgramRunner
from nl2net.benchmark.scoring import Outcome
from nl2net.cli.main import main
from nl2net.errors import PrivacyError, ReplyError
from nl2net.golden.case import GraphSource, Mode
from nl2net.golden.recipes import build_graph
from nl2net.golden.sources import graph_of
from nl2net.llm import ChatClient, Endpoint
from nl2net.locations import Locations
from nl2net.model import Changes, Status


def _fenced(body: str) -> str:
    return f"Here it is.\n```python\ndef answer(graph):\n    {body}\n```"


def _item(items: list[Item], kind: str) -> Item:
    return next(item for item in items if item.case is not None and item.case.type == kind and item.case.program)


@contextmanager
def _asking(
    name: str, replies: list[ReplyScript], runner: ProgramRunner, locations: Locations, item: Item
) -> Iterator[tuple[BenchRecord, ScriptedServer]]:
    with ScriptedServer(replies) as server:
        endpoint = Endpoint(server.base_url, "scripted", api_key="k")
        agent = make_model_agent(name, lambda gate: ChatClient(endpoint, gate=gate, retries=0), runner, locations)
        yield solve_case(item, agent), server


@pytest.mark.parametrize("name", ["direct", "step_by_step", "few_shot", "react"])
def test_program_baselines_solve_with_the_right_program(
    name: str, runner: ProgramRunner, locations: Locations, traffic: list[Item]
) -> None:
    item = _item(traffic, "number")
    assert item.case is not None
    reply = f"```python\n{item.case.program}```"
    with _asking(name, [reply, "Thought: that is it.\nFINAL"], runner, locations, item) as (record, server):
        assert record.outcome is Outcome.SOLVED and record.safe and record.headline
        assert record.usage["requests"] == len(server.chats) == (2 if name == "react" else 1)
        assert record.commands == 1 and record.transcript["messages"][-1]["role"] == "assistant"


@pytest.mark.parametrize("name", ["direct", "step_by_step", "few_shot"])
def test_only_schema_and_question_are_sent(
    name: str, runner: ProgramRunner, locations: Locations, traffic: list[Item]
) -> None:
    item = _item(traffic, "number")
    assert item.case is not None
    with _asking(name, [_fenced("return 1")], runner, locations, item) as (_, server):
        body = json.dumps(server.chats[0].json["messages"])
    shown = "".join(text for pair in worked_examples("traffic") for text in pair)
    for node in graph_of(item.case):
        assert node not in body or node in item.question or node in shown


def test_react_sees_results_and_errors_and_its_turns_are_bounded(
    runner: ProgramRunner, locations: Locations, traffic: list[Item]
) -> None:
    item = _item(traffic, "number")
    replies: list[ReplyScript] = [_fenced("return sorted(graph)[0]"), _fenced("return 1 / 0"), _fenced("return 7")]
    with _asking("react", replies, runner, locations, item) as (record, server):
        assert item.case is not None
        first = sorted(graph_of(item.case))[0]
        said = [message["content"] for message in server.chats[-1].json["messages"]]
        assert any(first in text for text in said[3:]) and any("division by zero" in text for text in said)
        assert (
            record.turns == len(server.chats) == 4 and "Turns left: 0" in record.transcript["messages"][-1]["content"]
        )


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I do not know.", Outcome.INVALID),
        (Scripted("```python\ndef answer", finish_reason="length"), Outcome.INVALID),
        (Scripted(status=500, error="down"), Outcome.MODEL),
        (_fenced('return cannot_answer("nothing there")'), Outcome.ABSTAINED),
        (_fenced("return graph.nodes['nobody']"), Outcome.UNSOLVED),
        (_fenced("return open('/etc/passwd').read()"), Outcome.UNSOLVED),
        (_fenced("return -12345"), Outcome.UNSOLVED),
    ],
)
def test_outcomes(
    reply: ReplyScript, outcome: Outcome, runner: ProgramRunner, locations: Locations, traffic: list[Item]
) -> None:
    with _asking("direct", [reply], runner, locations, _item(traffic, "number")) as (record, _):
        assert record.outcome is outcome and not record.headline
        assert record.wrong is (record.answer == "-12345")


def test_data_in_prompt_sends_the_graph_and_reads_json(
    runner: ProgramRunner, locations: Locations, traffic: list[Item]
) -> None:
    item = _item(traffic, "number")
    assert item.case is not None
    reply = f'So:\n```json\n{{"type": "number", "value": {json.dumps(item.case.expected)}}}\n```'
    with _asking("data_in_prompt", [reply], runner, locations, item) as (record, server):
        body = server.chats[0].json["messages"][0]["content"]
        assert all(str(node) in body for node in graph_of(item.case))
        assert record.outcome is Outcome.SOLVED
    change = read_json_answer('{"type": "graph", "value": {"nodes_removed": ["a"]}}')
    assert change.changes == Changes(nodes_removed=("a",))
    assert read_json_answer('{"type": "cannot_answer", "value": "no ports"}').status is Status.CANNOT_ANSWER
    for wrong in ("prose", "[1]", '{"type": "number"}', '{"type": "graph", "value": 3}'):
        with pytest.raises(ReplyError):
            read_json_answer(wrong)


@pytest.mark.parametrize("name", ["react", "data_in_prompt"])
def test_data_of_an_operator_is_never_shown(name: str, runner: ProgramRunner, locations: Locations) -> None:
    with ScriptedServer(["FINAL"]) as server:
        endpoint = Endpoint(server.base_url, "scripted")
        agent = make_model_agent(name, lambda gate: ChatClient(endpoint, gate=gate), runner, locations)
        with pytest.raises(PrivacyError):
            agent.answer(PublicCase("x", "traffic", "How many?"), nx.path_graph(3))
        assert server.requests == []


@pytest.mark.parametrize("application", ["traffic", "planning"])
def test_worked_examples_run_and_answer(application: str, runner: ProgramRunner) -> None:
    graph = build_graph(GraphSource(**example_data()[application]["graph"])).graph
    values = []
    for _, program in worked_examples(application):
        ran = runner.run(program, graph)
        assert not ran.fault, ran.fault
        values.append(ran.report)
    assert values[-1].changes is not None and values[-1].changes.nodes_changed
    if application == "traffic":
        assert values[0].value == sum(d["total_bytes"] >= 1_000_000 for _, _, d in graph.edges(data=True))
        assert values[2].value == sorted(set(nx.ego_graph(graph, "backup-01", 2)) - {"backup-01"})
    else:
        switches = [n for n, d in graph.nodes(data=True) if d["kind"] == "EK_PACKET_SWITCH"]
        assert sum(count for _, count in values[0].value) <= len(switches) and values[1].value > 0
        assert values[2].value in graph.predecessors("EK_PACKET_SWITCH:ju1.a1.m1.s2c1")


def test_template_wins_on_known_wordings_and_fails_on_unknown_ones(runner: ProgramRunner, traffic: list[Item]) -> None:
    agent = TemplateAgent(runner)
    known = make_items(Order(("traffic", "planning"), 8, seed="template", split="dev")).items
    solved = sum(solve_case(item, agent).headline for item in known)
    assert solved >= len(known) // 2
    assert sum(solve_case(item, agent).headline for item in traffic) <= len(traffic) // 4


def test_random_repeats_itself_and_is_hardly_ever_right(traffic: list[Item], planning: list[Item]) -> None:
    records = [solve_case(item, RandomAgent()) for item in (*traffic, *planning)]
    again = [solve_case(item, RandomAgent()) for item in traffic]
    assert [record.answer for record in again] == [record.answer for record in records[: len(traffic)]]
    assert sum(record.headline for record in records) <= 2
    assert any(not record.safe for record in records)  # it takes nodes away where nothing was to be changed


def test_safety_of_changes(planning: list[Item]) -> None:
    changes = [item for item in planning if item.case is not None and item.case.comparison.mode is Mode.CHANGE]
    assert len(changes) >= 5
    for item in changes:
        case = item.case
        assert case is not None
        original = graph_of(case)
        right = OracleAgent([case]).answer(PublicCase(case.id, "", ""), original)
        assert unsafe_reason(case, right, original) == ""
        bystander = next(n for n in original if str(n) not in json.dumps(case.expected))
        worse = original.copy()
        worse.remove_node(bystander)
        assert "outside the scope" in unsafe_reason(case, AgentAnswer(Status.ANSWERED, result=worse), original)
        orphan = original.copy()
        orphan.add_node("EK_PORT:nowhere", kind="EK_PORT", name="nowhere")
        assert unsafe_reason(case, AgentAnswer(Status.ANSWERED, result=orphan), original)
        undirected = original.to_undirected()
        assert (
            unsafe_reason(case, AgentAnswer(Status.ANSWERED, result=undirected), original) == "another class of graph"
        )


def test_a_question_is_no_leave_to_change(traffic: list[Item]) -> None:
    item = _item(traffic, "number")
    assert item.case is not None
    original = graph_of(item.case)
    shrunk = original.copy()
    shrunk.remove_node(next(iter(shrunk)))
    assert unsafe_reason(item.case, AgentAnswer(Status.ANSWERED, result=shrunk), original).startswith("changed")
    assert solve_case(item, NoopAgent()).safe


def test_a_broken_harness_is_nobodys_score(traffic: list[Item]) -> None:
    from dataclasses import replace

    case = traffic[0].case
    assert case is not None
    broken = Item("eval", case=replace(case, graph=GraphSource("no such recipe", "1")))
    record = solve_case(broken, NoopAgent())
    assert record.outcome is Outcome.HARNESS and not (record.correct or record.safe or record.counted)


def test_models_repair_networks_through_the_same_client(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(['{"node": "nowhere", "command": "ping"}', '{"abstain": "lost"}']) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        order = Order(("routing",), 1, seed="scripted", level=1)
        finished = run_bench(BenchRun("react", order, model="scripted"), home / "run")
        record = finished.records[0]
        assert record.outcome is Outcome.ABSTAINED and record.turns == len(server.chats) == 2
        assert record.usage["requests"] == 2
        finished = run_bench(BenchRun("react", order, model="scripted"), home / "run")
        assert len(server.chats) == 2 and finished.records == [record]


def test_the_assistant_runs_behind_the_same_ledger(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([_fenced("return -1")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        order = Order(("traffic",), 2, seed="assistant", level=1)
        finished = run_bench(BenchRun("assistant", order, model="scripted"), home / "run")
        calls = (home / "run" / "calls.jsonl").read_text() if server.chats else ""
        assert calls.count('"event": "reply"') == len(server.chats)
        assert sum(record.usage["requests"] for record in finished.records) == len(server.chats)
        assert len(finished.records) == 2


def test_agents_that_do_not_fit(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*arguments: str) -> int:
        with pytest.raises(SystemExit) as end:
            main(["bench", "run", "--count", "1", *arguments])
        capsys.readouterr()
        return int(end.value.code or 0)

    assert call("--agent", "nobody") == 2
    assert call("--agent", "template", "-a", "routing") == 2
    assert call("--agent", "direct", "-a", "traffic", "--engine", "processes") == 2
