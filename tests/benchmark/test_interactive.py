"""Interactive tasks: the same for the same seed, proven, hidden from agents, and solved by the oracle alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2net.benchmark.applications import INTERACTIVE, application
from nl2net.benchmark.applications.audit import audit, confirm
from nl2net.benchmark.applications.base import Application, Fault
from nl2net.benchmark.applications.making import Made, make_tasks
from nl2net.benchmark.applications.network import ClusterExecutor, NetworkExecutor
from nl2net.benchmark.applications.tasks import Key, Task
from nl2net.benchmark.applications.workbench import Rejected, Workbench
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive_agents import NoopAgent, OracleAgent
from nl2net.emulator.capability import kernel_refusal
from nl2net.errors import DataError, UserError
from nl2net.golden.case import Split
from nl2net.golden.streams import Stream

# Of the first 33 tasks; a change of generator, wording or key changes it, and then the version must be raised.
DIGESTS = {"routing": "9646ee598f28270e", "policy": "a1c051be030924a7"}
COUNT = 154


@pytest.fixture(scope="module")
def suites() -> dict[str, Made]:
    return {name: make_tasks(name, "suite", Split.DEV, COUNT) for name in INTERACTIVE}


def digest(tasks: list[Task]) -> str:
    text = "\n".join(json.dumps(task.to_json(), sort_keys=True) for task in tasks)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", INTERACTIVE)
def test_the_same_seed_gives_the_same_bytes(name: str) -> None:
    tasks = make_tasks(name, "digest", Split.DEV, 33).tasks
    assert digest(tasks) == DIGESTS[name]
    other = make_tasks(name, "another", Split.DEV, 33).tasks
    assert not {task.id for task in tasks if not task.control} & {task.id for task in other if not task.control}


@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_task_does_not_depend_on_the_levels_asked_for(name: str) -> None:
    every = {task.id for task in make_tasks(name, "levels", Split.DEV, 66).tasks}
    some = make_tasks(name, "levels", Split.DEV, 12, levels=[2]).tasks
    assert {task.level for task in some} == {2}
    assert len({task.id for task in some} & every) >= 10


@pytest.mark.parametrize("name", INTERACTIVE)
def test_oracle_solves_all_and_noop_none_but_the_controls(name: str, suites: dict[str, Made]) -> None:
    tasks = suites[name].tasks
    oracle = OracleAgent(tasks)
    for task in tasks:
        record = run_episode(task, oracle)
        assert record.headline, (task.id, record.reason)
        assert record.diagnosed
        assert record.changes == record.reference_changes
        assert run_episode(task, NoopAgent()).headline == task.control


@pytest.mark.parametrize("name", INTERACTIVE)
def test_all_types_and_levels_occur(name: str, suites: dict[str, Made]) -> None:
    tasks = suites[name].tasks
    assert len({task.type for task in tasks}) >= 5 + 10 + 8
    levels = Counter(task.level for task in tasks)
    assert set(levels) == {0, 1, 2, 3}
    assert min(levels[level] for level in (1, 2, 3)) > COUNT // 5
    assert len({task.cluster for task in tasks}) >= 10
    assert {task.key.ticket for task in tasks} == {"precise", "vague", "misleading"}
    assert all(task.control == (task.level == 0) == (not task.key.symptoms) for task in tasks)


@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_suite_passes_its_audit(name: str, suites: dict[str, Made]) -> None:
    found = audit(suites[name].tasks[:44])
    assert found.clean, found.text()
    assert found.tasks == 44
    assert found.controls > 0


def test_the_audit_sees_what_is_wrong(suites: dict[str, Made]) -> None:
    task = next(task for task in suites["routing"].tasks if task.level == 2)
    lame = replace(task, key=replace(task.key, repair=task.key.repair[:1]))
    nothing = replace(task, key=replace(task.key, faults=(Fault("x", "y", ()), *task.key.faults[1:])))
    found = audit([task, task, lame, nothing]).failures
    assert found["duplicate"] == 3
    assert found["not solved"] == 1
    assert found["no-op"] == 1
    assert found["wrong id"] == 1
    assert found["unobservable"] == 1


@pytest.mark.parametrize("name", INTERACTIVE)
def test_agents_see_nothing_of_the_key(name: str, suites: dict[str, Made]) -> None:
    for task in suites[name].tasks[:60]:
        shown = json.dumps(task.public().to_json())
        assert task.id not in shown
        assert not {"key", "faults", "repair", "symptoms", "type", "level", "control"} & set(task.public().to_json())
        for place, line in task.key.repair:
            assert line not in shown or line in task.plan["commands"], (place, line)
        if name == "routing":
            assert '"filters"' not in shown
            assert '"routes"' not in shown
    same = [task for task in suites[name].tasks if task.cluster == suites[name].tasks[0].cluster]
    assert len({json.dumps(task.plan, sort_keys=True) for task in same}) == 1
    assert len({task.handle for task in same}) == len(same)


@pytest.mark.parametrize("name", INTERACTIVE)
def test_tasks_survive_json(name: str, suites: dict[str, Made]) -> None:
    for task in suites[name].tasks[:20]:
        data = json.loads(json.dumps(task.to_json()))
        assert Task.from_json(data).to_json() == task.to_json()
    with pytest.raises(DataError, match="version"):
        Task.from_json({**data, "version": 99})
    with pytest.raises(DataError, match="malformed"):
        Task.from_json({**data, "key": {}})


def test_splits_share_no_network_and_no_wording() -> None:
    dev = make_tasks("routing", "split", Split.DEV, 33).tasks
    held_out = make_tasks("routing", "split", Split.EVAL, 33).tasks
    assert not {task.cluster for task in dev} & {task.cluster for task in held_out}
    last = [{task.question.rpartition(". ")[2] for task in tasks} for tasks in (dev, held_out)]
    assert not last[0] & last[1]


@pytest.mark.parametrize("levels", [[], [4], [1, -1]])
def test_unknown_levels_are_refused(levels: list[int]) -> None:
    with pytest.raises(UserError, match="levels"):
        make_tasks("routing", "x", Split.DEV, 1, levels=levels)


def test_an_unknown_application_is_refused() -> None:
    with pytest.raises(UserError, match="unknown application"):
        make_tasks("chess", "x", Split.DEV, 1)


def bench_for(name: str, number: int = 1) -> tuple[Application, Workbench]:
    app = application(name)
    return app, Workbench(app, app.make_state(Stream("gate", number)))


def reject(bench: Workbench, *faults: Fault) -> str:
    with pytest.raises(Rejected) as caught:
        bench.prove(faults)
    return str(caught.value)


def test_the_gate_turns_away_faults_that_do_nothing_show_nothing_or_are_refused() -> None:
    from nl2net.benchmark.applications.network import action_of
    from nl2net.benchmark.applications.routing_faults import read_site
    from nl2net.emulator import AddFilter, AddRoute, SetForwarding, SetMtu

    _, bench = bench_for("routing")
    router = read_site(bench.state).routers[0]
    port = read_site(bench.state).ports[0][1]
    on = Fault("x", "a", (action_of(SetForwarding(router, True)),))
    roomy = Fault("x", "b", (action_of(SetMtu(router, port, 1400)),))
    bad = Fault("x", "c", (action_of(AddRoute(router, "10.9.9.0/24", via="203.0.113.1")),))
    off = Fault("x", "d", (action_of(SetForwarding(router, False)),))
    shadowed = Fault("x", "e", (action_of(AddFilter(router, "forward", "drop")),))
    assert [reject(bench, fault) for fault in (on, roomy, bad)] == ["no-op", "unobservable", "refused"]
    assert reject(bench, off, shadowed) == "masked"
    assert bench.prove([off]).symptoms


def test_the_gate_puts_repairs_into_a_safe_order_or_refuses() -> None:
    """A restored egress would open what a second fault admits: the ingress must be closed first."""
    tasks = make_tasks("policy", "order", Split.DEV, 60, levels=[2, 3]).tasks
    both = [task for task in tasks if {"narrow_egress", "open_source"} <= set(task.type.split("+"))]
    unsafe = 0
    for task in both:
        backwards = replace(task, key=replace(task.key, repair=tuple(reversed(task.key.repair))))
        assert run_episode(task, OracleAgent([task])).safe
        unsafe += not run_episode(backwards, OracleAgent([backwards])).safe
    assert len(both) >= 5


def test_flows_that_a_policy_cannot_touch_are_carried_over_rightly() -> None:
    """The short cut of the simulator against whole matrices."""
    app = application("policy")
    for number in range(6):
        state = app.make_state(Stream("short cut", number))
        short, whole = ClusterExecutor(state), NetworkExecutor(state)
        for turn in range(12):
            kind = app.kinds[turn % len(app.kinds)]
            fault = app.make_fault(state, kind, Stream("short cut", number, turn))
            for action in fault.actions if fault else ():
                assert short.apply(action).accepted == whole.apply(action).accepted
            assert short.observe() == whole.observe()


def load_example() -> dict[str, Any]:
    """The application of the guide."""
    text = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text("utf-8")
    code = re.findall(r"```python\n(.*?)```", text.partition("## A fifth application")[2], re.DOTALL)[0]
    assert len(code.splitlines()) < 100
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, "docs/benchmark.md", "exec"), names)
    return names


def test_the_application_of_the_guide_works_as_it_stands_there() -> None:
    vlans: Application = load_example()["Vlans"]()
    tasks = make_tasks(vlans, "guide", Split.DEV, 40).tasks
    assert audit(tasks, application=vlans).clean
    assert {task.level for task in tasks} == {0, 1, 2}
    oracle = OracleAgent(tasks)
    for task in tasks:
        assert run_episode(task, oracle, application=vlans).headline
        assert run_episode(task, NoopAgent(), application=vlans).headline == task.control


@pytest.mark.parametrize("name", INTERACTIVE)
def test_the_kernel_agrees(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NL2NET_HOME", str(tmp_path))
    refusal = kernel_refusal()
    if refusal is not None:
        pytest.skip(f"KERNEL BACKEND NOT TESTED: {refusal.name}: {refusal.reason}. {refusal.advice}")
    tasks = make_tasks(name, "kernel test", Split.DEV, 3, levels=[1, 2]).tasks
    found = confirm(tasks)
    assert found.disagreements == []
    assert found.matrices >= 3 * 3
    wrong = replace(tasks[0], key=Key(tasks[0].key.faults, (), tasks[0].key.symptoms))
    assert "not repaired" in confirm([wrong]).disagreements[0]
