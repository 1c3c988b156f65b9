"""Values of an investigation: documents, passages, typed values, claims, evidence and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.incident.confidence import Features


class SourceClass(StrEnum):
    """How close a source is to what happened, best first."""

    COMPUTATION = "computation"
    PRIMARY_MEASUREMENT = "primary-measurement"
    PRIMARY_OPERATOR = "primary-operator"
    PRIMARY_REGULATOR = "primary-regulator"
    MAILING_LIST = "mailing-list"
    NEWS = "news"
    SECONDARY = "secondary"
    GENERATED = "generated"

    @property
    def rank(self) -> int:
        """0 is best; the three kinds of primary source tie."""
        return _RANKS[self]

    def lowered(self) -> SourceClass:
        """One class down, never below ``generated``; a flagged document is quoted at this class."""
        order = list(SourceClass)
        if self.rank == 1:
            return SourceClass.NEWS
        return order[min(order.index(self) + 1, len(order) - 1)]


_RANKS = {
    SourceClass.COMPUTATION: 0,
    SourceClass.PRIMARY_MEASUREMENT: 1,
    SourceClass.PRIMARY_OPERATOR: 1,
    SourceClass.PRIMARY_REGULATOR: 1,
    SourceClass.MAILING_LIST: 2,
    SourceClass.NEWS: 3,
    SourceClass.SECONDARY: 4,
    SourceClass.GENERATED: 5,
}


class ReportStatus(StrEnum):
    """Outcome of an investigation; exit code 0 for the first four, 6, 6, 1 and 5 for the others."""

    ANSWERED = "answered"
    ANSWERED_WITH_CONFLICT = "answered_with_conflict"
    PARTLY = "partly"
    FALSE_PREMISE = "false_premise"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    OUT_OF_SCOPE = "out_of_scope"
    FAILED = "failed"
    REFUSED = "refused"

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""
        codes = {"insufficient_evidence": 6, "out_of_scope": 6, "failed": 1, "refused": 5}
        return codes.get(self.value, 0)

    @property
    def delivered(self) -> bool:
        """Whether an answer was given."""
        return self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage comes from; one document may quote several sources."""

    key: str
    title: str
    url: str
    source_class: SourceClass


@dataclass(frozen=True, slots=True)
class Flag:
    """A suspicious spot of a document. ``start`` and ``end`` are offsets into the normalised text; hidden text is not
    part of it, so its flags have ``start == end`` where it was left out."""

    kind: str
    start: int
    end: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A bullet, paragraph or row: ``text == document.text[start:end]``."""

    doc: str
    start: int
    end: int
    text: str
    heading: str
    source: Source
    usable_until: int = -1  # offset in ``text`` from which on it is an attack and no evidence; -1: all of it is usable

    @property
    def usable(self) -> str:
        """The part that may be quoted."""
        return self.text if self.usable_until < 0 else self.text[: self.usable_until]


@dataclass(frozen=True, slots=True)
class Document:
    """One stored document in normal form."""

    id: str
    title: str
    text: str
    sha256: str
    format: str
    source_class: SourceClass
    passages: tuple[Passage, ...]
    published: str = ""
    incident_date: str = ""
    kind: str = ""
    url: str = ""
    flags: tuple[Flag, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)  # of a data file: what kind of data it holds


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A value found in a text.

    Attributes
    ----------
    kind : str
        ``time``, ``date``, ``duration``, ``count``, ``percent``, ``length``, ``money``, ``asn``, ``prefix``,
        ``name`` or ``ordinal``.
    value : Any
        Canonical: minutes-exact seconds of the day; ``(year, month, day)`` with 0 for unknown; ``(low, high)`` in
        seconds, units or kilometres; an AS number; a prefix.
    text : str
        The words it was read from.
    start, end : int
        Span in the text it was read from.
    noun : str
        What is counted or which unit or zone applies.
    bound : str
        ``""``, ``"about"``, ``"more than"``, ``"less than"``.
    """

    kind: str
    value: Any
    text: str
    start: int
    end: int
    noun: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a passage with the values in it; ``start`` and ``end`` are offsets into the document."""

    doc: str
    start: int
    end: int
    quote: str
    source: Source
    values: tuple[TypedValue, ...]
    terms: frozenset[str]
    heading: str = ""
    context: str = ""  # title, headings and the rest of the passage
    carried: str = ""  # the sentence before, where this one names no subject of its own: "The repair took 16 days."


@dataclass(frozen=True, slots=True)
class Slot:
    """One typed question inside the question."""

    name: str
    type: str
    text: str
    terms: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    edge: str = ""  # "start", "end" or ""
    ends: tuple[str, str] = ("", "")  # of a span: the words for its two ends
    alternatives: tuple[TypedValue, ...] = ()
    unit: str = ""
    required: bool = True
    avoid: tuple[str, ...] = ()  # nouns that belong to a more specific slot of the same question
    must: tuple[str, ...] = ()  # the deed of a passive question: "when was it repaired"
    bare: bool = False  # "and why?": the words come from another part of the question
    nth: int = 0  # "the second attack"; 0: no position is asked for
    clock: bool = False  # "at what time": a day is no answer


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote found again in its document, or a computation with its inputs."""

    id: str
    kind: str
    doc: str = ""
    source: str = ""
    url: str = ""
    source_class: str = ""
    origin: str = ""
    span: tuple[int, int] = (0, 0)
    quote: str = ""
    flags: tuple[str, ...] = ()
    program: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    output: Any = None
    assumption: str = ""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the answer and the evidence it rests on."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictValue:
    """One of the values that disagree."""

    value: str
    evidence: tuple[str, ...]
    origins: int
    copies: int
    source_class: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Values of one slot that cannot all hold."""

    slot: str
    kind: str
    values: tuple[ConflictValue, ...]
    preferred: str | None
    reason: str
    live: bool = True  # False: the rival value is disowned by its own source


@dataclass(frozen=True, slots=True)
class SlotResult:
    """State of a slot after knowledge testing."""

    slot: Slot
    state: str  # "settled", "conflict", "open" or "hopeless"
    value: Any = None
    unit: str = ""
    evidence: tuple[str, ...] = ()
    confidence: float = 0.0
    features: Features | None = None  # what the confidence was made of


@dataclass(frozen=True, slots=True)
class Missing:
    """What could not be found, and what would settle it."""

    slot: str
    searched: str
    would_help: str


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an investigation."""

    status: ReportStatus
    question: str
    answer: str
    slots: tuple[SlotResult, ...] = ()
    findings: tuple[Statement, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[Missing, ...] = ()
    assumptions: tuple[str, ...] = ()
    flags: tuple[Mapping[str, Any], ...] = ()
    timeline: tuple[Mapping[str, Any], ...] = ()
    places: tuple[Mapping[str, Any], ...] = ()
    transcript: tuple[Mapping[str, Any], ...] = ()
    rounds: int = 0
    confidence: float = 0.0
    band: str = "not supported"
    as_of: str | None = None
    budget: Mapping[str, Any] = field(default_factory=dict)
    egress: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)
