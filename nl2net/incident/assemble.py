"""From outcomes to a report: evidence with ids, statements, conflicts, timeline, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net.incident.claims import is_hedged
from nl2net.incident.confidence import band_of, features_of, score, shipped_scale
from nl2net.incident.frame import Frame
from nl2net.incident.injection import ATTACKS
from nl2net.incident.language import countries
from nl2net.incident.origins import Origins
from nl2net.incident.outcome import Computed, Outcome
from nl2net.incident.pool import Pool
from nl2net.incident.premise import PremiseCheck
from nl2net.incident.reconcile import Verdict
from nl2net.incident.recording import Shelf
from nl2net.incident.records import (
    Claim,
    Conflict,
    ConflictValue,
    Document,
    Evidence,
    Missing,
    Report,
    ReportStatus,
    Slot,
    SlotResult,
    Statement,
)  # fmt: skip
from nl2net.incident.typed import spoken_time
from nl2net.incident.verify import is_verbatim


@dataclass(slots=True)
class Ledger:
    """Evidence of one answer, by id. A quote that is not found again in its document never gets an id."""

    corpus: Shelf
    origins: Origins
    evidence: list[Evidence] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    _ids: dict[object, str] = field(default_factory=dict)

    def quote(self, claim: Claim) -> str | None:
        """Id of the evidence of a claim, or ``None`` if verification failed."""
        key = (claim.doc, claim.start, claim.end)
        if key in self._ids:
            return self._ids[key]
        document = self.corpus.document(claim.doc)
        if not is_verbatim(claim, document):
            self.rejected.append((claim.doc, "the quote is not in the document word for word"))
            return None
        identity = f"E{len(self.evidence) + 1}"
        self._ids[key] = identity
        self.evidence.append(
            Evidence(
                identity,
                "quote",
                doc=claim.doc,
                source=claim.source.title,
                url=claim.source.url,
                source_class=claim.source.source_class.value,
                origin=self.origins.of(claim),
                span=(claim.start, claim.end),
                quote=claim.quote,
                flags=flags_of(document),
            )
        )
        return identity

    def computation(self, computed: Computed, inputs: Mapping[str, str]) -> str:
        """Id of a computation."""
        identity = f"E{len(self.evidence) + 1}"
        self.evidence.append(
            Evidence(
                identity,
                "computation",
                source_class="computation",
                program=f"{computed.operation}: " + "; ".join(f"{name} = {value}" for name, value in computed.inputs),
                inputs=dict(inputs),
                output=computed.value,
                assumption=computed.assumption,
            )
        )
        return identity

    def add(self, evidence: Evidence) -> str:
        """Add a computation that was made elsewhere; its id is set here."""
        from dataclasses import replace

        identity = f"E{len(self.evidence) + 1}"
        self.evidence.append(replace(evidence, id=identity))
        return identity


def flags_of(document: Document) -> tuple[str, ...]:
    """Kinds of flags of a document, sorted."""
    return tuple(sorted({flag.kind for flag in document.flags}))


def cite(ledger: Ledger, identity: str) -> str:
    """How an answer names a piece of evidence."""
    found = next(e for e in ledger.evidence if e.id == identity)
    if found.kind == "computation":
        return f"[{identity}: computed by {found.program}]"
    return f"[{identity}: {found.doc}, {found.source_class}, {found.source}]"


def slot_line(outcome: Outcome, ledger: Ledger) -> tuple[str, tuple[str, ...]] | None:
    """The line of a filled slot and its evidence, ``None`` if nothing was verified."""
    ids = [identity for claim in outcome.claims if (identity := ledger.quote(claim))]
    if not ids:
        return None
    quotes = [f"“{_quote(ledger, i)}” {cite(ledger, i)}" for i in ids]
    if outcome.computed is not None:
        inputs = {claim.doc: f"sha256:{ledger.corpus.document(claim.doc).sha256}" for claim in outcome.claims}
        ids.append(ledger.computation(outcome.computed, inputs))
        spoken = "; ".join(f"{name} {value}" for name, value in outcome.computed.inputs)
        head = f"{outcome.slot.name}: {outcome.label}, computed from {spoken}"
    else:
        head = f"{outcome.slot.name}: {outcome.label}" if outcome.label else outcome.slot.name
    hedge = " (the source is careful)" if outcome.claims and is_hedged(outcome.claims[0].quote) else ""
    return f"{head}{hedge} — " + " ".join(quotes), tuple(ids)


def _quote(ledger: Ledger, identity: str) -> str:
    return next(e.quote for e in ledger.evidence if e.id == identity)


def conflict_of(outcome: Outcome, ledger: Ledger) -> Conflict | None:
    """The conflict of a slot with every value, its origins and copies."""
    verdict = outcome.verdict
    if verdict is None or not verdict.kind:
        return None
    values = []
    for group in verdict.groups:
        ids = tuple(identity for claim in group.claims if (identity := ledger.quote(claim)))
        if ids:
            label = group.label if group.members[0].value else f"as told by {group.members[0].claim.source.title}"
            best = min(group.claims, key=lambda c: c.source.source_class.rank).source.source_class.value
            values.append(ConflictValue(label, ids, group.origins, len({c.doc for c in group.claims}), best))
    preferred = verdict.preferred.label if verdict.preferred else None
    return Conflict(outcome.slot.name, verdict.kind, tuple(values), preferred, verdict.reason, verdict.is_live)


def conflict_lines(conflict: Conflict, verdict: Verdict) -> list[str]:
    """A conflict in words."""
    head = "The sources disagree" if conflict.kind == "between sources" else "One source contradicts itself"
    if not conflict.live:
        head = "A value that its own source takes back"
    lines = [f"{head} on {conflict.slot}:"]
    for value in conflict.values:
        count = "one independent origin" if value.origins == 1 else f"{value.origins} independent origins"
        copies = f" ({value.copies} documents that are copies of one text)" if value.copies > value.origins else ""
        lines.append(f"  - {value.value}: {count}{copies}, {value.source_class} [{', '.join(value.evidence)}]")
    chosen = f"preferred: {conflict.preferred}" if conflict.preferred else "none is preferred"
    return [*lines, f"  {chosen} ({conflict.reason})" if conflict.reason else f"  {chosen}"]


def timeline_of(claims: Sequence[Claim], ledger: Ledger) -> tuple[Mapping[str, Any], ...]:
    """Times of quoted claims in order of day and clock."""
    rows = []
    for claim in claims:
        identity = ledger.quote(claim)
        day = next((v.value for v in claim.values if v.kind == "date" and v.value[2]), None)
        dated = ledger.corpus.document(claim.doc).incident_date
        when = f"{day[0]:04d}-{day[1]:02d}-{day[2]:02d}" if day and day[0] else dated
        for value in claim.values:
            if value.kind == "time" and identity:
                rows.append(
                    {
                        "day": when,
                        "time": spoken_time(value.value, value.noun),
                        "text": claim.quote,
                        "evidence": identity,
                    }
                )
    unique = {(row["day"], row["time"], row["text"]): row for row in rows}
    return tuple(unique[key] for key in sorted(unique))


def places_of(claims: Sequence[Claim], ledger: Ledger) -> tuple[Mapping[str, Any], ...]:
    """Countries that quoted claims name."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        identity = ledger.quote(claim)
        for name in sorted(countries()):
            if identity and f" {name}" in f" {claim.quote}":
                found.setdefault(name, []).append(identity)
    return tuple({"name": name, "evidence": ids} for name, ids in sorted(found.items()))


