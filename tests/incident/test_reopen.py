"""Former investigations are shown as they were; a quote is shown in its document, or said to have changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nl2net.errors import UserError
from nl2net.incident.asking import ask_and_keep, quote_in_context
from nl2net.incident.corpus import Corpus
from nl2net.incident.envelope import from_envelope, to_envelope
from nl2net.incident.loop import Investigator
from nl2net.incident.render import render_html, render_markdown, render_text
from nl2net.incident.store import Knowledge
from tests.conftest import SHARED

NOTES = SHARED / "incident" / "notes"
CONFLICT = "Were three or four cables cut in the Red Sea in February 2024? Explain the difference."
NOTE = (
    "# Vega outage\n- Staff saw nothing at first.\n"
    "- The Vega exchange failed at 10:00 UTC on 3 May 2031.\n- It rained.\n"
)


@pytest.mark.parametrize(
    "question", [CONFLICT, "What was the exact depth in metres of the cut on the Seacom cable in February 2024?"]
)
def test_a_reopened_report_renders_as_the_first_time(question: str, tmp_path: Path) -> None:
    with Corpus(NOTES, index=tmp_path / "index.sqlite3") as corpus:
        corpus.refresh()
        number, report = ask_and_keep(Investigator(corpus), corpus, question)
        again, hashes = Knowledge(corpus.index.connection).reopen(number)
        cited = {e.doc for e in report.evidence}
        assert hashes.keys() <= cited
    for render in (render_text, render_markdown, render_html):
        assert render(again) == render(report)
    assert to_envelope(again) == json.loads(json.dumps(to_envelope(report)))
    assert from_envelope(to_envelope(again)) == again


def test_the_history_lists_all_and_names_what_was_revoked(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(NOTE)
    with Corpus(tmp_path, index=":memory:") as corpus:
        corpus.refresh()
        ledger = Knowledge(corpus.index.connection)
        for question in ("When did the Vega exchange fail?", "How many people live on the moon?"):
            ask_and_keep(Investigator(corpus), corpus, question)
        ledger.revoke("a.md")
        found = ledger.history()
        assert [past.question[:8] for past in found] == ["How many", "When did"]
        assert [past.revoked_by for past in found] == ["", "a.md"]
        assert ledger.history(limit=1) == found[:1]
        with pytest.raises(UserError, match="no investigation 99"):
            ledger.reopen(99)


def test_a_quote_stands_in_its_document_until_that_changes(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text(NOTE)
    with Corpus(tmp_path, index=":memory:") as corpus:
        corpus.refresh()
        _, report = ask_and_keep(Investigator(corpus), corpus, "When did the Vega exchange fail?")
        quote = report.evidence[0]
        found = quote_in_context(corpus, quote, sha256=corpus.document("a.md").sha256)
        assert found.quote == quote.quote and not found.changed
        assert "Staff saw nothing" in found.before and "It rained" in found.after
        assert corpus.document("a.md").text.find(found.before + found.quote + found.after) >= 0
        assert len(quote_in_context(corpus, quote, around=5).before) == 5
        assert "changed" in quote_in_context(corpus, quote, sha256="0" * 64).changed
        assert "changed" in quote_in_context(corpus, replace(quote, span=(0, 4))).changed
        note.unlink()
        corpus.refresh()
        gone = quote_in_context(corpus, quote)
        assert "no longer" in gone.changed and gone.quote == quote.quote
