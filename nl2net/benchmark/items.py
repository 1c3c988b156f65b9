"""One question of any application: a constructive case of the golden generators, or an interactive task."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nl2net.benchmark.applications import INTERACTIVE
from nl2net.benchmark.applications.base import canonical
from nl2net.benchmark.applications.making import LEVELS, make_tasks
from nl2net.benchmark.applications.tasks import Task
from nl2net.errors import DataError, UserError
from nl2net.golden.case import Case, Level, Split
from nl2net.golden.catalogue import APPLICATIONS as CONSTRUCTIVE
from nl2net.golden.generate import Generated, Recipe, generate, make_case
from nl2net.golden.suite import case_line

APPLICATIONS = (*CONSTRUCTIVE, *INTERACTIVE)
# `dev` may be shown to learners, `eval` is the public exam, `test` is the exam behind a secret seed.
SPLITS = ("dev", "eval", "test")
LEVEL_OF: Mapping[Level, int] = {Level.EASY: 1, Level.MEDIUM: 2, Level.HARD: 3}
_CASES_PER_GRAPH, _FEWEST_GRAPHS = 25, 12
_PATIENCE = 400  # indices without a new case of the wanted level, before it is said to have run out
_CASE = TypeAdapter(Case)


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its key; either a case or a task.

    Attributes
    ----------
    split : str
        ``dev``, ``eval`` or ``test``; a test item is made like one of ``eval``, from another seed.
    """

    split: str
    case: Case | None = None
    task: Task | None = None

    @property
    def payload(self) -> Case | Task:
        """The case or the task."""
        found = self.case if self.case is not None else self.task
        assert found is not None
        return found

    @property
    def id(self) -> str:
        """Canonical id; says nothing about the answer."""
        return self.payload.id

    @property
    def application(self) -> str:
        """Name of the application."""
        return self.payload.application

    @property
    def question(self) -> str:
        """The words."""
        return self.payload.question

    @property
    def type(self) -> str:
        """Intent, or kinds of the faults."""
        return self.case.intent if self.case is not None else self.payload_task.type

    @property
    def level(self) -> int:
        """Number of dependent decisions from 1 to 3; 0 for a healthy control."""
        return LEVEL_OF[self.case.level] if self.case is not None else self.payload_task.level

    @property
    def control(self) -> bool:
        """Doing nothing is right."""
        return self.payload.control

    @property
    def cluster(self) -> str:
        """Items of one cluster stand or fall together: same type on the same network."""
        if self.case is not None:
            return f"{self.type} {self.case.graph.seed}"
        return self.payload_task.cluster

    @property
    def payload_task(self) -> Task:
        """The task of an interactive item."""
        assert self.task is not None
        return self.task

    def public_json(self) -> dict[str, Any]:
        """The half that agents may see."""
        if self.case is None:
            return self.payload_task.public().to_json()
        # The recipe of a graph holds the seed, from which anyone could make the keys: test graphs are files.
        graph = {"file": self.graph_file} if self.split == "test" else asdict(self.case.graph)
        return {"id": self.id, "application": self.application, "question": self.question, "graph": graph}

    @property
    def graph_file(self) -> str:
        """Name of the file that holds the graph of a test case; empty for anything else."""
        if self.case is None or self.split != "test":
            return ""
        return hashlib.sha256(canonical(asdict(self.case.graph)).encode()).hexdigest()[:16] + ".json"

    def key_line(self) -> str:
        """The key half as a line of JSON; holds all of the item."""
        if self.case is not None:
            return case_line(self.case)
        return canonical(self.payload_task.to_json())


def read_item(line: str, split: str) -> Item:
    """Read a key line.

    Raises
    ------
    DataError
        It is no case and no task.
    """
    try:
        data = json.loads(line)
        if data["application"] in INTERACTIVE:
            return Item(split, task=Task.from_json(data))
        return Item(split, case=_CASE.validate_json(line))
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise DataError(f"not a key of a case: {str(error).splitlines()[0]}") from None


