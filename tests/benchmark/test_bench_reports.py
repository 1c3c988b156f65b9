"""Runs of plain agents through the command line, their reports, the board, and training data from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from nl2net.benchmark.bench_report import Entry, reproduction
from nl2net.benchmark.bench_results import entry_of, open_entries
from nl2net.benchmark.bench_runs import BenchRun, open_bench, run_bench
from nl2net.benchmark.bench_summary import compare_agents, easier_levels, overlap_share, row_of, summarise
from nl2net.benchmark.board import add_entries, ranked, read_board
from nl2net.benchmark.items import Order
from nl2net.benchmark.runs import Caps
from nl2net.benchmark.scoring import Outcome
from nl2net.benchmark.suites import generate_suite, load_suite, write_suite
from nl2net.cli.main import main
from nl2net.errors import DataError, UserError

ORDER = Order(("traffic", "planning", "routing", "policy"), 20, seed="1")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("oracle", "noop", "template"):
        run_bench(BenchRun(agent, ORDER), folder / agent)
    yield folder


def _call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["bench", *arguments])
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


@pytest.mark.parametrize(("agent", "rate"), [("oracle", 1.0), ("noop", 0.0)])
def test_oracle_and_noop_on_all_applications(
    runs: Path, capsys: pytest.CaptureFixture[str], agent: str, rate: float
) -> None:
    arguments = ("--application", "all", "--agent", agent, "--count", "20", "--seed", "1", "--json")
    code, out, _ = _call(capsys, "run", *arguments, "--out", str(runs / agent))
    found = json.loads(out)
    assert code == 0 and not found["void"] and found["harness_errors"] == 0
    assert found["overall"]["headline"]["estimate"] == rate
    assert [row["name"] for row in found["tables"]["application"]] == ["planning", "policy", "routing", "traffic"]
    for row in (*found["tables"]["application"], *found["tables"]["level"]):
        assert row["n"] > 0 and row["headline"]["estimate"] == rate
    assert found["controls"]["headline"]["estimate"] == 1.0
    assert found["overall"]["n"] + found["controls"]["n"] == 80 == found["records"]
    assert found["digest"].startswith("sha256:")
    assert {"n", "correct", "safe", "headline", "outcomes", "median_s", "p95_s", "usage"} <= found["overall"].keys()
    if agent == "oracle":
        assert found["overall"]["safe"]["estimate"] == 1.0


def test_a_finished_run_is_not_worked_on_again(runs: Path) -> None:
    seen: list[Any] = []
    finished = run_bench(BenchRun("noop", ORDER), runs / "noop", progress=seen.append)
    assert seen == [] and len(finished.records) == 80
    with pytest.raises(UserError, match="settings"):
        run_bench(BenchRun("noop", replace(ORDER, count=20), backend="kernel"), runs / "noop")


def test_two_processes_write_what_one_does(runs: Path, tmp_path: Path) -> None:
    small = replace(ORDER, count=2)
    found = []
    for workers in (1, 2):
        finished = run_bench(BenchRun("oracle", small), tmp_path / str(workers), workers=workers)
        times: dict[str, Any] = {"seconds": 0.0, "agent_s": 0.0, "tool_s": 0.0, "transcript": {}}
        found.append({record.case: replace(record, **times) for record in finished.records})
    assert found[0] == found[1] and len(found[0]) == 8


def test_time_runs_out_and_shards_are_put_together(tmp_path: Path) -> None:
    order = Order(("traffic",), 12, seed="parts")
    cut = run_bench(BenchRun("noop", order), tmp_path / "cut", caps=Caps(seconds=0.0))
    assert cut.records == [] and "--max-time" in cut.cut
    for part in ("1/2", "2/2"):
        run_bench(BenchRun("noop", order, shard=part), tmp_path / part[0])
    entry = open_entries([tmp_path / "1", tmp_path / "2"])[0]
    assert len(entry.records) == 12
    with pytest.raises(UserError, match="same task"):
        run_bench(BenchRun("noop", order), tmp_path / "whole")
        open_entries([tmp_path / "1", tmp_path / "whole"])


def test_a_clear_comparison_stops_at_a_planned_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("-a", "traffic", "--count", "80", "--seed", "looks")
    assert _call(capsys, "run", "--agent", "oracle", *common, "--out", str(tmp_path / "a"))[0] == 0
    code, out, err = _call(
        capsys, "run", "--agent", "noop", *common, "--out", str(tmp_path / "b"), "--against", str(tmp_path / "a")
    )
    assert code == 0 and "decided after 20 of 80 tasks" in err and "incomplete: 20 of 80" in out
    other = ("--agent", "noop", "-a", "traffic", "--count", "3", "--seed", "other", "--against", str(tmp_path / "a"))
    assert _call(capsys, "run", *other, "--out", str(tmp_path / "c"))[0] == 2


def test_report_in_every_form(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, picture, junit, board = (tmp_path / name for name in ("r.html", "r.png", "r.xml", "board.jsonl"))
    names = [str(runs / agent) for agent in ("oracle", "noop", "template")]
    code, out, err = _call(
        capsys, "report", *names, "--html", str(page), "--png", str(picture), "--junit", str(junit),
        "--board", str(board), "--fewest", "30",
    )  # fmt: skip
    assert code == 0 and "unsigned" in err
    assert "McNemar p" in out and "share of pairs of agents whose intervals overlap" in out
    assert "not listed yet, and every board should: rules" in out
    text = page.read_text()
    assert text.count("<details>") == 200 and text.count("data:image/png;base64,") == 2
    assert "http://" not in text and "https://" not in text and "<script" not in text
    assert '"command"' in text or "&quot;command&quot;" in text  # transcripts of repairs
    assert picture.read_bytes().startswith(b"\x89PNG")
    suites = {suite.get("name"): suite for suite in ElementTree.fromstring(junit.read_text())}
    assert suites["oracle"].get("failures") == "0" and suites["noop"].get("tests") == "80"
    code, out, _ = _call(capsys, "report", *names, "--compare", "oracle", "noop", "--json")
    pairs = json.loads(out)["pairs"]
    assert code == 0 and len(pairs) == 1 and pairs[0]["first_only"] == pairs[0]["n"]
    assert pairs[0]["p_value"] < 1e-9 and pairs[0]["overlap"] is False
    assert _call(capsys, "report", names[0], "--compare", "oracle", "nobody")[0] == 2
    assert _call(capsys, "report", str(tmp_path))[0] == 2


def _entry(runs: Path, agent: str) -> Entry:
    return entry_of(open_bench(runs / agent))


def test_the_board_is_chained_signed_and_ranked(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "board.jsonl"
    rows = add_entries(path, [_entry(runs, "oracle"), _entry(runs, "noop")], secret="s", fewest=50)
    rows = add_entries(path, [_entry(runs, "template"), _entry(runs, "noop")], secret="s", fewest=30)
    assert [(row.rank, row.agent) for row in rows] == [(1, "oracle"), (2, "noop"), (2, "template")]
    good = path.read_text()
    assert "--agent oracle" in good
    for spoilt in (
        good.replace('"n":', '"n":1'),
        "".join(good.splitlines(keepends=True)[1:]),
        "".join(reversed(good.splitlines(keepends=True))),
    ):
        path.write_text(spoilt)
        with pytest.raises(DataError, match="does not fit"):
            read_board(path, secret="s")
    path.write_text(good)
    with pytest.raises(DataError, match="does not fit"):
        read_board(path, secret="another")
    with pytest.raises(UserError, match="asks for 100"):
        add_entries(path, [_entry(runs, "oracle")], secret="s")


def test_the_board_takes_complete_runs_of_one_suite(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "board.jsonl"
    entry = _entry(runs, "oracle")
    add_entries(path, [entry], fewest=50)
    other = replace(entry.manifest, digest="sha256:other")
    with pytest.raises(UserError, match="another suite"):
        add_entries(path, [replace(entry, manifest=other)], fewest=50)
    with pytest.raises(UserError, match="incomplete"):
        add_entries(path, [replace(entry, records=entry.records[:-1])], fewest=50)


def test_ranks_are_shared_where_intervals_overlap() -> None:
    spans = {"a": (0.8, 0.9), "b": (0.7, 0.85), "c": (0.5, 0.75), "d": (0.1, 0.2)}
    rows = [{"agent": n, "headline": {"estimate": (a + b) / 2, "low": a, "high": b}} for n, (a, b) in spans.items()]
    assert [(row.rank, row.agent) for row in ranked(rows)] == [(1, "a"), (1, "b"), (2, "c"), (4, "d")]


def test_summary_leaves_out_what_is_nobodys_doing(runs: Path) -> None:
    records = list(open_bench(runs / "noop").records)
    tasks = [record for record in records if not record.control]
    broken = [replace(record, outcome=Outcome.HARNESS, safe=False) for record in tasks[:2]]
    found = summarise([*broken, *tasks[2:]])
    assert found.harness_errors == 2 and found.overall.n == len(tasks) - 2 and found.void
    assert not summarise(tasks).void
    with pytest.raises(UserError, match="no record"):
        summarise([])


def test_times_are_of_solved_cases_and_unsafe_solutions_do_not_count(runs: Path) -> None:
    records = [record for record in open_bench(runs / "oracle").records if not record.control][:10]
    mixed = [replace(records[0], safe=False, seconds=2.0), replace(records[1], outcome=Outcome.UNSOLVED, correct=False)]
    row = row_of("mixed", [mixed[0], replace(mixed[1], seconds=900.0)])
    assert row.median_s == 2.0
    assert (row.correct.estimate, row.safe.estimate, row.headline.estimate) == (0.5, 0.5, 0.0)
    assert ("unsafe", 1) in summarise(mixed).failures


def test_comparison_and_levels(runs: Path) -> None:
    named = {name: open_bench(runs / name).records for name in ("oracle", "noop", "template")}
    pairs = compare_agents(named)
    assert len(pairs) == 3
    assert all(pair.adjusted >= pair.p_value for pair in pairs)
    with pytest.raises(UserError, match="no case in common"):
        compare_agents({"a": named["oracle"][:5], "b": named["noop"][-5:]})
    rows = [summarise(records).overall for records in named.values()]
    assert overlap_share(rows)["correct"] == pytest.approx(1 / 3)
    low, high = row_of("x 1", list(named["noop"])[:40]), row_of("x 2", list(named["oracle"])[:40])
    assert easier_levels([low, high]) == ["x 2 is easier than x 1"] and easier_levels([high, low]) == []


def test_the_command_of_a_report_makes_the_same_suite(runs: Path) -> None:
    manifest = open_bench(runs / "noop").manifest
    words = reproduction(manifest).split()
    assert words[:3] == ["nl2net", "bench", "run"] and words[words.index("--count") + 1] == "20"
    assert load_suite(runs / "noop").header.digest == manifest.digest


def test_only_development_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "x.jsonl")
    suite = generate_suite(Order(("traffic", "routing"), 2, seed="export"))
    order = {**suite.header.order}
    for name in ("eval", "dev", "test"):  # the second and the third state a split that their cases are not of
        forged = replace(suite, header=replace(suite.header, order={**order, "split": name}))
        write_suite(forged, tmp_path / name)
        assert _call(capsys, "export", str(tmp_path / name), "--out", out)[0] == 2
    assert _call(capsys, "export", str(tmp_path), "--out", out)[0] == 2
    assert not Path(out).exists()
