"""Answers of the history as they were shown, from the envelope and the events of their turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net.assistant.answer import Answer, Attempt, Provenance, Timing
from nl2net.assistant.store import Store, Turn
from nl2net.model import Changes, Finding, Library, ResultType, Severity, Status, TypedResult, Usage

# Events that this application adds to a turn.
SENT, RERUN = "tui.sent", "tui.rerun"


@dataclass(slots=True)
class Shown:
    """One question on the screen: the answer in view and every program that was tried for it."""

    answer: Answer
    turn: int = 0
    tries: list[Attempt] = field(default_factory=list)
    approved: str = ""
    edited: str = ""

    @property
    def program(self) -> str:
        """The program as it stands in the editor."""
        return self.edited or self.answer.code


def recall_conversation(store: Store, conversation: str, *, limit: int = 200) -> list[Shown]:
    """The turns of a conversation, oldest first."""
    turns = store.turns(limit=limit, conversation=conversation)
    return [recall_turn(turn, store.events(turn.id)) for turn in reversed(turns)]


def recall_turn(turn: Turn, events: Sequence[Mapping[str, Any]] = ()) -> Shown:
    """One turn with its later runs; a turn that was interrupted says so."""
    answer = answer_of(turn, _sent(events))
    shown = Shown(answer, turn.id, list(answer.attempts), turn.approved or "")
    for event in events:
        if event["stage"] == RERUN:
            envelope = event.get("envelope") or {}
            shown.answer = _from_envelope(envelope, turn, answer.bodies)
            shown.tries += shown.answer.attempts
            shown.edited = str(envelope.get("code", ""))
    return shown


def answer_of(turn: Turn, bodies: tuple[str, ...] = ()) -> Answer:
    """The answer of a turn."""
    if turn.envelope is None:
        graph = {"name": turn.graph, "fingerprint": turn.fingerprint}
        said = "this question was interrupted before it was answered; ask it again"
        return Answer(Status.FAILED, 130, turn.question, turn.masked or "", graph, message=said, turn=turn.id)
    return _from_envelope(turn.envelope, turn, bodies)


def _sent(events: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(str(body) for event in events if event["stage"] == SENT for body in event.get("bodies", ()))


def _from_envelope(body: Mapping[str, Any], turn: Turn, bodies: tuple[str, ...]) -> Answer:
    library = body.get("library")
    result = body.get("result") or {}
    return Answer(
        status=Status(body["status"]),
        exit_code=int(body.get("exit_code", 0)),
        question=turn.question,
        masked=turn.masked or "",
        graph={"name": turn.graph, "fingerprint": turn.fingerprint, **(body.get("graph") or {})},
        library=Library(library) if library else None,
        code=str(body.get("code", "")),
        masked_code=turn.program or "",
        result=_result(result) if result else None,
        labels=dict(result.get("labels", {})),
        changes=_changes(body["changes"]) if body.get("changes") else None,
        message=str(body.get("message", "")),
        choices=tuple(body.get("choices", ())),
        caveats=tuple(body.get("caveats", ())),
        confidence=body.get("confidence"),
        printed=str(body.get("printed", "")),
        attempts=tuple(attempt_of(item) for item in body.get("attempts", ())),
        usage=Usage(**body.get("usage", {})),
        timing=Timing(**body.get("timing", {})),
        egress=dict(body.get("egress", {})),
        bodies=bodies,
        provenance=Provenance(
            model=str(body.get("model", "")),
            origin=str(body.get("origin", "")),
            sandbox=str(body.get("sandbox", "")),
            fingerprint=turn.fingerprint,
            **{key: str(value) for key, value in (body.get("provenance") or {}).items()},
        ),
        turn=turn.id,
    )


def _result(body: Mapping[str, Any]) -> TypedResult:
    return TypedResult(ResultType(body["type"]), body["data"], body.get("rows_total"), bool(body.get("truncated")))


def _changes(body: Mapping[str, Any]) -> Changes:
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in body.items()}
    return Changes(**fields)


def attempt_of(body: Mapping[str, Any]) -> Attempt:
    """One attempt, with the local error and the findings where they were kept."""
    findings = tuple(
        Finding(f["rule"], f["message"], Severity(f["severity"]), f.get("line")) for f in body.get("findings", ())
    )
    return Attempt(
        str(body.get("code", "")),
        str(body.get("outcome", "")),
        str(body.get("feedback", "")),
        str(body.get("error", "")),
        findings,
    )


def envelope_with_findings(answer: Answer) -> dict[str, Any]:
    """The envelope of an answer with the local details of its attempts, which the public one leaves out."""
    body = answer.to_json()
    body["attempts"] = [
        {
            **attempt.to_json(),
            "error": attempt.error,
            "findings": [
                {"rule": f.rule, "message": f.message, "severity": str(f.severity), "line": f.line}
                for f in attempt.findings
            ],
        }
        for attempt in answer.attempts
    ]
    return body
