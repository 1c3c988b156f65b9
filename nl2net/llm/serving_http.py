"""The HTTP side of the built-in model's server."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from nl2net.llm.engine import MAX_SAMPLES, Engine, Job, Piece, PromptTooLong, Stopped
from nl2net.llm.sampling import BadGrammar

if TYPE_CHECKING:
    from nl2net.llm.serving import ModelServer

_MAX_BODY = 4_000_000


class ChatMessage(BaseModel):
    """One message of a request."""

    role: str = Field(pattern="^(system|user|assistant)$")
    content: str


class ChatRequest(BaseModel):
    """What a chat request may hold; anything else in it is ignored."""

    model_config = ConfigDict(extra="ignore")

    messages: list[ChatMessage] = Field(min_length=1)
    temperature: float = Field(default=0.0, ge=0, le=5)
    top_p: float = Field(default=0.95, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0)
    n: int = Field(default=1, ge=1, le=MAX_SAMPLES)
    max_tokens: int = Field(default=512, ge=1)
    stop: list[str] = Field(default_factory=list)
    stream: bool = False
    grammar: str | None = None
    greedy_first: bool = False

    @field_validator("stop", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value or []

    def job(self, engine: Engine) -> Job:
        """The request as work for the engine."""
        return Job(
            tokens=engine.chat_tokens([m.model_dump() for m in self.messages]),
            count=self.n,
            temperature=self.temperature,
            top_p=self.top_p,
            greedy_first=self.greedy_first,
            seed=1 if self.seed is None else self.seed,
            max_tokens=self.max_tokens,
            grammar=self.grammar,
            stop=[text for text in self.stop if text],
        )


class Handler(BaseHTTPRequestHandler):
    """Routes of the server: models, chat completions, health, shutdown."""

    protocol_version = "HTTP/1.1"
    server_version = "nl2net"
    sys_version = ""
    timeout = 60.0

    @property
    def _owner(self) -> ModelServer:
        return cast("ModelServer", self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: prompts and paths stay out of logs."""

    def do_GET(self) -> None:
        """Models and health."""
        if not self._allowed():
            return
        if self.path == "/v1/models":
            entry = {"id": self._owner.plan.model, "object": "model", "owned_by": "nl2net"}
            self._send(200, {"object": "list", "data": [entry]})
        elif self.path == "/health":
            owner = self._owner
            self._send(200, {"status": "ok", "model": owner.plan.model, "jobs": owner.jobs, "idle_s": owner.idle_s()})
        else:
            self._fail(404, "no such address")

    def do_POST(self) -> None:
        """Chat completions and shutdown."""
        if not self._allowed():
            return
        if self.path == "/shutdown":
            self._send(200, {"status": "stopping"})
            threading.Thread(target=self._owner.shutdown, daemon=True).start()
        elif self.path == "/v1/chat/completions":
            with self._owner.in_use():
                self._chat()
        else:
            self._fail(404, "no such address")

    def _allowed(self) -> bool:
        # A page in a browser on this machine must not reach the model through a rebound host name.
        host = (self.headers.get("host") or "").rsplit(":", 1)[0]
        if host not in ("127.0.0.1", "localhost") or not self._owner.allows(self.headers.get("authorization") or ""):
            self._fail(401, "the key is missing or wrong")
            return False
        return True

    def _chat(self) -> None:
        try:
            length = int(self.headers.get("content-length") or 0)
            if not 0 < length <= _MAX_BODY:
                return self._fail(413, "the request is empty or too large")
            request = ChatRequest.model_validate_json(self.rfile.read(length))
        except (ValueError, ValidationError) as error:
            return self._fail(400, f"not a valid chat request: {str(error).splitlines()[0]}")
        with self._owner.turn() as engine:
            try:
                job = request.job(engine)
                self._answer(engine, job, stream=request.stream)
            except (PromptTooLong, BadGrammar) as error:
                self._fail(400, f"context or grammar: {error}")
            except (Stopped, OSError):
                self.close_connection = True
        return None

    def _answer(self, engine: Engine, job: Job, *, stream: bool) -> None:
        start = time.monotonic()
        pieces = engine.run(job, self._peer_gone)
        first = next(pieces)  # errors of the prompt come before the headers
        read_s = time.monotonic() - start
        tally = _Tally(engine, job, read_s, self._owner.plan.model)
        if stream:
            self._stream(first, pieces, tally)
        else:
            for piece in _chained(first, pieces):
                tally.add(piece)
            self._send(200, tally.whole())

    def _stream(self, first: Piece, pieces: Iterator[Piece], tally: _Tally) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in _chained(first, pieces):
            tally.add(piece)
            self._event(tally.chunk(piece))
        self._event(tally.closing())
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, body: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")

    def _peer_gone(self) -> bool:
        """Whether the client closed its end; a chat client sends nothing after its request."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _fail(self, status: int, message: str) -> None:
        self.close_connection = True
        self._send(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _chained(first: Piece, rest: Iterator[Piece]) -> Iterator[Piece]:
    yield first
    yield from rest


class _Tally:
    """Counts a reply and puts it into the words of the OpenAI interface."""

    def __init__(self, engine: Engine, job: Job, read_s: float, model: str) -> None:
        self._frame = {"id": f"chatcmpl-{time.time_ns():x}", "created": int(time.time()), "model": model}
        self._prompt = len(job.tokens)
        self._cached = engine.reused
        self._read_s = read_s
        self._start = time.monotonic()
        self._tokens = 0
        self._texts = [""] * job.count
        self._logprobs: list[list[float]] = [[] for _ in range(job.count)]
        self._reasons: list[str | None] = [None] * job.count

    def add(self, piece: Piece) -> None:
        """Count one piece."""
        self._tokens += 1
        self._texts[piece.index] += piece.text
        if piece.logprob is not None:
            self._logprobs[piece.index].append(piece.logprob)
        self._reasons[piece.index] = piece.finish_reason

    def chunk(self, piece: Piece) -> dict[str, Any]:
        """A piece as a chunk of a stream."""
        choice = {
            "index": piece.index,
            "delta": {"role": "assistant", "content": piece.text},
            "finish_reason": piece.finish_reason,
            "logprobs": _logprobs([] if piece.logprob is None else [piece.logprob]),
        }
        return self._frame | {"object": "chat.completion.chunk", "choices": [choice]}

    def closing(self) -> dict[str, Any]:
        """The last chunk, with the usage."""
        return self._frame | {"object": "chat.completion.chunk", "choices": [], **self._numbers()}

    def whole(self) -> dict[str, Any]:
        """The whole reply at once."""
        choices = [
            {
                "index": i,
                "message": {"role": "assistant", "content": text},
                "finish_reason": self._reasons[i],
                "logprobs": _logprobs(self._logprobs[i]),
            }
            for i, text in enumerate(self._texts)
        ]
        return self._frame | {"object": "chat.completion", "choices": choices, **self._numbers()}

    def _numbers(self) -> dict[str, Any]:
        usage = {
            "prompt_tokens": self._prompt,
            "completion_tokens": self._tokens,
            "total_tokens": self._prompt + self._tokens,
            "prompt_tokens_details": {"cached_tokens": self._cached},
        }
        write_s = time.monotonic() - self._start
        return {"usage": usage, "timings": {"prompt_s": self._read_s, "write_s": write_s}}


def _logprobs(values: list[float]) -> dict[str, Any]:
    return {"content": [{"token": "", "logprob": round(v, 6), "bytes": None, "top_logprobs": []} for v in values]}
