"""Proves finished tasks once more, from their JSON form: on the simulator in counts, on the kernel step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from nl2net.benchmark.applications import application as find_application
from nl2net.benchmark.applications.base import Application, Executor, Fault, Observed, State
from nl2net.benchmark.applications.shell import Shell
from nl2net.benchmark.applications.tasks import Task, task_id
from nl2net.benchmark.applications.workbench import Wrong, wrong_flows
from nl2net.errors import DataError

FAILURES = ("unsafe", "no-op", "duplicate", "unobservable", "masked", "not solved", "wrong id", "not healthy")


@dataclass(frozen=True, slots=True)
class Audit:
    """What is wrong with a suite; every number of ``failures`` should be 0.

    Attributes
    ----------
    tasks, controls : int
    failures : mapping of str to int
        By reason, see `FAILURES`.
    """

    tasks: int
    controls: int
    failures: Counter[str]

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not any(self.failures.values())

    def text(self) -> str:
        """One line for a report."""
        numbers = ", ".join(f"{self.failures[name]} {name}" for name in FAILURES)
        return f"{self.tasks} tasks ({self.controls} healthy controls): {numbers}"


def audit(tasks: Iterable[Task], *, application: Application | None = None) -> Audit:
    """Check tasks in the simulator without anything that their generation left behind.

    Every task is built from its JSON form; faults are applied, left out one by one, and repaired by the reference.
    """
    failures: Counter[str] = Counter(dict.fromkeys(FAILURES, 0))
    seen: set[str] = set()
    number = controls = 0
    for task in tasks:
        number += 1
        controls += task.control
        again = Task.from_json(task.to_json())
        failures["duplicate"] += again.id in seen
        seen.add(again.id)
        failures.update(_faults_of(again, application or find_application(again.application)))
    return Audit(number, controls, failures)


def _faults_of(task: Task, app: Application) -> list[str]:
    """Reasons why a task is not fit to be asked."""
    found = []
    words = task.question if task.control else ""
    if task_id(task.application, app.version, task.state, task.key.faults, words) != task.id:
        found.append("wrong id")
    if _shown(app, task.state, ()):
        found.append("not healthy")
    start = _shown(app, task.state, task.key.faults)
    if tuple(sorted(start)) != task.key.symptoms or bool(start) == task.control:
        found.append("unobservable")
    for left_out, fault in enumerate(task.key.faults):
        rest = [other for place, other in enumerate(task.key.faults) if place != left_out]
        if not _shown(app, task.state, [fault]):
            found.append("no-op")
        elif rest and start in (_shown(app, task.state, rest), _shown(app, task.state, [fault])):
            found.append("masked")
    rows = _repair(app, task)
    if rows[-1]:
        found.append("not solved")
    if any(after - before for before, after in pairwise(rows)):
        found.append("unsafe")
    return found


def _shown(app: Application, state: State, faults: Sequence[Fault]) -> Wrong:
    with app.open(state) as executor:
        _break(executor, faults)
        return wrong_flows(state, executor.observe())


def _break(executor: Executor, faults: Sequence[Fault]) -> list[bool]:
    return [executor.apply(action).accepted for fault in faults for action in fault.actions]


def _repair(app: Application, task: Task) -> list[Wrong]:
    """Wrong flows at the start and after each line of the reference."""
    with app.open(task.state) as executor:
        _break(executor, task.key.faults)
        shell = Shell(app, task.state, executor)
        rows = [wrong_flows(task.state, executor.observe())]
        for place, line in task.key.repair:
            shell.run(place, line)
            rows.append(wrong_flows(task.state, executor.observe()))
        return rows


@dataclass(slots=True)
class Confirmation:
    """A comparison of the simulator with another backend.

    Attributes
    ----------
    tasks, matrices, flows : int
        How much was compared.
    disagreements : list of str
        Task, step and flow of each difference; a task that could not be run is one, too.
    """

    backend: str
    tasks: int = 0
    matrices: int = 0
    flows: int = 0
    disagreements: list[str] = field(default_factory=list)


def confirm(tasks: Iterable[Task], backend: str = "kernel", *, application: Application | None = None) -> Confirmation:
    """Run tasks on another backend beside the simulator: healthy, broken, and after each line of the repair.

    Compared are acceptance of every action and command, and every flow; at the end all must be as intended.

    Raises
    ------
    Unavailable
        The backend cannot be had here.
    """
    found = Confirmation(backend)
    for task in tasks:
        app = application or find_application(task.application)
        found.tasks += 1
        try:
            with app.open(task.state) as simulated, app.open(task.state, backend=backend) as real:
                _compare(found, task, app, (simulated, real))
        except DataError as error:
            found.disagreements.append(f"{task.id}: {error}")
    return found


def _compare(found: Confirmation, task: Task, app: Application, pair: tuple[Executor, Executor]) -> None:
    """Lead both through the task."""
    _compare_flows(found, task, "healthy", pair)
    answers = [_break(executor, task.key.faults) for executor in pair]
    if answers[0] != answers[1]:
        found.disagreements.append(f"{task.id}: actions accepted {answers[0]}, {found.backend} {answers[1]}")
    last = _compare_flows(found, task, "broken", pair)
    shells = [Shell(app, task.state, executor) for executor in pair]
    for place, line in task.key.repair:
        ran = [shell.run(place, line) for shell in shells]
        if (ran[0].status == 0) != (ran[1].status == 0):
            found.disagreements.append(f"{task.id}: {line}: status {ran[0].status}, {found.backend} {ran[1].output!r}")
        last = _compare_flows(found, task, line, pair)
    if wrong_flows(task.state, last):
        found.disagreements.append(f"{task.id}: not repaired on {found.backend}")


def _compare_flows(found: Confirmation, task: Task, step: str, pair: tuple[Executor, Executor]) -> tuple[Observed, ...]:
    simulated, real = (executor.observe() for executor in pair)
    found.matrices += 1
    found.flows += len(real)
    for flow, left, right in zip(task.state.flows, simulated, real, strict=True):
        if left.passed != right.passed:
            told = f"simulated {left.reason or 'passed'}, {found.backend} {right.reason or 'passed'}"
            found.disagreements.append(f"{task.id}: {step}: {flow.source} to {flow.target}: {told}")
    return real