@dataclass(frozen=True, slots=True)
class Order:
    """What to generate.

    Attributes
    ----------
    applications : tuple of str
    count : int
        Items per application.
    seed : str
    split : str
    level : int, optional
        Only this one.
    size : str
        ``full``, ``medium`` or ``small`` for the models of ``planning``.
    """

    applications: tuple[str, ...] = APPLICATIONS
    count: int = 100
    seed: str = "1"
    split: str = "eval"
    level: int | None = None
    size: str = ""


@dataclass(slots=True)
class Made:
    """Items that passed the gate, and why candidates were turned away."""

    items: list[Item] = field(default_factory=list)
    rejects: Counter[str] = field(default_factory=Counter)


def applications_named(text: str) -> tuple[str, ...]:
    """Applications of a comma-separated list, or all of them.

    Raises
    ------
    UserError
        One is unknown.

    Examples
    --------
    >>> applications_named("traffic,policy")
    ('traffic', 'policy')
    """
    names = APPLICATIONS if text == "all" else tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in names if name not in APPLICATIONS]
    if unknown:
        raise UserError(f"unknown application {unknown[0]!r}", hint=f"Known are all, {', '.join(APPLICATIONS)}.")
    return names


def make_items(order: Order) -> Made:
    """Generate the items of an order; each has passed the gate of its application.

    Raises
    ------
    UserError
        Split or level are unknown, or an application runs out of distinct items.

    Examples
    --------
    >>> made = make_items(Order(("traffic",), count=3, seed="demo", level=1))
    >>> [item.level for item in made.items]
    [1, 1, 1]
    """
    if order.split not in SPLITS:
        raise UserError(f"unknown split {order.split!r}", hint=f"Known are {', '.join(SPLITS)}.")
    if order.level is not None and order.level not in LEVELS:
        raise UserError(f"unknown level {order.level}", hint="Levels are 1 to 3, and 0 for healthy controls.")
    made = Made()
    for name in order.applications:
        part = _interactive(name, order) if name in INTERACTIVE else _constructive(name, order)
        made.items += part.items
        made.rejects.update(part.rejects)
    return made


def _seed(order: Order) -> tuple[str, Split]:
    """A secret seed draws from another stream, so that the public seed of the same text gives other cases."""
    if order.split == "test":
        return f"test/{order.seed}", Split.EVAL
    return order.seed, Split(order.split)


def _interactive(name: str, order: Order) -> Made:
    seed, split = _seed(order)
    levels = None if order.level is None else (order.level,)
    made = make_tasks(name, seed, split, order.count, levels=levels)
    return Made([Item(order.split, task=task) for task in made.tasks], made.rejects)


def _constructive(name: str, order: Order) -> Made:
    if order.level == 0:
        return Made()
    seed, split = _seed(order)
    graphs = max(_FEWEST_GRAPHS, order.count // _CASES_PER_GRAPH)
    recipe = Recipe(name, seed, split, count=order.count, graphs=graphs, size=order.size)
    made = generate(recipe) if order.level is None else _of_level(recipe, order.level)
    return Made([Item(order.split, case=_opaque(case)) for case in made.cases], made.rejects)


def _of_level(recipe: Recipe, level: int) -> Generated:
    made = Generated(recipe)
    seen: set[str] = set()
    index = last = 0
    while len(made.cases) < recipe.count:
        case = make_case(recipe, index, made.rejects)
        index += 1
        if case is not None and LEVEL_OF[case.level] == level and case.id not in seen:
            seen.add(case.id)
            made.cases.append(case)
            last = index
        if index - last > _PATIENCE:
            raise UserError(
                f"level {level} of {recipe.application}: {len(made.cases)} distinct cases, {recipe.count} asked"
            )
    return made


def _opaque(case: Case) -> Case:
    """The id of a golden case names its intent, which an agent must not see."""
    return replace(case, id=f"{case.application}-{case.id.rsplit('-', 1)[-1]}")


def shard_of(items: Sequence[Item], shard: str) -> list[Item]:
    """Part ``i/n`` of the items.

    Raises
    ------
    UserError
        ``shard`` is not of that form.
    """
    first, _, last = shard.partition("/")
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise UserError(f"{shard!r} is no shard", hint="Write it as 1/4, 2/4 and so on.")
    return [item for position, item in enumerate(items) if position % int(last) == int(first) - 1]
