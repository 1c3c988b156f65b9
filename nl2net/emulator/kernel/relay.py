"""Delay without a queueing discipline: frames are dropped where they arrive and sent again when they are due.

The relay sees each frame that reaches the far end of a link before an nft ingress rule drops it, and sends it once more
from the near end with a sender address of its own, which that rule lets pass. It runs as a child of the worker.
"""

from __future__ import annotations

import heapq
import os
import random
import select
import signal
import socket
import struct
import time

from nl2net.emulator.kernel import system

MARK = bytes.fromhex("0e4d4c000001")
MARK_TEXT = ":".join(f"{byte:02x}" for byte in MARK)
ETH_ALL, SOL_PACKET, PACKET_VNET_HDR = 0x0003, 263, 15
VNET_HEADER = 10
OUTGOING = 4
MAX_QUEUED = 10_000


def packet_socket(interface: str, *, kind: int = ETH_ALL, offload: bool = False) -> socket.socket:
    """A packet socket of one interface of the current namespace.

    ``offload`` puts the virtio-net header before each frame, which keeps partial checksums and segmentation right.
    """
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    if offload:
        made.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.bind((interface, kind))
    return made


def start(arrivals: socket.socket, departures: socket.socket, *, delay_ms: float, jitter_ms: float) -> int:
    """Fork a relay between two sockets; its process id."""
    child = os.fork()
    if child:
        return child
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        kept = {arrivals.fileno(), departures.fileno()}
        for descriptor in range(3, 256):
            if descriptor not in kept:
                _close(descriptor)
        _relay(arrivals, departures, delay_ms / 1000, jitter_ms / 1000)
    finally:
        os._exit(0)


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return


def _relay(arrivals: socket.socket, departures: socket.socket, delay_s: float, jitter_s: float) -> None:
    draw = random.Random(1)  # noqa: S311 - jitter, not a secret
    waiting: list[tuple[float, int, bytes]] = []
    count = 0
    with select.epoll() as poll:
        poll.register(arrivals.fileno(), select.EPOLLIN)
        while True:
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _send(departures, heapq.heappop(waiting)[2])
            poll.poll(max(waiting[0][0] - now, 0) if waiting else -1)
            now = time.monotonic()
            for frame in _frames(arrivals):
                if len(waiting) < MAX_QUEUED:
                    count += 1
                    due = now + max(delay_s + draw.uniform(-jitter_s, jitter_s), 0)
                    heapq.heappush(waiting, (due, count, frame))


def _frames(arrivals: socket.socket) -> list[bytes]:
    found: list[bytes] = []
    while True:
        try:
            data, sender = arrivals.recvfrom(1 << 17)
        except BlockingIOError:
            return found
        source = VNET_HEADER + 6
        if sender[2] != OUTGOING and data[source : source + 6] != MARK:
            found.append(data[:source] + MARK + data[source + 6 :])


def _send(departures: socket.socket, frame: bytes) -> None:
    try:
        departures.send(frame)
    except OSError:
        return  # the link is down: the frame is lost


def test_frame(sequence: int, size: int) -> bytes:
    """A broadcast frame of the experimental type 0x88b5, which every stack ignores."""
    head = b"\xff" * 6 + bytes.fromhex("0e4d4c000002") + struct.pack("!HI", 0x88B5, sequence)
    return head + bytes(max(size - len(head), 0))
