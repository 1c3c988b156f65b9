"""What a question gets back, and its JSON envelope."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nl2net.assistant.confidence import Signals
from nl2net.model import Changes, Finding, Library, Status, TypedResult, Usage

ENVELOPE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """One program that was tried.

    ``code`` is the masked program, ``outcome`` a word of the envelope, ``feedback`` what was sent back to the model,
    ``error`` the full local text, which stays here.
    """

    code: str
    outcome: str
    feedback: str = ""
    error: str = ""
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "outcome": self.outcome, "feedback": self.feedback}


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds spent loading the graph, waiting for the model, running programs, and in all."""

    load_s: float = 0.0
    model_s: float = 0.0
    sandbox_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts that make an answer reproducible; printed as one line and put into saved scripts."""

    model: str = ""
    origin: str = ""  # "model", "library" (replayed without a model) or "user"
    template: str = ""
    schema_hash: str = ""
    fingerprint: str = ""
    program_hash: str = ""
    policy: str = ""
    sandbox: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one question. ``turn`` is its number in the history."""

    status: Status
    exit_code: int
    question: str
    masked: str
    graph: dict[str, Any]
    library: Library | None = None
    code: str = ""
    masked_code: str = ""
    result: TypedResult | None = None
    labels: dict[str, str] = field(default_factory=dict)
    changes: Changes | None = None
    message: str = ""
    choices: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    confidence: float | None = None
    printed: str = ""
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)
    egress: dict[str, Any] = field(default_factory=dict)
    bodies: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    findings: tuple[Finding, ...] = ()
    turn: int = 0
    signals: Signals | None = None

    def to_json(self) -> dict[str, Any]:
        """The envelope of ``nl2net ask --json``, version 1."""
        return {
            "version": ENVELOPE_VERSION,
            "status": str(self.status),
            "question": self.question,
            "graph": self.graph,
            "library": None if self.library is None else str(self.library),
            "code": self.code,
            "result": self._result_json(),
            "changes": None if self.changes is None else self.changes.to_json(),
            "message": self.message,
            "choices": list(self.choices),
            "caveats": list(self.caveats),
            "confidence": None if self.confidence is None else round(self.confidence, 3),
            "printed": self.printed,
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "model": self.provenance.model,
            "origin": self.provenance.origin,
            "usage": self.usage.to_json(),
            "timing": {name: round(getattr(self.timing, name), 4) for name in Timing.__dataclass_fields__},
            "egress": self.egress,
            "sandbox": self.provenance.sandbox,
            "provenance": {
                name: getattr(self.provenance, name)
                for name in ("template", "schema_hash", "program_hash", "policy")
            },
            "history": self.turn,
            "exit_code": self.exit_code,
        }  # fmt: skip

    def _result_json(self) -> dict[str, Any] | None:
        if self.result is None:
            return None
        body = {
            "type": str(self.result.type),
            "data": self.result.data,
            "rows_total": self.result.rows_total,
            "truncated": self.result.truncated,
        }
        return {**body, "labels": self.labels} if self.labels else body
