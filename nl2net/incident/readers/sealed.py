"""Parsers of untrusted files behind the operating-system wall of the sandbox: bytes in, plain values out.

HTML and PDF come from strangers, and their parsers are large. They run in a sealed child that holds no corpus and no
network; what comes back is data. Where no sandbox can be had, HTML is parsed here (a short parser of the standard
library) and PDF is left out with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from nl2net.errors import DataError, ProgramFailed, SandboxError, Unavailable
from nl2net.incident.readers.build import Block, Hidden, Parsed
from nl2net.incident.readers.html import parse_html
from nl2net.incident.readers.plain import parse_pdf
from nl2net.incident.records import SourceClass

if TYPE_CHECKING:
    from nl2net.sandbox.process.parser import ParserWorker

MODULE = "nl2net.incident.readers.sealed"


def _plain(parsed: Parsed) -> dict[str, Any]:
    return {
        "title": parsed.title,
        "blocks": [[b.text, b.is_heading, b.level] for b in parsed.blocks],
        "hidden": [[h.kind, h.text, h.block] for h in parsed.hidden],
        "published": parsed.published,
        "url": parsed.url,
    }


def html_values(raw: bytes) -> dict[str, Any]:
    """A page as plain values; called in the sealed child.

    Examples
    --------
    >>> html_values(b"<p>It failed.</p>")["blocks"]
    [['It failed.', False, 1]]
    """
    return _plain(parse_html(raw.decode("utf-8", "replace"), name="page"))


def pdf_values(raw: bytes) -> dict[str, Any]:
    """A PDF as plain values; called in the sealed child."""
    return _plain(parse_pdf(raw, name="file"))


def from_values(values: Mapping[str, Any], name: str) -> Parsed:
    """What the child sent, checked field by field."""
    try:
        title = str(values["title"])
        return Parsed(
            title=name if title in ("page", "file") else title,
            blocks=[Block(str(text), bool(head), int(level)) for text, head, level in values["blocks"]],
            hidden=[Hidden(str(kind), str(text), int(at)) for kind, text, at in values["hidden"]],
            source_class=SourceClass.SECONDARY,
            published=str(values["published"]),
            url=str(values["url"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the parser sent no document: {error}", path=name, hint="Leave the file out.") from None


class SealedParser:
    """A worker for the files of one corpus, started at the first of them.

    Notes
    -----
    ``reason`` tells why there is no sandbox, ``""`` while there is one or nobody asked.
    """

    def __init__(self) -> None:
        self._worker: ParserWorker | None = None
        self.reason = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def parse(self, kind: str, raw: bytes, name: str) -> Parsed:
        """Parse a page or a PDF.

        Parameters
        ----------
        kind : str
            ``html`` or ``pdf``.
        raw : bytes
            The file.
        name : str
            Its path, for messages.

        Raises
        ------
        DataError
            The file is damaged, or hit a limit of the sandbox; or it is a PDF and there is no sandbox.
        """
        if not self.reason:
            try:
                return from_values(self._sealed(kind, raw), name)
            except Unavailable as error:
                self.reason = str(error)
            except (ProgramFailed, SandboxError) as error:
                raise DataError(f"cannot be parsed: {error}", path=name, hint="Give text or Markdown.") from None
        if kind == "html":
            return parse_html(raw.decode("utf-8", "replace"), name=name)
        raise DataError(f"PDF is parsed in the sandbox only: {self.reason}", path=name, hint="Give text or Markdown.")

    def _sealed(self, kind: str, raw: bytes) -> Mapping[str, Any]:
        from nl2net.sandbox.process.parser import ParserWorker

        if self._worker is None:
            self._worker = ParserWorker([MODULE, *_late_modules()])
        values = self._worker.parse_sealed(f"{MODULE}:{kind}_values", raw)
        if not isinstance(values, Mapping):
            raise DataError("the parser sent no document", hint="Leave the file out.")
        return values


def _late_modules() -> list[str]:
    """What the PDF reader imports late must be loaded before the seal."""
    from importlib.util import find_spec

    return ["pypdf"] if find_spec("pypdf") else []
