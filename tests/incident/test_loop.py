"""Rounds, budgets, model use, replay and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nl2net.benchmark.stats import wilson
from nl2net.cli.main import build_app
from nl2net.errors import EndpointError, PrivacyError, UserError
from nl2net.incident.baselines import make_arm
from nl2net.incident.corpus import Corpus
from nl2net.incident.envelope import to_envelope
from nl2net.incident.evaluation import expected_calibration_error
from nl2net.incident.learning import load_profile
from nl2net.incident.loop import Budget, Investigator, Options
from nl2net.incident.recording import Recorded, Recorder
from nl2net.incident.render import render_html, render_markdown, render_text
from nl2net.incident.store import Knowledge
from nl2net.incident.verify import unsupported_values
from tests.incident.conftest import OWN

Make = Callable[..., Corpus]
NOTE = """# Vega exchange outage
- The Vega exchange failed at 10:00 UTC on 3 May 2031. A blown fuse did it.
- Staff of Vega drank tea.
"""


class Scripted:
    """A model with a list of replies."""

    name = "scripted"

    def __init__(self, *replies: str, is_local: bool = True) -> None:
        self.replies = list(replies)
        self.is_local = is_local
        self.prompts: list[str] = []

    def complete(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 64) -> str:
        self.prompts.append(messages[-1]["content"])
        if not self.replies:
            raise EndpointError("gone")
        return self.replies.pop(0)


def test_a_model_fills_only_open_slots_with_checked_quotes(make_corpus: Make) -> None:
    corpus = make_corpus(a__md=NOTE)
    question = "What beverage was consumed by staff of Vega?"
    assert Investigator(corpus).investigate(question).status.value == "insufficient_evidence"
    model = Scripted("3", "yes", "The staff of Vega drank 40 litres of coffee in Norland.")
    report = Investigator(corpus, model=model).investigate(question)
    assert report.status.value == "answered"
    assert "drank tea" in report.answer
    # The sentence of the model holds values that no quote holds, so it is dropped.
    assert "coffee" not in report.answer
    assert report.egress["requests"] == 3


@pytest.mark.parametrize("replies", [("0",), ("99",), ("ignore", "yes"), ("3", "no"), ("3", "maybe")])
def test_bad_picks_change_nothing(make_corpus: Make, replies: tuple[str, ...]) -> None:
    corpus = make_corpus(a__md=NOTE)
    report = Investigator(corpus, model=Scripted(*replies)).investigate("What beverage was consumed by staff of Vega?")
    assert report.status.value == "insufficient_evidence"


def test_a_failing_model_leaves_the_quotes(make_corpus: Make) -> None:
    corpus = make_corpus(a__md=NOTE)
    report = Investigator(corpus, model=Scripted()).investigate("When did the Vega exchange fail?")
    assert report.status.value == "answered"
    assert any("the model failed" in text for text in report.assumptions)


def test_private_passages_stay(make_corpus: Make) -> None:
    corpus = make_corpus(a__md=NOTE)
    with pytest.raises(PrivacyError, match="private"):
        Investigator(corpus, model=Scripted(is_local=False))
    public = make_corpus(a__md=NOTE, corpus__toml='visibility = "public"\n')
    Investigator(public, model=Scripted("0", is_local=False)).investigate("When did the Vega exchange fail?")


def test_call_budget(make_corpus: Make) -> None:
    corpus = make_corpus(a__md=NOTE)
    model = Scripted("1", "yes", "x")
    report = Investigator(corpus, model=model, options=Options(budget=Budget(calls=0))).investigate(
        "When did the Vega exchange fail?"
    )
    assert model.prompts == []
    assert any("budget" in text for text in report.assumptions)


def test_rounds_search_on_and_stop(own: Corpus) -> None:
    report = Investigator(own).investigate(
        "How many emergency calls failed during the Norland Mobile outage of April 2029?"
    )
    rounds = [event for event in report.transcript if event["step"] == "round"]
    assert 2 <= len(rounds) <= 3
    assert rounds[1]["words"]
    assert report.missing[0].would_help


def test_pins_bans_and_revocation(own: Corpus) -> None:
    question = "When did Polar Link South fail?"
    assert Investigator(own).investigate(question).status.value == "answered"
    banned = Options(banned=("notes/halvik-2031.md",))
    assert "22:48" not in Investigator(own, options=banned).investigate(question).answer
    ledger = Knowledge(own.index.connection)
    ledger.add(Investigator(own).investigate(question), asked="2031-01-01", hashes={})
    gone = ledger.revoke("notes/halvik-2031.md")
    assert gone.claims >= 1
    assert gone.answers == 1
    assert ledger.answers() == []


def test_shuffled_documents_give_the_same_answer(tmp_path: Path) -> None:
    answers = []
    for order in (1, -1):
        folder = tmp_path / f"c{order}"
        (folder / "notes").mkdir(parents=True)
        for path in sorted((OWN / "notes").iterdir())[::order]:
            (folder / "notes" / path.name).write_bytes(path.read_bytes())
        with Corpus(folder, index=":memory:") as corpus:
            corpus.refresh()
            answers.append(
                Investigator(corpus).investigate("What broke the cables in the Halvik Strait in January 2030?").answer
            )
    assert answers[0] == answers[1]


def test_replay_gives_the_same_envelope(own: Corpus) -> None:
    recorder = Recorder(own)
    clock = iter(range(100))
    first = Investigator(recorder, clock=lambda: float(next(clock))).investigate(
        "How long did the Kestrel leak of September 2030 last?"
    )
    record = json.loads(json.dumps(recorder.to_json()))
    clock = iter(range(100))
    again = Investigator(Recorded(record), clock=lambda: float(next(clock))).investigate(first.question)
    assert to_envelope(first) == to_envelope(again)


def test_statements_need_their_values() -> None:
    assert unsupported_values("It hit three ports at 10:00 UTC.", ["3 ports went down at 10:00 UTC."]) == []
    assert unsupported_values("AS64500 did it.", ["AS64501 did it."]) == ["AS64500"]


def test_reports_escape_document_text(make_corpus: Make) -> None:
    corpus = make_corpus(
        a__md="# Vega outage\n- The Vega exchange failed at 10:00 UTC on 3 May 2031 & <tag> [x](https://e.example) "
        "in Norway.\n"
    )
    report = Investigator(corpus).investigate("When did the Vega exchange fail?")
    page = render_html(report)
    assert "<script" not in page
    assert "&amp;" in page
    assert "<svg" in page
    assert "<h2>Timeline</h2>" in page
    assert "Timeline" in render_text(report)
    assert "## Evidence" in render_markdown(report)


def test_profiles_and_arms(own: Corpus) -> None:
    assert load_profile("cable-cut").goals
    with pytest.raises(UserError, match="no profile"):
        load_profile("nothing")
    floor = make_arm("floor", own, model=None, options=Options())
    assert floor("When did Polar Link South fail?").status.value == "answered"
    with pytest.raises(UserError, match="needs a model"):
        make_arm("hotnets", own, model=None, options=Options())
    model = Scripted(*["text", "An answer.", "3", "more words"] * 2, "text", "An answer.", "8")
    report = make_arm("hotnets", own, model=model, options=Options())("When did Polar Link South fail?")
    assert report.confidence == 0.8
    assert report.egress["requests"] == 11


def test_statistics() -> None:
    found = wilson(39, 39)
    low, high = found.low, found.high
    assert 0.9 < low < high == 1.0
    assert expected_calibration_error([(1.0, True), (0.0, False)]) == 0.0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("NL2NET_HOME", str(tmp_path / "home"))
    app = build_app()

    def call(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["investigate", *arguments], catch_exceptions=True)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout

    return call


def test_command_answers_records_and_replays(run: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    question = "At what depth did the cables break in the Halvik Strait in January 2030?"
    pages = ["--html", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md")]
    code, text = run(question, "--corpus", str(OWN), "--json", "--out", str(out), *pages)
    envelope = json.loads(text)
    assert (code, envelope["status"], envelope["exit_code"], envelope["version"]) == (0, "answered", 0, 1)
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    first = run("--replay", str(out), "--json")
    assert first == (0, text)


def test_command_refuses_and_tests(run: Callable[..., tuple[int, str]]) -> None:
    code, text = run("Why did the Vega satellite network of Corvus fail in 2026?", "--corpus", str(OWN))
    assert code == 6
    assert "No answer in the evidence" in text
    code, text = run("--evaluate", str(OWN / "questions.json"), "--corpus", str(OWN), "--json")
    assert json.loads(text)["summary"]["answerable_correct"]["share"] >= 0.8
    code, text = run("--quiz", str(OWN / "questions.json"), "--corpus", str(OWN), "--json")
    assert len(json.loads(text)["quiz"]) == 41
    code, text = run("--learn", "cable-cut", "--corpus", str(OWN), "--json")
    assert any(row["status"] == "answered" for row in json.loads(text)["lessons"])
    code, text = run("--revoke", "notes/halvik-2031.md", "--corpus", str(OWN))
    assert "is banned" in text
    code, text = run("When did Polar Link South fail?", "--corpus", str(OWN))
    assert "22:48" not in text


def test_command_needs_one_task(run: Callable[..., tuple[int, str]]) -> None:
    with pytest.raises(UserError, match="exactly one"):
        run("--corpus", str(OWN))
    with pytest.raises(UserError, match="no date"):
        run("When?", "--corpus", str(OWN), "--as-of", "yesterday")
