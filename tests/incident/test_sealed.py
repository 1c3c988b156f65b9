"""Pages and PDF files are parsed in the sandbox worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2net.errors import DataError
from nl2net.incident.corpus import Corpus
from nl2net.incident.readers.sealed import SealedParser, from_values

TEXT = "BT /F1 12 Tf 72 720 Td (The Vega exchange failed at 10:00 UTC on 3 May 2031.) Tj ET"


def make_pdf(content: str) -> bytes:
    """A PDF of one page with one line."""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body = b"%PDF-1.4\n"
    places = []
    for number, part in enumerate(parts, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + part + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
    return body + f"{head}trailer << /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


@pytest.mark.kernel
def test_pages_and_pdf_are_read_in_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf(TEXT))
    (tmp_path / "b.html").write_text("<title>Vega</title><p hidden>secret</p><p>It came back at 11:00 UTC.</p>")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.4 cut")
    with Corpus(tmp_path, index=":memory:") as corpus:
        done = corpus.refresh()
        assert corpus.parser.reason == ""
        assert corpus.document("a.pdf").passages[0].text == "The Vega exchange failed at 10:00 UTC on 3 May 2031."
        assert [p.text for p in corpus.document("b.html").passages] == ["It came back at 11:00 UTC."]
        assert [p for p in done.damaged if "c.pdf" in p]


def test_without_a_sandbox_pages_are_read_and_pdf_is_not() -> None:
    parser = SealedParser()
    parser.reason = "no sandbox on this machine"
    assert parser.parse("html", b"<p>Seen.</p>", "a.html").blocks[0].text == "Seen."
    with pytest.raises(DataError, match="no sandbox"):
        parser.parse("pdf", make_pdf(TEXT), "a.pdf")


def test_what_the_child_sends_is_checked() -> None:
    with pytest.raises(DataError, match="no document"):
        from_values({"title": "x"}, "a.html")
