"""Records what an investigation read, so that it can be replayed without corpus, network or model."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from nl2net.errors import DataError
from nl2net.incident.corpus import CorpusSettings
from nl2net.incident.index import Hit
from nl2net.incident.records import Document, Flag, Passage, Source, SourceClass
from nl2net.locations import atomic_write

VERSION = 1
_RAW_LIMIT = 8 * 1024 * 1024


class Shelf(Protocol):
    """Where an investigation finds documents: a corpus, or a recording of one."""

    settings: CorpusSettings
    as_of: str

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = ()) -> list[Hit]:
        """Documents for a question, best first."""

    def document(self, doc: str) -> Document:
        """A document by its id."""

    def data_ids(self) -> list[str]:
        """Ids of data files."""

    def read_bytes(self, doc: str) -> bytes:
        """The raw file of a document."""


def dump_document(document: Document) -> dict[str, Any]:
    """A document as JSON."""
    return json.loads(json.dumps(dataclasses.asdict(document)))  # type: ignore[no-any-return]


def load_document(row: Mapping[str, Any]) -> Document:
    """A document from JSON; each passage must be a span of the text.

    Raises
    ------
    DataError
        The recording was edited: a passage is not what stands in the text.
    """
    passages = []
    for item in row["passages"]:
        source = item["source"]
        made = Source(source["key"], source["title"], source["url"], SourceClass(source["source_class"]))
        if row["text"][item["start"] : item["end"]] != item["text"]:
            raise DataError(
                f"a passage of {row['id']} is not in its text", hint="The recording was changed; run again."
            )
        passages.append(
            Passage(item["doc"], item["start"], item["end"], item["text"], item["heading"], made, item["usable_until"])
        )
    plain = {k: v for k, v in row.items() if k not in ("passages", "flags", "source_class")}
    flags = tuple(Flag(f["kind"], f["start"], f["end"], f["note"]) for f in row["flags"])
    return Document(**plain, source_class=SourceClass(row["source_class"]), passages=tuple(passages), flags=flags)


def _key(question: str, limit: int, more_words: Sequence[str]) -> str:
    return json.dumps([question, limit, list(more_words)], ensure_ascii=False)


class Recorder:
    """A shelf that remembers what was taken from it.

    Parameters
    ----------
    shelf : Shelf
        The real one.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.settings = shelf.settings
        self.as_of = shelf.as_of
        self.searches: dict[str, list[tuple[str, float]]] = {}
        self.documents: dict[str, Document] = {}
        self.raw: dict[str, str] = {}
        self._data: list[str] = []

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = ()) -> list[Hit]:
        """As the shelf."""
        hits = self._shelf.search(question, limit=limit, more_words=more_words)
        self.searches[_key(question, limit, more_words)] = [(hit.doc, hit.score) for hit in hits]
        return hits

    def document(self, doc: str) -> Document:
        """As the shelf."""
        self.documents[doc] = self._shelf.document(doc)
        return self.documents[doc]

    def data_ids(self) -> list[str]:
        """As the shelf."""
        self._data = self._shelf.data_ids()
        return self._data

    def read_bytes(self, doc: str) -> bytes:
        """As the shelf."""
        raw = self._shelf.read_bytes(doc)
        if len(raw) <= _RAW_LIMIT:
            self.raw[doc] = base64.b64encode(raw).decode()
        return raw

    def to_json(self) -> dict[str, Any]:
        """What was taken."""
        return {
            "visibility": self.settings.visibility,
            "as_of": self.as_of,
            "searches": self.searches,
            "documents": {doc: dump_document(document) for doc, document in sorted(self.documents.items())},
            "raw": dict(sorted(self.raw.items())),
            "data": self._data,
        }


class Recorded:
    """A shelf out of a recording; whatever was not recorded is an error that names it."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.settings = CorpusSettings(str(record["visibility"]))
        self.as_of = str(record["as_of"])
        self._searches = record["searches"]
        self._documents = {doc: load_document(row) for doc, row in record["documents"].items()}
        self._raw = record["raw"]
        self._data = list(record["data"])

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = ()) -> list[Hit]:
        """Hits as recorded."""
        key = _key(question, limit, more_words)
        if key not in self._searches:
            raise DataError(f"not in the recording: search {key}", hint="Run the question again on the corpus.")
        return [Hit(doc, score) for doc, score in self._searches[key]]

    def document(self, doc: str) -> Document:
        """A recorded document."""
        if doc not in self._documents:
            raise DataError(f"not in the recording: document {doc}", hint="Run the question again on the corpus.")
        return self._documents[doc]

    def data_ids(self) -> list[str]:
        """Ids of data files."""
        return self._data

    def read_bytes(self, doc: str) -> bytes:
        """A recorded file, checked against the hash of its document."""
        if doc not in self._raw:
            raise DataError(f"not in the recording: file {doc}", hint="Files over 8 MiB are not recorded.")
        raw = base64.b64decode(self._raw[doc])
        if hashlib.sha256(raw).hexdigest() != self.document(doc).sha256:
            raise DataError(f"the file {doc} in the recording is not the one that was read", hint="Run again.")
        return raw


def save_run(path: Path, run: Mapping[str, Any]) -> None:
    """Write a run file, whole or not at all."""
    with atomic_write(path, private=True) as stream:
        stream.write(json.dumps({"version": VERSION, **run}, ensure_ascii=False, sort_keys=True, indent=1).encode())


def load_run(path: Path) -> Mapping[str, Any]:
    """Read a run file.

    Raises
    ------
    DataError
        It is missing, no JSON, or of another version.
    """
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"no run file: {error}", path=path, hint="Give a file that --out wrote.") from None
    if not isinstance(run, dict) or run.get("version") != VERSION:
        raise DataError("a run file of another version", path=path, field="version", hint="Run the question again.")
    return run
