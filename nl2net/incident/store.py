"""What earlier investigations found: append-only claims and answers; revoking a source takes all of its down."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.errors import UserError
from nl2net.incident.envelope import from_envelope, to_envelope
from nl2net.incident.records import Report

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers(id INTEGER PRIMARY KEY, asked TEXT, question TEXT, status TEXT, envelope TEXT,
revoked_by TEXT);
CREATE TABLE IF NOT EXISTS claims(
    id INTEGER PRIMARY KEY, answer INTEGER, slot TEXT, value TEXT, doc TEXT, start INTEGER, stop INTEGER, quote
    TEXT, class TEXT, origin TEXT,
    document_sha256 TEXT, revoked_by TEXT);
CREATE INDEX IF NOT EXISTS claims_doc ON claims(doc);
"""


@dataclass(frozen=True, slots=True)
class Past:
    """A question that was asked before; ``revoked_by`` names a document that took the answer down."""

    id: int
    asked: str
    question: str
    status: str
    revoked_by: str


@dataclass(frozen=True, slots=True)
class Revoked:
    """How much a revoked document took down."""

    claims: int
    answers: int


class Knowledge:
    """The ledger of a corpus.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of the index, so that documents and claims lie in one file.

    Examples
    --------
    >>> ledger = Knowledge(sqlite3.connect(":memory:", isolation_level=None))
    >>> ledger.revoke("a.md")
    Revoked(claims=0, answers=0)
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.executescript(_SCHEMA)

    @classmethod
    def open(cls, path: Path) -> Knowledge:
        """A ledger in a file of its own."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(sqlite3.connect(path, isolation_level=None))

    def add(self, report: Report, *, asked: str, hashes: Mapping[str, str]) -> int:
        """Append a report and its claims; each quote was verified before.

        Parameters
        ----------
        report : Report
            The outcome.
        asked : str
            Date and time of the question.
        hashes : mapping
            SHA-256 of each cited document.
        """
        envelope = json.dumps(to_envelope(report), ensure_ascii=False)
        cursor = self._db.execute(
            "INSERT INTO answers(asked, question, status, envelope) VALUES(?,?,?,?)",
            (asked, report.question, report.status.value, envelope),
        )
        answer = int(cursor.lastrowid or 0)
        by_id = {e.id: e for e in report.evidence if e.kind == "quote"}
        for result in report.slots:
            for identity in result.evidence:
                if (e := by_id.get(identity)) is None:
                    continue
                value = json.dumps(result.value, default=str)
                row = (
                    answer,
                    result.slot.name,
                    value,
                    e.doc,
                    *e.span,
                    e.quote,
                    e.source_class,
                    e.origin,
                    hashes.get(e.doc, ""),
                )
                self._db.execute(
                    "INSERT INTO claims(answer, slot, value, doc, start, stop, quote, class, origin, document_sha256)"
                    " VALUES(?,?,?,?,?,?,?,?,?,?)",
                    row,
                )
        return answer

    def revoke(self, doc: str) -> Revoked:
        """Invalidate every claim of a document and every answer that rests on one."""
        claims = self._db.execute(
            "UPDATE claims SET revoked_by=? WHERE doc=? AND revoked_by IS NULL", (doc, doc)
        ).rowcount
        answers = self._db.execute(
            "UPDATE answers SET revoked_by=? WHERE revoked_by IS NULL AND id IN (SELECT answer FROM claims WHERE "
            "doc=?)",
            (doc, doc),
        ).rowcount
        return Revoked(claims, answers)

    def claims(self) -> list[dict[str, Any]]:
        """Claims that stand, oldest first."""
        names = ("slot", "value", "doc", "start", "stop", "quote", "class", "origin")
        rows = self._db.execute(f"SELECT {', '.join(names)} FROM claims WHERE revoked_by IS NULL ORDER BY id")  # noqa: S608
        return [dict(zip(names, row, strict=True)) for row in rows]

    def answers(self) -> list[tuple[str, str]]:
        """Questions and status of answers that stand."""
        return [
            (q, s)
            for q, s in self._db.execute("SELECT question, status FROM answers WHERE revoked_by IS NULL ORDER BY id")
        ]

    def history(self, limit: int = 1000) -> list[Past]:
        """Questions asked, newest first, revoked ones among them."""
        rows = self._db.execute(
            "SELECT id, asked, question, status, coalesce(revoked_by, '') FROM answers ORDER BY id DESC LIMIT ?",
            (limit,),
        )
        return [Past(*row) for row in rows]

    def reopen(self, answer: int) -> tuple[Report, dict[str, str]]:
        """The report of a former question, and the SHA-256 of each document that it cites, as they were.

        Raises
        ------
        UserError
            There is no such answer.
        """
        row = self._db.execute("SELECT envelope FROM answers WHERE id=?", (answer,)).fetchone()
        if row is None:
            raise UserError(f"no investigation {answer}", hint="The index of the corpus was built anew.")
        hashes = self._db.execute("SELECT DISTINCT doc, document_sha256 FROM claims WHERE answer=?", (answer,))
        return from_envelope(json.loads(row[0])), dict(hashes)
