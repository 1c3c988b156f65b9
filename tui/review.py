"""Programs after their answer: run an edited one, compare two, approve into the library, mark as wrong."""

from __future__ import annotations

import difflib
import threading
from dataclasses import dataclass, replace

from nl2net.assistant import Answer, Attempt, Script, Store, approve_turn, run_script
from nl2net.assistant.session import Session
from nl2net.locations import Locations
from nl2net.model import Finding, GraphSchema, Library, Severity, Status
from nl2net.sandbox import Facts
from nl2net.tui.recall import RERUN, Shown, envelope_with_findings


@dataclass(frozen=True, slots=True)
class Edited:
    """A program of the operator."""

    program: str
    library: Library


def check_program(session: Session, program: str, library: Library) -> tuple[Finding, ...]:
    """Findings of validator and lint; nothing is run."""
    schema: GraphSchema = session.graph.schema
    sandbox = session.assistant.sandbox
    return sandbox.check(program, library=library, schema=schema, facts=Facts(is_change=True)).findings


def run_edited(
    session: Session, store: Store, shown: Shown, *, program: str, library: Library, cancel: threading.Event
) -> Shown:
    """Check and run a program over the working copy, without a model; the attempt is kept with the turn."""
    findings = check_program(session, program, library)
    refused = next((f for f in findings if f.severity is Severity.REFUSE), None)
    header = {"question": shown.answer.question}
    if refused is not None:
        answer = _refused(shown.answer, program, library, findings)
    else:
        answer = run_script(session.assistant, Script(program, library, header), cancel=cancel)
        kept = tuple(replace(attempt, findings=(*attempt.findings, *findings)) for attempt in answer.attempts)
        answer = replace(answer, attempts=kept, findings=findings)
    answer = replace(answer, turn=shown.turn, masked=shown.answer.masked, bodies=shown.answer.bodies)
    shown.answer, shown.edited = answer, program
    shown.tries += answer.attempts
    session.propose(answer)
    if shown.turn:
        store.event(shown.turn, RERUN, {"envelope": envelope_with_findings(answer)})
    return shown


def _refused(before: Answer, program: str, library: Library, findings: tuple[Finding, ...]) -> Answer:
    first = next(f for f in findings if f.severity is Severity.REFUSE)
    attempt = Attempt(program, "refused", error=first.message, findings=findings)
    return replace(
        before, status=Status.REFUSED, exit_code=5, library=library, code=program, result=None, changes=None,
        message=first.message, caveats=(), confidence=None, printed="", attempts=(attempt,), findings=findings,
        provenance=replace(before.provenance, model="none", origin="user"),
    )  # fmt: skip


def compare_programs(left: str, right: str) -> list[str]:
    """Unified difference of two programs, without file names.

    Examples
    --------
    >>> compare_programs("a\\nb", "a\\nc")
    [' a', '-b', '+c']
    """
    lines = list(difflib.unified_diff(left.splitlines(), right.splitlines(), lineterm="", n=99))
    return lines[3:] if lines else [f" {line}" for line in left.splitlines()]


def approve(session: Session, store: Store, shown: Shown, locations: Locations) -> str:
    """Put the model's program of a turn into the user's library; returns the masked question."""
    entry = approve_turn(store, shown.turn, locations.library, schema=session.graph.schema)
    session.renew()  # the next question finds it
    shown.approved = "approved"
    return entry.question
