"""Text, tables, JSON lines, mail, feeds and PDF as blocks."""

from __future__ import annotations

import csv
import email
import email.policy
import email.utils
import io
import json
import mailbox
import re
import tempfile
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from xml.parsers import expat

from nl2net.errors import DataError
from nl2net.incident.readers.build import Block, Parsed
from nl2net.incident.readers.html import parse_html
from nl2net.incident.records import Source, SourceClass

_BODY_KEYS = ("text", "body", "content", "description", "summary", "message")
_MAX_ROWS = 200_000


def parse_text(text: str, *, name: str) -> Parsed:
    """Paragraphs of a plain text; the first short line is its title."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    first = paragraphs[0].split("\n")[0].strip() if paragraphs else ""
    title = first if 0 < len(first) <= 120 else name
    return Parsed(title=title, blocks=[Block(part) for part in paragraphs], source_class=SourceClass.SECONDARY)


def parse_jsonl(text: str, *, name: str) -> Parsed:
    """One block per record; ``title``, ``url``, ``date`` and ``class`` of a record belong to its block."""
    blocks = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"no JSON: {error.msg}", path=name, line=number, hint="One object per line.") from None
        if isinstance(record, dict):
            blocks.append(_record_block(record, number))
    return Parsed(title=Path(name).stem, blocks=blocks, source_class=SourceClass.SECONDARY)


def _record_block(record: dict[str, object], number: int) -> Block:
    body = next((str(record[key]) for key in _BODY_KEYS if record.get(key)), "")
    title = str(record.get("title") or "")
    text = f"{title}: {body}" if title and body and not body.startswith(title) else body or title
    if not text:
        text = "; ".join(f"{key}: {value}" for key, value in record.items() if not isinstance(value, dict | list))
    when = str(record.get("date") or record.get("published") or "")
    declared = str(record.get("class") or "")
    source_class = SourceClass(declared) if declared in set(SourceClass) - {"computation"} else SourceClass.SECONDARY
    source = Source(f"row-{number}", title or f"row {number}", str(record.get("url") or ""), source_class)
    return Block(f"{text} ({when[:10]})" if when and when[:10] not in text else text, source=source)


def parse_csv(text: str, *, name: str) -> Parsed:
    """One block per row, written as ``column: value``."""
    sample = text[:4096]
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(sample, delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = csv.DictReader(io.StringIO(text, newline=""), dialect=dialect)
    blocks = []
    try:
        for number, row in enumerate(rows):
            if number >= _MAX_ROWS:
                break
            blocks.append(Block("; ".join(f"{key}: {value}" for key, value in row.items() if key and value)))
    except csv.Error as error:
        raise DataError(f"no table: {error}", path=name, line=rows.line_num, hint="Export the table again.") from None
    return Parsed(title=Path(name).stem, blocks=blocks, source_class=SourceClass.SECONDARY)


def _mail_blocks(message: Message) -> tuple[str, str, list[Block]]:
    subject = str(message.get("Subject") or "")
    sender = email.utils.parseaddr(str(message.get("From") or ""))[0]
    when = email.utils.parsedate_to_datetime(str(message["Date"])).date().isoformat() if _has_date(message) else ""
    source = Source(str(message.get("Message-ID") or subject), f"{subject} ({sender})", "", SourceClass.MAILING_LIST)
    return subject, when, [Block(part, source=source) for part in _mail_text(message)]


def _has_date(message: Message) -> bool:
    try:
        email.utils.parsedate_to_datetime(str(message.get("Date")))
    except (TypeError, ValueError):
        return False
    return True


def _mail_text(message: Message) -> Iterator[str]:
    for part in message.walk():
        if part.get_content_maintype() != "text":
            continue
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else str(payload)
        if part.get_content_subtype() == "html":
            yield from (block.text for block in parse_html(text, name="").blocks)
        else:
            # Quoted lines are other people's words under this sender's name.
            own = "\n".join(line for line in text.split("\n") if not line.startswith(">"))
            yield from (piece for piece in re.split(r"\n\s*\n", own) if piece.strip())


def parse_eml(raw: bytes, *, name: str) -> Parsed:
    """One message."""
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    subject, when, blocks = _mail_blocks(message)
    return Parsed(title=subject or name, blocks=blocks, source_class=SourceClass.MAILING_LIST, published=when)


def parse_mbox(raw: bytes, *, name: str) -> Parsed:
    """All messages of a mailbox, each with its own source."""
    blocks: list[Block] = []
    title, latest = "", ""
    with tempfile.TemporaryDirectory(prefix="nl2net-mbox-") as folder:
        path = Path(folder) / "box"
        path.write_bytes(raw)
        box = mailbox.mbox(str(path), create=False)
        for message in box:
            subject, when, parts = _mail_blocks(message)
            title, latest = title or subject, max(latest, when)
            blocks += [Block(f"{subject} {when}".strip(), is_heading=True, level=2), *parts]
        box.close()
    return Parsed(title=title or name, blocks=blocks, source_class=SourceClass.MAILING_LIST, published=latest)


def parse_feed(raw: bytes, *, name: str) -> Parsed:
    """Items of an RSS or Atom feed; a document type with entities is refused, for they can grow without bound."""
    items: list[dict[str, str]] = []
    title: list[str] = []
    path: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        path.append(tag.rsplit(":", 1)[-1].lower())
        if path[-1] in ("item", "entry"):
            items.append({})
        if path[-1] == "link" and items and attributes.get("href"):
            items[-1]["link"] = attributes["href"]

    def end(_tag: str) -> None:
        path.pop()

    def words(text: str) -> None:
        inside = any(tag in ("item", "entry") for tag in path)
        if items and inside:
            items[-1][path[-1]] = items[-1].get(path[-1], "") + text
        elif path and path[-1] == "title" and not items:
            title.append(text)

    def refuse(*_: object) -> None:
        raise DataError("the feed declares entities", path=name, hint="Remove its document type.")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, words
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise DataError(f"no XML: {error}", path=name, line=error.lineno, hint="Export the feed again.") from None
    blocks: list[Block] = []
    for item in items:
        blocks += _feed_item(item)
    return Parsed(title="".join(title).strip() or name, blocks=blocks, source_class=SourceClass.NEWS)


def _feed_item(item: dict[str, str]) -> Iterator[Block]:
    head = item.get("title", "").strip()
    source = Source(item.get("guid", head).strip(), head, item.get("link", "").strip(), SourceClass.NEWS)
    when = (item.get("pubdate") or item.get("published") or item.get("updated") or "").strip()
    yield Block(f"{head} {when}".strip(), is_heading=True, level=2)
    body = item.get("encoded") or item.get("content") or item.get("description") or item.get("summary") or ""
    for block in parse_html(body, name=head).blocks:
        yield Block(block.text, source=source)


def parse_pdf(raw: bytes, *, name: str) -> Parsed:
    """Pages of a PDF as paragraphs.

    Raises
    ------
    DataError
        ``pypdf`` is not installed, or the file is damaged, locked or empty.
    """
    try:
        import pypdf
    except ImportError:
        raise DataError("reading PDF needs pypdf", path=name, hint="pip install 'nl2net[incident]'") from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(raw))
        pages = [page.extract_text() or "" for page in reader.pages[:2000]]
    except Exception as error:  # the library raises many kinds on damaged files
        raise DataError(f"no readable PDF: {error}", path=name, hint="Print it to PDF again, or give text.") from None
    # A hyphen at a line break belongs to the layout, not to the word.
    text = "\n\n".join(re.sub(r"(\w)[-\u00ad\ufffe]\n(?=[a-z])", r"\1", page) for page in pages)
    parsed = parse_text(text, name=name)
    if not parsed.blocks:
        raise DataError("the PDF holds no text", path=name, hint="It may be a scan: run it through OCR first.")
    return parsed
