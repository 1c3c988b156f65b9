"""The job runner: every engine gives the same results, and what dies takes nothing else with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from job_items import die_at_three, square

from nl2net.benchmark.jobs import JobFailed, run_jobs
from nl2net.errors import Unavailable, UserError


def _found(engine: str) -> tuple[list[int], list[str]]:
    done = list(run_jobs(square, [1, 2, 3, -1, 4], engine=engine, workers=2))
    results = sorted(one.result for one in done if one.result is not None)
    return results, [f"{one.item} {type(one.error).__name__}" for one in done if one.error is not None]


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_engines_agree_and_hand_errors_over(engine: str) -> None:
    assert _found(engine) == ([1, 4, 9, 16], ["-1 ValueError"])


@pytest.mark.slow
def test_two_local_workers_of_ray() -> None:
    pytest.importorskip("ray")
    try:
        found = _found("ray")
    except Unavailable as error:  # it gives its own daemons 30 s, which a crowded machine may not grant
        pytest.skip(str(error))
    assert found == ([1, 4, 9, 16], ["-1 ValueError"])


def test_a_worker_that_dies_fails_its_own_item_only() -> None:
    done = {one.item: one for one in run_jobs(die_at_three, range(6), engine="processes", workers=2)}
    assert isinstance(done[3].error, JobFailed)
    assert {item: one.result for item, one in done.items() if item != 3} == {n: n for n in (0, 1, 2, 4, 5)}


def test_items_are_not_read_far_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    jobs = run_jobs(square, items(), engine="threads", workers=2)
    next(jobs)
    assert len(read) <= 2 * 2 + 1
    jobs.close()  # type: ignore[attr-defined]


def test_unknown_engine() -> None:
    with pytest.raises(UserError, match="unknown engine"):
        run_jobs(square, [1], engine="cloud")
