"""Policies in Python files behind the sandbox's wall, and reports that `ask` can answer questions on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import asking, fenced
from scripted_server import ScriptedServer
from typer.testing import CliRunner

from nl2net.assistant import AskOptions
from nl2net.cli.main import build_app
from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.baselines.lb import ShortestExpectedDelay
from nl2net.curriculum.cases import load_case
from nl2net.curriculum.choosing import choose_policy
from nl2net.curriculum.diagnose import diagnose
from nl2net.curriculum.explaining import report_graph, write_report_graph
from nl2net.curriculum.policies import play
from nl2net.curriculum.sealed import SealedPolicy, play_values
from nl2net.curriculum.search import Settings
from nl2net.curriculum.spaces import shipped_space
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.errors import DataError, UserError
from nl2net.graphs import load_graph
from nl2net.locations import Locations
from nl2net.model import Status
from nl2net.sandbox import Sandbox

# SED by the features alone: log1p(backlog) / 3 and log1p(own service) / 2 of each worker.
SED = """
def start(sessions):
    global calls
    calls = 0

def decide(features):
    global calls
    calls += 1
    assert calls <= 200, "start was not called"
    done = (np.expm1(3 * features[:, :3]) + np.expm1(2 * features[:, 3:6])).argmin(axis=1)
    features[:] = 0
    return done
"""
CASE = load_case("lb")
POINTS, SEEDS = CASE.space.values(generator(1, "p").random((60, 4))), session_seeds(1, "s", count=60)


def test_a_python_policy_plays_as_the_rule_that_it_copies(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SED)
    policy = choose_policy(CASE, str(path))
    assert isinstance(policy, SealedPolicy)
    try:
        expected = play(ShortestExpectedDelay(), CASE.make(), POINTS, SEEDS)
        for _ in range(2):
            found = play(policy, CASE.make(), POINTS, SEEDS)
            np.testing.assert_array_equal(found.scores, expected.scores)
    finally:
        policy.close()
    with pytest.raises(UserError, match="whole batches"):
        policy.decide(CASE.make(), np.zeros((1, 9)))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def decide(f): return open('/etc/passwd').read()", "Permission denied"),
        ("import os\ndef decide(f): os._exit(0)", "crashed"),
        ("def decide(f): return f[:, 0]", "not 60 whole numbers"),
        ("def decide(f): return [9] * len(f)", "outside 0 to 2"),
        ("def choose(f): return [0] * len(f)", "no function decide"),
        ("def decide(f:", "SyntaxError"),
    ],
)
def test_a_python_policy_at_fault_is_named(tmp_path: Path, source: str, said: str, worker: SealedPolicy) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    policy = SealedPolicy(path, case="lb")
    policy._worker = worker._worker  # one process for all of these
    with pytest.raises(DataError, match=said) as caught:
        play(policy, CASE.make(), POINTS, SEEDS)
    assert "decide(features)" in (caught.value.hint or "")


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("worker") / "zero.py"
    path.write_text("def decide(f): return [0] * len(f)")
    policy = SealedPolicy(path, case="lb")
    play(policy, CASE.make(), POINTS, SEEDS)
    yield policy
    policy.close()


@pytest.mark.parametrize("name", ["abr", "cc"])
def test_the_child_plays_every_case(tmp_path: Path, name: str) -> None:
    # Without the seal: the same function that the child calls, on the cases that the other tests do not cover.
    case = load_case(name)
    path = tmp_path / "first.py"
    path.write_text("def decide(f): return (f[:, 0] > 0).astype(int)")
    policy = SealedPolicy(path, case=name)
    policy._ask = play_values  # type: ignore[method-assign]
    points, seeds = case.space.values(generator(2, "p").random((5, case.space.size))), session_seeds(2, "s", count=5)
    simulator = case.make()
    features, total = simulator.reset(points, seeds), 0.0
    for _ in range(simulator.steps):
        features, _ = simulator.step((features[:, 0] > 0).astype(int))
    total = float(simulator.score().sum())
    assert play(policy, case.make(), points, seeds).scores.sum() == pytest.approx(total)


class _SlowForLargeJobs(ShortestExpectedDelay):
    """SED, but where jobs are large it takes the first worker whatever the queues."""

    def decide(self, simulator: Any, features: Floats) -> Any:
        chosen = super().decide(simulator, features)
        return np.where(simulator._sizes.mean(axis=0) > 1000, 0, chosen)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = Settings(settings=200, repeats=1, fresh=200)
    found = diagnose(CASE, _SlowForLargeJobs(), name="runs/slow.npz", baseline="sed", settings=settings)
    assert found.weak
    path = tmp_path_factory.mktemp("report") / "report.json"
    write_report_graph(found, CASE.space, path)
    return path


def test_a_report_is_a_graph_of_regions_bounds_and_terms(report: Path) -> None:
    graph = load_graph(report).graph
    regions = {node: data for node, data in graph.nodes(data=True) if data["kind"] == "region"}
    losing = [node for node, data in regions.items() if data["verdict"] == "loses"]
    assert losing
    bounds = {
        target: data
        for node in losing
        for _, target, data in graph.out_edges(node, data=True)
        if data["relation"] == "bounded_by"
    }
    # The planted weakness lies above a largest job of 2,000, which is a mean of 1,000.
    assert 1000 < bounds["parameter size"]["from"] < 4000
    for node, data in regions.items():
        amounts = [d["amount"] for _, _, d in graph.out_edges(node, data=True) if d["relation"] == "differs_by"]
        assert len(amounts) == 2
        assert data["effect_low"] <= data["effect"] <= data["effect_high"]
    sessions = [data for _, data in graph.nodes(data=True) if data["kind"] == "session"]
    assert all(isinstance(data["seed"], str) and data["seed"].isdigit() for data in sessions)


def test_ask_answers_a_question_on_a_report(report: Path, tmp_path: Path) -> None:
    program = fenced(
        'return max((d["effect"], d["where"]) for _, d in graph.nodes(data=True) if d.get("verdict") == "loses")[1]'
    )
    locations = Locations(tmp_path / "c", tmp_path / "d", tmp_path / "k", tmp_path / "r")
    with (
        ScriptedServer([program]) as server,
        Sandbox() as sandbox,
        asking(load_graph(report), server, locations, sandbox=sandbox) as assistant,
    ):
        answer = assistant.ask("Where does the policy lose most?", options=AskOptions(samples=1))
        assert answer.status is Status.ANSWERED
        assert answer.result is not None
        assert "largest job is above" in str(answer.result.data)
        asked = json.dumps(server.requests[0].json)
        # What the regions are stays here: only the schema goes to the model.
        assert "main_term" in asked
        assert "largest job is above" not in asked


def test_search_writes_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    arguments = ["search", "lb", "--policy", "llf", "--baseline", "sed", "--settings", "60", "--graph", str(path)]
    done = CliRunner().invoke(build_app(), ["curriculum", *arguments])
    assert done.exit_code == 0, done.output
    kinds = {node["kind"] for node in json.loads(path.read_text())["nodes"]}
    assert {"policy", "baseline", "parameter"} <= kinds


def test_a_report_without_regions_is_a_graph_too() -> None:
    settings = Settings(settings=60, repeats=1, fresh=100)
    found = diagnose(CASE, ShortestExpectedDelay(), name="sed", baseline="sed", settings=settings)
    document = report_graph(found, shipped_space("lb"))
    assert {node["id"] for node in document["nodes"]} >= {"policy sed", "baseline sed", "parameter size"}
    assert document["links"] == []
