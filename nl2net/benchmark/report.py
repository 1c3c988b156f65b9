"""Reports of a run: text for the terminal, self-contained HTML with plots, JUnit."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from xml.etree import ElementTree

from nl2net.benchmark.judge import Outcome
from nl2net.benchmark.runs import Manifest, Record
from nl2net.benchmark.stats import Interval
from nl2net.benchmark.summary import PairedComparison, Row, Summary

_SHORT = ("application", "level", "result type", "expected", "intent seen in development")


def rate_text(interval: Interval) -> str:
    """An estimate with its bounds."""
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _heading(manifest: Manifest) -> str:
    return f"suite {manifest.suite} ({manifest.digest[:19]}), agent {manifest.agent}, nl2net {manifest.version}"


def _table(title: str, rows: Sequence[Row]) -> list[str]:
    width = max(len(title), *(len(row.name) for row in rows))
    lines = [f"{title:<{width}}      n  correct [95 %]            wrong-delivered [95 %]"]
    for row in rows:
        lines.append(f"{row.name:<{width}}  {row.total:>5}  {rate_text(row.correct):<24}  {rate_text(row.wrong)}")
    return [*lines, ""]


def render_text(manifest: Manifest, summary: Summary) -> str:
    """A summary for the terminal.

    Notes
    -----
    Rates are over judged cases; harness errors, our own faults, are stated apart.
    """
    lines = [_heading(manifest), "", *_table("all", [summary.overall])]
    outcomes = ", ".join(f"{name} {count}" for name, count in summary.overall.outcomes.items())
    lines += [f"outcomes: {outcomes}", ""]
    for title in _SHORT:
        lines += _table(title, summary.tables[title])
    usage = summary.usage
    tokens = f"{usage.prompt_tokens} + {usage.completion_tokens} tokens"
    lines += [
        f"clustered by intent and graph: {rate_text(summary.clustered)}, effective n {summary.effective_n:.0f}",
        f"seconds per question: median {summary.median_seconds:.2f}, 95th percentile {summary.p95_seconds:.2f}",
        f"{usage.requests} requests, {tokens}, USD {usage.cost_usd:.4f}",
    ]
    if summary.overall.total + summary.harness_errors < summary.cases:
        lines.append(f"incomplete: {summary.overall.total + summary.harness_errors} of {summary.cases} cases")
    if summary.harness_errors:
        lines.append(f"harness errors: {summary.harness_errors}" + ("; THE RUN IS VOID" if summary.void else ""))
    if summary.overall.correct.estimate < 0.5:
        lines.append("notice: this agent is right less often than not")
    return "\n".join(lines) + "\n"


def render_comparison(first: Manifest, second: Manifest, found: PairedComparison) -> str:
    """The paired comparison of two runs for the terminal."""
    lines = [
        f"A: {_heading(first)}",
        f"B: {_heading(second)}",
        f"both right {found.both}, only A {found.first_only}, only B {found.second_only}, neither {found.neither}",
        f"difference A - B: {rate_text(found.difference)}; exact McNemar p = {found.p_value:.4f}",
    ]
    lines += [f"  {flip.first} -> {flip.second}: {flip.question}  ({flip.case})" for flip in found.flips]
    return "\n".join(lines) + "\n"


def render_junit(manifest: Manifest, records: Sequence[Record]) -> str:
    """One test case per question; wrong and missing answers are failures, harness errors are errors."""
    suite = ElementTree.Element("testsuite", name=manifest.suite, tests=str(len(records)))
    failures = errors = 0
    for record in records:
        element = ElementTree.SubElement(
            suite, "testcase", classname=manifest.suite, name=record.case, time=f"{record.seconds:.3f}"
        )
        if record.outcome is Outcome.HARNESS:
            errors += 1
            ElementTree.SubElement(element, "error", message=xml_text(record.reason))
        elif record.outcome is not Outcome.CORRECT:
            failures += 1
            failure = ElementTree.SubElement(
                element, "failure", type=str(record.outcome), message=xml_text(record.reason)
            )
            failure.text = xml_text(record.question)
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """A text that XML can hold."""
    # XML 1.0 has no way to write most control characters, and names of a network may hold any.
    return "".join(c if c in "\t\n" or (ord(c) >= 32 and not 0xD800 <= ord(c) <= 0xDFFF) else "?" for c in text)


def render_html(manifest: Manifest, summary: Summary, records: Sequence[Record]) -> str:
    """One page without outside references: plots, all tables, and every question with its answer."""
    tables = "".join(_html_table(title, rows) for title, rows in summary.tables.items())
    details = "".join(_html_record(record) for record in records)
    plots = "".join(
        f'<img alt="{html.escape(title)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        for title, png in (
            ("correct by level", plot_rates("correct, 95 % Wilson intervals", summary.tables["level"])),
            ("calibration", plot_confidence(records)),
        )
        if png
    )
    text = html.escape(render_text(manifest, summary))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>nl2net golden report</title><style>'
        "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
        "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left}"
        "pre{background:#f4f4f4;padding:.6em;overflow:auto}img{max-width:100%}summary{cursor:pointer}"
        ".correct{color:#05642e}.wrong-delivered,.failed{color:#a30f0f}</style></head><body>"
        f"<h1>{html.escape(_heading(manifest))}</h1><pre>{text}</pre>{plots}{tables}<h2>Questions</h2>{details}</body></html>\n"
    )


def _html_table(title: str, rows: Sequence[Row]) -> str:
    body = "".join(
        f"<tr><td>{html.escape(row.name)}</td><td>{row.total}</td><td>{rate_text(row.correct)}</td><td>{rate_text(row.wrong)}</td>"
        f"<td>{html.escape(', '.join(f'{name} {count}' for name, count in row.outcomes.items()))}</td></tr>"
        for row in rows
    )
    head = "<tr><th></th><th>n</th><th>correct</th><th>wrong-delivered</th><th>outcomes</th></tr>"
    return f"<h2>By {html.escape(title)}</h2><table>{head}{body}</table>"


def _html_record(record: Record) -> str:
    confidence = "" if record.confidence is None else f", confidence {record.confidence:.2f}"
    head = f'<span class="{record.outcome}">{record.outcome}</span> {html.escape(record.question)}'
    return (
        f"<details><summary>{head}</summary>"
        f"<p>{html.escape(record.case)}, {record.seconds:.2f} s{confidence}</p><p>{html.escape(record.reason)}</p>"
        f"<p>{html.escape(record.message)}</p><pre>{html.escape(record.program)}</pre>"
        f"<pre>{html.escape(record.answer)}</pre></details>"
    )


def plot_rates(title: str, rows: Sequence[Row]) -> bytes:
    """Rates with their intervals as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.5 * len(rows) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    middles = [row.correct.estimate for row in rows]
    spans = [
        [row.correct.estimate - row.correct.low for row in rows],
        [row.correct.high - row.correct.estimate for row in rows],
    ]
    axes.errorbar(middles, range(len(rows)), xerr=spans, fmt="o", capsize=4)
    axes.set_yticks(range(len(rows)), [f"{row.name} (n = {row.total})" for row in rows])
    axes.set(xlim=(-0.02, 1.02), xlabel=title)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.4)
    return png_of(figure)


def plot_confidence(records: Sequence[Record]) -> bytes:
    """Reliability: share of right answers by stated confidence; empty if nothing states one."""
    stated = [(r.confidence, r.outcome is Outcome.CORRECT) for r in records if r.confidence is not None]
    if not stated:
        return b""
    from matplotlib.figure import Figure

    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in stated:
        bins.setdefault(min(9, int(10 * confidence)), []).append((confidence, right))
    points = [
        (sum(c for c, _ in found) / len(found), sum(r for _, r in found) / len(found), len(found))
        for _, found in sorted(bins.items())
    ]
    figure = Figure(figsize=(4.5, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--")
    axes.scatter([p[0] for p in points], [p[1] for p in points], s=[20 + 4 * p[2] for p in points], alpha=0.8)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="stated confidence", ylabel="share right (area: answers)")
    return png_of(figure)


def png_of(figure: object) -> bytes:
    """A figure of matplotlib as a PNG; the same bytes for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})  # type: ignore[attr-defined]
    return buffer.getvalue()
