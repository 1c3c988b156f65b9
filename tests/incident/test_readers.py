"""Every reader gives passages that are spans of the text, and fails only with an error that names the file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.errors import DataError
from nl2net.incident.readers import ReadLimits, read_document
from nl2net.incident.records import Document, SourceClass
from nl2net.incident.text import fold_line

NOTE = """---
title: "T"
date: 2031-01-02
sources:
  - {key: a, title: A, url: "https://a.example/x", class: primary-operator}
  - {key: b, title: B, class: computation}
---
# T

- It failed at 10:00
  UTC. [a]
- It came back. [b]
<!-- hidden
over lines -->
| col | other |
| --- | --- |
| 1 | 2 |
"""


def _document(name: str, raw: bytes) -> Document:
    document = read_document(name, raw)
    assert isinstance(document, Document)
    return document


def test_note_passages_have_their_own_source() -> None:
    document = _document("n.md", NOTE.encode())
    assert [p.text for p in document.passages] == ["It failed at 10:00 UTC.", "It came back.", "col | other", "1 | 2"]
    assert document.passages[0].source.source_class is SourceClass.PRIMARY_OPERATOR
    # No file can declare itself a computation of this program.
    assert document.passages[1].source.source_class is SourceClass.SECONDARY
    assert [flag.kind for flag in document.flags] == ["html_comment"]


@pytest.mark.parametrize(
    "style",
    [
        'style="display:none"',
        "hidden",
        'aria-hidden="true"',
        'style="font-size:0"',
        'style="position:absolute; left:-9999px"',
        'style="color:#fff;background:#fff"',
        'style="opacity:0"',
        'class="x"',
        'id="y"',
    ],
)
def test_hidden_text_is_left_out_and_reported(style: str) -> None:
    rules = "<style>.x{visibility:hidden} #y{display:none}</style>"
    page = f"{rules}<p>Seen.</p><div {style}>Ports: 412</div><p>Also.</p>"
    document = _document("p.html", page.encode())
    assert "412" not in document.text
    assert [p.text for p in document.passages] == ["Seen.", "Also."]
    assert "hidden_text" in {flag.kind for flag in document.flags}


def test_jsonl_csv_mail_and_feed() -> None:
    rows = _document("r.jsonl", b'{"title": "Outage", "text": "It failed.", "class": "news", "date": "2031-01-02"}\n')
    assert rows.passages[0].text == "Outage: It failed. (2031-01-02)"
    assert rows.passages[0].source.source_class is SourceClass.NEWS
    table = _document("t.csv", b"site,state\nA,down\nB,up\n")
    assert [p.text for p in table.passages] == ["site: A; state: down", "site: B; state: up"]
    mail = (
        b"From: R. Odum <r@x.example>\nSubject: Leak\nDate: Mon, 2 Sep 2030 14:00:00 +0000\n\n> quoted\nMy own words.\n"
    )
    message = _document("m.eml", mail)
    assert [p.text for p in message.passages] == ["My own words."]
    assert (message.published, message.source_class) == ("2030-09-02", SourceClass.MAILING_LIST)
    box = _document("b.mbox", b"From r@x.example Mon Sep  2 14:00:00 2030\n" + mail + b"\n")
    assert [p.text for p in box.passages] == ["My own words."]
    feed = b"<rss><channel><title>S</title><item><title>Outage</title><link>https://s.example/1</link>"
    feed += b"<description>&lt;p&gt;It failed.&lt;/p&gt;</description></item></channel></rss>"
    items = _document("f.rss", feed)
    assert [(p.text, p.source.url) for p in items.passages] == [("It failed.", "https://s.example/1")]


def test_errors_name_file_and_line() -> None:
    with pytest.raises(DataError, match=r"r\.jsonl, line 2"):
        read_document("r.jsonl", b"{}\nno json\n")
    with pytest.raises(DataError, match=r"n\.md, line \d"):
        read_document("n.md", b"---\na: [1\n---\ntext\n")
    bomb = b'<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    with pytest.raises(DataError, match="entities"):
        read_document("f.xml", bomb)
    with pytest.raises(DataError, match="pdf"):
        read_document("d.pdf", b"%PDF-1.4 cut")


def test_limits_and_unknown_kinds_are_reasons() -> None:
    assert read_document("a.txt", b"x" * 11, limits=ReadLimits(file_bytes=10)) == "larger than 10 bytes"
    assert read_document("a.bin", b"x") == "no reader for .bin"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["a.md", "a.html", "a.txt", "a.csv", "a.jsonl", "a.eml", "a.rss"]), st.binary(max_size=300))
def test_any_bytes_give_spans_or_a_data_error(name: str, raw: bytes) -> None:
    try:
        document = read_document(name, raw)
    except DataError as error:
        assert name in str(error)
        return
    assert isinstance(document, Document)
    for passage in document.passages:
        assert document.text[passage.start : passage.end] == passage.text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_folding_is_idempotent(text: str) -> None:
    assert fold_line(fold_line(text)) == fold_line(text)
