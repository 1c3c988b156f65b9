"""Investigations over a folder of documents, as their screen needs them. Nothing here knows of Textual.

Every function opens the index of the corpus for itself, since each runs in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nl2net.errors import UserError
from nl2net.locations import atomic_write
from nl2net.tui.desk import Desk

if TYPE_CHECKING:
    from nl2net.incident.asking import Context
    from nl2net.incident.corpus import Corpus
    from nl2net.incident.records import Evidence, Report
    from nl2net.incident.store import Past

NO_MODEL = "none"


class Stopped(Exception):
    """The analyst did not wait; nothing was kept."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its report, and the hashes of the documents that it cites."""

    number: int
    report: Report
    hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """A corpus as it was last indexed: how many documents, what could not be read, and what was asked."""

    folder: Path
    documents: int
    left_out: Mapping[str, str]
    past: list[Past]


def _corpus(desk: Desk, folder: Path) -> Corpus:
    from nl2net.incident.corpus import Corpus

    return Corpus(folder, locations=desk.locations)


def open_ledger(desk: Desk, folder: Path, *, refresh: bool) -> Ledger:
    """What a corpus holds and what was asked of it; ``refresh`` reads what changed in the folder first."""
    from nl2net.incident.store import Knowledge

    with _corpus(desk, folder) as corpus:
        if refresh:
            corpus.refresh()
        past = Knowledge(corpus.index.connection).history()
        return Ledger(corpus.folder, len(corpus.index.ids()), corpus.index.skipped(), past)


def investigate(
    desk: Desk,
    folder: Path,
    question: str,
    *,
    model: str = NO_MODEL,
    as_of: str = "",
    stop: threading.Event | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Case:
    """Ask a corpus.

    Parameters
    ----------
    desk : Desk
        Locations and settings.
    folder : Path
        The corpus.
    question : str
        In plain words.
    model : str
        ``none``, ``builtin``, or a name at the configured endpoint.
    as_of : str
        Documents published later are hidden.
    stop : Event, optional
        Ends the investigation at its next step.
    progress : callable, optional
        Gets a phrase per step.

    Raises
    ------
    Stopped
        ``stop`` was set; nothing was kept.
    UserError
        No date, no folder.
    """
    from nl2net.incident.asking import ask_and_keep
    from nl2net.incident.client import connect_model
    from nl2net.incident.impact.programs import Programs
    from nl2net.incident.loop import Investigator, Options

    options = Options(_day(as_of))

    def say(text: str) -> None:
        if stop is not None and stop.is_set():
            raise Stopped
        progress(text)

    def step(event: Mapping[str, Any]) -> None:
        say(step_words(event))

    with _corpus(desk, folder) as corpus:
        say("reading what changed in the folder")
        # Whole batches are kept when the analyst does not wait: the next time goes on behind them.
        corpus.refresh(progress=lambda count: say(f"read {count:,} files"))
        settings = desk.settings.model_copy(update={"model": None if model == NO_MODEL else model})
        visibility = corpus.settings.visibility
        client = connect_model(model, visibility=visibility, settings=settings, locations=desk.locations)
        step({"step": "frame"})
        with Programs() as programs:
            investigator = Investigator(corpus, model=client, options=options, listener=step, programs=programs)
            number, report = ask_and_keep(investigator, corpus, question)
        hashes = {e.doc: corpus.document(e.doc).sha256 for e in report.evidence if e.kind == "quote"}
        return Case(number, report, hashes)


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text.strip()).isoformat() if text.strip() else ""
    except ValueError:
        raise UserError(f"{text.strip()}: no date", hint="Write YYYY-MM-DD, or nothing.") from None


def step_words(event: Mapping[str, Any]) -> str:
    """A step of an investigation in a phrase.

    Examples
    --------
    >>> step_words({"step": "round", "number": 2, "documents": ["a", "b"], "gained": 7})
    'round 2: 2 documents, 7 new claims'
    """
    if event["step"] == "round":
        return f"round {event['number']}: {len(event['documents'])} documents, {event['gained']} new claims"
    phrases = {
        "frame": "reading the question",
        "compute": "computing from data files",
        "list": "listing",
        "test": "testing what is known",
        "model": "the model picked a quote",
        "conclude": "writing the answer",
    }
    return phrases.get(str(event["step"]), str(event["step"]))


def reopen(desk: Desk, folder: Path, number: int) -> Case:
    """A former investigation."""
    from nl2net.incident.store import Knowledge

    with _corpus(desk, folder) as corpus:
        return Case(number, *Knowledge(corpus.index.connection).reopen(number))


def context_of(desk: Desk, folder: Path, case: Case, evidence: Evidence) -> Context:
    """A quote in its document."""
    from nl2net.incident.asking import quote_in_context

    with _corpus(desk, folder) as corpus:
        return quote_in_context(corpus, evidence, sha256=case.hashes.get(evidence.doc, ""))


def export_case(case: Case, path: Path) -> Path:
    """Write a report as ``.md`` or ``.html``.

    Raises
    ------
    UserError
        Another suffix.
    """
    from nl2net.incident.render import render_html, render_markdown

    renders = {".md": render_markdown, ".html": render_html}
    if path.suffix not in renders:
        raise UserError(f"{path.name}: reports go to .md or .html", hint="Give a name with one of these suffixes.")
    with atomic_write(path) as stream:
        stream.write(renders[path.suffix](case.report).encode())
    return path
