"""Fits the confidence on questions with keys: ``python -m nl2net.incident.calibration``.

Each question is asked with the gate open, so that answers which should have been refused are seen too, and once more
with the quotes of its right answer taken out of the corpus: whatever is then delivered without them is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.optimize import minimize

from nl2net.benchmark.stats import wilson
from nl2net.errors import UserError
from nl2net.incident.confidence import SIGNS, Features, score
from nl2net.incident.corpus import Corpus, CorpusSettings
from nl2net.incident.evaluation import Question, expected_calibration_error, judge, load_questions
from nl2net.incident.index import Hit
from nl2net.incident.loop import Investigator, Options
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Document, Report, ReportStatus
from nl2net.locations import atomic_write

_RIDGE = 0.1  # pulls weights to zero: there are some hundred labels and seventeen features
_ARRAY = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """Features of one delivered slot, whether its answer was right, and the incident it belongs to."""

    features: Features
    right: bool
    incident: str
    weight: float


class Without:
    """A shelf whose documents lack some passages, so that what they told cannot be known.

    Parameters
    ----------
    shelf : Shelf
        The whole.
    spans : mapping
        Per document the spans of its text that are taken out.
    """

    def __init__(self, shelf: Shelf, spans: Mapping[str, Sequence[tuple[int, int]]]) -> None:
        self._shelf = shelf
        self._spans = spans
        self.settings: CorpusSettings = shelf.settings
        self.as_of = shelf.as_of

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = ()) -> list[Hit]:
        """As the whole shelf does."""
        return self._shelf.search(question, limit=limit, more_words=more_words)

    def document(self, doc: str) -> Document:
        """The document without the passages."""
        whole = self._shelf.document(doc)
        gone = self._spans.get(doc, ())
        kept = tuple(p for p in whole.passages if not any(p.start < end and start < p.end for start, end in gone))
        return replace(whole, passages=kept)

    def data_ids(self) -> list[str]:
        """As the whole shelf does."""
        return self._shelf.data_ids()

    def read_bytes(self, doc: str) -> bytes:
        """As the whole shelf does."""
        return self._shelf.read_bytes(doc)


def rows_of(questions: Sequence[Question], shelf: Shelf) -> tuple[list[Row], list[bool]]:
    """Rows for the fit, and for each answer that found a premise false whether that was right.

    Parameters
    ----------
    questions : sequence of Question
        With keys.
    shelf : Shelf
        The corpus.
    """
    rows: list[Row] = []
    premises: list[bool] = []
    ask = Investigator(shelf, options=Options(least=0.0)).investigate
    for question in questions:
        report = ask(question.text)
        verdict = judge(question, report, shelf)
        made = _rows(question, report, verdict.correct)
        rows += made
        if report.status is ReportStatus.FALSE_PREMISE:
            premises.append(verdict.correct)
        if verdict.correct and made:
            rows += _ablated(question, report, shelf)
    return rows, premises


def _ablated(question: Question, report: Report, shelf: Shelf) -> list[Row]:
    spans: dict[str, list[tuple[int, int]]] = {}
    for item in report.evidence:
        if item.kind == "quote":
            spans.setdefault(item.doc, []).append(item.span)
    poorer = Without(shelf, spans)
    again = Investigator(poorer, options=Options(least=0.0)).investigate(question.text)
    return _rows(question, again, judge(question, again, shelf).correct)


def _rows(question: Question, report: Report, right: bool) -> list[Row]:
    if report.status is ReportStatus.FALSE_PREMISE:
        return []
    filled = [r for r in report.slots if r.features is not None and r.state != "open"]
    # A part that stayed open makes the answer incomplete, but says nothing against the parts that were filled.
    if (
        not right
        and len(filled) < len(report.slots)
        and report.status is ReportStatus.PARTLY
        and question.is_answerable
    ):
        return []
    return [Row(r.features, right, question.incident, 1 / len(filled)) for r in filled if r.features is not None]


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """Logistic weights with the signs of `SIGNS`, ridge-penalised.

    Examples
    --------
    >>> good = Row(Features(quoted=1.0), True, "a", 1.0)
    >>> bad = Row(Features(missing=1.0), False, "b", 1.0)
    >>> weights = fit([good, bad] * 20)
    >>> weights["quoted"] >= 0 >= weights["missing"]
    True
    """
    x = np.array([[1.0, *row.features.vector()] for row in rows])
    y = np.array([1.0 if row.right else -1.0 for row in rows])
    share = np.array([row.weight for row in rows])

    def loss(weights: _ARRAY) -> tuple[float, _ARRAY]:
        margin = y * (x @ weights)
        value = float((share * np.logaddexp(0.0, -margin)).sum() + _RIDGE * (weights[1:] ** 2).sum())
        slope = -(share * y / (1 + np.exp(margin))) @ x
        slope[1:] += 2 * _RIDGE * weights[1:]
        return value, slope

    bounds = [(None, None), *((0.0, None) if sign > 0 else (None, 0.0) for sign in SIGNS.values())]
    found = minimize(loss, np.zeros(x.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B")
    names = ["bias", *SIGNS]
    return {name: round(float(value), 3) for name, value in zip(names, found.x, strict=True)}


def crossed(rows: Sequence[Row]) -> list[tuple[float, bool]]:
    """Score and truth of each row, with weights fitted on the rows of the other incidents."""
    pairs = []
    for incident in sorted({row.incident for row in rows}):
        weights = fit([row for row in rows if row.incident != incident])
        pairs += [(score(row.features, weights), row.right) for row in rows if row.incident == incident]
    return pairs


def choose_threshold(pairs: Sequence[tuple[float, bool]]) -> float:
    """The score at which keeping a right answer and avoiding a wrong one weigh best.

    A wrong answer costs as much as three right ones bring.
    """
    steps = [round(step / 100, 2) for step in range(5, 96)]
    return max(steps, key=lambda step: sum((1 if right else -3) for value, right in pairs if value >= step))


def calibrate(sets: Sequence[tuple[Path, Path]], *, note: Callable[[str], None]) -> dict[str, Any]:
    """Fit on question files over their corpora.

    Parameters
    ----------
    sets : sequence of (corpus, questions)
        Folders and question files.
    note : callable
        Told how far it is.

    Returns
    -------
    dict
        What ``confidence.json`` holds: weights, threshold, and the figures under cross-validation by incident.
    """
    rows: list[Row] = []
    premises: list[bool] = []
    asked = 0
    for number, (folder, path) in enumerate(sets):
        with Corpus(folder, index=":memory:") as corpus:
            corpus.refresh()
            questions = load_questions(path)
            made, false = rows_of(questions, corpus)
        asked += len(questions)
        rows += [replace(row, incident=f"{number}:{row.incident}") for row in made]
        premises += false
        note(f"{path.name}: {len(questions)} questions, {len(made)} rows")
    pairs = crossed(rows)
    threshold = choose_threshold(pairs)
    kept = [(value, right) for value, right in pairs if value >= threshold]
    bounds = wilson(sum(right for _, right in kept), len(kept))
    return {
        "weights": fit(rows),
        "threshold": threshold,
        "premise": round((sum(premises) + 1) / (len(premises) + 2), 3),
        "fitted_on": {
            "questions": asked,
            "rows": len(rows),
            "right": sum(row.right for row in rows),
            "incidents": len({row.incident for row in rows}),
        },
        "cross_validated": {
            "brier": round(sum((value - right) ** 2 for value, right in pairs) / len(pairs), 4),
            "ece": expected_calibration_error(pairs),
            "kept": len(kept),
            "right_among_kept": round(sum(right for _, right in kept) / len(kept), 4),
            "interval": [round(bounds.low, 3), round(bounds.high, 3)],
            "wrong_let_through": sum(not right for _, right in kept),
            "wrong_offered": sum(not right for _, right in pairs),
        },
    }


def main(
    sets: Annotated[list[str], typer.Argument(help="CORPUS=QUESTIONS, a folder and a question file; repeat.")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the fit; without it the fit is only printed.")
    ] = None,
) -> None:
    """Fit the confidence on questions with keys, cross-validated by incident."""
    pairs = []
    for item in sets:
        folder, _, path = item.partition("=")
        if not path:
            raise UserError(f"{item}: no pair", hint="Write CORPUS=QUESTIONS.")
        pairs.append((Path(folder), Path(path)))
    found = calibrate(pairs, note=lambda text: typer.echo(text, err=True))
    text = json.dumps(found, indent=2) + "\n"
    typer.echo(text, nl=False)
    if out is not None:
        with atomic_write(out) as stream:
            stream.write(text.encode())


if __name__ == "__main__":
    typer.run(main)
