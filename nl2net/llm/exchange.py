"""One request and its streamed reply, on a thread of its own so that the caller can stop waiting at any time."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import openai

from nl2net.errors import ReplyError
from nl2net.llm.endpoint import Endpoint
from nl2net.llm.faults import Cancelled, timed_out
from nl2net.llm.gate import Gate, sending_for
from nl2net.llm.transport import Wire, open_http

OnText = Callable[[str], None]
_TICK_S = 0.05


@dataclass(slots=True)
class Choice:
    """One choice of a reply while it grows."""

    text: str = ""
    finish_reason: str | None = None
    logprobs: list[float] = field(default_factory=list)


@dataclass(slots=True)
class RawReply:
    """All that came back for one request."""

    choices: dict[int, Choice] = field(default_factory=dict)
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    first_token_s: float | None = None
    seconds: float = 0.0
    finished: bool = False

    def add(self, chunk: Mapping[str, Any], elapsed: float) -> str:
        """Take one chunk, or a whole reply, in; returns the new text of the first choice."""
        if chunk.get("error"):
            raise ReplyError("the endpoint broke its reply off with an error", hint="Look at the log of the server.")
        self.model = str(chunk.get("model") or self.model)
        self._add_usage(chunk.get("usage") or {})
        shown = ""
        for entry in chunk.get("choices") or ():
            index = int(entry.get("index") or 0)
            choice = self.choices.setdefault(index, Choice())
            piece = (entry.get("delta") or entry.get("message") or {}).get("content") or ""
            choice.text += piece
            choice.finish_reason = entry.get("finish_reason") or choice.finish_reason
            choice.logprobs.extend(t["logprob"] for t in (entry.get("logprobs") or {}).get("content") or ())
            if piece and self.first_token_s is None:
                self.first_token_s = elapsed
            shown += piece if index == 0 else ""
        return shown

    def _add_usage(self, usage: Mapping[str, Any]) -> None:
        if not usage:
            return
        self.prompt_tokens = usage.get("prompt_tokens")
        self.completion_tokens = usage.get("completion_tokens")
        self.cached_tokens = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


class Exchange:
    """Sends one request and collects the reply.

    Parameters
    ----------
    endpoint : Endpoint
        An open one.
    gate : Gate
        Sees the request first.
    body : mapping
        Arguments of ``chat.completions.create`` but for ``stream``.
    purpose : str
        For the gate.
    timeout_s : float
        For the whole reply, from sending to its last byte.
    """

    def __init__(
        self, endpoint: Endpoint, gate: Gate, body: Mapping[str, Any], *, purpose: str, timeout_s: float
    ) -> None:
        self._endpoint = endpoint
        self._gate = gate
        self._body = dict(body)
        self._purpose = purpose
        self._timeout_s = timeout_s
        self._wire = Wire()
        self._events: queue.Queue[str | BaseException | None] = queue.Queue()
        self._reply = RawReply()
        self._start = time.monotonic()

    def run(self, *, on_text: OnText | None = None, cancel: threading.Event | None = None) -> RawReply:
        """Send, wait, and hand pieces of the first choice to ``on_text`` on the calling thread.

        Raises
        ------
        Cancelled
            ``cancel`` was set; noticed within 50 ms.
        openai.OpenAIError, Nl2netError
            As the worker met them.
        """
        threading.Thread(target=self._work, name="nl2net-model-request", daemon=True).start()
        try:
            while (event := self._next_event(cancel)) is not None:
                if isinstance(event, BaseException):
                    raise event
                if on_text is not None:
                    on_text(event)
        except BaseException:
            self._wire.cut()
            raise
        self._reply.seconds = time.monotonic() - self._start
        return self._reply

    def _next_event(self, cancel: threading.Event | None) -> str | BaseException | None:
        while True:
            if cancel is not None and cancel.is_set():
                raise Cancelled("stopped while waiting for the model")
            if time.monotonic() - self._start > self._timeout_s:
                raise timed_out(self._endpoint)
            try:
                return self._events.get(timeout=_TICK_S)
            except queue.Empty:
                continue

    def _work(self) -> None:
        try:
            with (
                sending_for(self._purpose),
                open_http(self._endpoint.base_url, self._gate, timeout_s=self._timeout_s, wire=self._wire) as http,
            ):
                client = openai.OpenAI(
                    base_url=self._endpoint.base_url,
                    api_key=self._endpoint.api_key or "none",
                    http_client=http,
                    max_retries=0,
                )
                self._receive(client)
            self._events.put(None)
        except BaseException as error:
            # A cut by the caller also lands here; nobody listens to the queue any more then.
            self._events.put(error)

    def _receive(self, client: openai.OpenAI) -> None:
        with client.chat.completions.create(**self._body, stream=True) as stream:
            if "application/json" in stream.response.headers.get("content-type", ""):
                self._take(json.loads(stream.response.read()))  # a server that does not stream
            else:
                for chunk in stream:
                    self._take(chunk.model_dump(warnings=False))
        self._check_complete()

    def _take(self, chunk: Any) -> None:
        if not isinstance(chunk, dict):
            raise ReplyError(f"{self._endpoint.base_url} sent JSON that is not a chat completion")
        shown = self._reply.add(chunk, time.monotonic() - self._start)
        if shown:
            self._events.put(shown)

    def _check_complete(self) -> None:
        choices = self._reply.choices.values()
        if not choices:
            raise ReplyError(
                f"{self._endpoint.base_url} sent a reply without choices",
                hint="The model may be loading or overloaded; try again.",
            )
        if any(choice.text and choice.finish_reason is None for choice in choices):
            raise ReplyError(
                f"{self._endpoint.base_url} broke its reply off in the middle",
                hint="Try again; if it stays, look at the log of the server.",
            )
