"""Frames between parent and worker: four bytes of length, then JSON."""

from __future__ import annotations

import json
import struct
from typing import Any, Protocol

MAX_FRAME = 256 * 1024 * 1024


class Writable(Protocol):
    """A binary stream to write to."""

    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> None: ...


class Readable(Protocol):
    """A binary stream to read from."""

    def read(self, count: int, /) -> bytes | None: ...


def write_frame(stream: Writable, value: Any) -> None:
    """Send one value."""
    data = json.dumps(value, separators=(",", ":")).encode()
    stream.write(struct.pack("!I", len(data)) + data)
    stream.flush()


def read_frame(stream: Readable) -> Any:
    """Receive one value; `EOFError` when the other side is gone."""
    head = _exactly(stream, 4)
    length = struct.unpack("!I", head)[0]
    if length > MAX_FRAME:
        raise EOFError(f"a frame of {length} bytes is too long")
    return json.loads(_exactly(stream, length))


def _exactly(stream: Readable, count: int) -> bytes:
    data = stream.read(count)
    if data is None or len(data) < count:
        raise EOFError("the other side closed the channel")
    return data
