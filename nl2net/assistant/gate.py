"""The privacy gate: every byte that leaves for a model passes here, is scanned, and is logged.

The gate knows every name and text value of the open graph. A request that holds one of them outside the words that a
model may see anyway (schema, fixed prompt text, library programs) is not sent.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nl2net.assistant.entities import EntityIndex, Match, tokens_of, trade_words
from nl2net.errors import PrivacyError
from nl2net.llm.gate import OutgoingRequest
from nl2net.locations import private_folder

# Shorter values are ordinary words too often; they count only as a whole quoted token.
_SHORT = 3


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(slots=True)
class Egress:
    """What one question sent: number of requests and bytes, and the exact bodies for the screen."""

    requests: int = 0
    bytes: int = 0
    bodies: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PrivacyGate:
    """Scans and logs outgoing requests for one graph.

    Parameters
    ----------
    index : EntityIndex or None
        Everything that may not leave; ``None`` where no graph is open (model listing).
    log : Path
        JSON lines, mode 0600.
    fixed_text : str
        Public text that any request may contain: templates and library programs.
    open_questions : bool
        ``--no-mask``: the question goes as typed, so its own words pass.
    """

    index: EntityIndex | None
    log: Path
    fixed_text: str = ""
    clock: Callable[[], str] = _now
    stage: str = "question"
    egress: Egress = field(default_factory=Egress)
    _allowed: str = ""
    _pending: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._pending.append(self.fixed_text)

    def allow(self, text: str) -> None:
        """Let the words of a text pass from now on: replies of the model, or a question under ``--no-mask``."""
        self._pending.append(text)

    def inspect(self, request: OutgoingRequest) -> None:
        """Raise before anything is sent if a data value is in the request; else log it.

        Raises
        ------
        PrivacyError
            Names the stage that leaked, never the value.
        """
        body = request.body.decode("utf-8", errors="replace")
        for text in (request.url, *self._body_texts(body)):
            if self.index is not None and any(self._is_leak(text, match) for match in self.index.matches(text)):
                self._write(request, body, blocked=True)
                raise PrivacyError(
                    f"a name or value of the graph was about to be sent at stage {self.stage!r}; nothing was sent",
                    hint="This is a fault of nl2net: please report it with the stage, not with the data.",
                )
        self._write(request, body, blocked=False)
        self.egress.requests += 1
        self.egress.bytes += len(request.body)
        self.egress.bodies.append(body)

    @staticmethod
    def _body_texts(body: str) -> list[str]:
        if not body:
            return []
        try:
            return list(_strings(json.loads(body)))
        except ValueError:
            return [body]

    def _is_leak(self, text: str, match: Match) -> bool:
        word = text[match.start : match.end]
        folded = word.casefold()
        assert self.index is not None
        if folded in self.index.schema_words or folded in trade_words():
            return False
        if (len(word) <= _SHORT or word.isdigit()) and not _is_quoted(text, match):
            return False
        if self._pending:
            # Splitting the library into words takes a second; most requests hold no name, so it is put off till then.
            self._allowed = "\n".join([self._allowed, *map(_joined, self._pending)])
            self._pending.clear()
        return _joined(word) not in self._allowed

    def _write(self, request: OutgoingRequest, body: str, *, blocked: bool) -> None:
        private_folder(self.log.parent)
        line = {
            "time": self.clock(),
            "url": request.url,
            "purpose": request.purpose,
            "stage": self.stage,
            "bytes": len(request.body),
            "sha256": hashlib.sha256(request.body).hexdigest(),
            # A blocked body holds what must not leave; it is not copied anywhere.
            "body": None if blocked else body,
            "blocked": blocked,
        }
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def _is_quoted(text: str, match: Match) -> bool:
    before = text[match.start - 1 : match.start]
    after = text[match.end : match.end + 1]
    return before == after and before in {'"', "'", "`"}


def _joined(text: str) -> str:
    """Words with single blanks and blanks at both ends, so that `in` compares whole words."""
    return " " + " ".join(token.folded for token in tokens_of(text)) + " "