def missing_of(slot: Slot, frame: Frame, pool: Pool, note: str = "") -> Missing:
    """What is not there, and which document would settle it; a note says why what was found does not do."""
    searched = f"{len(pool.documents)} documents on {', '.join(frame.names) or 'the question'}"
    searched += f" ({note})" if note else ""
    subject = ", ".join(frame.names) or "the incident"
    if pool.unknown:
        unknown = ", ".join(pool.unknown)
        return Missing(slot.name, f"no document speaks of {unknown} together with the rest of the question",
                       f"a report on {unknown}")  # fmt: skip
    if pool.undated:
        return Missing(
            slot.name, f"documents on {subject} exist, none of the asked date", f"a report on {subject} of that date"
        )
    kinds = {
        "money": "a statement of the sums paid or charged", "length": "a survey or route data with lengths or depths",
        "count": f"a count of {slot.name}", "time": "a timeline with times", "span": "times of both ends",
        "cause": "a root-cause report", "place": "a list of places", "percent": "a measurement of shares",
        "duration": "a report with start and end or a duration", "asn": "routing data or a routing report",
    }  # fmt: skip
    return Missing(
        slot.name, searched, f"{kinds.get(slot.type, 'a document that speaks of ' + slot.name)} for {subject}"
    )


def abstain_text(reason: str, missing: Sequence[Missing]) -> str:
    """The words of an abstention."""
    lines = [f"No answer in the evidence: {reason}."]
    lines += [f"Missing: {m.slot}. Searched: {m.searched}. What would help: {m.would_help}." for m in missing]
    return "\n".join(lines)


