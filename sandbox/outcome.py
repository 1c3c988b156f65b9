"""What the sandbox is asked and what it answers: the contract between its two walls and the assistant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nl2net.model import Changes, Finding, GraphSchema, Library, TypedResult


class Outcome(StrEnum):
    """How one run ended."""

    OK = "ok"
    CANNOT_ANSWER = "cannot_answer"  # the program called cannot_answer(reason)
    ASK_USER = "ask_user"  # the program called ask_user(question, choices)
    REFUSED = "refused"
    ERROR = "error"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    RECURSION = "recursion"
    PROCESSES = "processes"


class Level(StrEnum):
    """What the operating system grants, found by trial."""

    SEALED = "SEALED"
    PARTIAL = "PARTIAL"
    UNSEALED = "UNSEALED"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run. Defaults suit graphs of 100,000 nodes."""

    wall_s: float = 30.0
    cpu_s: float = 30.0
    memory_mb: int = 2048
    frame_bytes: int = 64 * 1024 * 1024
    items: int = 200_000
    text_chars: int = 20_000
    printed_bytes: int = 64 * 1024
    depth: int = 12


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the question; rules of the lint use it.

    ``expected`` is the asked result type or ``""``; ``placeholders`` are the masked entities of the question
    (``NODE_1``, ``PREFIX_1`` ...); ``is_change`` tells whether the question asks for a changed network.
    """

    expected: str = ""
    placeholders: tuple[str, ...] = ()
    is_change: bool = False
    asks_direction: bool = False
    asks_order: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One program to run over one graph.

    ``program`` is the masked source; ``bindings`` map placeholders to real values and are applied to string constants
    of the syntax tree inside the sealed child, never by editing text.
    """

    program: str
    library: Library = Library.NETWORKX
    bindings: Mapping[str, str] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Feedback:
    """The only thing about a failed run over data that may be sent to a model.

    Every field is from a closed set or is text of the masked program itself.
    """

    kind: str
    line: int | None
    expression: str
    hint: str
    operand_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Findings of the validator and the lint, made in a sealed child that never held data."""

    findings: tuple[Finding, ...]
    entry: str = "answer"


@dataclass(frozen=True, slots=True)
class TwinReport:
    """A run of the masked program on the schema twin; ``error`` may be sent, for the process never held data."""

    outcome: Outcome
    error: str = ""
    line: int | None = None
    result_type: str = ""


@dataclass(frozen=True, slots=True)
class LayerReport:
    """State of the sandbox during a run: level, and each layer with ``"held"`` or the reason why it is missing."""

    level: Level
    layers: Mapping[str, str] = field(default_factory=dict)
    accepted_unsealed: bool = False


@dataclass(frozen=True, slots=True)
class RunReport:
    """Outcome of one run over the private graph. Stays on this machine, except ``feedback``.

    ``value`` is the decoded Python value (tuples, sets, frames as ``TableValue`` and graphs as networkx graphs kept
    apart); ``result`` is its typed JSON form; ``program`` is the bound source as the user may see and save it;
    ``error`` is the full local error text; ``notes`` are caveats seen at run time (ties at a cut, unknown nodes).
    """

    outcome: Outcome
    value: Any = None
    result: TypedResult | None = None
    changes: Changes | None = None
    printed: str = ""
    findings: tuple[Finding, ...] = ()
    feedback: Feedback | None = None
    error: str = ""
    message: str = ""  # of cannot_answer / ask_user
    choices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    program: str = ""
    layers: LayerReport = field(default_factory=lambda: LayerReport(Level.UNSEALED))
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class GraphPayload:
    """A graph on its way from the parent into a holder: the networkx graph (tables in ``graph.graph["tables"]``) and
    its schema, which the twin and the lint use."""

    graph: Any
    schema: GraphSchema
    fingerprint: str = ""
