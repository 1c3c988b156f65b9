"""The history: one SQLite log (WAL) of every question, prompt, reply, program, result summary and usage.

Each stage is written before the next begins, so that ``kill -9`` loses at most the answer in flight.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nl2net.errors import DataError, UserError
from nl2net.locations import private_folder

# Applied in order; the number of applied ones is SQLite's `user_version`. Never edit one that was released.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE turns (
        id INTEGER PRIMARY KEY,
        parent INTEGER REFERENCES turns(id),
        conversation TEXT NOT NULL,
        created TEXT NOT NULL,
        question TEXT NOT NULL,
        masked TEXT,
        graph TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        schema_hash TEXT NOT NULL,
        library TEXT,
        status TEXT,
        program TEXT,
        bound TEXT,
        envelope TEXT,
        approved TEXT
    );
    CREATE INDEX turns_conversation ON turns(conversation, id);
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        turn INTEGER NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
        at TEXT NOT NULL,
        stage TEXT NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX events_turn ON events(turn, id);
    CREATE TABLE replies (
        key TEXT PRIMARY KEY,
        created TEXT NOT NULL,
        reply TEXT NOT NULL
    );
    """,
)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of the history."""

    id: int
    parent: int | None
    conversation: str
    created: str
    question: str
    masked: str | None
    graph: str
    fingerprint: str
    schema_hash: str
    library: str | None
    status: str | None
    program: str | None
    bound: str | None
    envelope: dict[str, Any] | None
    approved: str | None


class Store:
    """The log of one user; safe to use from several processes and threads.

    Parameters
    ----------
    path : Path
        Created with mode 0600 in a folder of mode 0700.
    clock : callable
        Gives ISO 8601 text in UTC.
    """

    def __init__(self, path: Path, *, clock: Callable[[], str] = _now) -> None:
        private_folder(path.parent)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._clock = clock
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._migrate(path)
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"not a usable history: {error}", path=path, hint="Move the file away; a new one is made."
            ) from None

    def _migrate(self, path: Path) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise DataError(
                f"written by a newer nl2net (schema {version})", path=path, hint="Update nl2net, or move the file away."
            )
        for number in range(version, len(MIGRATIONS)):
            with self._transaction() as connection:
                # Another process may have migrated while this one waited for the lock.
                if connection.execute("PRAGMA user_version").fetchone()[0] > number:
                    continue
                for statement in MIGRATIONS[number].split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version={number + 1}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # ---- writing ------------------------------------------------------------------------------------------------

    def begin(self, question: str, *, graph: Mapping[str, str], conversation: str, parent: int | None = None) -> int:
        """Record that a question was asked; returns the id of its turn.

        ``graph`` holds ``name``, ``fingerprint`` and ``schema_hash``.
        """
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO turns(parent, conversation, created, question, graph, fingerprint, schema_hash)"
                " VALUES(?,?,?,?,?,?,?)",
                (
                    parent, conversation, self._clock(), question,
                    graph["name"], graph["fingerprint"], graph["schema_hash"],
                ),
            )  # fmt: skip
            return int(cursor.lastrowid or 0)

    def event(self, turn: int, stage: str, data: Mapping[str, Any]) -> None:
        """Append what happened at one stage of a turn."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO events(turn, at, stage, data) VALUES(?,?,?,?)",
                (turn, self._clock(), stage, json.dumps(data, ensure_ascii=False, default=str)),
            )

    def finish(self, turn: int, envelope: Mapping[str, Any], *, masked: str, program: str, bound: str) -> None:
        """Store the answer of a turn."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE turns SET masked=?, library=?, status=?, program=?, bound=?, envelope=? WHERE id=?",
                (
                    masked, envelope.get("library"), envelope.get("status"), program, bound,
                    json.dumps(envelope, ensure_ascii=False, default=str), turn,
                ),
            )  # fmt: skip

    def approve(self, turn: int, verdict: str) -> None:
        """Mark a turn as ``approved``, ``rejected`` or ``wrong``."""
        self.get(turn)
        with self._transaction() as connection:
            connection.execute("UPDATE turns SET approved=? WHERE id=?", (verdict, turn))

    def remember_reply(self, key: str, reply: Mapping[str, Any]) -> None:
        """Cache a model's reply under its full key."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO replies(key, created, reply) VALUES(?,?,?)",
                (key, self._clock(), json.dumps(reply, ensure_ascii=False)),
            )

    def forget_older_than(self, days: int) -> int:
        """Delete turns and cached replies older than so many days; returns the number of turns."""
        limit = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
        with self._transaction() as connection:
            connection.execute(
                "UPDATE turns SET parent=NULL WHERE parent IN (SELECT id FROM turns WHERE created<?)", (limit,)
            )
            connection.execute("DELETE FROM replies WHERE created<?", (limit,))
            return connection.execute("DELETE FROM turns WHERE created<?", (limit,)).rowcount

    # ---- reading ------------------------------------------------------------------------------------------------

    def get(self, turn: int) -> Turn:
        """One turn.

        Raises
        ------
        UserError
            There is no such turn.
        """
        row = self._connection.execute("SELECT * FROM turns WHERE id=?", (turn,)).fetchone()
        if row is None:
            raise UserError(f"no question number {turn} in the history", hint="See `nl2net history list`.")
        return _turn(row)

    def turns(self, *, limit: int = 50, search: str = "", conversation: str | None = None) -> list[Turn]:
        """Newest turns first; ``search`` matches question, graph name and program."""
        where, values = ["1=1"], []
        if search:
            where.append("(question LIKE ? OR graph LIKE ? OR bound LIKE ?)")
            values += [f"%{search}%"] * 3
        if conversation is not None:
            where.append("conversation=?")
            values.append(conversation)
        sql = f"SELECT * FROM turns WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?"  # noqa: S608
        with closing(self._connection.execute(sql, (*values, limit))) as rows:
            return [_turn(row) for row in rows]

    def events(self, turn: int) -> list[dict[str, Any]]:
        """What happened in a turn, in order."""
        with closing(self._connection.execute("SELECT * FROM events WHERE turn=? ORDER BY id", (turn,))) as rows:
            return [{"at": row["at"], "stage": row["stage"], **json.loads(row["data"])} for row in rows]

    def cached_reply(self, key: str) -> dict[str, Any] | None:
        """A remembered reply."""
        row = self._connection.execute("SELECT reply FROM replies WHERE key=?", (key,)).fetchone()
        return None if row is None else dict(json.loads(row["reply"]))


def _turn(row: sqlite3.Row) -> Turn:
    values = {name: row[name] for name in Turn.__dataclass_fields__}
    values["envelope"] = json.loads(values["envelope"]) if values["envelope"] else None
    return Turn(**values)
