"""A scripted OpenAI-compatible server: the only stand-in for a model in the tests.

::

    with ScriptedServer(["```python\\ndef answer(graph): ...```", Fault.STATUS_500, "second reply"]) as server:
        endpoint = Endpoint(server.base_url, "scripted", api_key="k")
        ...
    assert server.requests[0].json["messages"][-1]["content"]

Each chat request takes the next reply; the last one is repeated. A reply is a text, a `Scripted`, a `Fault`, or a
callable that gets the `Recorded` request and returns one of these. Every request is recorded with its exact bytes.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class Fault(StrEnum):
    """Ways in which an endpoint misbehaves."""

    SLOW_STREAM = "slow stream"  # a piece of text each 0.2 s, without end
    SILENT = "silent"  # takes the request and says nothing
    STATUS_401 = "401"
    STATUS_404 = "404"
    STATUS_429 = "429"  # with Retry-After: 0
    STATUS_500 = "500"
    TRUNCATED_JSON = "truncated JSON"
    EMPTY_CHOICES = "empty choices"
    EMPTY_TEXT = "empty text"
    HUGE = "10 MB reply"
    DISCONNECT = "disconnect in the middle of the stream"
    NOT_JSON = "HTML instead of JSON"
    REDIRECT = "redirect to another address"


@dataclass(frozen=True, slots=True)
class Scripted:
    """A reply with its details.

    Attributes
    ----------
    text : str
        What the model says.
    finish_reason : str
        ``stop`` or ``length``.
    usage : mapping or None
        ``prompt_tokens`` and ``completion_tokens``; ``None`` leaves usage out.
    delay_s : float
        Before the reply starts.
    streaming : bool
        ``False`` answers with one JSON object even if a stream was asked for.
    status, error, headers
        For an error status.
    """

    text: str = ""
    finish_reason: str = "stop"
    usage: Mapping[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5})
    delay_s: float = 0.0
    streaming: bool = True
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as data."""
        return json.loads(self.body)


Answer = str | Scripted | Fault
ReplyScript = Answer | Callable[[Recorded], Answer]


class ScriptedServer:
    """Serves the script on loopback while the ``with`` block runs."""

    def __init__(self, replies: Sequence[ReplyScript] = ("ok",), *, models: Sequence[str] = ("scripted",)) -> None:
        self.models = list(models)
        self.requests: list[Recorded] = []
        self._replies = list(replies)
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.script = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """Base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Recorded]:
        """The recorded chat requests."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def record(self, request: Recorded) -> None:
        """Keep a request."""
        with self._lock:
            self.requests.append(request)

    def next_answer(self, request: Recorded) -> Answer:
        """The answer for a chat request."""
        with self._lock:
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return reply(request) if callable(reply) else reply


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # joined at the end, so that no test leaves a thread or a socket behind
    script: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self._record()
        if self.path.rstrip("/").endswith("/models"):
            data = [{"id": name, "object": "model"} for name in self.server.script.models]
            self._json(200, {"object": "list", "data": data})
        else:
            self._json(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        request = self._record()
        answer = self.server.script.next_answer(request)
        self.close_connection = True
        if isinstance(answer, Fault):
            self._misbehave(answer, request)
        else:
            self._reply(Scripted(answer) if isinstance(answer, str) else answer, request)

    def _record(self) -> Recorded:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        request = Recorded(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        self.server.script.record(request)
        return request

    def _reply(self, reply: Scripted, request: Recorded) -> None:
        self.server.script.closing.wait(reply.delay_s)
        if reply.status != 200:
            self._json(reply.status, {"error": {"message": reply.error}}, reply.headers)
            return
        count = int(request.json.get("n") or 1)
        if not (reply.streaming and request.json.get("stream")):
            choices = [
                {
                    "index": i,
                    "message": {"role": "assistant", "content": reply.text},
                    "finish_reason": reply.finish_reason,
                }
                for i in range(count)
            ]
            self._json(200, {"model": "scripted", "choices": choices, "usage": reply.usage})
            return
        self._start_stream()
        for start in range(0, len(reply.text), 16):
            for index in range(count):
                self._chunk(reply.text[start : start + 16], index=index)
        for index in range(count):
            self._chunk("", reply.finish_reason, index=index)
        if reply.usage is not None:
            self._event({"model": "scripted", "choices": [], "usage": reply.usage})
        self._raw("data: [DONE]\n\n")

    def _misbehave(self, fault: Fault, request: Recorded) -> None:
        key = request.headers.get("authorization", "")
        statuses = {
            Fault.STATUS_401: (401, f"Incorrect API key provided: {key}", {}),
            Fault.STATUS_404: (404, "The model does not exist", {}),
            Fault.STATUS_429: (429, "Rate limit reached", {"Retry-After": "0"}),
            Fault.STATUS_500: (500, "The server had an error", {}),
            Fault.REDIRECT: (307, "moved", {"Location": "http://127.0.0.1:9/v1/chat/completions"}),
        }
        if fault in statuses:
            status, message, headers = statuses[fault]
            self._json(status, {"error": {"message": message}}, headers)
        elif fault is Fault.SILENT:
            self._wait_for_hang_up()
        elif fault is Fault.NOT_JSON:
            self._send(200, b"<html>a login page</html>", "application/json")
        else:
            self._stream_fault(fault)

    def _stream_fault(self, fault: Fault) -> None:
        self._start_stream()
        if fault is Fault.SLOW_STREAM:
            while not self.server.script.closing.wait(0.2):
                self._chunk("x ")
        elif fault is Fault.TRUNCATED_JSON:
            self._chunk("def ")
            self._raw('data: {"choices": [{"index": 0, "delta": {"content": "ans\n\n')
        elif fault is Fault.EMPTY_CHOICES:
            self._event({"model": "scripted", "choices": []})
            self._raw("data: [DONE]\n\n")
        elif fault is Fault.EMPTY_TEXT:
            self._chunk("", "stop")
            self._raw("data: [DONE]\n\n")
        elif fault is Fault.HUGE:
            for _ in range(160):
                self._chunk("x" * 65536)
            self._chunk("", "stop")
            self._raw("data: [DONE]\n\n")
        elif fault is Fault.DISCONNECT:
            self._chunk("def answer(")
            self.connection.shutdown(socket.SHUT_RDWR)

    def _wait_for_hang_up(self) -> None:
        deadline = time.monotonic() + 30
        self.connection.settimeout(0.05)
        while not self.server.script.closing.is_set() and time.monotonic() < deadline:
            try:
                if self.connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def _chunk(self, text: str, finish_reason: str | None = None, *, index: int = 0) -> None:
        choice = {"index": index, "delta": {"content": text}, "finish_reason": finish_reason}
        self._event({"model": "scripted", "choices": [choice]})

    def _event(self, body: Mapping[str, Any]) -> None:
        self._raw(f"data: {json.dumps(body)}\n\n")

    def _raw(self, text: str) -> None:
        self.wfile.write(text.encode())

    def _json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), "application/json", headers)

    def _send(self, status: int, data: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
