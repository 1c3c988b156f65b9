"""Reports of benchmark runs: text, PNG, self-contained HTML with every transcript, JUnit."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from nl2net.benchmark.bench_records import BenchRecord
from nl2net.benchmark.bench_summary import BenchRow, BenchSummary, Pair, overlap_share
from nl2net.benchmark.report import png_of, rate_text, xml_text
from nl2net.benchmark.runs import Manifest
from nl2net.benchmark.scoring import Outcome

_STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left}"
    "pre{background:#f4f4f4;padding:.6em;overflow:auto;white-space:pre-wrap}img{max-width:100%}summary{cursor:pointer}"
    ".solved{color:#05642e}.unsolved,.model_error,.invalid_reply{color:#a30f0f}.unsafe{background:#fbe3e3}"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent in a report: manifest of its first run, all its records, figures."""

    name: str
    manifest: Manifest
    records: Sequence[BenchRecord]
    summary: BenchSummary
    cut: str = ""


def reproduction(manifest: Manifest) -> str:
    """The command that makes this run again."""
    order = manifest.settings["order"]
    parts = [
        "nl2net bench run",
        f"--application {','.join(order['applications'])}",
        f"--agent {manifest.agent}",
        f"--count {order['count']}",
        f"--seed {order['seed']}" if order["split"] != "test" else "--suite FOLDER",
    ]
    if order["split"] == "dev":
        parts.append("--split dev")
    for name, flag in (("level", "--level"), ("size", "--size")):
        if order[name] not in (None, ""):
            parts.append(f"{flag} {order[name]}")
    settings = manifest.settings
    if settings["model"]:
        parts.append(f"--model {settings['model']}")
    if settings["backend"] != "simulated":
        parts.append(f"--backend {settings['backend']}")
    if manifest.trials > 1:
        parts.append(f"--trials {manifest.trials}")
    return " ".join(parts)


def _cells(row: BenchRow) -> list[str]:
    times = "-" if row.median_s is None or row.p95_s is None else f"{row.median_s:.2f} / {row.p95_s:.2f}"
    cost = "-" if row.usage.cost_usd is None else f"{row.usage.cost_usd:.4f}"
    return [
        row.name, str(row.n), f"{row.correct.estimate:.3f}", f"{row.safe.estimate:.3f}", rate_text(row.headline),
        times, str(row.usage.tokens), cost,
        ", ".join(f"{name} {count}" for name, count in row.outcomes.items()),
    ]  # fmt: skip


_HEAD = ["", "n", "correct", "safe", "solved and safe [95 %]", "s median / p95", "tokens", "USD", "outcomes"]


def _text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def render_text(entry: Entry) -> str:
    """One agent for the terminal, by application and level."""
    manifest, summary = entry.manifest, entry.summary
    rows = [*summary.tables["application"], *summary.tables["level"], summary.overall]
    if summary.controls is not None:
        rows.append(summary.controls)
    lines = [
        f"agent {entry.name}, suite {manifest.suite} ({manifest.digest}), nl2net {manifest.version}",
        "",
        *_text_table([_HEAD, *map(_cells, rows)]),
        "",
        f"clustered by type and network: {rate_text(summary.clustered)}, effective n {summary.effective_n:.0f}",
    ]
    if summary.failures:
        lines.append("not solved and safe: " + ", ".join(f"{name} {count}" for name, count in summary.failures))
    planned = int(manifest.settings["planned"])
    if len(entry.records) < planned:
        why = f" ({entry.cut})" if entry.cut else ""
        lines.append(f"incomplete: {len(entry.records)} of {planned}, a random part{why}; the same --out goes on")
    if summary.harness_errors:
        first = next(record.reason for record in entry.records if record.outcome is Outcome.HARNESS)
        void = "; THE RUN IS VOID" if summary.void else ""
        lines.append(f"harness errors: {summary.harness_errors}, first: {first[:200]}{void}")
    lines += [f"notice: {text}" for text in summary.easier_than_below]
    lines.append(f"again: {reproduction(manifest)}")
    return "\n".join(lines) + "\n"


def render_pairs(pairs: Sequence[Pair], entries: Sequence[Entry]) -> str:
    """The paired comparison of all agents for the terminal."""
    if not pairs:
        return ""
    head = ["A", "B", "n", "both", "only A", "only B", "neither", "A - B [95 %]", "McNemar p", "Holm p", "overlap"]
    rows = [_pair_cells(pair) for pair in pairs]
    share = overlap_share([entry.summary.overall for entry in entries])
    text = ", ".join(f"{name} {value:.2f}" for name, value in share.items())
    return "\n".join([*_text_table([head, *rows]), f"share of pairs of agents whose intervals overlap: {text}"]) + "\n"


def _pair_cells(pair: Pair) -> list[str]:
    return [
        pair.first, pair.second, str(pair.n), str(pair.both), str(pair.first_only), str(pair.second_only),
        str(pair.neither), rate_text(pair.difference), f"{pair.p_value:.4f}", f"{pair.adjusted:.4f}",
        "yes" if pair.overlap else "no",
    ]  # fmt: skip


