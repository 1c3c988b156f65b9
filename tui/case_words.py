"""An investigation in words: answer, evidence in its document, what is missing, what happened when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from nl2net.display import clean, clean_line
from nl2net.tui.words import MUTED

if TYPE_CHECKING:
    from nl2net.incident.asking import Context
    from nl2net.incident.records import Evidence, Report
    from nl2net.incident.store import Past
    from nl2net.tui.cases import Ledger

Part = Content | str | tuple[str, str]
HEADS: Mapping[str, tuple[str, str, str]] = {
    "answered": ("●", "$text-success", "answered"),
    "answered_with_conflict": ("◐", "$text-success", "answered; the sources disagree"),
    "partly": ("◐", "$text-warning", "partly answered"),
    "false_premise": ("!", "$text-warning", "the question takes something for granted that is not so"),
    "insufficient_evidence": ("◌", "$text-warning", "not enough evidence"),
    "out_of_scope": ("◌", "$text-warning", "no evidence can settle this"),
    "failed": ("✗", "$text-error", "failed"),
    "refused": ("⊘", "$text-error", "refused"),
}
EMPTY = (
    "Ask a folder of documents: notes, reports, mails, pages, BGP updates, cable maps.\n\n"
    "Ctrl+G chooses the folder. Then type a question below, for instance\n\n"
    "  When did the outage begin, and who was affected?\n\n"
    "Every sentence of an answer carries a quote that was found again in its document, or a computation. "
    "No model is needed; one may be chosen beside the question."
)
NO_CASE = "Type a question below, or open a former one: ↑ ↓ in the list, Enter."
PAST_COLUMNS = ("", "question", "asked", "status")
EVIDENCE_COLUMNS = ("id", "class", "source", "quote")


def past_row(past: Past) -> list[Any]:
    """A former question as a row."""
    sign = HEADS.get(past.status, ("?", "", past.status))
    status = f"revoked: {past.revoked_by}" if past.revoked_by else past.status.replace("_", " ")
    return ["⊘" if past.revoked_by else sign[0], past.question, past.asked[:16].replace("T", " "), status]


def ledger_line(ledger: Ledger) -> str:
    """The corpus in a line."""
    left = f", {len(ledger.left_out)} files left out" if ledger.left_out else ""
    return f"{ledger.documents} documents{left} · {len(ledger.past)} asked"


def answer_text(report: Report) -> Content:
    """Status, answer, findings, assumptions, and what was spent."""
    sign, colour, words = HEADS[report.status.value]
    parts: list[Part] = [
        (clean_line(report.question), "bold"),
        ("\n\n", ""),
        (f"{sign} {words}", colour),
        f"  {report.band}, confidence {report.confidence:.2f}\n\n",
        *_cited(report.answer),
        "\n",
    ]
    if report.findings:
        parts.append(("\nfindings\n", "bold $primary"))
        for finding in report.findings:
            text = finding.text if "[E" in finding.text else f"{finding.text} [{', '.join(finding.evidence)}]"
            parts += ["• ", *_cited(text), "\n"]
    if report.assumptions:
        parts += [("\nassumptions\n", "bold $primary"), *(f"• {clean_line(text)}\n" for text in report.assumptions)]
    for flag in report.flags:
        parts += [("▲ ", "$text-warning"), clean_line(", ".join(str(value) for value in flag.values() if value)), "\n"]
    parts += [(f"\n{_spent(report)}\n", MUTED)]
    return Content.assemble(*parts)


def _cited(text: str) -> list[Part]:
    """A text with its references to evidence in colour."""
    pieces = re.split(r"(\[E\d+[^\]]*\])", clean(text))
    return [(piece, "$accent") if at % 2 else piece for at, piece in enumerate(pieces) if piece]


def _spent(report: Report) -> str:
    sent = report.egress.get("requests", 0)
    model = report.egress.get("model", "none")
    asked = (
        "no model" if model == "none" else f"model {model}, {sent} requests, {report.egress.get('bytes', 0):,} bytes"
    )
    day = f"as of {report.as_of} · " if report.as_of else ""
    rounds = f"{report.rounds} round{'s' * (report.rounds != 1)}"
    return clean_line(f"{day}{rounds} · {asked} · {report.timing.get('total_s', 0.0):.1f} s")


def evidence_row(item: Evidence) -> list[Any]:
    """A piece of evidence as a row."""
    if item.kind == "quote":
        return [item.id, item.source_class, item.source or item.doc, item.quote]
    return [item.id, item.source_class, item.program, str(item.output)]


def computation_text(item: Evidence) -> Content:
    """A computation with its inputs."""
    parts: list[Part] = [
        (f"{item.id} computed\n\n", "bold $primary"),
        f"{clean(item.program)}\n",
        ("gives  ", MUTED),
        f"{clean(str(item.output))}\n",
    ]
    for name, digest in item.inputs.items():
        parts += [("from   ", MUTED), f"{clean(name)}  {clean(str(digest)[:23])}\n"]
    if item.assumption:
        parts += [("given  ", MUTED), f"{clean(item.assumption)}\n"]
    return Content.assemble(*parts)


def context_text(item: Evidence, found: Context | None) -> Content:
    """A quote in its document, the quote standing out."""
    parts: list[Part] = [(f"{item.id}  ", "bold $primary"), (clean_line(item.source or item.doc), "bold"), "\n"]
    facts = [item.source_class, f"origin {item.origin}" if item.origin else "", item.doc, item.url]
    if found is not None:
        facts.insert(2, f"published {found.published}" if found.published else "no date of publication")
    parts += [(clean_line(" · ".join(fact for fact in facts if fact)), MUTED), "\n"]
    parts += [("flags: ", "$text-warning"), f"{clean_line(', '.join(item.flags))}\n"] if item.flags else []
    if found is None:
        return Content.assemble(*parts, "\n", (clean(item.quote), "bold reverse"))
    if found.changed:
        parts += [("▲ ", "$text-warning"), f"{found.changed}\n"]
    parts += [(f"{clean_line(found.heading)}\n", MUTED)] if found.heading else []
    before = clean(found.before)
    parts += ["\n", (f"…{before}" if len(before) >= 1200 else before, MUTED)]
    parts += [(clean(found.quote), "bold $text on $accent 30%"), (clean(found.after), MUTED)]
    return Content.assemble(*parts)


def missing_text(report: Report) -> Content:
    """Slots of the question with their state, and what would settle the open ones."""
    signs = {
        "settled": ("●", "$text-success"), "conflict": ("◐", "$text-warning"), "open": ("◌", "$text-warning"),
        "hopeless": ("✗", "$text-error"),
    }  # fmt: skip
    parts: list[Part] = [("what the question asks for\n\n", "bold $primary")]
    for slot in report.slots:
        need = "" if slot.slot.required else ", not required"
        parts += [
            signs.get(slot.state, ("?", "")),
            f" {clean_line(slot.slot.name)}",
            (f"  {slot.slot.type}{need}\n", MUTED),
        ]
        if slot.evidence:
            parts.append((f"   confidence {slot.confidence:.2f} · {', '.join(slot.evidence)}\n", MUTED))
    if not report.slots:
        parts.append("nothing that evidence could fill\n")
    parts.append(("\nwhat is missing\n\n", "bold $primary"))
    for item in report.missing:
        parts += [(clean_line(item.slot), "bold"), "\n  searched    ", clean_line(item.searched)]
        parts += ["\n  would help  ", clean_line(item.would_help), "\n"]
    parts += [] if report.missing else ["nothing\n"]
    return Content.assemble(*parts)


def timeline_text(rows: Sequence[Mapping[str, Any]]) -> Content:
    """What happened when."""
    if not rows:
        return Content("The evidence tells no times.")
    parts: list[Part] = []
    day = None
    for row in rows:
        if row["day"] != day:
            day = row["day"]
            parts += [(f"\n{clean_line(str(day or 'day not told'))}\n", "bold $primary")]
        parts += [(f"  {clean_line(str(row['time'])):<12}", "bold"), clean_line(str(row["text"]))]
        parts += [(f"  [{row['evidence']}]\n", "$accent")]
    return Content.assemble(*parts)
