"""The version-1 JSON envelope of a report."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from nl2net.incident.records import (
    Conflict,
    ConflictValue,
    Evidence,
    Missing,
    Report,
    ReportStatus,
    Slot,
    SlotResult,
    Statement,
    TypedValue,
)  # fmt: skip


def _slot(result: SlotResult) -> dict[str, Any]:
    return {
        "name": result.slot.name,
        "type": result.slot.type,
        "required": result.slot.required,
        "state": result.state,
        "value": _plain(result.value),
        "unit": result.unit,
        "confidence": round(result.confidence, 3),
        "evidence": list(result.evidence),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, TypedValue):
        return value.text
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _evidence(row: Any) -> dict[str, Any]:
    base = {"id": row.id, "kind": row.kind}
    if row.kind == "quote":
        more = {
            "doc": row.doc,
            "source": row.source,
            "url": row.url,
            "class": row.source_class,
            "origin": row.origin,
            "span": list(row.span),
            "quote": row.quote,
            "flags": list(row.flags),
        }
    else:
        more = {
            "class": row.source_class,
            "program": row.program,
            "inputs": dict(row.inputs),
            "output": _plain(row.output),
            "assumption": row.assumption,
            "seed": row.seed,
        }
    return {**base, **more}


def to_envelope(report: Report) -> dict[str, Any]:
    """The report as JSON values.

    Parameters
    ----------
    report : Report
        An outcome.

    Examples
    --------
    >>> from nl2net.incident.records import ReportStatus
    >>> envelope = to_envelope(Report(ReportStatus.OUT_OF_SCOPE, "Q?", "No answer in the evidence."))
    >>> envelope["version"], envelope["status"], envelope["exit_code"]
    (1, 'out_of_scope', 6)
    """
    return {
        "version": 1,
        "status": report.status.value,
        "question": report.question,
        "answer": report.answer,
        "as_of": report.as_of,
        "slots": [_slot(result) for result in report.slots],
        "findings": [{"text": s.text, "evidence": list(s.evidence)} for s in report.findings],
        "conflicts": [
            {
                "slot": c.slot,
                "kind": c.kind,
                "values": [
                    {
                        "value": v.value,
                        "evidence": list(v.evidence),
                        "origins": v.origins,
                        "documents": v.copies,
                        "class": v.source_class,
                    }
                    for v in c.values
                ],
                "preferred": c.preferred,
                "reason": c.reason,
                "live": c.live,
            }
            for c in report.conflicts
        ],
        "evidence": [_evidence(e) for e in report.evidence],
        "missing": [dataclasses.asdict(m) for m in report.missing],
        "assumptions": list(report.assumptions),
        "timeline": [dict(row) for row in report.timeline],
        "places": [dict(row) for row in report.places],
        "transcript": [dict(row) for row in report.transcript],
        "flags": [dict(row) for row in report.flags],
        "rounds": report.rounds,
        "budget": dict(report.budget),
        "confidence": report.confidence,
        "band": report.band,
        "egress": dict(report.egress),
        "timing": dict(report.timing),
        "exit_code": report.status.exit_code,
    }


def dump_envelope(envelope: Mapping[str, Any]) -> str:
    """One line of JSON, keys in the order of the envelope."""
    return json.dumps(envelope, ensure_ascii=False)


def from_envelope(envelope: Mapping[str, Any]) -> Report:
    """The report of an envelope, to be shown or rendered again.

    Notes
    -----
    Slots keep their name, type, state and value; the words that they were made of are not in an envelope.

    Examples
    --------
    >>> report = Report(ReportStatus.PARTLY, "Q?", "A.", findings=(Statement("A.", ("E1",)),))
    >>> from_envelope(to_envelope(report)) == report
    True
    """
    same: dict[str, Any] = {name: envelope[name] for name in _SAME}
    same |= {name: tuple(envelope[name]) for name in _LISTS}
    return Report(
        ReportStatus(envelope["status"]),
        envelope["question"],
        envelope["answer"],
        slots=tuple(_slot_again(row) for row in envelope["slots"]),
        findings=tuple(Statement(row["text"], tuple(row["evidence"])) for row in envelope["findings"]),
        conflicts=tuple(_conflict_again(row) for row in envelope["conflicts"]),
        evidence=tuple(_evidence_again(row) for row in envelope["evidence"]),
        missing=tuple(Missing(**row) for row in envelope["missing"]),
        **same,
    )


_LISTS = ("assumptions", "flags", "timeline", "places", "transcript")
_SAME = ("rounds", "confidence", "band", "as_of", "budget", "egress", "timing")


def _slot_again(row: Mapping[str, Any]) -> SlotResult:
    slot = Slot(row["name"], row["type"], row["name"], required=row["required"])
    return SlotResult(slot, row["state"], row["value"], row["unit"], tuple(row["evidence"]), row["confidence"])


def _conflict_again(row: Mapping[str, Any]) -> Conflict:
    values = tuple(
        ConflictValue(v["value"], tuple(v["evidence"]), v["origins"], v["documents"], v["class"]) for v in row["values"]
    )
    return Conflict(row["slot"], row["kind"], values, row["preferred"], row["reason"], row["live"])


def _evidence_again(row: Mapping[str, Any]) -> Evidence:
    if row["kind"] == "quote":
        first, last = row["span"]
        return Evidence(
            row["id"], "quote", row["doc"], row["source"], row["url"], row["class"], row["origin"], (first, last),
            row["quote"], tuple(row["flags"]),
        )  # fmt: skip
    return Evidence(
        row["id"], row["kind"], source_class=row["class"], program=row["program"], inputs=row["inputs"],
        output=row["output"], assumption=row["assumption"], seed=row["seed"],
    )  # fmt: skip
