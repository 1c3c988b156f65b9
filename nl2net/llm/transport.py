"""The HTTP transport below the ``openai`` client: the gate, the size limit and the way to cut a connection.

``httpx`` is imported here at the top; import this module only where a request is about to be made.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import httpx

from nl2net.errors import ReplyError
from nl2net.llm.gate import Gate, OutgoingRequest, current_purpose, is_loopback, visible_headers

MAX_REPLY_BYTES = 4_000_000
# The client library describes the system, the processor and the Python version; that is nobody's business.
_DROPPED_PREFIX = "x-stainless-"
_OPENAI_ONLY = ("openai-organization", "openai-project")


class Wire:
    """The connection of one request, so that another thread can cut it.

    Python cannot interrupt a thread that waits for bytes; shutting its socket down wakes it at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.cut_off = False

    def trace(self, name: str, info: dict[str, Any]) -> None:
        """Called by httpcore for each step of a request; keeps the socket of a new connection."""
        if name != "connection.connect_tcp.complete":
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._socket = opened
        if self.cut_off:
            self.cut()

    def cut(self) -> None:
        """Shut the connection down, now or as soon as it is open."""
        self.cut_off = True
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._socket is not None:
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class _LimitedStream(httpx.SyncByteStream):
    """A response body that ends with an error after ``limit`` bytes."""

    def __init__(self, inner: httpx.SyncByteStream, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        seen = 0
        for chunk in self._inner:
            seen += len(chunk)
            if seen > self._limit:
                raise ReplyError(
                    f"the reply is larger than {self._limit / 1e6:.0f} MB",
                    hint="Lower --max-tokens, or check what answers at this address.",
                )
            yield chunk

    def close(self) -> None:
        self._inner.close()


class GatedTransport(httpx.BaseTransport):
    """Shows each request to the gate, then sends it.

    Parameters
    ----------
    inner : httpx.BaseTransport
        What really sends.
    gate : Gate
        Asked first; if it raises, nothing is sent.
    wire : Wire, optional
        Learns the socket, so that a waiting request can be cut off.
    max_reply_bytes : int
        Largest response body that is read.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        gate: Gate,
        *,
        wire: Wire | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        self._inner = inner
        self._gate = gate
        self._wire = wire
        self._max_reply_bytes = max_reply_bytes

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Inspect, send, and limit the response."""
        body = request.read()
        self._strip(request)
        self._gate.inspect(
            OutgoingRequest(
                request.method, str(request.url), visible_headers(dict(request.headers)), body, current_purpose()
            )
        )
        if self._wire is not None:
            request.extensions = {**request.extensions, "trace": self._wire.trace}
        response = self._inner.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _LimitedStream(response.stream, self._max_reply_bytes)
        return response

    @staticmethod
    def _strip(request: httpx.Request) -> None:
        for name in [n for n in request.headers if n.lower().startswith(_DROPPED_PREFIX)]:
            del request.headers[name]
        if request.url.host != "api.openai.com":
            for name in _OPENAI_ONLY:
                request.headers.pop(name, None)
        request.headers["user-agent"] = "nl2net"

    def close(self) -> None:
        self._inner.close()


def open_http(url: str, gate: Gate, *, timeout_s: float, wire: Wire | None = None) -> httpx.Client:
    """An HTTP client for one base URL whose every request passes the gate.

    Connections are not kept: one question is one or two requests, and a fresh socket per request is what makes cutting
    one off safe. Redirects are not followed, because they could carry a prompt to an address that nobody chose.
    """
    local = is_loopback(url)
    limits = httpx.Limits(max_keepalive_connections=0)
    proxy = None if local else _proxy_for(url)
    # Certificates are always checked; reading them takes 0.1 s, which a plain http address need not pay.
    encrypted = httpx.URL(url).scheme == "https" or proxy is not None
    inner = httpx.HTTPTransport(limits=limits, proxy=proxy, trust_env=not local, verify=encrypted)
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 2.0 if local else 10.0))
    return httpx.Client(
        transport=GatedTransport(inner, gate, wire=wire), timeout=timeout, follow_redirects=False, trust_env=False
    )


def _proxy_for(url: str) -> str | None:
    parts = httpx.URL(url)
    if urllib.request.proxy_bypass(parts.host):
        return None
    found = urllib.request.getproxies()
    return found.get(parts.scheme) or found.get("all") or os.environ.get("ALL_PROXY")