def plot_correct_and_safe(entries: Sequence[Entry]) -> bytes:
    """Correctness against safety, one point an agent and application, 95 % bars on both axes, as a PNG."""
    from matplotlib.figure import Figure

    names = sorted({row.name for entry in entries for row in entry.summary.tables["application"]})
    figure = Figure(figsize=(4.6 * max(1, len(names)), 4.4), layout="constrained")
    for number, name in enumerate(names, start=1):
        axes = figure.add_subplot(1, len(names), number)
        for entry in entries:
            for row in entry.summary.tables["application"]:
                if row.name == name:
                    axes.errorbar(
                        row.correct.estimate, row.safe.estimate, xerr=_bars(row.correct), yerr=_bars(row.safe),
                        fmt="o", capsize=3, label=f"{entry.name} (n = {row.n})",
                    )  # fmt: skip
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="correct", ylabel="safe", title=name)
        axes.grid(alpha=0.4)
        axes.legend(fontsize=7)
    return png_of(figure)


def _bars(interval: Any) -> list[list[float]]:
    return [[interval.estimate - interval.low], [interval.high - interval.estimate]]


def plot_levels(entries: Sequence[Entry]) -> bytes:
    """Solved and safe by application and level, with intervals, as a PNG."""
    from matplotlib.figure import Figure

    names = sorted({row.name for entry in entries for row in entry.summary.tables["level"]})
    figure = Figure(figsize=(9, 0.35 * len(names) * max(1, len(entries)) ** 0.5 + 1.6), layout="constrained")
    axes = figure.add_subplot()
    for shift, entry in enumerate(entries):
        rows = {row.name: row for row in entry.summary.tables["level"]}
        places = [names.index(name) + 0.6 * shift / max(1, len(entries)) for name in rows]
        bars = [_bars(row.headline) for row in rows.values()]
        axes.errorbar(
            [row.headline.estimate for row in rows.values()], places,
            xerr=[[bar[0][0] for bar in bars], [bar[1][0] for bar in bars]], fmt="o", capsize=3, label=entry.name,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(-0.03, 1.03), xlabel="solved and safe, 95 % Wilson intervals")
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.4)
    axes.legend(fontsize=8)
    return png_of(figure)


def render_html(entries: Sequence[Entry], pairs: Sequence[Pair]) -> str:
    """One page without outside references: plots, tables, and every case down to its transcript."""
    pictures = (("correctness and safety", plot_correct_and_safe(entries)), ("by level", plot_levels(entries)))
    plots = "".join(
        f'<img alt="{title}" src="data:image/png;base64,{base64.b64encode(png).decode()}">' for title, png in pictures
    )
    parts = [f"<h1>nl2net benchmark</h1>{plots}"]
    if pairs:
        parts.append(f"<h2>Paired comparison</h2><pre>{html.escape(render_pairs(pairs, entries))}</pre>")
    for entry in entries:
        parts.append(f"<h2>{html.escape(entry.name)}</h2><pre>{html.escape(render_text(entry))}</pre>")
        parts += [_html_table(title, rows) for title, rows in entry.summary.tables.items()]
        parts.append(f"<h3>Cases of {html.escape(entry.name)}</h3>" + "".join(map(_html_record, entry.records)))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>nl2net benchmark</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _html_table(title: str, rows: Sequence[BenchRow]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in _HEAD)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in _cells(row)) + "</tr>" for row in rows)
    return f"<h3>By {html.escape(title)}</h3><table><tr>{head}</tr>{body}</table>"


def _html_record(record: BenchRecord) -> str:
    mark = record.outcome if record.safe else f"{record.outcome} unsafe"
    head = f'<span class="{mark}">{mark}</span> {html.escape(record.question)}'
    facts = f"{record.case}, {record.type}, level {record.level}, {record.seconds:.2f} s, {record.turns} turns"
    blocks = [record.reason, record.message, record.program, record.answer, *_transcript(record.transcript)]
    body = "".join(f"<pre>{html.escape(text)}</pre>" for text in blocks if text)
    return f"<details><summary>{head}</summary><p>{html.escape(facts)}</p>{body}</details>"


def _transcript(transcript: Mapping[str, Any]) -> list[str]:
    if "messages" in transcript:
        return [f"[{message['role']}]\n{message['content']}" for message in transcript["messages"]]
    return [json.dumps(step, ensure_ascii=False, indent=1) for step in transcript.get("steps", ())]


def render_junit(entries: Sequence[Entry]) -> str:
    """One test suite per agent, one test case per item; harness errors are errors."""
    top = ElementTree.Element("testsuites")
    for entry in entries:
        suite = ElementTree.SubElement(top, "testsuite", name=entry.name, tests=str(len(entry.records)))
        counts = {"failures": 0, "errors": 0}
        for record in entry.records:
            place = f"{entry.name}.{record.application}"
            case = ElementTree.SubElement(
                suite, "testcase", classname=place, name=record.case, time=f"{record.seconds:.3f}"
            )
            if record.headline:
                continue
            kind = "error" if record.outcome is Outcome.HARNESS else "failure"
            counts[f"{kind}s"] += 1
            found = ElementTree.SubElement(case, kind, type=str(record.outcome), message=xml_text(record.reason))
            found.text = xml_text(record.question)
        for name, count in counts.items():
            suite.set(name, str(count))
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n"
