"""Answers questions on the data files of a corpus by computation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nl2net.incident.assemble import Ledger, abstain_text
from nl2net.incident.frame import Frame
from nl2net.incident.impact.asgraph import AsGraph, graph_of_paths, graph_of_relations, parse_links, parse_relations
from nl2net.incident.impact.cable_answer import cable_results, load_map, map_documents, speaks_of_map
from nl2net.incident.impact.capabilities import CAPABILITIES
from nl2net.incident.impact.material import Material, Result
from nl2net.incident.impact.programs import Programs, shown
from nl2net.incident.impact.updates import parse_updates
from nl2net.incident.origins import Origins
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Document, Evidence, Missing, Report, ReportStatus, Slot, SlotResult, Statement
from nl2net.incident.text import word_set
from nl2net.incident.typed import dates_fit

_SPOKEN = re.compile(
    r"\b(?:update (?:file|stream|dump)|updates? of|(?:invented |synthetic |bgp |update )stream|mrt\b|as graph|as "
    r"links? file|collector (?:file|dump)|"
    r"relationship file|rib\b|bgp (?:file|data|dump|messages))",
    re.IGNORECASE,
)
_GENERIC = word_set(
    "updates update txt bz2 gz mrt csv as rel links link routeviews derived bgp route views file ris data"
)


def data_documents(corpus: Shelf, frame: Frame) -> list[Document]:
    """Data files that a question speaks of, by a telling part of their names or by their kind and date."""
    files = [d for doc in corpus.data_ids() if (d := corpus.document(doc)).data.get("format") != "cable-table"]
    question = frame.question.casefold()
    named = [
        d for d in files if any(re.search(rf"(?<![\w-]){re.escape(t)}(?![\w-])", question) for t in telling_names(d.id))
    ]
    if named:
        return named
    if not _SPOKEN.search(frame.question):
        return []
    dated = [d for d in files if frame.dates and any(_on_day(d, date) for date in frame.dates)]
    unknown = [name for name in frame.names if not any(name.casefold() in d.id.casefold() for d in files)]
    if unknown or (frame.dates and not dated):
        return []
    streams = [d for d in files if d.data.get("format") in ("mrt", "updates")]
    return dated or (files if len(streams) <= 1 else [])


def telling_names(doc: str) -> list[str]:
    """Parts of a file name that tell it from others.

    Examples
    --------
    >>> telling_names("bgp/synthetic-a.updates.txt"), telling_names("bgp/derived-as-links-jinx-20150401.csv")
    (['synthetic-a'], ['jinx', '20150401'])
    """
    parts = doc.rsplit("/", 1)[-1].casefold().split(".")
    found = []
    for part in parts:
        pieces = part.split("-")
        if part in _GENERIC or part.isdigit() or "as-rel" in part:
            continue
        found += [p for p in pieces if p not in _GENERIC and len(p) > 2] if set(pieces) & _GENERIC else [part]
    return found


def _on_day(document: Document, asked: tuple[int, int, int]) -> bool:
    day = document.incident_date
    return len(day) == 10 and dates_fit(asked, (int(day[:4]), int(day[5:7]), int(day[8:])))


def _material(corpus: Shelf, frame: Frame, files: Sequence[Document]) -> tuple[Material, list[Document]]:
    by_kind: dict[str, list[Document]] = {}
    for document in files:
        by_kind.setdefault(str(document.data.get("format")), []).append(document)
    streams = by_kind.get("mrt", []) + by_kind.get("updates", [])
    fitting = [d for d in streams if frame.dates and any(_on_day(d, date) for date in frame.dates)]
    stream_doc = next(iter(fitting or streams), None)
    relation_doc = next(iter(by_kind.get("as-rel", [])), None)
    link_doc = next(iter(by_kind.get("as-links", [])), None)
    stream = parse_updates(corpus.read_bytes(stream_doc.id), name=stream_doc.id) if stream_doc else None
    relations = parse_relations(corpus.read_bytes(relation_doc.id), name=relation_doc.id) if relation_doc else None
    used = [d for d in (stream_doc, relation_doc) if d]
    graph, rule = AsGraph(), ""
    if relations is not None:
        graph, rule = graph_of_relations(relations), "undirected links of the relationship file"
    elif stream is not None:
        graph, rule = (
            graph_of_paths(stream.changes),
            "undirected links between neighbours in announced paths, prepending removed, AS sets skipped",
        )
    elif link_doc is not None:
        graph, rule = parse_links(corpus.read_bytes(link_doc.id), name=link_doc.id), "undirected links of the file"
        used.append(link_doc)
    if relations is not None and stream is not None and re.search(r"\bpaths?\b", frame.question, re.IGNORECASE):
        graph, rule = (
            graph_of_paths(stream.changes),
            "undirected links between neighbours in announced paths, prepending removed, AS sets skipped",
        )
    return Material(frame.question, stream, relations, graph, rule), used


def _has(material: Material, needs: str) -> bool:
    if needs == "graph":
        return bool(material.graph.neighbours)
    return material.stream is not None and (needs == "stream" or material.relations is not None)


def answer_from_data(corpus: Shelf, frame: Frame, programs: Programs | None = None) -> Report | None:
    """A computed report, or ``None`` if the question speaks of no data file of the corpus.

    Parameters
    ----------
    corpus : Shelf
        With data files among its documents.
    frame : Frame
        The question.
    programs : Programs, optional
        Runs event models as programs in the sandbox as well.
    """
    if speaks_of_map(frame.question) and (tables := map_documents(corpus)):
        computed = cable_results(frame, load_map(corpus, tables), programs)
        if computed:
            return _report(frame, computed, tables, Ledger(corpus, Origins([])))
    files = data_documents(corpus, frame)
    if not files:
        return None
    material, used = _material(corpus, frame, files)
    material = replace(material, programs=programs)
    wanted = [c for c in CAPABILITIES if c.answers.search(frame.question)]
    results = [r for c in wanted if _has(material, c.needs) for r in c.compute(material)]
    if not results:
        return _nothing(frame, files, [c.name for c in wanted if not _has(material, c.needs)], [c.name for c in wanted])
    ledger = Ledger(corpus, Origins([]))
    return _report(frame, results, used, ledger)


def _nothing(frame: Frame, files: Sequence[Document], lacking: Sequence[str], wanted: Sequence[str]) -> Report:
    names = ", ".join(d.id for d in files)
    if lacking:
        missing = Missing(
            lacking[0],
            names,
            "an AS relationship file beside the stream" if "route leak" in lacking else "an update file",
        )
    elif wanted:
        missing = Missing(wanted[0], names, "another stream: this one holds no such event")
    else:
        missing = Missing(
            "answer", names, "a question on counts, origins, more specifics, leaks, flaps or the AS graph"
        )
    reason = "the data files do not hold it" if wanted else "no computation for this question is known"
    return Report(
        ReportStatus.INSUFFICIENT_EVIDENCE, frame.question, abstain_text(reason, [missing]), missing=(missing,)
    )


def _report(frame: Frame, results: Sequence[Result], used: Sequence[Document], ledger: Ledger) -> Report:
    inputs = {d.id: f"sha256:{d.sha256}" for d in used}
    lines, findings, slots = [], [], []
    for result in results:
        identity = ledger.add(
            Evidence(
                "",
                "computation",
                source_class="computation",
                program=result.source or result.program,
                inputs=inputs,
                output=result.value,
                assumption=result.assumption,
            )
        )
        lines.append(f"{result.name}: {result.text} [{identity}: {result.program} over {', '.join(inputs)}]")
        if result.source:
            lines += [f"The program of {identity}, as it ran in the sandbox:", shown(result.source)]
        findings.append(Statement(f"{result.name}: {result.text}", (identity,)))
        slots.append(
            SlotResult(Slot(result.name, "computed", frame.question), "settled", result.value, "", (identity,), 0.95)
        )
    assumptions = tuple(dict.fromkeys(r.assumption for r in results if r.assumption))
    lines += [f"Assumption: {text}." for text in assumptions]
    return Report(
        ReportStatus.ANSWERED,
        frame.question,
        "\n".join(lines),
        slots=tuple(slots),
        findings=tuple(findings),
        evidence=tuple(ledger.evidence),
        assumptions=assumptions,
        confidence=0.95,
        band="supported",
    )
