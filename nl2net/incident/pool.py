"""Which documents may speak on a question: those of its subjects and its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nl2net.incident.claims import claims_of, mentions
from nl2net.incident.frame import Frame
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Claim, Document
from nl2net.incident.typed import dates_fit, typed_values


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents and claims for a question.

    Attributes
    ----------
    documents : tuple of Document
        Those that speak of all known subjects at the asked time.
    claims : tuple of Claim
        Their claims.
    unknown : tuple of str
        Subjects that none of the documents names.
    undated : bool
        Documents on the subjects exist, and none of the asked time.
    scores : mapping
        Search score of each document, 1.0 for the best.
    """

    documents: tuple[Document, ...]
    claims: tuple[Claim, ...]
    unknown: tuple[str, ...] = ()
    undated: bool = False
    scores: tuple[tuple[str, float], ...] = ()


def document_text(document: Document) -> str:
    """Title, and the text that may be quoted."""
    return "\n".join([document.title, document.incident_date, *(p.usable for p in document.passages)])


def fits_dates(document: Document, dates: Sequence[tuple[int, int, int]]) -> bool | None:
    """Whether the incident is of one of the dates; ``None`` if the document has no date at all."""
    day = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", document.incident_date)
    own = (0, 0, 0)
    if day:
        own = (int(day[1]), int(day[2]), int(day[3]))
        if any(dates_fit(date, own) for date in dates):
            return True
    told = "\n".join([document.title, *(p.usable for p in document.passages)])
    found = [v.value for v in typed_values(told) if v.kind == "date" and v.value[0]]
    if any(dates_fit(date, other) and (date[0] == other[0] or not date[0]) for date in dates for other in found):
        # Documents of another year or month may mention the asked one in passing; a dated note is about its own day.
        return True if not day else _dominant(found, dates) or any(_near(own, date) for date in dates)
    return None if not found and not day else False


def _near(own: tuple[int, int, int], asked: tuple[int, int, int]) -> bool:
    """Within a month: what follows an incident belongs to it."""
    return bool(asked[0] and asked[1]) and abs((own[0] - asked[0]) * 12 + own[1] - asked[1]) <= 1


def _dominant(found: Sequence[tuple[int, int, int]], dates: Sequence[tuple[int, int, int]]) -> bool:
    fitting = sum(any(dates_fit(date, other) for date in dates) for other in found)
    return fitting * 2 > len(found)


def build_pool(
    corpus: Shelf,
    frame: Frame,
    *,
    limit: int = 12,
    more_words: Sequence[str] = (),
    pinned: Sequence[str] = (),
    banned: Sequence[str] = (),
) -> Pool:
    """Search, then keep the documents whose subject and time fit.

    Parameters
    ----------
    corpus : Shelf
        Where to search.
    frame : Frame
        The question.
    limit : int
        Documents to look at.
    more_words : sequence of str
        Further words for the search, of a later round.
    pinned, banned : sequence of str
        Documents that are always, or never, read.
    """
    hits = corpus.search(frame.question, limit=limit, more_words=more_words)
    found = dict.fromkeys([*pinned, *(hit.doc for hit in hits)])
    documents = [corpus.document(doc) for doc in found if doc not in banned]
    documents = [d for d in documents if d.kind != "data"]
    texts = {d.id: document_text(d) for d in documents}
    named = {d.id: {name for name in frame.names if mentions(texts[d.id], name)} for d in documents}
    timely = [d for d in documents if not frame.dates or fits_dates(d, frame.dates) is not False]
    wanted = frame.names
    undated = (
        bool(frame.dates)
        and any(named[d.id] for d in documents)
        and not any(named[d.id] for d in timely)
        and bool(wanted)
    )
    most = max((len(named[d.id]) for d in timely), default=0)
    kept = [d for d in timely if len(named[d.id]) == most] if wanted else _timed(timely, frame)
    if wanted and most == 0:
        kept = []
    covered: set[str] = set().union(*(named[d.id] for d in kept)) if kept else set()
    unknown = tuple(name for name in wanted if name not in covered)
    best = max((hit.score for hit in hits), default=1.0) or 1.0
    scores = tuple((hit.doc, hit.score / best) for hit in hits)
    if not wanted and not frame.dates and not frame.entities:
        relative = dict(scores)
        kept = [d for d in kept if relative.get(d.id, 0.0) >= 0.5][:3]
    claims = tuple(claim for d in kept for claim in claims_of(d))
    return Pool(tuple(kept), claims, unknown, undated, scores)


def _timed(documents: list[Document], frame: Frame) -> list[Document]:
    """Without a subject the date and the entities carry the question."""
    entities = [v for v in frame.entities if v.kind in ("asn", "prefix")]
    if entities:
        held = []
        for document in documents:
            values = {(v.kind, v.value) for v in typed_values(document_text(document))}
            if any((v.kind, v.value) in values for v in entities):
                held.append(document)
        documents = held
    if frame.dates:
        documents = [d for d in documents if fits_dates(d, frame.dates)]
    return documents
