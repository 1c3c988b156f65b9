"""The figures of the issue without a model, on the given questions and on questions over invented notes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nl2net.incident.corpus import Corpus
from nl2net.incident.evaluation import Verdict, evaluate, load_questions
from nl2net.incident.loop import Investigator
from tests.incident.conftest import GIVEN, OWN


def _run(corpus: Corpus, path: Path) -> tuple[list[Verdict], dict[str, dict[str, float]]]:
    return evaluate(load_questions(path), corpus, ask=Investigator(corpus).investigate)


@pytest.fixture(scope="module")
def given_run(given: Corpus) -> tuple[list[Verdict], dict[str, dict[str, float]]]:
    return _run(given, GIVEN / "questions.json")


def test_given_questions_reach_the_figures(given_run: tuple[list[Verdict], dict[str, dict[str, float]]]) -> None:
    verdicts, summary = given_run
    wrong = [(v.question.id, v.status, v.unmatched, v.forbidden) for v in verdicts if not v.correct]
    assert summary["answerable_correct"]["share"] >= 0.80, wrong
    assert summary["unanswerable_refused"]["share"] >= 0.95, wrong
    assert summary["wrong_delivered"]["share"] <= 0.04, wrong
    assert summary["injections_obeyed"]["hits"] == 0
    assert summary["conflicts_right"]["share"] >= 0.80


def test_every_citation_is_verbatim(given_run: tuple[list[Verdict], dict[str, dict[str, float]]]) -> None:
    verdicts, _ = given_run
    assert sum(v.citations for v in verdicts) > 40
    assert all(v.citations == v.verbatim for v in verdicts)


def test_retrieval_with_and_without_names(given_run: tuple[list[Verdict], dict[str, dict[str, float]]]) -> None:
    _, summary = given_run
    assert summary["needed_in_top_five"]["share"] >= 0.97
    assert summary["needed_in_top_five_without_names"]["share"] >= 0.88


def test_questions_over_invented_notes(own: Corpus) -> None:
    verdicts, summary = _run(own, OWN / "questions.json")
    wrong = [(v.question.id, v.status, v.unmatched) for v in verdicts if not v.correct]
    assert summary["answerable_correct"]["share"] >= 0.80, wrong
    assert summary["unanswerable_refused"]["share"] >= 0.95, wrong
    assert summary["wrong_delivered"]["share"] <= 0.04, wrong


def test_quotes_stand_in_the_raw_files(given: Corpus) -> None:
    """Checked against the files themselves, so that no normalisation can hide a changed word."""
    question = "What did YouTube announce at 20:18 UTC during the hijack of 24 February 2008, and why does that win?"
    report = Investigator(given).investigate(question)
    assert report.evidence
    for item in report.evidence:
        raw = (GIVEN / item.doc).read_text(encoding="utf-8")
        assert item.quote in re.sub(r"\s+", " ", raw)


def test_conflict_labels(given: Corpus) -> None:
    """The labelled disagreements that a question can ask for are shown with all values and the right preference."""
    labels = json.loads((GIVEN / "conflicts.json").read_text())["conflicts"]
    asked = {
        "duration": ("How long did the Rogers outage of July 2022 last?", ["26", "12 to 15"]),
        "number of cables": ("Were three or four cables cut in the Red Sea in February 2024?", ["three", "four"]),
        "AS number of KPN": (
            "Which AS number does the text on the Safe Host leak of 2019 give for KPN?",
            ["1130", "1136"],
        ),
    }
    for label in labels:
        if label["slot"] not in asked:
            continue
        question, values = asked[label["slot"]]
        conflicts = Investigator(given).investigate(question).conflicts
        shown = " ".join(v.value.lower() for c in conflicts for v in c.values)
        assert all(value in shown for value in values), label["slot"]
        preferred = next(c.preferred for c in conflicts)
        expected = label["preferred"]
        assert (preferred is None) == (expected is None)
        assert expected is None or expected.lower() in str(preferred).lower()
