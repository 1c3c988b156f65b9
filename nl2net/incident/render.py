"""A report for people: plain text, Markdown, and one HTML page with timeline and map."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from nl2net.incident.records import Evidence, Report
from nl2net.incident.worldmap import map_svg

_HEADS = {
    "answered": "Answered",
    "answered_with_conflict": "Answered; the sources disagree",
    "partly": "Partly answered",
    "false_premise": "The question takes something for granted that is not so",
    "insufficient_evidence": "Not enough evidence",
    "out_of_scope": "No evidence can settle this",
    "failed": "Failed",
    "refused": "Refused",
}


def render_text(report: Report) -> str:
    """The report for a terminal."""
    lines = [f"{_HEADS[report.status.value]} ({report.band}, confidence {report.confidence:.2f})", "", report.answer]
    if report.timeline:
        lines += ["", "Timeline"]
        lines += [f"  {row['day'] or '?'} {row['time']}  [{row['evidence']}] {row['text']}" for row in report.timeline]
    if report.assumptions:
        lines += ["", "Assumptions", *(f"  - {text}" for text in report.assumptions)]
    lines += ["", _footer(report)]
    return "\n".join(lines) + "\n"


def _footer(report: Report) -> str:
    as_of = f"as of {report.as_of}; " if report.as_of else ""
    sent = report.egress.get("requests", 0)
    return f"{as_of}{report.rounds} round(s); model: {report.egress.get('model', 'none')}, {sent} request(s) sent"


def _escape_markdown(text: str) -> str:
    """Quotes are data: nothing in them becomes a link, a tag or a heading."""
    for sign in "\\`*_[]<>#|!":
        text = text.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return text


def render_markdown(report: Report) -> str:
    """The report as Markdown; document text is escaped."""
    lines = [
        f"# {_escape_markdown(report.question)}",
        "",
        f"**{_HEADS[report.status.value]}** ({report.band}, confidence {report.confidence:.2f})",
        "",
    ]
    lines += [f"{_escape_markdown(line)}  " for line in report.answer.split("\n")]
    if report.conflicts:
        lines += [
            "",
            "## Conflicts",
            "",
            "| slot | value | independent origins | documents | class | evidence |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for conflict in report.conflicts:
            for value in conflict.values:
                mark = " (preferred)" if value.value == conflict.preferred else ""
                cells = (
                    conflict.slot,
                    value.value + mark,
                    value.origins,
                    value.copies,
                    value.source_class,
                    ", ".join(value.evidence),
                )
                lines.append("| " + " | ".join(_escape_markdown(str(cell)) for cell in cells) + " |")
    if report.timeline:
        lines += ["", "## Timeline", ""]
        lines += [
            f"- {row['day'] or '?'} {row['time']}: {_escape_markdown(str(row['text']))} ({row['evidence']})"
            for row in report.timeline
        ]
    lines += ["", "## Evidence", ""]
    lines += [_evidence_markdown(item) for item in report.evidence] or ["none"]
    if report.missing:
        lines += ["", "## Missing", ""]
        lines += [
            f"- {_escape_markdown(m.slot)}: searched {_escape_markdown(m.searched)}; would help: "
            f"{_escape_markdown(m.would_help)}"
            for m in report.missing
        ]
    if report.assumptions:
        lines += ["", "## Assumptions", "", *(f"- {_escape_markdown(text)}" for text in report.assumptions)]
    return "\n".join([*lines, "", _footer(report), ""])


def _evidence_markdown(item: Evidence) -> str:
    if item.kind == "computation":
        return (
            f"- {item.id}: computed by {_escape_markdown(item.program)} over {_escape_markdown(', '.join(item.inputs))}"
        )
    quote = _escape_markdown(item.quote)
    where = f"{item.source_class}; {_escape_markdown(item.doc)}, {item.span[0]}-{item.span[1]}"
    return f"- {item.id}: “{quote}” {_escape_markdown(item.source)} ({where})"


def render_html(report: Report) -> str:
    """One page without scripts or remote parts: answer, conflicts side by side, timeline, map, evidence."""
    esc = html.escape
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{esc(report.question)}</title><style>{_STYLE}</style></head><body><main>",
        f"<h1>{esc(report.question)}</h1>",
        f"<p class='state {report.status.value}'>{esc(_HEADS[report.status.value])} <span>{esc(report.band)}, "
        f"confidence {report.confidence:.2f}</span></p>",
        *(
            f"<p class='line'>{_linked(line, report.evidence)}</p>"
            for line in report.answer.split("\n")
            if line.strip()
        ),
        _conflicts_html(report),
        _timeline_html(report.timeline),
    ]
    if report.places and (drawing := map_svg([str(place["name"]) for place in report.places])):
        parts += ["<h2>Map</h2>", drawing]
    parts.append("<h2>Evidence</h2><ol class='evidence'>")
    parts += [_evidence_html(item) for item in report.evidence]
    parts.append("</ol>")
    if report.missing:
        parts.append(
            "<h2>Missing</h2><ul>"
            + "".join(f"<li>{esc(m.slot)}: {esc(m.would_help)}</li>" for m in report.missing)
            + "</ul>"
        )
    if report.assumptions:
        parts.append("<h2>Assumptions</h2><ul>" + "".join(f"<li>{esc(a)}</li>" for a in report.assumptions) + "</ul>")
    parts.append(f"<footer>{esc(_footer(report))}</footer></main></body></html>\n")
    return "\n".join(part for part in parts if part)


def _linked(line: str, evidence: Sequence[Evidence]) -> str:
    text = html.escape(line)
    for item in evidence:
        text = text.replace(f"[{item.id}:", f"[<a href='#{item.id}'>{item.id}</a>:").replace(
            f"[{item.id}]", f"[<a href='#{item.id}'>{item.id}</a>]"
        )
    return text


def _evidence_html(item: Evidence) -> str:
    esc = html.escape
    if item.kind == "computation":
        inputs = "; ".join(f"{name} {digest[:23]}…" for name, digest in item.inputs.items())
        small = f"<small>{esc(inputs)} {esc(item.assumption)}</small>"
        return f"<li id='{item.id}'><code>{esc(item.program)}</code>{small}</li>"
    flags = f" <b>flags: {esc(', '.join(item.flags))}</b>" if item.flags else ""
    where = f"{item.source} · {item.source_class} · {item.doc} {item.span[0]}–{item.span[1]} · origin {item.origin}"
    return f"<li id='{item.id}'><q>{esc(item.quote)}</q><small>{esc(where)}{flags}</small></li>"


def _conflicts_html(report: Report) -> str:
    esc = html.escape
    blocks = []
    for conflict in report.conflicts:
        cells = "".join(
            f"<td class='{'chosen' if v.value == conflict.preferred else ''}'><b>{esc(v.value)}</b><br>{v.origins} "
            f"independent origin(s), "
            f"{v.copies} document(s)<br>{esc(v.source_class)}<br>{esc(', '.join(v.evidence))}</td>"
            for v in conflict.values
        )
        blocks.append(
            f"<table><caption>{esc(conflict.slot)}: {esc(conflict.kind)}; "
            f"{esc(conflict.reason)}</caption><tr>{cells}</tr></table>"
        )
    return "<h2>Conflicts</h2>" + "".join(blocks) if blocks else ""


def _timeline_html(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    items = "".join(
        f"<li><time>{html.escape(str(row['day'] or '?'))} {html.escape(str(row['time']))}</time> "
        f"{html.escape(str(row['text']))} "
        f"<a href='#{row['evidence']}'>{row['evidence']}</a></li>"
        for row in rows
    )
    return f"<h2>Timeline</h2><ul class='timeline'>{items}</ul>"


_STYLE = (
    "body{font:16px/1.5 "
    "system-ui,sans-serif;margin:0;color:#1c2733;background:#f6f7f9}main{max-width:56rem;margin:2rem auto;padding:0 "
    "1.5rem}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid "
    "#cdd5de}.state{font-weight:600}.state span{font-weight:400;"
    "color:#56636f}.answered,.answered_with_conflict{color:#0b6b3a}.partly,.false_premise{color:#8a5a00}.insufficient"
    "_evidence,.out_of_scope,"
    ".failed,.refused{color:#9b1c1c}.line{margin:.4rem "
    "0;white-space:pre-wrap}table{border-collapse:collapse;margin:.6rem 0;background:#fff}"
    "caption{text-align:left;padding:.3rem 0}td{border:1px solid #cdd5de;padding:.5rem "
    ".8rem;vertical-align:top}td.chosen{background:#e8f5ec}"
    ".timeline{list-style:none;border-left:3px solid #7c93a8;padding-left:1rem}.timeline li{margin:.5rem "
    "0;position:relative}.timeline li::before"
    "{content:'';position:absolute;left:-1.42rem;top:.5rem;width:.6rem;height:.6rem;border-radius:50%;background:#7c9"
    "3a8}time{font-weight:600}"
    "small{display:block;color:#56636f}q{font-style:italic}svg{background:#fff;border:1px solid "
    "#cdd5de;max-width:100%}footer{margin:2rem 0;"
    "color:#56636f;font-size:.9rem}"
)
