"""What one question of a suite is: the value types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nl2net.model import Library, ResultType, Status


class Level(StrEnum):
    """Number of dependent decisions: one look-up, an aggregate or a filter, an algorithm or a chain."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Split(StrEnum):
    """Development questions may be seen by prompts and the program library, evaluation questions never."""

    DEV = "dev"
    EVAL = "eval"


class Mode(StrEnum):
    """How an answer is compared with the key."""

    VALUE = "value"  # equal by type
    TOP_K = "top_k"  # any valid choice at a tie, checked through the key
    ANY_OF = "any_of"  # the key lists every right answer
    PARTITION = "partition"  # same classes, names of the classes free
    PREDICATE = "predicate"  # valid in the graph, and objective equal to the optimum
    CHANGE = "change"  # the difference to the original graph


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the answer to a case is judged.

    Attributes
    ----------
    mode : Mode
        The rule.
    ordered : bool
        Order of rows counts; rows that tie in ``key_column`` may swap.
    key_column : int, optional
        Column of the sort key in the rows of the key.
    relative, absolute : float
        Tolerances of numbers.
    extra_columns : bool
        Further columns are accepted, and a table in place of a plain list of ids.
    predicate : str
        Name of the check of mode ``predicate``.
    parameters : mapping
        What the predicate needs.
    keys : mapping of str to number
        Mode ``top_k``: every item that may be in the answer, with its sort key; items are JSON texts.
    """

    mode: Mode = Mode.VALUE
    ordered: bool = False
    key_column: int | None = None
    relative: float = 1e-6
    absolute: float = 1e-9
    extra_columns: bool = False
    predicate: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Where the graph of a case comes from: a seeded recipe, or the name of a file.

    Attributes
    ----------
    recipe : str
        ``"traffic"``, ``"planning"`` or ``"file"``.
    seed : str
        Seed of the recipe, or the stem of the file.
    options : mapping
        Options of the recipe, such as ``{"flavour": "malt"}``.
    """

    recipe: str
    seed: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """A private word in the question.

    ``text`` is what the question says, ``value`` what the program writes for it, ``type`` one of ``node``,
    ``prefix``, ``value`` (of an attribute) and ``text`` (a word that the user wants written).
    """

    text: str
    value: str
    type: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its proven answer.

    Attributes
    ----------
    id : str
        Hash of everything but the words of the question and its place in the suite.
    expected : object
        The answer in JSON form; a difference of graphs where ``comparison.mode`` is ``change``. Stored, so that running
        a suite never executes a program of the suite file.
    roles : mapping of str to str
        Attribute name in the program to its role (``traffic``, ``capacity``, ``address`` ...).
    outcome : Status
        What a right assistant does: answer, or say why not.
    missing : tuple of str
        Words one of which a right refusal names.
    control : bool
        The right answer is the empty one, so that doing nothing is right: reported apart.
    """

    id: str
    application: str
    intent: str
    level: Level
    split: Split
    question: str
    form: str
    graph: GraphSource
    library: Library
    program: str
    type: ResultType
    comparison: Comparison
    expected: Any
    outcome: Status = Status.ANSWERED
    missing: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    control: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A verified question and program, for the program library."""

    question: str
    program: str
    result_type: ResultType
    library: Library
    application: str
    intent: str
    roles: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[Entity, ...] = ()
    graph: GraphSource | None = None
