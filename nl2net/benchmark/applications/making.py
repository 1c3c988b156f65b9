"""Makes tasks: each a pure function of versions, seed, application, split, type and ordinal."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from nl2net.benchmark.applications import application as find_application
from nl2net.benchmark.applications.base import Application, Fault
from nl2net.benchmark.applications.tasks import HEALTHY, TASK_VERSION, Key, Task, task_id
from nl2net.benchmark.applications.workbench import Proof, Rejected, Workbench
from nl2net.errors import UserError
from nl2net.golden.case import Split
from nl2net.golden.streams import Stream

LEVELS = (0, 1, 2, 3)
_ATTEMPTS = 12
_STATES = 3  # networks that the tasks of one round share
_MENU = 3  # faults of each kind that are drawn for one network
_REPEATS = {0: 3, 1: 2}  # per round, so that levels 1 to 3 weigh the same when there are five kinds
_KEPT = 8  # workbenches kept open


@dataclass(slots=True)
class Made:
    """Tasks that passed the gate, and why candidates were turned away."""

    tasks: list[Task] = field(default_factory=list)
    rejects: Counter[str] = field(default_factory=Counter)


def make_tasks(
    application: str | Application, seed: str, split: Split, count: int, *, levels: Sequence[int] | None = None
) -> Made:
    """Make validated tasks.

    Parameters
    ----------
    application : str or Application
        ``routing``, ``policy`` or one of your own.
    seed : str
        Any text; another one gives other networks, faults and tickets.
    split : Split
        Whose networks and wordings are used; no wording is in both.
    count : int
        Number of tasks.
    levels : sequence of int, optional
        Numbers of faults wanted; 0 stands for healthy controls. By default all, about one control in eleven.

    Raises
    ------
    UserError
        The application or a level is unknown, or the types run out of distinct tasks.

    Examples
    --------
    >>> from nl2net.golden.case import Split
    >>> made = make_tasks("routing", "demo", Split.DEV, 4, levels=[2])
    >>> [len(task.key.faults) for task in made.tasks]
    [2, 2, 2, 2]
    """
    found = application if isinstance(application, Application) else find_application(application)
    maker = Maker(found, seed, split)
    types = maker.types(LEVELS if levels is None else levels)
    made = Made()
    seen: set[str] = set()
    index = idle = 0
    try:
        while len(made.tasks) < count:
            round_number, place = divmod(index, len(types))
            kinds, repeat = maker.order(types, round_number)[place]
            task = maker.make(kinds, round_number, repeat, made.rejects)
            index, idle = index + 1, idle + 1
            if task is not None and task.id in seen:
                made.rejects["duplicate"] += 1
            elif task is not None:
                seen.add(task.id)
                made.tasks.append(task)
                idle = 0
            if idle > 4 * len(types):
                raise UserError(f"only {len(made.tasks)} distinct tasks of {found.name}, {count} asked")
    finally:
        maker.close()
    return made


Kinds = tuple[str, ...]


class Maker:
    """Makes single tasks; networks stay open from one task to the next."""

    def __init__(self, application: Application, seed: str, split: Split) -> None:
        self._application = application
        self._seed = seed
        self._split = Split(split)
        self._benches: OrderedDict[int, Workbench] = OrderedDict()
        self._menu: dict[tuple[int, str, int], Fault | None] = {}

    def types(self, levels: Sequence[int]) -> list[tuple[Kinds, int]]:
        """Sets of kinds with their repeats: everything that one round consists of."""
        if not levels or not set(levels) <= set(LEVELS):
            raise UserError(f"levels are {', '.join(map(str, LEVELS))}, not {list(levels)}")
        return [
            (kinds, repeat)
            for level in sorted(set(levels))
            for kinds in combinations(self._application.kinds, level)
            for repeat in range(_REPEATS.get(level, 1))
        ]

    def order(self, types: Sequence[tuple[Kinds, int]], round_number: int) -> list[tuple[Kinds, int]]:
        """All of one round in random order."""
        shuffled = list(types)
        self._stream("round", round_number, len(types)).shuffle(shuffled)
        return shuffled

    def _stream(self, *purpose: object) -> Stream:
        app = self._application
        return Stream("interactive", TASK_VERSION, app.name, app.version, self._seed, str(self._split), *purpose)

    def make(self, kinds: Kinds, round_number: int, repeat: int, rejects: Counter[str]) -> Task | None:
        """The task of one place, or ``None`` if no attempt passed the gate."""
        place = ("+".join(kinds), round_number, repeat)
        for attempt in range(_ATTEMPTS):
            stream = self._stream("faults", *place, attempt)
            number = _STATES * round_number + stream.below(_STATES)
            try:
                bench = self._bench(number)
                faults = [self._fault(bench, number, kind, stream) for kind in kinds]
                stream.shuffle(faults)
                proof = bench.prove(faults) if faults else Proof((), ())
            except Rejected as reason:
                rejects[str(reason)] += 1
            else:
                return self._assemble(bench, tuple(faults), proof, place)
        return None

    def _fault(self, bench: Workbench, number: int, kind: str, stream: Stream) -> Fault:
        key = (number, kind, stream.below(_MENU))
        if key not in self._menu:
            self._menu[key] = self._application.make_fault(bench.state, kind, self._stream("fault", *key))
        fault = self._menu[key]
        if fault is None:
            raise Rejected("no room")
        return fault

    def _bench(self, number: int) -> Workbench:
        """The workbench of one network; drawn again while the network does not fulfil its own intent."""
        if number not in self._benches:
            self._menu = {key: fault for key, fault in self._menu.items() if key[0] in self._benches}
            for attempt in range(_ATTEMPTS):
                state = self._application.make_state(self._stream("state", number, attempt))
                try:
                    self._benches[number] = Workbench(self._application, state)
                    break
                except Rejected:
                    if attempt == _ATTEMPTS - 1:
                        raise
            while len(self._benches) > _KEPT:
                self._benches.popitem(last=False)[1].close()
        return self._benches[number]

    def _assemble(self, bench: Workbench, faults: tuple[Fault, ...], proof: Proof, place: tuple[object, ...]) -> Task:
        app, state = self._application, bench.state
        ticket = app.ticket(state, proof.symptoms, self._stream("ticket", *place), split=str(self._split))
        hidden = "\x1f".join(map(str, (self._seed, app.name, self._split, *place)))
        # A control has no actions that could tell it from another one on the same network: its words do.
        name = task_id(app.name, app.version, state, faults, "" if faults else ticket.text)
        return Task(
            id=name,
            handle=f"{app.name}-{hashlib.sha256(hidden.encode()).hexdigest()[:12]}",
            application=app.name,
            type="+".join(sorted(fault.kind for fault in faults)) or HEALTHY,
            level=len(faults),
            split=self._split,
            control=not faults,
            question=ticket.text,
            state=state,
            plan=app.describe(state),
            kinds=app.kinds,
            key=Key(faults, proof.repair, proof.symptoms, ticket.style),
        )

    def close(self) -> None:
        """Take all networks down."""
        while self._benches:
            self._benches.popitem()[1].close()
