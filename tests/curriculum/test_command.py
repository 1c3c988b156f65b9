"""The command, spaces in files, reports, ONNX and gymnasium."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from tests_data import SHARED
from typer.testing import CliRunner

from nl2net.cli.main import build_app
from nl2net.curriculum.cases import load_case
from nl2net.curriculum.choosing import choose_policy
from nl2net.curriculum.environments.gym import SessionEnv, SessionsEnv
from nl2net.curriculum.paired import compare, sign_flip
from nl2net.curriculum.policies import play
from nl2net.curriculum.report import correct_together, summarise
from nl2net.curriculum.runs import Plan, job_folder, open_run, write_json
from nl2net.curriculum.spaces import load_space, shipped_space
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.errors import DataError, Nl2netError, UserError

PNG = b"\x89PNG"


@cache
def _app() -> Any:
    return build_app()


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(_app(), ["curriculum", *arguments])


def test_train_report_and_search_end_to_end(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = _run("train", "lb", "--out", str(run), "--strategy", "uniform,random", "--steps", "40000", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert {row["strategy"] for row in summary["rows"]} == {"uniform", "random"}
    assert "no test can pass" in summary["verdict"]
    assert summary["reproduce"].startswith(
        "nl2net curriculum train lb --out RUN --strategy uniform,random --steps 40000"
    )
    page, curves = tmp_path / "report.html", tmp_path / "curves.png"
    shown = _run("report", str(run), "--html", str(page), "--png", str(curves))
    assert shown.exit_code == 0
    assert "worst decile" in shown.stdout
    assert "<h1>" in page.read_text()
    assert curves.read_bytes()[:4] == PNG
    again = _run("train", "lb", "--resume", str(run), "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout) == summary
    picture = tmp_path / "gap.png"
    policy = job_folder(run, "uniform", 1) / "policy.npz"
    options = ("--baseline", "sed", "--settings", "150", "--png", str(picture), "--json")
    found = _run("search", "lb", "--policy", str(policy), *options)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["baseline"] == "sed"
    assert picture.read_bytes()[:4] == PNG


def test_traces_are_evaluated_beside_the_settings(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "minute.txt").write_bytes((SHARED / "traces" / "formats" / "two-column.txt").read_bytes())
    run = tmp_path / "run"
    done = _run(
        "train",
        "abr",
        "--out",
        str(run),
        "--strategy",
        "uniform",
        "--steps",
        "12000",
        "--traces",
        str(traces),
        "--json",
    )
    assert done.exit_code == 0, done.output
    rows = {row["policy"]: row["mean"] for row in json.loads(done.stdout)["traces"]}
    assert rows["bba"] == pytest.approx(1.3510, abs=5e-5)
    assert "uniform seed 1" in rows


def test_search_bench_prints_both_rates() -> None:
    done = _run("search", "bench", "--agent", "simulated", "--calls", "100")
    assert done.exit_code == 0
    assert "must not be quoted" in done.stdout
    assert "sha256:" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "lb", "--policy", "nobody"),
        ("search", "lb"),
        ("search", "lb", "--policy", "sed", "--baseline", "bba"),
        ("search", "bench"),
        ("search", "dns", "--policy", "x"),
        ("train", "lb"),
        ("train", "lb", "--out", "x", "--strategy", "luck"),
        ("report", "/nonexistent"),
    ],
)
def test_wrong_calls_end_with_a_hint(arguments: tuple[str, ...]) -> None:
    done = _run(*arguments)
    assert isinstance(done.exception, Nl2netError)
    assert done.exception.exit_code == 2
    assert done.exception.hint


def test_a_space_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('case = "abr"\n[axes.rtt_ms]\nlow = 30\nhigh = 60\n')
    space = load_space("abr", path)
    assert (space.axes[3].low, space.axes[3].high, space.axes[0].high) == (30, 60, 100)
    assert space.name == "mine"
    for text, said in [
        ("[axes.speed]\nlow = 1\nhigh = 2\n", "no parameter 'speed'"),
        ("[axes.rtt_ms]\nlow = 9\nhigh = 2\n", "no range"),
        ('[axes.rtt_ms]\nlow = "a"\nhigh = 2\n', "expected a number"),
        ("[axes.max_mbps]\nlow = 0\nhigh = 2\n", "no range"),
        ('case = "lb"\n[axes.rate]\nlow = 1\nhigh = 2\n', "for 'lb'"),
        ("axes = 3\n", "no tables"),
        ("[axes", "not TOML"),
    ]:
        path.write_text(text)
        with pytest.raises(DataError, match=said):
            load_space("abr", path)
    with pytest.raises(DataError, match="no space"):
        load_space("abr", "wide")


@pytest.mark.parametrize("name", ["abr", "cc", "lb"])
def test_spaces_map_both_ways(name: str) -> None:
    space = shipped_space(name)
    unit = generator(1, name).random((50, space.size))
    values = space.values(unit)
    again = space.values(space.positions(values))
    np.testing.assert_allclose(again[values > 0], values[values > 0], rtol=1e-9)


def test_a_report_says_when_a_curriculum_helps(tmp_path: Path) -> None:
    plan = Plan("lb", shipped_space("lb"), ("uniform", "batch_gap"), 1000, 10)
    open_run(tmp_path, plan, resume=False)
    with pytest.raises(UserError, match="no job is finished"):
        summarise(tmp_path)
    rng = generator(1, "fake")
    for strategy, seed in plan.jobs():
        base = {"mean": 0.0, "worst_decile": 0.0, "below_baseline": 0.5, "shortfall": 0.1, "settings": 10}
        better = 1.0 if strategy == "batch_gap" else 0.0
        one = {**base, "worst_decile": better + 0.1 * rng.random(), "mean": 0.01 * rng.standard_normal()}
        write_json(job_folder(tmp_path, strategy, seed) / "measures.json", {"uniform": one})
    found = summarise(tmp_path)
    assert "batch_gap helped: worst_decile" in found["verdict"]
    tests = {test["measure"]: test for test in found["tests"]}
    assert tests["worst_decile"]["p"] == pytest.approx(2 / 1024)
    assert tests["mean"]["p_holm"] > 0.05


def test_reproduce_makes_one_table_and_goes_on(tmp_path: Path) -> None:
    options = (
        "--out",
        str(tmp_path),
        "--cases",
        "lb",
        "--strategy",
        "uniform,tail",
        "--seeds",
        "2",
        "--steps",
        "30000",
    )
    done = _run("reproduce", *options)
    assert done.exit_code == 0, done.output
    written = (tmp_path / "table.md").read_text()
    assert done.stdout.strip() == written.strip()
    rows = [line for line in written.splitlines() if line.startswith("| lb, ")]
    assert sum("| tail | 2 |" in row for row in rows) == 2
    assert sum("lookahead (knows)" in row for row in rows) == 2
    assert sum("tail - uniform" in row for row in rows) == 4
    assert "No curriculum beat its control" in written
    stamp = (tmp_path / "lb" / "tail-seed02" / "policy.npz").stat().st_mtime_ns
    assert _run("reproduce", *options).stdout == done.stdout
    assert (tmp_path / "lb" / "tail-seed02" / "policy.npz").stat().st_mtime_ns == stamp
    other = _run("reproduce", *options[:-1], "40000")
    assert isinstance(other.exception, UserError)


def test_holm_corrects_over_all_runs(tmp_path: Path) -> None:
    summaries = []
    for name, shift in (("one", 1.0), ("two", 0.0)):
        plan = Plan("lb", shipped_space("lb"), ("uniform", "tail"), 1000, 10)
        open_run(tmp_path / name, plan, resume=False)
        rng = generator(2, name)
        for strategy, seed in plan.jobs():
            gain = shift if strategy == "tail" else 0.0
            one = {"mean": 0.1 * rng.random(), "worst_decile": gain + 0.1 * rng.random(), "below_baseline": 0.5}
            found = {"uniform": {**one, "shortfall": 0.1, "settings": 10}}
            write_json(job_folder(tmp_path / name, strategy, seed) / "measures.json", found)
        summaries.append(summarise(tmp_path / name))
    assert [test["p_holm"] for test in summaries[0]["tests"] if test["measure"] == "worst_decile"] == [4 / 1024]
    together = correct_together(summaries)
    assert [test["p_holm"] for test in together[0]["tests"] if test["measure"] == "worst_decile"] == [8 / 1024]
    assert "tail helped" in together[0]["verdict"]
    assert "helped" not in together[1]["verdict"]


def test_paired_statistics_by_hand() -> None:
    assert sign_flip(np.array([3.0, 1.0, 2.0])) == pytest.approx(2 / 8)
    found = compare([2.0, 3.0, 4.0], [1.0, 1.0, 1.0])
    assert found.mean == pytest.approx(2)
    assert found.low >= 1
    assert found.high <= 3
    with pytest.raises(ValueError, match="paired"):
        compare([1.0], [])


def test_an_onnx_policy_plays_as_the_network_does(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra `dev` brings onnx")
    case = load_case("lb")
    weights = np.random.default_rng(1).standard_normal((9, 3)).astype(np.float32)
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "policy",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 9])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 3])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    path = tmp_path / "policy.onnx"
    path.write_bytes(model.SerializeToString())
    points, seeds = case.space.values(generator(1, "p").random((20, 4))), session_seeds(1, "s", count=20)
    simulator = case.make()
    features = simulator.reset(points, seeds)
    expected = (features.astype(np.float32) @ weights).argmax(axis=1)
    policy = choose_policy(case, str(path))
    np.testing.assert_array_equal(policy.decide(simulator, features), expected)
    assert play(policy, case.make(), points, seeds).scores.shape == (20,)
    with pytest.raises(DataError, match=r"does not run|gives"):
        choose_policy(load_case("abr"), str(path))
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="not an ONNX model"):
        choose_policy(case, str(path))


@pytest.mark.parametrize("name", ["abr", "cc", "lb"])
def test_gymnasium_environments_keep_the_interface(name: str) -> None:
    env = SessionEnv(load_case(name))
    first, _ = env.reset(seed=3)
    assert env.observation_space.contains(first)
    total, done = 0, False
    while not done:
        seen, reward, done, cut, _ = env.step(env.action_space.sample())
        assert np.isfinite(reward)
        assert not cut
        total += 1
    assert env.observation_space.contains(seen)
    assert total == env.unwrapped._batch.simulator.steps  # type: ignore[attr-defined]
    again, _ = env.reset(seed=3)
    np.testing.assert_array_equal(first, again)


def test_gymnasium_vector_environment_restarts_by_itself() -> None:
    env = SessionsEnv(load_case("abr"), 8)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    seen, _ = env.reset(seed=1, options={"point": {"rtt_ms": 80.0}})
    assert seen.shape == (8, 30)
    for _ in range(47):
        seen, rewards, done, _, _ = env.step(np.zeros(8, dtype=np.int64))
    assert done.all()
    seen, rewards, done, _, _ = env.step(np.zeros(8, dtype=np.int64))
    assert not done.any()
    assert (rewards == 0).all()