def report_flags(documents: Sequence[Document]) -> tuple[Mapping[str, Any], ...]:
    """Flags of the documents that an answer touched; their text is not repeated."""
    rows = []
    for document in documents:
        for flag in document.flags:
            rows.append({"doc": document.id, "kind": flag.kind, "span": [flag.start, flag.end], "note": flag.note})
    return tuple(rows)


def flag_lines(flags: Sequence[Mapping[str, Any]]) -> list[str]:
    """One warning per document and kind."""
    seen: dict[str, set[str]] = {}
    for flag in flags:
        seen.setdefault(str(flag["doc"]), set()).add(str(flag["kind"]))
    return [
        f"Warning: {doc} holds {', '.join(sorted(kinds))}; that text was treated as data, not followed and not used "
        f"as evidence."
        for doc, kinds in sorted(seen.items())
    ]


def attacked(documents: Sequence[Document]) -> frozenset[str]:
    """Documents with an attack in them."""
    return frozenset(d.id for d in documents if any(f.kind in ATTACKS or f.kind == "hidden_text" for f in d.flags))


def build_report(
    frame: Frame, pool: Pool, outcomes: Sequence[Outcome], *, ledger: Ledger, check: PremiseCheck
) -> Report:
    """The report of a question that was looked for in documents."""
    lines: list[str] = []
    findings: list[Statement] = []
    conflicts: list[Conflict] = []
    results: list[SlotResult] = []
    flagged = attacked(pool.documents)
    used: list[Claim] = []
    for outcome in outcomes:
        made = slot_line(outcome, ledger) if outcome.state != "open" else None
        if made is None:
            results.append(SlotResult(outcome.slot, "open"))
            continue
        text, ids = made
        used += outcome.claims
        lines.append(text)
        findings.append(Statement(text.split(" — ")[0], ids))
        if (conflict := conflict_of(outcome, ledger)) and outcome.verdict:
            conflicts.append(conflict)
            lines += conflict_lines(conflict, outcome.verdict)
        features = features_of(outcome, ledger.origins, flagged)
        confidence = score(features)
        results.append(
            SlotResult(
                outcome.slot,
                outcome.state,
                outcome.value if outcome.label else None,
                outcome.slot.unit,
                ids,
                confidence,
                features,
            )
        )
    status = _status(frame, results, conflicts, check)
    notes = {o.slot.name: o.note for o in outcomes}
    missing = tuple(
        missing_of(r.slot, frame, pool, notes.get(r.slot.name, ""))
        for r in results
        if r.state == "open" and r.slot.required
    )
    if status is ReportStatus.FALSE_PREMISE:
        lines, findings, used = _premise_lines(check, ledger, lines, findings)
        missing = ()
    elif not status.delivered:
        return _abstention(frame, pool, status, missing, results=results)
    lines += [f"Not found: {m.slot}. What would help: {m.would_help}." for m in missing]
    lines += _quality_lines(frame, used, ledger)
    flags = report_flags(pool.documents)
    lines += flag_lines([f for f in flags if f["kind"] != "near_duplicate"])
    confident = [r.confidence for r in results if r.state != "open" and r.slot.required]
    overall = min(confident, default=shipped_scale().premise if status is ReportStatus.FALSE_PREMISE else 0.0)
    return Report(
        status,
        frame.question,
        "\n".join(lines),
        slots=tuple(results),
        findings=tuple(findings),
        conflicts=tuple(conflicts),
        evidence=tuple(ledger.evidence),
        missing=missing,
        assumptions=tuple(o.computed.assumption for o in outcomes if o.computed and o.computed.assumption),
        flags=flags,
        timeline=timeline_of(used, ledger),
        places=places_of(used, ledger),
        confidence=round(overall, 3),
        band=band_of(overall),
    )


