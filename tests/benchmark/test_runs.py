"""Run folders: resumed without repeating, refused when changed; outcomes, reports, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from nl2net.benchmark.agents import AgentAnswer, NoopAgent, OracleAgent, PublicCase
from nl2net.benchmark.golden_runs import GoldenRun, open_golden, run_golden
from nl2net.benchmark.judge import Outcome
from nl2net.benchmark.report import render_html, render_junit, render_text
from nl2net.benchmark.runs import Caps, Manifest, RunFolder, run_cases
from nl2net.benchmark.summary import compare_runs, summarise
from nl2net.cli.main import main
from nl2net.errors import EndpointError, UserError
from nl2net.golden.case import Case
from nl2net.golden.generate import Recipe
from nl2net.golden.suite import generate_suite, write_suite
from nl2net.model import Status, Usage


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    return generate_suite([Recipe("traffic", "runs", count=30, graphs=3)], name="runs").cases


class Scripted:
    """Answers through a function, and counts how often it was asked."""

    name = "scripted"

    def __init__(self, reply: Any) -> None:
        self.asked: list[str] = []
        self._reply = reply

    def start(self, case: PublicCase) -> None:
        pass

    def answer(self, case: PublicCase, graph: Any) -> AgentAnswer:
        self.asked.append(case.id)
        answer: AgentAnswer = self._reply(case, graph)
        return answer


def _folder(path: Path, **changes: Any) -> RunFolder:
    return RunFolder(path, Manifest(**{"suite": "runs", "digest": "sha256:0", "agent": "scripted", **changes}))


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    oracle = OracleAgent(cases)

    def reply(case: PublicCase, graph: Any) -> AgentAnswer:
        if len(agent.asked) == 11:
            raise KeyboardInterrupt
        return oracle.answer(case, graph)

    agent = Scripted(reply)
    with pytest.raises(KeyboardInterrupt):
        run_cases(cases, agent, _folder(tmp_path))
    with (tmp_path / "records.jsonl").open("ab") as stream:
        stream.write(b'{"case": "cut by a ki')
    second = Scripted(oracle.answer)
    records = run_cases(cases, second, _folder(tmp_path))
    assert len(second.asked) == len(cases) - 10
    assert not set(second.asked) & set(agent.asked[:10])
    assert {record.case for record in records} == {case.id for case in cases}
    third = Scripted(oracle.answer)
    run_cases(cases, third, _folder(tmp_path))
    assert third.asked == []


def test_a_changed_manifest_is_refused(tmp_path: Path) -> None:
    _folder(tmp_path)
    with pytest.raises(UserError, match="digest differ"):
        _folder(tmp_path, digest="sha256:1")


def test_one_and_four_workers_write_the_same_records(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    found = []
    for workers in (1, 4):
        agent = Scripted(NoopAgent().answer)
        records = run_cases(cases, agent, _folder(tmp_path / str(workers)), workers=workers)
        found.append({(record.case, record.outcome, record.reason) for record in records})
    assert found[0] == found[1]


def test_what_an_agent_does_wrong_is_its_own(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    def reply(case: PublicCase, graph: Any) -> AgentAnswer:
        graph.clear()  # its own copy
        raise EndpointError("down") if len(agent.asked) % 2 else ValueError("crash")

    agent = Scripted(reply)
    records = run_cases(cases, agent, _folder(tmp_path))
    assert {record.outcome for record in records} == {Outcome.FAILED}
    oracle = Scripted(OracleAgent(cases).answer)
    assert {r.outcome for r in run_cases(cases, oracle, _folder(tmp_path / "b"))} == {Outcome.CORRECT}


def test_caps_stop_a_run(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    agent = Scripted(lambda case, graph: AgentAnswer(Status.FAILED, usage=Usage(1, 100, 20, 0.01)))
    records = run_cases(cases, agent, _folder(tmp_path), caps=Caps(tokens=1200))
    assert len(records) == 10
    records = run_cases(cases, agent, _folder(tmp_path), caps=Caps(cost_usd=0.15))
    assert len(records) == 15


def test_refusals_are_judged_by_class_and_by_naming_what_is_missing(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    vague = Scripted(lambda case, graph: AgentAnswer(Status.CANNOT_ANSWER, message="no"))
    outcomes = {record.case: record.outcome for record in run_cases(cases, vague, _folder(tmp_path))}
    assert set(outcomes.values()) == {Outcome.ABSTAINED}
    assert any(case.outcome is Status.CANNOT_ANSWER for case in cases)


def test_reports(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    suite = generate_suite([Recipe("traffic", "runs", count=30, graphs=3)], name="runs")
    write_suite(suite, tmp_path / "s.jsonl")
    good = run_golden(GoldenRun(str(tmp_path / "s.jsonl"), agent="oracle"), tmp_path / "good")
    bad = run_golden(GoldenRun(str(tmp_path / "s.jsonl"), agent="noop"), tmp_path / "bad")
    again = open_golden(tmp_path / "good")
    assert again.manifest == good.manifest
    summary = summarise(again.records, again.cases)
    text = render_text(again.manifest, summary)
    assert "correct 30" in text and "1.000 [0.886, 1.000]" in text
    page = render_html(again.manifest, summary, again.records)
    assert page.count("<details>") == 30 and "data:image/png;base64," in page and "http" not in page
    tree = ElementTree.fromstring(render_junit(bad.manifest, bad.records))
    assert tree.get("failures") == "30"
    found = compare_runs(good.records, bad.records)
    assert (found.first_only, found.second_only, len(found.flips)) == (30, 0, 30)
    assert found.p_value < 1e-8


def _call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["golden", *arguments])
    return int(end.value.code or 0), capsys.readouterr().out


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, a, b = (str(tmp_path / name) for name in ("s.jsonl", "a", "b"))
    code, out = _call(capsys, "generate", "--out", suite, "-n", "8", "--graphs", "2", "--seed", "cli")
    assert code == 0 and "0 unsafe, 0 no-op, 0 duplicate" in out
    assert len(json.loads(_call(capsys, "list", suite, "--json")[1])) == 16
    code, out = _call(capsys, "run", "--suite", suite, "--agent", "oracle", "--out", a, "--json")
    assert code == 0 and json.loads(out)["overall"]["correct"]["estimate"] == 1.0
    assert _call(capsys, "run", "--suite", suite, "--agent", "noop", "--out", b)[0] == 0
    assert json.loads(_call(capsys, "report", a, "--json")[1])["overall"]["n"] == 16
    assert json.loads(_call(capsys, "compare", a, b, "--json")[1])["first_only"] == 16
    assert "traffic-eval" in _call(capsys, "list")[1]
    assert _call(capsys, "run", "--suite", suite, "--agent", "noop", "--out", a)[0] == 2
    assert _call(capsys, "run", "--suite", "no-such-suite", "--agent", "noop")[0] == 2
    assert _call(capsys, "report", str(tmp_path))[0] == 2
