"""Length-prefixed frames on descriptors: 4-byte big-endian length, then that many bytes."""

from __future__ import annotations

import os
import select
import struct
import time

_HEAD = struct.Struct(">I")
_CHUNK = 1 << 20


class Closed(Exception):
    """The other end is gone, in the middle of a frame or before one."""


class Late(Exception):
    """Nothing came in time."""


def write_frame(descriptor: int, body: bytes) -> None:
    """Write one frame whole; raises ``Closed`` when nobody reads any more."""
    write_all(descriptor, _HEAD.pack(len(body)) + body)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view[:_CHUNK]) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Closed from None


def read_exactly(descriptor: int, size: int, *, deadline: float | None = None) -> bytes:
    """Read ``size`` bytes or raise ``Closed``, or ``Late`` at ``deadline`` (``time.monotonic``)."""
    data = bytearray()
    while len(data) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise Late
        chunk = os.read(descriptor, min(size - len(data), _CHUNK))
        if not chunk:
            raise Closed
        data += chunk
    return bytes(data)


def read_frame(descriptor: int, *, deadline: float | None = None) -> bytes:
    """Read one frame from a trusted writer."""
    (size,) = _HEAD.unpack(read_exactly(descriptor, _HEAD.size, deadline=deadline))
    return read_exactly(descriptor, size, deadline=deadline)


class ChunkWriter:
    """A file to write to, for one stream of chunks: each is a frame, and an empty frame ends the stream."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Keep the data until a chunk is full."""
        self._held += data
        if len(self._held) >= _CHUNK:
            self._flush()
        return len(data)

    def close(self) -> None:
        """Send what is left and the end."""
        self._flush()
        write_frame(self._descriptor, b"")

    def _flush(self) -> None:
        if self._held:
            write_frame(self._descriptor, bytes(self._held))
            self._held.clear()


class ChunkReader:
    """The other end of a ``ChunkWriter``, as much of a file as ``pickle`` needs."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = b""
        self._at = 0
        self._ended = False

    def _more(self) -> bool:
        if self._ended:
            return False
        chunk = read_frame(self._descriptor)
        self._ended = not chunk
        self._held = self._held[self._at :] + chunk
        self._at = 0
        return not self._ended

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes, fewer at the end."""
        while len(self._held) - self._at < size and self._more():
            pass
        found = self._held[self._at : self._at + size]
        self._at += len(found)
        return found

    def readline(self) -> bytes:
        """Bytes up to and with the next line end."""
        while (place := self._held.find(b"\n", self._at)) < 0 and self._more():
            pass
        return self.read((place if place >= 0 else len(self._held) - 1) + 1 - self._at)

    def drain(self) -> None:
        """Read up to the end of the stream."""
        while self._more():
            self._at = len(self._held)


def split_frames(data: bytes, *, most: int) -> list[bytes]:
    """Cut bytes from an untrusted writer into at most ``most`` whole frames; what follows is ignored.

    Examples
    --------
    >>> split_frames(b"\\0\\0\\0\\1x\\0\\0\\0\\1y\\0\\0\\0\\x09z", most=2)
    [b'x', b'y']
    >>> split_frames(b"\\xff\\xff\\xff\\xffx", most=2)
    []
    """
    frames: list[bytes] = []
    position = 0
    while len(frames) < most and position + _HEAD.size <= len(data):
        (size,) = _HEAD.unpack_from(data, position)
        position += _HEAD.size
        if position + size > len(data):
            break
        frames.append(data[position : position + size])
        position += size
    return frames
