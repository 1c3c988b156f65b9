"""Planned looks against published limits and by simulation; the planner against the table of the design."""

from __future__ import annotations

import json
import random

import pytest

from nl2net.benchmark.sequential import boundaries, look_at, simulate_overlap
from nl2net.benchmark.stats import cases_to_separate
from nl2net.cli.main import main
from nl2net.errors import UserError

FIVE = [0.2, 0.4, 0.6, 0.8, 1.0]


@pytest.mark.parametrize(
    ("kind", "published"),
    [
        ("obrien-fleming", [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
        ("pocock", [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]),
    ],
)
def test_limits_are_the_published_ones(kind: str, published: list[float]) -> None:
    assert boundaries(FIVE, kind=kind) == pytest.approx(published, abs=2e-4)


def test_one_look_is_the_usual_test() -> None:
    assert boundaries([1.0]) == pytest.approx([1.95996], abs=1e-4)


@pytest.mark.parametrize("times", [[], [0.5], [0.6, 0.4, 1.0], [0.0, 1.0]])
def test_looks_that_make_no_plan(times: list[float]) -> None:
    with pytest.raises(UserError, match="looks"):
        boundaries(times)


def _stops(first: float, second: float, runs: int) -> float:
    draw = random.Random(11)
    stopped = 0
    for _ in range(runs):
        pairs = [(draw.random() < first, draw.random() < second) for _ in range(200)]
        stopped += look_at(pairs, planned=200, looks=5)[-1].stop
    return stopped / runs


def test_equal_agents_are_rarely_told_apart_and_unequal_ones_often() -> None:
    # At five looks, the limit 1.96 of a single one would be passed by equal agents in 14 % of the runs.
    assert _stops(0.4, 0.4, 400) < 0.09
    assert _stops(0.6, 0.35, 100) > 0.9


def test_a_clear_difference_ends_early_and_a_look_needs_its_cases() -> None:
    found = look_at([(True, False)] * 150, planned=300, looks=4)
    assert [look.cases for look in found] == [75] and found[-1].stop
    assert look_at([(True, False)] * 50, planned=300, looks=4) == []


def test_intervals_stop_overlapping_as_queries_grow() -> None:
    skills = {"a": 0.465, "b": 0.383, "c": 0.219}
    shares = simulate_overlap(skills, [30, 300, 3000], trials=100, seed=3)
    assert shares[30] > 0.8 > shares[300] > 0.1 > shares[3000]
    size = cases_to_separate(0.465, 0.383)
    assert simulate_overlap({"a": 0.465, "b": 0.383}, [size], trials=400)[size] == pytest.approx(0.2, abs=0.06)


def _plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["bench", "plan", *arguments])
    return int(end.value.code or 0), capsys.readouterr().out


@pytest.mark.parametrize(
    ("rates", "touch", "separate", "paired"),
    [
        ((".465", ".383"), 555, 942, 285),
        ((".219", ".173"), 1139, 1936, 585),
        ((".132", ".111"), 3711, 6308, 1900),
        ((".021", ".016"), 11108, 18896, 5701),
    ],
)
def test_the_command_gives_the_table_of_the_design(
    capsys: pytest.CaptureFixture[str], rates: tuple[str, str], touch: int, separate: int, paired: int
) -> None:
    code, out = _plan(capsys, "--rates", *rates, "--json")
    pair = json.loads(out)["pairs"][0]
    assert (code, pair["touch"], pair["separate"], pair["paired"]) == (0, touch, separate, paired)


def test_the_command_plans_widths_looks_and_simulations(capsys: pytest.CaptureFixture[str]) -> None:
    assert "1533 tasks" in _plan(capsys, "--width", "0.05")[1]
    assert "100% of the tasks: 2.014" in _plan(capsys, "--looks", "4")[1]
    code, out = _plan(capsys, "--simulate", "--trials", "20", "--rates", ".5,.3", "--json")
    shares = [row["overlapping_pairs"] for row in json.loads(out)["simulation"]["overlap"]]
    assert code == 0 and shares[0] > shares[-1] == 0.0
    for wrong in (
        [],
        ["--rates", ".5"],
        ["--rates", "half", ".2"],
        ["--rates", ".5", ".5"],
        ["--looks", "2", "--spending", "x"],
    ):
        assert _plan(capsys, *wrong)[0] == 2
    assert _plan(capsys, "--rates", ".5", ".3", "--disagreement", "0.1")[0] == 2
