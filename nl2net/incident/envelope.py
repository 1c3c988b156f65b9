"""The version-1 JSON envelope of a report."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from nl2net.incident.records import Report, SlotResult, TypedValue


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
