"""Bytes of a log file, decompressed, as blocks of whole lines or as JSON values, with bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from nl2net.errors import DataError

BLOCK = 16 * 1024 * 1024
MAX_VALUE = 64 * 1024 * 1024
_RECORDS = re.compile(r'\s*\{\s*"records"\s*:\s*\[')
_GAP = re.compile(r"[\s,\[\]}]*")
_NEXT_RECORD = re.compile(r'[\n,]\s*(?=\{\s*")')


def open_binary(path: Path) -> IO[bytes]:
    """Open a plain, gzip or zstd file by its first bytes, whatever its name says.

    Raises
    ------
    DataError
        The file cannot be opened, or it is zstd and the package for it is missing.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=path) from None
    magic = stream.read(4)
    stream.seek(0)
    if magic[:2] == b"\x1f\x8b":
        stream.close()
        # Unlike GzipFile over a stream, this closes the file below it.
        return cast(IO[bytes], gzip.open(path, "rb"))
    if magic == b"\x28\xb5\x2f\xfd":
        try:
            import zstandard
        except ImportError:
            raise DataError("zstd needs a package", path=path, hint="pip install 'nl2net[flows]'") from None
        reader = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(stream, read_across_frames=True)
        return io.BufferedReader(reader)
    return stream


def read_some(stream: IO[bytes], size: int, path: Path) -> bytes:
    """Read up to ``size`` bytes and name the file when its compression is broken."""
    try:
        return stream.read(size)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"broken compressed data: {error}", path=path) from None
    except Exception as error:  # zstandard has an error class of its own that may not be importable here
        if type(error).__name__ != "ZstdError":
            raise
        raise DataError(f"broken compressed data: {error}", path=path) from None


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of a file; ``first`` is the number of the first one, from 1."""

    first: int
    lines: pa.Array

    def numbers(self) -> pa.Array:
        """Line numbers, int64."""
        return pa.array(np.arange(self.first, self.first + len(self.lines), dtype=np.int64))


def _as_array(block: bytes) -> pa.Array:
    """Cut a block at its newlines without making one object per line."""
    try:
        text = block.decode("utf-8")
        if "\r" in text:
            block = text.replace("\r\n", "\n").encode()
    except UnicodeDecodeError:
        block = block.decode("utf-8", errors="replace").replace("\r\n", "\n").encode()
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == 10)
    # Newlines stay at the start of the next slot: build slots [previous end + 1, end) by copying without newlines.
    lengths = np.diff(np.concatenate(([-1], ends))) - 1
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    kept = np.delete(data, ends)
    return pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(kept.tobytes())).cast(
        pa.string()
    )


def line_blocks(path: Path, *, size: int = BLOCK) -> Iterator[LineBlock]:
    """Blocks of about ``size`` bytes of whole lines; bytes that are not UTF-8 become replacement characters."""
    first, rest = 1, b""
    with open_binary(path) as stream:
        while True:
            data = read_some(stream, size, path)
            if not data:
                break
            cut = data.rfind(b"\n")
            if cut < 0:
                rest += data
                if len(rest) > MAX_VALUE:
                    raise DataError(f"a line is longer than {MAX_VALUE >> 20} MiB", path=path, line=first)
                continue
            lines = _as_array(rest + data[: cut + 1])
            rest = data[cut + 1 :]
            yield LineBlock(first, lines)
            first += len(lines)
    if rest:
        yield LineBlock(first, _as_array(rest + b"\n"))


@dataclass(frozen=True, slots=True)
class JsonValue:
    """One record of a JSON document with the number of the line it starts in; ``error`` when it cannot be read."""

    line: int
    value: Any
    error: str = ""


class _Text:
    """Text of a stream with a cursor; what lies before the cursor is forgotten at the next read."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._path = path
        self._stream = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
        self.text, self.at, self.line = "", 0, 1

    def left(self) -> int:
        """Characters behind the cursor."""
        return len(self.text) - self.at

    def more(self) -> bool:
        """Append the next piece; false at the end of the file."""
        try:
            piece = self._stream.read(1 << 20 if self.left() < 1 << 22 else 1 << 23)
        except (OSError, EOFError) as error:
            raise DataError(f"broken compressed data: {error}", path=self._path) from None
        self.text, self.at = self.text[self.at :] + piece, 0
        return bool(piece)

    def move(self, position: int) -> None:
        """Put the cursor at ``position`` and count the lines it passes."""
        self.line += self.text.count("\n", self.at, position)
        self.at = position


def _resync(buffer: _Text) -> bool:
    """Move behind an unreadable record to what looks like the next one."""
    while True:
        found = _NEXT_RECORD.search(buffer.text, buffer.at + 1)
        if found:
            buffer.move(found.end())
            return True
        buffer.move(max(buffer.at, len(buffer.text) - 1024))
        if not buffer.more():
            return False


def json_values(path: Path) -> Iterator[JsonValue]:
    """Records of a JSON array, of ``{"records": [...]}``, or of several JSON values in a row.

    A document that was cut off gives all complete records and one error.
    """
    decoder = json.JSONDecoder()
    with open_binary(path) as stream:
        buffer = _Text(stream, path)
        buffer.more()
        opening = _RECORDS.match(buffer.text)
        if opening:
            buffer.move(opening.end())
        while True:
            gap = _GAP.match(buffer.text, buffer.at)
            buffer.move(gap.end() if gap else buffer.at)
            if not buffer.left():
                if buffer.more():
                    continue
                return
            try:
                value, end = decoder.raw_decode(buffer.text, buffer.at)
            except (json.JSONDecodeError, RecursionError) as error:
                if buffer.left() <= MAX_VALUE and buffer.more():
                    continue
                yield JsonValue(buffer.line, buffer.text[buffer.at : buffer.at + 160], f"broken JSON: {error.args[0]}")
                if not _resync(buffer):
                    return
                continue
            yield JsonValue(buffer.line, value)
            buffer.move(end)


def first_text(path: Path, size: int = 65536) -> str:
    """The first decompressed bytes of a file as text."""
    with open_binary(path) as stream:
        return read_some(stream, size, path).decode("utf-8-sig", errors="replace")