def _status(
    frame: Frame, results: Sequence[SlotResult], conflicts: Sequence[Conflict], check: PremiseCheck
) -> ReportStatus:
    if check.verdict == "false":
        return ReportStatus.FALSE_PREMISE
    required = [r for r in results if r.slot.required]
    filled = [r for r in required if r.state != "open"]
    if not filled:
        return ReportStatus.INSUFFICIENT_EVIDENCE
    if len(filled) < len(required):
        return ReportStatus.PARTLY
    return ReportStatus.ANSWERED_WITH_CONFLICT if any(c.live for c in conflicts) else ReportStatus.ANSWERED


def _premise_lines(
    check: PremiseCheck, ledger: Ledger, lines: list[str], findings: list[Statement]
) -> tuple[list[str], list[Statement], list[Claim]]:
    ids = tuple(identity for claim in check.claims if (identity := ledger.quote(claim)))
    head = "The question takes something for granted that the evidence does not bear out."
    if check.note:
        head = f"No: the evidence says {check.note}."
    quotes = [f"“{_quote(ledger, i)}” {cite(ledger, i)}" for i in ids]
    statement = Statement(head, ids)
    extra = [line for line in lines if line.startswith(("  ", "The sources", "A value"))]
    return [head, *quotes, *extra], [statement, *findings], list(check.claims)


def _quality_lines(frame: Frame, used: Sequence[Claim], ledger: Ledger) -> list[str]:
    if not frame.wants & {"quality", "origins"} or not used:
        return []
    origins = ledger.origins.count(used)
    classes = sorted({c.source.source_class.value for c in used})
    count = "one source (a single origin)" if origins == 1 else f"{origins} independent origins"
    hedged = " and it is careful itself" if any(is_hedged(c.quote) for c in used) else ""
    return [
        f"Evidence: {count}, class {', '.join(classes)}{hedged}; every quote was found again word for word in its "
        f"document."
    ]


def _abstention(
    frame: Frame, pool: Pool, status: ReportStatus, missing: Sequence[Missing], *, results: Sequence[SlotResult]
) -> Report:
    if pool.unknown:
        reason = f"nothing found on {', '.join(pool.unknown)}"
    elif pool.undated:
        reason = "no document of the asked date"
    elif not pool.documents:
        reason = "no document on the question"
    else:
        reason = "the documents on the subject do not say it"
    return Report(
        status,
        frame.question,
        abstain_text(reason, missing),
        slots=tuple(results),
        missing=tuple(missing),
        flags=report_flags(pool.documents),
    )
