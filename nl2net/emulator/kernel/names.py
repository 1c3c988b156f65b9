"""Just enough DNS for the emulated name server and its clients (RFC 1035, A records)."""

from __future__ import annotations

import socket
import struct

_ANSWER, _NO_SUCH_NAME = 0x8180, 0x8183
_TTL = 5


def encode_query(identity: int, name: str) -> bytes:
    """A query for the address of a name."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!HHHHHH", identity, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)


def decode_query(data: bytes) -> tuple[int, str, bytes]:
    """Identity, name and the question as it stands; a `ValueError` for anything malformed."""
    if len(data) < 17:
        raise ValueError("short query")
    identity = struct.unpack_from("!H", data)[0]
    labels, offset = [], 12
    while data[offset]:
        size = data[offset]
        if size > 63 or offset + size + 5 >= len(data):
            raise ValueError("malformed name")
        labels.append(data[offset + 1 : offset + 1 + size].decode("latin-1"))
        offset += size + 1
    return identity, ".".join(labels), data[12 : offset + 5]


def encode_answer(identity: int, question: bytes, address: str) -> bytes:
    """The answer to a question; an empty address means that there is no such name."""
    flags = _ANSWER if address else _NO_SUCH_NAME
    head = struct.pack("!HHHHHH", identity, flags, 1, 1 if address else 0, 0, 0)
    record = struct.pack("!HHHIH", 0xC00C, 1, 1, _TTL, 4) + socket.inet_aton(address) if address else b""
    return head + question + record


def decode_answer(data: bytes) -> tuple[int, str]:
    """Identity and address; the address is empty when the name does not exist.

    Examples
    --------
    >>> identity, name, question = decode_query(encode_query(7, "web.default.svc.cluster.local"))
    >>> decode_answer(encode_answer(identity, question, "10.96.0.20"))
    (7, '10.96.0.20')
    """
    identity, _, _, answers = struct.unpack_from("!HHHH", data)
    return identity, socket.inet_ntoa(data[-4:]) if answers else ""
