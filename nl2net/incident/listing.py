"""Questions for all matches over all documents: "list the leaks that passed through X"."""

from __future__ import annotations

from nl2net.incident.claims import claims_of, mentions
from nl2net.incident.frame import Frame
from nl2net.incident.language import related, stems, terms_of
from nl2net.incident.match import Weights, coverage
from nl2net.incident.naming import slot_terms
from nl2net.incident.pool import document_text, fits_dates
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Claim, Document


def list_matches(corpus: Shelf, frame: Frame, *, limit: int = 60) -> list[tuple[Document, tuple[Claim, ...]]]:
    """Documents that match a listing question, each with the claims that show it.

    Parameters
    ----------
    corpus : Shelf
        Where to look.
    frame : Frame
        The question; its names and dates must hold for every match.
    limit : int
        Documents to look at.
    """
    words = [t for t in slot_terms(frame.question) if not any(t in terms_of(name) for name in frame.names)]
    kinds = _kind_words(words)
    matches = []
    for hit in corpus.search(frame.question, limit=limit):
        document = corpus.document(hit.doc)
        text = document_text(document)
        if document.kind == "data" or (frame.dates and fits_dates(document, frame.dates) is False):
            continue
        if not all(mentions(text, name) for name in frame.names):
            continue
        held = frozenset(terms_of(f"{document.title} {document.kind.replace('-', ' ')} {text}"))
        if kinds and not all(related(kind) & held for kind in kinds[:2]):
            continue
        claims = _telling_claims(document, frame, words)
        if claims:
            matches.append((document, claims))
    return sorted(matches, key=lambda item: (item[0].incident_date, item[0].id))


def _kind_words(words: list[str]) -> list[str]:
    """The first words of "the route leaks that ..." say what is listed."""
    skip = stems("list name give enumerate all every note document corpus")
    return [word for word in words if word not in skip][:2]


def _telling_claims(document: Document, frame: Frame, words: list[str]) -> tuple[Claim, ...]:
    claims = claims_of(document)
    weights = Weights(claims)
    named = [c for c in claims if any(mentions(c.quote, name) for name in frame.names)]
    dated = [c for c in claims if any(v.kind in ("date", "time") for v in c.values)]
    ranked = sorted(dated, key=lambda c: (-coverage(tuple(words), c.terms, frozenset(), weights), c.start))
    return tuple(dict.fromkeys([*ranked[:1], *named[:1]]))
