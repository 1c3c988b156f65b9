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
