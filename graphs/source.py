"""A file or folder on its way in: size, encoding and nesting are checked before any parser sees it."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.errors import DataError
from nl2net.graphs.limits import Limits
from nl2net.model import QualityFinding

_JSON_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
HEAD_BYTES = 65_536
_PIECE = 2**20


def json_depth(data: bytes) -> int:
    """Deepest nesting of a JSON text, brackets inside strings left out.

    Examples
    --------
    >>> json_depth(b'{"a": [1, "[[["]}')
    2
    """
    marks = np.frombuffer(_JSON_TEXT.sub(b"", data), dtype=np.uint8)
    deepest = depth = 0
    # In pieces, so that the arrays stay small beside the file.
    for start in range(0, len(marks), _PIECE):
        piece = marks[start : start + _PIECE]
        step = ((piece == ord("[")) | (piece == ord("{"))).astype(np.int32)
        step -= (piece == ord("]")) | (piece == ord("}"))
        depths = step.cumsum()
        deepest = max(deepest, depth + int(depths.max()))
        depth += int(depths[-1])
    return deepest


class Source:
    """One file or folder with its limits; everything read from it is kept for the next sniffer.

    Parameters
    ----------
    path : Path
        File or folder.
    limits : Limits
        Bounds that hold for it.

    Raises
    ------
    DataError
        The path does not exist, cannot be read, or is too large.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.limits = limits
        self.findings: list[QualityFinding] = []
        if not path.exists():
            raise DataError("no such file", path=path, hint="Check the path, or list names with `nl2net graph list`.")
        self.is_folder = path.is_dir()

    def sibling(self, path: Path) -> Source:
        """Another file that belongs to this one."""
        other = Source(path, self.limits)
        other.findings = self.findings
        return other

    @cached_property
    def data(self) -> bytes:
        """All bytes of the file."""
        if self.is_folder:
            raise DataError("a folder where a file was expected", path=self.path)
        if not self.path.is_file():
            raise DataError("not a regular file", path=self.path)
        try:
            size = self.path.stat().st_size
            if size > self.limits.file_bytes:
                raise DataError(
                    f"{size} bytes, more than the limit of {self.limits.file_bytes}",
                    path=self.path,
                    hint="Raise `max_file_mb` in the settings if the file is trusted.",
                )
            data = self.path.read_bytes()
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path=self.path) from None
        if not data.strip():
            raise DataError("the file is empty", path=self.path, hint="Export it again.")
        return data

    @cached_property
    def head(self) -> bytes:
        """The first bytes, for detection; empty for a folder."""
        if self.is_folder or not self.path.is_file():
            return b""
        try:
            with self.path.open("rb") as stream:
                return stream.read(HEAD_BYTES)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path=self.path) from None

    @cached_property
    def head_text(self) -> str:
        """The first characters, undecodable bytes replaced."""
        if self.head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return self.head.decode("utf-16", errors="replace")
        return self.head.decode("utf-8-sig", errors="replace")

    @property
    def is_binary(self) -> bool:
        """Whether the head holds zero bytes without being UTF-16."""
        return b"\x00" in self.head and self.head[:2] not in (b"\xff\xfe", b"\xfe\xff")

    @cached_property
    def text(self) -> str:
        """The file as text: UTF-8, UTF-16 with a mark, else Latin-1, which is reported."""
        if self.is_binary:
            raise DataError("a binary file where text was expected", path=self.path, hint="Name it with --format.")
        data = self.data
        try:
            if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return data.decode("utf-16")
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.findings.append(
                QualityFinding(
                    "decoded",
                    "info",
                    1,
                    f"not valid UTF-8 (line {line}); read as Latin-1",
                    advice="If names look wrong, convert the file to UTF-8.",
                )
            )
            return data.decode("latin-1")

    @cached_property
    def json(self) -> Any:
        """The file as JSON, nesting checked first.

        Raises
        ------
        DataError
            Not JSON, or nested too deeply; the message names the line.
        """
        text = self.text
        depth = json_depth(self.data)
        if depth > self.limits.depth:
            raise DataError(
                f"nested {depth} levels deep, more than the limit of {self.limits.depth}",
                path=self.path,
                hint="Raise `max_depth` in the settings if the file is trusted.",
            )
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(
                f"not valid JSON: {error.msg} (column {error.colno})",
                path=self.path,
                line=error.lineno,
                hint="The file may be truncated; export it again.",
            ) from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"not valid JSON: {error}", path=self.path) from None

    @cached_property
    def looks_like_json(self) -> bool:
        """Whether the first character opens a JSON object or list."""
        return not self.is_binary and self.head_text.lstrip()[:1] in ("{", "[")

    @property
    def json_keys(self) -> frozenset[str]:
        """Top-level keys where the file is a JSON object; empty otherwise."""
        if not self.looks_like_json:
            return frozenset()
        document = self.json
        return frozenset(document) if isinstance(document, dict) else frozenset()

    def error(self, message: str, *, line: int | None = None, field: str | None = None, hint: str = "") -> DataError:
        """An error that names this file."""
        return DataError(message, path=self.path, line=line, field=field, hint=hint)
