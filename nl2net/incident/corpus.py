"""A folder of documents and its index: read what changed, drop what is gone."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nl2net.errors import DataError, UserError
from nl2net.incident.index import Hit, Index
from nl2net.incident.readers import ReadLimits, is_about_the_folder, read_document
from nl2net.incident.readers.sealed import SealedParser
from nl2net.incident.records import Document
from nl2net.locations import Locations, default_locations

_BATCH = 500
# Answer keys that lie beside a corpus are for scoring only; the product never opens them.
_NEVER = frozenset({"questions.json", "conflicts.json", "labels.json", "facts.json"})


@dataclass(frozen=True, slots=True)
class Refresh:
    """What one pass over the folder did."""

    added: int
    removed: int
    unchanged: int
    skipped: int
    damaged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Content of ``corpus.toml``: ``visibility`` is ``"private"`` unless the file says ``"public"``."""

    visibility: str = "private"
    include_about: bool = False


def read_settings(folder: Path) -> CorpusSettings:
    """Settings of a corpus.

    Raises
    ------
    DataError
        ``corpus.toml`` cannot be read or has an unknown value.
    """
    path = folder / "corpus.toml"
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return CorpusSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=path, hint="Mend or remove the file.") from None
    visibility = values.get("visibility", "private")
    if visibility not in ("private", "public"):
        raise DataError(f"unknown value {visibility!r}", path=path, field="visibility", hint="Write private or public.")
    return CorpusSettings(visibility, bool(values.get("include_about", False)))


class Corpus:
    """Documents of a folder.

    Parameters
    ----------
    folder : Path
        The documents; it is only read.
    index : Path or str, optional
        The index file; by default one per folder below the data folder of the installation.
    locations : Locations, optional
        Folders of the installation.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _ = (Path(name) / "a.md").write_text("# Outage\\n- The exchange failed at 10:00 UTC.\\n")
    ...     corpus = Corpus(Path(name), index=":memory:")
    ...     corpus.refresh().added, [hit.doc for hit in corpus.search("When did the exchange fail?")]
    (1, ['a.md'])
    """

    def __init__(self, folder: Path, *, index: Path | str | None = None, locations: Locations | None = None) -> None:
        self.folder = folder.expanduser().resolve()
        if not self.folder.is_dir():
            raise UserError(f"{folder}: no folder", hint="Give --corpus a folder of documents.")
        self.settings = read_settings(self.folder)
        if index is None:
            name = hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]
            index = (locations or default_locations()).data / "incident" / f"{name}.sqlite3"
        self.index = Index(index)
        self._cache: dict[str, Document] = {}
        self.as_of = ""
        self.parser = SealedParser()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.parser.close()
        self.index.close()

    def _walk(self) -> Iterator[tuple[str, Path]]:
        for base, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(base) / name
                if not name.startswith(".") and name != "corpus.toml" and path.is_file():
                    yield path.relative_to(self.folder).as_posix(), path

    def refresh(self, *, limits: ReadLimits | None = None, progress: Callable[[int], None] | None = None) -> Refresh:
        """Bring the index up to date: only files whose size or time changed are read.

        A damaged file is reported and skipped; it never stops the others.
        """
        limits = limits or ReadLimits()
        known = self.index.files()
        added = unchanged = done = 0
        damaged: list[str] = []
        pending: list[tuple[str, Path, tuple[int, int]]] = []
        for name, path in self._walk():
            stat = path.stat()
            stamp = (stat.st_size, stat.st_mtime_ns)
            if known.pop(name, None) == stamp:
                unchanged += 1
                continue
            pending.append((name, path, stamp))
            if len(pending) >= _BATCH:
                added += self._read_batch(pending, limits, damaged)
                done += len(pending)
                pending.clear()
                if progress:
                    progress(done)
        added += self._read_batch(pending, limits, damaged)
        with self.index.batch():
            for name in known:
                self.index.forget_file(name)
        self._cache.clear()
        return Refresh(added, len(known), unchanged, len(self.index.skipped()), tuple(damaged))

    def _read_batch(
        self, pending: Sequence[tuple[str, Path, tuple[int, int]]], limits: ReadLimits, damaged: list[str]
    ) -> int:
        added = 0
        with self.index.batch():
            for name, path, stamp in pending:
                self.index.remove(name)
                if reason := self._skip_reason(name, stamp[0], limits):
                    self.index.note_file(name, stamp, sha256="", skipped=reason)
                    continue
                raw = path.read_bytes()
                digest = hashlib.sha256(raw).hexdigest()
                try:
                    document = read_document(name, raw, limits=limits, parse=self.parser.parse)
                except DataError as error:
                    damaged.append(str(error))
                    document = str(error)
                if isinstance(document, str):
                    self.index.note_file(name, stamp, sha256=digest, skipped=document)
                    continue
                self.index.add(document)
                self.index.note_file(name, stamp, sha256=digest)
                added += 1
        return added

    def _skip_reason(self, name: str, size: int, limits: ReadLimits) -> str:
        base = name.rsplit("/", 1)[-1]
        if base in _NEVER or base.endswith(".facts.json"):
            return "an answer key is no evidence"
        if is_about_the_folder(name) and not self.settings.include_about:
            return "about the folder, not evidence"
        return f"larger than {limits.file_bytes:,} bytes" if size > limits.file_bytes else ""

    def document(self, doc: str) -> Document:
        """A document by its id; the last ones stay in memory."""
        if doc not in self._cache:
            if len(self._cache) > 512:
                self._cache.clear()
            self._cache[doc] = self.index.document(doc)
        return self._cache[doc]

    def search(self, question: str, *, limit: int = 5, more_words: Sequence[str] = ()) -> list[Hit]:
        """Documents for a question, best first, none that is banned or later than the as-of date."""
        hits = self.index.search(question, limit=limit * 4 if self.as_of else limit, more_words=more_words)
        return [hit for hit in hits if self.is_visible(self.document(hit.doc))][:limit]

    def is_visible(self, document: Document) -> bool:
        """Whether the document was published by the as-of date; one without a date stays."""
        return not (self.as_of and document.published and document.published[:10] > self.as_of[:10])

    def data_ids(self) -> list[str]:
        """Ids of data files: BGP updates, AS relationships and links, cable maps."""
        return self.index.data_ids()

    def read_bytes(self, doc: str) -> bytes:
        """The raw file of a document.

        Raises
        ------
        DataError
            The file changed or vanished since it was indexed.
        """
        try:
            raw = (self.folder / doc).read_bytes()
        except OSError as error:
            raise DataError(f"cannot be read: {error}", path=doc, hint="Refresh the corpus.") from None
        if hashlib.sha256(raw).hexdigest() != self.document(doc).sha256:
            raise DataError(
                "the file changed since it was indexed", path=doc, hint="Run again; the corpus is refreshed first."
            )
        return raw
