"""Which reader takes which file; what is skipped and why."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from nl2net.errors import DataError
from nl2net.incident.readers import plain
from nl2net.incident.readers.build import Parsed, build_document
from nl2net.incident.readers.data import describe_data
from nl2net.incident.readers.html import parse_html
from nl2net.incident.readers.markdown import parse_markdown
from nl2net.incident.records import Document

_TEXT: dict[str, Callable[..., Parsed]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
    ".txt": plain.parse_text,
    ".text": plain.parse_text,
    ".log": plain.parse_text,
    ".jsonl": plain.parse_jsonl,
    ".ndjson": plain.parse_jsonl,
    ".csv": plain.parse_csv,
    ".tsv": plain.parse_csv,
}
_BYTES: dict[str, Callable[..., Parsed]] = {
    ".eml": plain.parse_eml,
    ".mbox": plain.parse_mbox,
    ".rss": plain.parse_feed,
    ".atom": plain.parse_feed,
    ".xml": plain.parse_feed,
    ".pdf": plain.parse_pdf,
}
# Pages about the folder itself: they speak of incidents without being evidence on them.
_ABOUT = re.compile(
    r"(?:README|LICENSE|LICENCE|NOTICE|COPYING|ATTRIBUTION|CHANGELOG|CONTRIBUTING)(?:\.\w+)?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds of one file."""

    file_bytes: int = 50 * 1024 * 1024
    unpacked_bytes: int = 500 * 1024 * 1024


def is_about_the_folder(name: str) -> bool:
    """Whether the file describes the corpus instead of belonging to it.

    Examples
    --------
    >>> is_about_the_folder("bgp/ATTRIBUTION.md"), is_about_the_folder("notes/readme-leak.md")
    (True, False)
    """
    base = PurePosixPath(name).name
    return _ABOUT.match(base) is not None or base.endswith((".LICENSE", ".LICENCE"))


def decode_text(raw: bytes) -> str:
    """UTF-8, UTF-16 with a byte order mark, or Windows-1252."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def unpack(raw: bytes, *, name: str, limit: int) -> bytes:
    """Content of a gzip or bzip2 file, within ``limit`` bytes.

    Raises
    ------
    DataError
        The file is damaged, or unpacks to more than the limit.
    """
    opener: bz2.BZ2Decompressor | zlib._Decompress
    opener = bz2.BZ2Decompressor() if name.endswith(".bz2") else zlib.decompressobj(wbits=31)
    try:
        content = opener.decompress(raw, limit)
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"cannot be unpacked: {error}", path=name, hint="Fetch the file again.") from None
    if not opener.eof and (len(content) >= limit):
        raise DataError(f"unpacks to more than {limit:,} bytes", path=name, hint="Raise the limit or cut the file.")
    return content


Parse = Callable[[str, bytes, str], Parsed]


def read_document(
    name: str, raw: bytes, *, limits: ReadLimits | None = None, parse: Parse | None = None
) -> Document | str:
    """The document in a file, or the reason why the file is none.

    Parameters
    ----------
    name : str
        Path relative to the corpus.
    raw : bytes
        Content of the file.
    limits : ReadLimits, optional
        Bounds on size.
    parse : callable, optional
        Parses ``html`` and ``pdf`` elsewhere, given kind, content and name; by default here.

    Raises
    ------
    DataError
        The file has a known format and is damaged.

    Examples
    --------
    >>> read_document("a.txt", b"It failed at 10:00 UTC.").passages[0].text
    'It failed at 10:00 UTC.'
    >>> read_document("a.exe", b"MZ")
    'no reader for .exe'
    """
    limits = limits or ReadLimits()
    if len(raw) > limits.file_bytes:
        return f"larger than {limits.file_bytes:,} bytes"
    if described := describe_data(name, raw, unpack=lambda: unpack(raw, name=name, limit=limits.unpacked_bytes)):
        return build_document(name, raw, fmt=str(described.meta["format"]), parsed=described)
    suffix = PurePosixPath(name).suffix.lower()
    kind = {".html": "html", ".htm": "html", ".pdf": "pdf"}.get(suffix)
    if parse is not None and kind is not None:
        parsed = parse(kind, decode_text(raw).encode() if kind == "html" else raw, name)
        text = decode_text(raw) if kind == "html" else ""
        return build_document(name, raw, fmt=suffix[1:], parsed=parsed, raw_text=text)
    if suffix in _BYTES:
        return build_document(name, raw, fmt=suffix[1:], parsed=_BYTES[suffix](raw, name=name))
    if suffix in _TEXT:
        text = decode_text(raw)
        return build_document(name, raw, fmt=suffix[1:], parsed=_TEXT[suffix](text, name=name), raw_text=text)
    return f"no reader for {suffix or 'files without a suffix'}"
