"""Checks that a quote carries the question: names, labels, ends, dates, deeds, silence; and the fitted confidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nl2net.incident.binding import counts_the_whole, is_unreal, owns
from nl2net.incident.calibration import Row, Without, choose_threshold, fit
from nl2net.incident.claims import claims_of
from nl2net.incident.confidence import SIGNS, Features, score, shipped_scale
from nl2net.incident.corpus import Corpus
from nl2net.incident.evaluation import evaluate, load_questions
from nl2net.incident.loop import Investigator, Options
from nl2net.incident.readers import read_document
from nl2net.incident.records import Claim, Document, Report, Slot
from nl2net.incident.support import deeds_of
from nl2net.incident.typed import typed_values
from tests.incident.conftest import open_corpus

FRESH = Path(__file__).parent / "fresh"
NOTE = """# Vega exchange failure of 3 May 2031

- Vega Net (AS64600) and Lyra Net (AS64601), a reseller, lost 40 racks in hall B at 10:00 UTC on 3 May 2031.
- Hall A kept running.
- The repair took three days and cost 2 million euros.
- Vega Net did not say how many customers left.
- The alarm now rings when more than 7 ports would fail.
- 18 of 90 switches were replaced.
"""


def _claim(text: str) -> Claim:
    found = read_document("a.md", text.encode())
    assert isinstance(found, Document)
    return claims_of(found)[0]


@pytest.fixture
def ask(make_corpus: Callable[..., Corpus]) -> Callable[[str], Report]:
    corpus = make_corpus(vega__md=NOTE)
    return Investigator(corpus).investigate


def test_an_as_number_belongs_to_the_name_beside_it() -> None:
    claim = _claim("Swisscom (AS3303), KPN and Numericable (AS21502) were hit.")
    values = [v for v in claim.values if v.kind == "asn"]
    for name, expected in (("Swisscom", [True, False]), ("KPN", [False, False]), ("Numericable", [False, True])):
        slot = Slot("n", "asn", f"What is the AS number of {name}", anchors=(name,))
        assert [owns(slot, claim, value) for value in values] == expected, name


def test_a_figure_of_a_list_is_not_that_of_one_member() -> None:
    claim = _claim("25,000 calls failed in Norland, Southland and Eastland.")
    assert counts_the_whole(Slot("c", "count", "How many calls failed in Southland", anchors=("Southland",)), claim)
    assert not counts_the_whole(Slot("c", "count", "How many calls failed"), claim)


def test_a_limit_is_no_fact() -> None:
    claim = _claim("The job stops when it would delete more than 50 records.")
    value = next(v for v in claim.values if v.kind == "count")
    assert is_unreal(Slot("r", "count", "How many records did the job delete"), claim, value)


def test_both_numbers_of_a_share_count_the_same_thing() -> None:
    values = typed_values("37 of 212 collector peers and 4.6 million mobile and 380,000 fixed-line customers")
    assert [v.noun.split()[-1] for v in values if v.kind == "count"][:3] == ["peers", "peers", "customers"]


def test_deeds_are_found_where_their_place_is_plain() -> None:
    assert deeds_of(Slot("n", "name", "Which vendor made the routers that crashed")) == ("mak",)
    assert deeds_of(Slot("n", "count", "How many prefixes did Meridian filter", anchors=("Meridian",))) == ("filter",)
    assert deeds_of(Slot("n", "name", "Which cable is long")) == ()


def test_what_the_note_tells_is_answered(ask: Callable[[str], Report]) -> None:
    assert "40" in ask("How many racks did Vega Net lose in hall B on 3 May 2031?").answer
    assert "2 million" in ask("What did the repair of Vega Net cost?").answer
    assert "18" in ask("How many switches of Vega Net were replaced?").answer


@pytest.mark.parametrize(
    "question",
    [
        "How many racks did Vega Net lose in hall A on 3 May 2031?",
        "How many racks did Vega Net lose in hall B on 3 May 2030?",
        "How many racks did Vega Net buy in May 2031?",
        "How many customers of Vega Net left in May 2031?",
        "How many ports of Vega Net failed in May 2031?",
        "Which vendor made the racks of Vega Net?",
        "At what UTC time did the Vega failure of May 2031 end?",
        "Who owns Vega Net?",
    ],
)
def test_near_misses_are_refused(ask: Callable[[str], Report], question: str) -> None:
    report = ask(question)
    assert not report.status.delivered, report.answer


def test_a_source_that_does_not_tell_is_named(ask: Callable[[str], Report]) -> None:
    report = ask("How many customers left Vega Net?")
    assert any("did not say" in missing.searched for missing in report.missing)


def test_a_hall_that_held_denies_the_premise(ask: Callable[[str], Report]) -> None:
    report = ask("Did hall A of Vega Net lose power?")
    assert report.status.value == "false_premise"
    assert "kept running" in report.answer


def test_without_its_quotes_a_question_is_refused(make_corpus: Callable[..., Corpus]) -> None:
    corpus = make_corpus(vega__md=NOTE)
    question = "What did the repair of Vega Net cost?"
    report = Investigator(corpus).investigate(question)
    poorer = Without(corpus, {e.doc: [e.span] for e in report.evidence})
    assert not Investigator(poorer).investigate(question).status.delivered


def test_the_gate_opens_with_its_threshold(make_corpus: Callable[..., Corpus]) -> None:
    corpus = make_corpus(vega__md=NOTE)
    strict = Investigator(corpus, options=Options(least=1.0)).investigate("What did the repair of Vega Net cost?")
    assert not strict.status.delivered
    assert any(event["step"] == "refuse" for event in strict.transcript)


def test_the_fit_keeps_its_signs_and_tells_right_from_wrong() -> None:
    right = [Row(Features(coverage=c / 10, quoted=1.0, flags=1.0), True, f"a{c}", 1.0) for c in range(4, 10)]
    wrong = [Row(Features(coverage=c / 10, undone=1.0), False, f"b{c}", 1.0) for c in range(4, 10)]
    weights = fit([*right, *wrong])
    assert all(weights[name] * sign >= 0 for name, sign in SIGNS.items())
    assert score(right[0].features, weights) > 0.5 > score(wrong[-1].features, weights)


def test_the_threshold_weighs_wrong_answers_more() -> None:
    assert choose_threshold([(0.9, True), (0.8, True), (0.7, False), (0.6, True)]) > 0.7
    assert choose_threshold([(0.9, True), (0.8, True), (0.6, True)]) <= 0.6


def test_the_shipped_fit_has_every_feature() -> None:
    scale = shipped_scale()
    assert set(scale.weights) == {"bias", *SIGNS}
    assert 0 < scale.threshold < 1


def test_development_questions_stay_answered() -> None:
    """These questions were improved on, so the bars guard against a step back and estimate nothing."""
    with open_corpus(FRESH / "dev") as corpus:
        ask = Investigator(corpus).investigate
        verdicts, summary = evaluate(load_questions(FRESH / "dev" / "questions.json"), corpus, ask=ask)
    wrong = [(v.question.id, v.status) for v in verdicts if not v.correct]
    assert summary["answerable_correct"]["share"] >= 0.90, wrong
    assert summary["unanswerable_refused"]["share"] >= 0.95, wrong
    assert summary["wrong_delivered"]["share"] <= 0.04, wrong
