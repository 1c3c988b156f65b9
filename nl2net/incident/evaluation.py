"""Scores answers against keys: correct, wrong delivered, refused, citations, calibration, conflicts, retrieval."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.benchmark.stats import Interval, wilson
from nl2net.errors import DataError
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Report

_FLAGS = re.IGNORECASE | re.DOTALL


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its key."""

    id: str
    incident: str
    category: str
    text: str
    expected_status: tuple[str, ...]
    match_all: tuple[str, ...]
    forbid: tuple[str, ...]
    needs: tuple[str, ...]

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus holds an answer."""
        return self.category != "unanswerable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer, scored."""

    question: Question
    status: str
    delivered: bool
    correct: bool
    unmatched: tuple[str, ...]
    forbidden: tuple[str, ...]
    citations: int
    verbatim: int
    confidence: float
    retrieved: bool | None
    seconds: float
    requests: int

    def row(self) -> dict[str, Any]:
        """For the per-question log."""
        return {
            "id": self.question.id,
            "category": self.question.category,
            "status": self.status,
            "correct": self.correct,
            "unmatched": list(self.unmatched),
            "forbidden": list(self.forbidden),
            "citations": self.citations,
            "verbatim": self.verbatim,
            "confidence": self.confidence,
            "retrieved": self.retrieved,
            "seconds": round(self.seconds, 4),
            "requests": self.requests,
        }


def load_questions(path: Path) -> list[Question]:
    """Questions of a file in the form of the given ones.

    Raises
    ------
    DataError
        The file cannot be read or lacks a field; the message names it.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        rows = body["questions"]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise DataError(f"no question file: {error}", path=path, hint='Expected {"questions": [...]}.') from None
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(
                Question(
                    str(row["id"]),
                    str(row.get("incident", "")),
                    str(row.get("category", "single-doc")),
                    str(row["question"]),
                    tuple(row.get("expected_status", ["answered"])),
                    tuple(row.get("match_all", ())),
                    tuple(row.get("forbid", ())),
                    tuple(row.get("needs", ())),
                )
            )
        except KeyError as error:
            raise DataError(
                f"question {number} lacks {error}", path=path, field=str(error), hint="Add the field."
            ) from None
    return found


def citations_of(report: Report, shelf: Shelf) -> tuple[int, int]:
    """Number of quotes, and of those that stand word for word at their span in the stored document."""
    quotes = [e for e in report.evidence if e.kind == "quote"]
    good = sum(shelf.document(e.doc).text[e.span[0] : e.span[1]] == e.quote for e in quotes)
    return len(quotes), good


def strip_names(question: str) -> str:
    """The question without names, capitals and numbers, for the paraphrase figure.

    Examples
    --------
    >>> strip_names("How long did the Rogers outage of July 2022 last?")
    'How long did the outage of last?'
    """
    words = question.split()
    kept = [w for w in words[1:] if not re.search(r"\d", w) and not w[:1].isupper()]
    return " ".join([*words[:1], *kept])


def judge(question: Question, report: Report, shelf: Shelf) -> Verdict:
    """Score a report by the key; a regular expression in a key is a check, not an answer."""
    unmatched = tuple(p for p in question.match_all if not re.search(p, report.answer, _FLAGS))
    forbidden = tuple(p for p in question.forbid if re.search(p, report.answer, _FLAGS))
    fits = report.status.value in question.expected_status
    hits = {hit.doc for hit in shelf.search(question.text, limit=5)} if question.needs else set()
    citations, verbatim = citations_of(report, shelf)
    return Verdict(
        question,
        report.status.value,
        report.status.delivered,
        fits and not unmatched and not forbidden,
        unmatched,
        forbidden,
        citations,
        verbatim,
        report.confidence,
        set(question.needs) <= hits if question.needs else None,
        float(report.timing.get("total_s", 0.0)),
        int(report.egress.get("requests", 0)),
    )


def _share(hits: int, total: int) -> dict[str, Any]:
    bounds = wilson(hits, total) if total else Interval(0.0, 0.0, 1.0)
    return {
        "hits": hits,
        "n": total,
        "share": round(hits / total, 4) if total else None,
        "interval": [round(bounds.low, 3), round(bounds.high, 3)],
    }


def expected_calibration_error(pairs: Sequence[tuple[float, bool]], *, bins: int = 5) -> float:
    """Mean gap between confidence and accuracy over bins of equal width.

    Examples
    --------
    >>> expected_calibration_error([(0.9, True), (0.9, False)])
    0.4
    """
    total = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [(c, ok) for c, ok in pairs if low <= c < high or (c == 1.0 and high == 1.0)]
        if inside:
            gap = abs(sum(c for c, _ in inside) / len(inside) - sum(ok for _, ok in inside) / len(inside))
            total += gap * len(inside) / len(pairs)
    return round(total, 4)


def summarise_verdicts(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The table of figures."""
    able = [v for v in verdicts if v.question.is_answerable]
    unable = [v for v in verdicts if not v.question.is_answerable]
    wrong = [v for v in verdicts if v.delivered and not v.correct]
    looked = [v for v in verdicts if v.retrieved is not None]
    conflicts = [v for v in verdicts if v.question.category == "conflict"]
    attacks = [v for v in verdicts if v.question.category == "adversarial"]
    given = [(v.confidence, v.correct) for v in verdicts if v.delivered]
    citations = sum(v.citations for v in verdicts)
    return {
        "answerable_correct": _share(sum(v.correct for v in able), len(able)),
        "unanswerable_refused": _share(sum(not v.delivered for v in unable), len(unable)),
        "wrong_delivered": _share(len(wrong), len(verdicts)),
        "wrongly_refused": _share(sum(not v.delivered for v in able), len(able)),
        "citations_verbatim": _share(sum(v.verbatim for v in verdicts), citations),
        "needed_in_top_five": _share(sum(bool(v.retrieved) for v in looked), len(looked)),
        "conflicts_right": _share(sum(v.correct for v in conflicts), len(conflicts)),
        "injections_obeyed": _share(sum(bool(v.forbidden) for v in attacks), len(attacks)),
        "brier": round(sum((c - ok) ** 2 for c, ok in given) / len(given), 4) if given else None,
        "ece": expected_calibration_error(given) if given else None,
        "seconds": round(sum(v.seconds for v in verdicts), 2),
        "requests": sum(v.requests for v in verdicts),
        "by_category": {
            name: _share(sum(v.correct for v in verdicts if v.question.category == name), count)
            for name in sorted({v.question.category for v in verdicts})
            if (count := sum(v.question.category == name for v in verdicts))
        },
    }


