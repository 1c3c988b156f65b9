"""Ask a corpus and keep the answer in its ledger: what every front end does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from nl2net.incident.corpus import Corpus
from nl2net.incident.loop import Investigator
from nl2net.incident.records import Evidence, Report
from nl2net.incident.store import Knowledge


def keep_report(report: Report, corpus: Corpus) -> int:
    """Append a report to the ledger of the corpus; returns its number there."""
    hashes = {e.doc: corpus.document(e.doc).sha256 for e in report.evidence if e.kind == "quote"}
    asked = datetime.now(UTC).isoformat(timespec="seconds")
    return Knowledge(corpus.index.connection).add(report, asked=asked, hashes=hashes)


def ask_and_keep(investigator: Investigator, corpus: Corpus, question: str) -> tuple[int, Report]:
    """Answer a question and keep the answer.

    Parameters
    ----------
    investigator : Investigator
        Over the corpus or a recorder of it.
    corpus : Corpus
        Whose ledger keeps the answer.
    question : str
        In plain words.
    """
    report = investigator.investigate(question)
    return keep_report(report, corpus), report


@dataclass(frozen=True, slots=True)
class Context:
    """A quote in its document.

    ``changed`` says that the document is no longer the one that was quoted; then ``quote`` stands alone, and there is
    nothing before and after it.
    """

    title: str
    published: str
    heading: str
    before: str
    quote: str
    after: str
    changed: str = ""


def quote_in_context(corpus: Corpus, evidence: Evidence, *, sha256: str = "", around: int = 1200) -> Context:
    """A quote with the text around it.

    Parameters
    ----------
    corpus : Corpus
        The documents, as they were indexed last.
    evidence : Evidence
        A quote.
    sha256 : str, optional
        Of the document when it was quoted; empty if that is not known.
    around : int
        Characters before and after.
    """
    if evidence.doc not in corpus.index.ids():
        return Context(evidence.doc, "", "", "", evidence.quote, "", "the document is no longer in the corpus")
    document = corpus.document(evidence.doc)
    first, last = evidence.span
    if document.text[first:last] != evidence.quote or (sha256 and document.sha256 != sha256):
        said = "the document has changed since; the quote is what it said then"
        return Context(document.title, document.published, "", "", evidence.quote, "", said)
    heading = next((p.heading for p in document.passages if p.start <= first < p.end), "")
    before = document.text[max(first - around, 0) : first]
    after = document.text[last : last + around]
    return Context(document.title, document.published, heading, before, evidence.quote, after)
