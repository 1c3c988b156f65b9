"""The store of a corpus: one SQLite file with documents, passages and their full-text index."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nl2net.errors import UserError
from nl2net.incident.entities import entity_tokens
from nl2net.incident.language import STOP, expand, stem, words_of
from nl2net.incident.records import Document, Flag, Passage, Source, SourceClass

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files(name TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, sha256 TEXT, skipped TEXT);
CREATE TABLE IF NOT EXISTS documents(
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, words TEXT, text TEXT, tokens TEXT, sha256 TEXT, format
    TEXT, class TEXT, published TEXT,
    incident_date TEXT, kind TEXT, url TEXT, flags TEXT, data TEXT, revoked INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS passages(
    number INTEGER PRIMARY KEY, doc TEXT, start INTEGER, stop INTEGER, heading TEXT, source TEXT, usable INTEGER);
CREATE INDEX IF NOT EXISTS passages_doc ON passages(doc);
CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(words, text, tokens, content='documents', content_rowid='number',
    tokenize='porter unicode61');
"""
# In a large corpus a word that stands in this many documents tells them apart no better than a stop word.
_COMMON = 1500
_LARGE = 2000


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found, best first; ``score`` grows with the match."""

    doc: str
    score: float


def check_fts5() -> str:
    """``""`` if SQLite has FTS5, else the reason."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    except sqlite3.OperationalError as error:
        return f"SQLite {sqlite3.sqlite_version}: {error}"
    finally:
        connection.close()
    return ""