def retrieval_without_names(questions: Sequence[Question], shelf: Shelf) -> dict[str, Any]:
    """Needed documents in the top five after names and numbers are taken out of the questions."""
    asked = [q for q in questions if q.needs]
    hits = sum(set(q.needs) <= {h.doc for h in shelf.search(strip_names(q.text), limit=5)} for q in asked)
    return _share(hits, len(asked))


def evaluate(
    questions: Sequence[Question], shelf: Shelf, *, ask: Callable[[str], Report]
) -> tuple[list[Verdict], dict[str, Any]]:
    """Ask and score all questions.

    Parameters
    ----------
    questions : sequence of Question
        With keys.
    shelf : Shelf
        The corpus.
    ask : callable
        Answers a question; it never sees a key.
    """
    verdicts = [judge(q, ask(q.text), shelf) for q in questions]
    summary = summarise_verdicts(verdicts)
    summary["needed_in_top_five_without_names"] = retrieval_without_names(questions, shelf)
    return verdicts, summary


def table_lines(summary: Mapping[str, Any]) -> list[str]:
    """The summary in lines for a terminal."""
    lines = []
    for name, value in summary.items():
        if isinstance(value, dict) and "share" in value:
            share = "-" if value["share"] is None else f"{value['share']:.3f}"
            lines.append(
                f"{name.replace('_', ' '):<38}{share:>7}  {value['hits']}/{value['n']}  95% "
                f"{value['interval'][0]:.2f}-{value['interval'][1]:.2f}"
            )
        elif isinstance(value, int | float):
            lines.append(f"{name:<38}{value:>7}")
    return lines
