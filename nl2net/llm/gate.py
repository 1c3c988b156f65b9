"""The one gate: every byte that leaves for a model passes `Gate.inspect` before it is sent.

The gate sits below the ``openai`` client, in the HTTP transport, so no call path can go round it: chat requests,
retries, model listings and probes are all shown as the exact bytes of the request. What the gate looks for is decided
by whoever holds the private data; this module only guarantees that it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from nl2net.errors import PrivacyError

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# Never shown to a gate, so that no log can hold them.
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})
_PURPOSE: ContextVar[str] = ContextVar("nl2net_purpose", default="unknown")


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """One HTTP request as it is about to be sent.

    Attributes
    ----------
    method, url : str
        As on the wire.
    headers : mapping
        All headers but those that hold a secret.
    body : bytes
        The exact bytes.
    purpose : str
        ``code``, ``repair``, ``models``, ``probe`` and so on, as the caller named it.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    purpose: str = "unknown"


class Gate(Protocol):
    """Decides whether a request may leave."""

    def inspect(self, request: OutgoingRequest) -> None:
        """Return to let the request pass, raise `nl2net.errors.PrivacyError` to stop it. Called from any thread."""


class ProbeGate:
    """Lets pass nothing but requests without a body to this machine; the default for looking for local servers.

    Examples
    --------
    >>> ProbeGate().inspect(OutgoingRequest("GET", "http://127.0.0.1:11434/v1/models"))
    >>> ProbeGate().inspect(OutgoingRequest("GET", "http://example.org/v1/models"))
    Traceback (most recent call last):
    nl2net.errors.PrivacyError: a probe may only ask this machine, and without a body
    """

    def inspect(self, request: OutgoingRequest) -> None:
        if request.body or request.method != "GET" or not is_loopback(request.url):
            raise PrivacyError("a probe may only ask this machine, and without a body")


def is_loopback(url: str) -> bool:
    """Whether a URL points to this machine.

    Examples
    --------
    >>> is_loopback("http://localhost:8000/v1"), is_loopback("https://api.openai.com/v1")
    (True, False)
    """
    return (urlsplit(url).hostname or "") in LOOPBACK


def visible_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers without those that hold a secret."""
    return {name: value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}


@contextmanager
def sending_for(purpose: str) -> Iterator[None]:
    """Name the purpose of the requests that this thread sends inside the block."""
    token = _PURPOSE.set(purpose)
    try:
        yield
    finally:
        _PURPOSE.reset(token)


def current_purpose() -> str:
    """The purpose set by `sending_for`."""
    return _PURPOSE.get()