class Index:
    """Documents of a corpus in SQLite.

    Parameters
    ----------
    path : Path or str
        The file; ``":memory:"`` keeps it in memory.

    Raises
    ------
    UserError
        SQLite lacks FTS5, or the file is none of ours.
    """

    def __init__(self, path: Path | str) -> None:
        if reason := check_fts5():
            raise UserError(f"no full-text search: {reason}", hint="Use a Python whose SQLite has FTS5.")
        if isinstance(path, Path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.connection = sqlite3.connect(path, isolation_level=None)
            self.connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + _SCHEMA)
        except sqlite3.DatabaseError as error:
            raise UserError(f"{path}: no index: {error}", hint="Remove the file; it is built again.") from None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction around many writes."""
        self.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of each file as it was read."""
        rows = self.connection.execute("SELECT name, size, mtime FROM files")
        return {name: (size, mtime) for name, size, mtime in rows}

    def note_file(self, name: str, stamp: tuple[int, int], *, sha256: str, skipped: str = "") -> None:
        """Remember that a file was read, or why it was not."""
        self.connection.execute("INSERT OR REPLACE INTO files VALUES(?,?,?,?,?)", (name, *stamp, sha256, skipped))

    def skipped(self) -> dict[str, str]:
        """Files that are no documents, with the reason."""
        return dict(self.connection.execute("SELECT name, skipped FROM files WHERE skipped<>'' ORDER BY name"))

    def add(self, document: Document) -> None:
        """Add a document, in place of one of the same id."""
        self.remove(document.id)
        flags = json.dumps([[f.kind, f.start, f.end, f.note] for f in document.flags])
        row = (
            document.id,
            document.title,
            document.text,
            document.sha256,
            document.format,
            document.source_class.value,
        )
        more = (
            document.published,
            document.incident_date,
            document.kind,
            document.url,
            flags,
            json.dumps(dict(document.data)),
        )
        when = f" {document.incident_date}" if document.incident_date else ""
        title = f"{document.title}{when}"
        words = f"{title} {' '.join(re.split(r'[-_/.]+', document.id))}"
        tokens = " ".join(entity_tokens(f"{title}\n{document.text}"))
        cursor = self.connection.execute(
            "INSERT INTO documents(id, title, text, sha256, format, class, published, incident_date, kind, url, "
            "flags, data, words,"
            " tokens) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (*row, *more, words, tokens),
        )
        self.connection.execute(
            "INSERT INTO search(rowid, words, text, tokens) VALUES(?,?,?,?)",
            (cursor.lastrowid, words, document.text, tokens),
        )
        self.connection.executemany(
            "INSERT INTO passages(doc, start, stop, heading, source, usable) VALUES(?,?,?,?,?,?)",
            [
                (p.doc, p.start, p.end, p.heading, json.dumps(_source_row(p.source)), p.usable_until)
                for p in document.passages
            ],
        )

    def remove(self, doc: str) -> None:
        """Remove a document and its passages."""
        found = self.connection.execute(
            "SELECT number, words, text, tokens FROM documents WHERE id=?", (doc,)
        ).fetchone()
        if found:
            self.connection.execute(
                "INSERT INTO search(search, rowid, words, text, tokens) VALUES('delete',?,?,?,?)", tuple(found)
            )
            self.connection.execute("DELETE FROM passages WHERE doc=?", (doc,))
            self.connection.execute("DELETE FROM documents WHERE id=?", (doc,))

    def forget_file(self, name: str) -> None:
        """Remove a file that is gone."""
        self.remove(name)
        self.connection.execute("DELETE FROM files WHERE name=?", (name,))

    def set_revoked(self, doc: str, revoked: bool) -> None:
        """Ban a document from all answers, or admit it again."""
        self.connection.execute("UPDATE documents SET revoked=? WHERE id=?", (int(revoked), doc))

    def revoked(self) -> frozenset[str]:
        """Ids of banned documents."""
        return frozenset(row[0] for row in self.connection.execute("SELECT id FROM documents WHERE revoked=1"))

    def ids(self) -> list[str]:
        """Ids of all documents, sorted."""
        return [row[0] for row in self.connection.execute("SELECT id FROM documents ORDER BY id")]

    def data_ids(self) -> list[str]:
        """Ids of data files, sorted."""
        return [
            row[0]
            for row in self.connection.execute("SELECT id FROM documents WHERE kind='data' AND revoked=0 ORDER BY id")
        ]

    def __len__(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM documents").fetchone()[0])

    def document(self, doc: str) -> Document:
        """A stored document.

        Raises
        ------
        KeyError
            There is none of that id.
        """
        row = self.connection.execute(
            "SELECT id, title, text, sha256, format, class, published, incident_date, kind, url, flags, data FROM "
            "documents WHERE id=?",
            (doc,),
        ).fetchone()
        if row is None:
            raise KeyError(doc)
        text: str = row[2]
        passages = tuple(
            Passage(doc, start, stop, text[start:stop], heading, _source_of(json.loads(source)), usable)
            for start, stop, heading, source, usable in self.connection.execute(
                "SELECT start, stop, heading, source, usable FROM passages WHERE doc=? ORDER BY start", (doc,)
            )
        )
        return Document(
            id=row[0],
            title=row[1],
            text=text,
            sha256=row[3],
            format=row[4],
            source_class=SourceClass(row[5]),
            passages=passages,
            published=row[6],
            incident_date=row[7],
            kind=row[8],
            url=row[9],
            flags=tuple(Flag(*flag) for flag in json.loads(row[10])),
            data=json.loads(row[11]),
        )

    def frequency(self, term: str) -> int:
        """Number of documents with a word (its porter stem decides)."""
        row = self.connection.execute("SELECT count(*) FROM search WHERE search MATCH ?", (_quoted(term),)).fetchone()
        return int(row[0])

    def _frequency_up_to(self, term: str, limit: int) -> int:
        row = self.connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)", (_quoted(term), limit)
        ).fetchone()
        return int(row[0])

    def weights(self, terms: Iterable[str]) -> dict[str, float]:
        """Inverse document frequency of words, never zero so that a corpus of one document works."""
        total = len(self)
        return {term: math.log(1 + (total + 1) / (0.5 + self.frequency(term))) for term in set(terms)}

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = (), widen: bool = True) -> list[Hit]:
        """Documents for a question, best first.

        Parameters
        ----------
        question : str
            Any text; nothing of it is read as query syntax.
        limit : int
            Number of documents.
        more_words : sequence of str
            Further words to look for.
        widen : bool
            Whether to fill up with related words when the words themselves find too little.
        """
        words = [w for w in words_of(question) if w.lower() not in STOP] + list(more_words)
        entities = entity_tokens(question, covering=False)
        query = self._query(words, entities)
        hits = self._run(query, limit) if query else []
        wider = expand(stem(word) for word in words) if widen else []
        if wider and (len(self) <= _LARGE or len(hits) < limit):
            seen = {hit.doc: hit.score for hit in hits}
            # Related words help a paraphrase and may not outweigh the words of the question itself.
            second = self._run(self._query([*words, *wider], entities), limit * 2)
            for hit in second:
                seen[hit.doc] = max(seen.get(hit.doc, 0.0), 0.0) + 0.5 * hit.score
            hits = [Hit(doc, score) for doc, score in sorted(seen.items(), key=lambda item: (-item[1], item[0]))]
        return hits[:limit]

    def _query(self, words: Sequence[str], entities: Sequence[str]) -> str:
        terms = list(dict.fromkeys(word.lower() for word in words))
        total = len(self)
        if total > _LARGE:
            counted = {term: self._frequency_up_to(term, _COMMON) for term in terms}
            rare = [term for term, count in counted.items() if 0 < count < _COMMON]
            held = [term for term, count in counted.items() if count]
            if not rare and held and not entities:
                # All words are common: what holds all of them is few, what holds any of them is half of the corpus.
                return " AND ".join(_quoted(term) for term in held)
            terms = rare
        parts = [_quoted(term) for term in terms] + [f"tokens: {_quoted(token)}" for token in entities]
        return " OR ".join(parts)

    def _run_common(self, query: str, limit: int) -> list[Hit]:
        """Documents that hold all of several common words, those that name them in the title first.

        bm25 reads every posting of every word before it ranks; for words of half the corpus that takes longer than
        all else.
        """
        words = [word.strip('"') for word in query.split(" AND ")]
        rows = self.connection.execute(
            "SELECT documents.id, documents.words FROM search JOIN documents ON documents.number=search.rowid"
            " WHERE search MATCH ? AND revoked=0 LIMIT 200",
            (query,),
        )
        scored = [Hit(doc, 1.0 + sum(word in title.lower() for word in words)) for doc, title in rows]
        return sorted(scored, key=lambda hit: (-hit.score, hit.doc))[:limit]

    def _run(self, query: str, limit: int) -> list[Hit]:
        if " AND " in query:
            return self._run_common(query, limit)
        rows = self.connection.execute(
            "SELECT documents.id, -bm25(search, 3.0, 1.0, 2.0) AS score FROM search JOIN documents ON "
            "documents.number=search.rowid"
            " WHERE search MATCH ? AND revoked=0 ORDER BY score DESC LIMIT ?",
            (query, limit),
        )
        return [Hit(doc, score) for doc, score in sorted(rows, key=lambda row: (-row[1], row[0]))]


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _source_row(source: Source) -> list[str]:
    return [source.key, source.title, source.url, source.source_class.value]


def _source_of(row: list[str]) -> Source:
    return Source(row[0], row[1], row[2], SourceClass(row[3]))
