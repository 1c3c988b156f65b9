"""The chat client: one path to any OpenAI-compatible endpoint, with a gate, a budget, retries and a way to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from nl2net.errors import ReplyError
from nl2net.llm.endpoint import Endpoint
from nl2net.llm.gate import Gate
from nl2net.llm.usage import Budget, Price, estimate_tokens, price_of
from nl2net.model import Usage

if TYPE_CHECKING:
    from nl2net.llm.exchange import RawReply

OnText = Callable[[str], None]


class Message(TypedDict):
    """One message: ``role`` is ``system``, ``user`` or ``assistant``.

    With the built-in model a last message of the assistant is continued, and the reply holds only what is new.
    """

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a model.

    Attributes
    ----------
    text : str
        As the model wrote it.
    model : str
        As the server named it.
    usage : Usage
        Of the requests it took, retries included.
    finish_reason : str
        ``stop``, ``length`` or what else the server says.
    seconds, first_token_s : float
        Whole time and time to the first piece of text, without waiting for retries.
    logprob, worst_logprob : float, optional
        Mean and least natural log probability of the tokens; the built-in model always reports them.
    cached_tokens : int
        Prompt tokens that the server did not have to read again.
    """

    text: str
    model: str
    usage: Usage
    finish_reason: str
    seconds: float
    first_token_s: float
    logprob: float | None = None
    worst_logprob: float | None = None
    cached_tokens: int = 0


class ReplyCut(ReplyError):
    """The token limit cut the reply; ``reply`` holds what there is."""

    def __init__(self, reply: Reply, limit: int) -> None:
        super().__init__(
            f"the reply was cut at the limit of {limit} tokens", hint="Raise the limit, or ask for less at once."
        )
        self.reply = reply


@dataclass(frozen=True, slots=True)
class _Request:
    """What the methods of `ChatClient` share."""

    messages: Sequence[Message]
    purpose: str
    temperature: float
    seed: int
    max_tokens: int
    grammar: str | None = None
    stop: Sequence[str] | None = None
    count: int = 1
    greedy_first: bool = False
    on_text: OnText | None = None
    cancel: threading.Event | None = None


class ChatClient:
    """Asks one endpoint.

    Parameters
    ----------
    endpoint : Endpoint
        From `nl2net.llm.resolve_endpoint`. The built-in server is started at the first request.
    gate : Gate
        Sees every byte before it leaves.
    budget : Budget, optional
        Caps; several clients may share one. Default: no cap, spending is counted all the same.
    timeout_s : float
        For one whole reply, from sending to its last byte.
    retries : int
        After 429, 5xx and dropped connections, with growing waits.
    sleep : callable
        For tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        gate: Gate,
        budget: Budget | None = None,
        timeout_s: float = 120.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget()
        self._gate = gate
        self._timeout_s = timeout_s
        self._retries = retries
        self._sleep = sleep

    @property
    def price(self) -> Price | None:
        """Price of the model; ``None`` if it is not known."""
        return price_of(self.endpoint.model, local=self.endpoint.local)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        temperature: float = 0.0,
        seed: int = 1,
        max_tokens: int = 512,
        grammar: str | None = None,
        stop: Sequence[str] | None = None,
        on_text: OnText | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """One reply.

        Parameters
        ----------
        messages : sequence of Message
            The prompt.
        purpose : str
            For the gate and its log.
        temperature, seed, max_tokens, stop
            As in the OpenAI interface.
        grammar : str, optional
            GBNF grammar with a rule ``root``; used by the built-in model and llama.cpp, ignored elsewhere.
        on_text : callable, optional
            Gets pieces of text as they come, on the calling thread.
        cancel : threading.Event, optional
            Setting it stops the request within 200 ms.

        Raises
        ------
        EndpointError, ReplyError, BudgetError, PrivacyError
            With a hint each. `ReplyCut` is the `ReplyError` of the token limit.
        Cancelled
            ``cancel`` was set.
        """
        request = _Request(messages, purpose, temperature, seed, max_tokens, grammar, stop, 1, False, on_text, cancel)
        reply = self._ask(request)[0]
        if reply.finish_reason == "length":
            raise ReplyCut(reply, max_tokens)
        return reply

    def sample(
        self,
        messages: Sequence[Message],
        *,
        count: int,
        purpose: str,
        temperature: float = 0.7,
        seed: int = 1,
        max_tokens: int = 512,
        grammar: str | None = None,
        stop: Sequence[str] | None = None,
        cancel: threading.Event | None = None,
    ) -> list[Reply]:
        """Several replies to one prompt: the first at temperature 0, the rest at ``temperature``.

        The built-in model reads the prompt once for all of them. Replies cut by the token limit are among them, with
        ``finish_reason`` ``length``. Arguments and errors as in `complete`.
        """
        first = _Request(messages, purpose, 0.0, seed, max_tokens, grammar, stop, 1, False, None, cancel)
        rest = replace(first, temperature=temperature)
        if self.endpoint.kind == "builtin":
            return self._ask(replace(rest, count=count, greedy_first=True))
        replies = self._ask(first)
        while len(replies) < count:
            # Some servers ignore `n`, so ask until there are enough.
            step = replace(rest, count=count - len(replies), seed=seed + len(replies))
            replies.extend(self._ask(step))
        return replies[:count]

    def open(self) -> Endpoint:
        """Start the built-in server if it is needed and not running; nothing is sent to the model."""
        return self.endpoint.open()

    def _ask(self, request: _Request) -> list[Reply]:
        prompt_estimate = sum(estimate_tokens(m["content"]) + 8 for m in request.messages)
        ticket = self.budget.reserve(prompt_estimate, request.max_tokens * request.count, price=self.price)
        spent = Usage()
        try:
            replies = self._ask_until_answered(request, prompt_estimate)
            spent = sum((reply.usage for reply in replies), Usage())
            return replies
        finally:
            self.budget.settle(ticket, spent)

    def _ask_until_answered(self, request: _Request, prompt_estimate: int) -> list[Reply]:
        from nl2net.llm.exchange import Exchange
        from nl2net.llm.faults import explain, retry_wait

        endpoint = self.endpoint.open()
        body = _body(endpoint, request)
        timeout_s = self._timeout_s * (1 + (request.count - 1) / 2)
        attempt = 0
        started = False

        def forward(piece: str) -> None:
            nonlocal started
            started = True
            if request.on_text is not None:
                request.on_text(piece)

        while True:
            exchange = Exchange(endpoint, self._gate, body, purpose=request.purpose, timeout_s=timeout_s)
            try:
                raw = exchange.run(on_text=forward, cancel=request.cancel)
                return self._replies(raw, request, prompt_estimate, requests=attempt + 1)
            except Exception as error:
                adapted = _without_refused(body, error)
                wait = 0.0 if adapted else retry_wait(error, attempt)
                if wait is None or attempt >= self._retries or (started and request.on_text is not None):
                    raise explain(error, endpoint) from None
                body = adapted or body
                self._wait(wait, request.cancel)
                attempt += 1

    def _wait(self, seconds: float, cancel: threading.Event | None) -> None:
        from nl2net.llm.faults import Cancelled

        if cancel is None:
            self._sleep(seconds)
        elif cancel.wait(seconds):
            raise Cancelled("stopped while waiting to try again")

    def _replies(self, raw: RawReply, request: _Request, prompt_estimate: int, *, requests: int) -> list[Reply]:
        choices = [raw.choices[index] for index in sorted(raw.choices)]
        if not any(choice.text.strip() for choice in choices):
            raise ReplyError("the reply of the model is empty", hint="Ask again, or use another model.")
        counts = [len(c.logprobs) or estimate_tokens(c.text) for c in choices]
        estimated = raw.prompt_tokens is None or raw.completion_tokens is None
        if raw.completion_tokens is not None:
            counts = _shares(raw.completion_tokens, counts)
        replies = []
        for index, (choice, count) in enumerate(zip(choices, counts, strict=True)):
            prompt_tokens = (prompt_estimate if raw.prompt_tokens is None else raw.prompt_tokens) if index == 0 else 0
            cost = None if self.price is None else self.price.cost(prompt_tokens, count)
            replies.append(
                Reply(
                    text=choice.text,
                    model=raw.model or self.endpoint.model,
                    usage=Usage(requests if index == 0 else 0, prompt_tokens, count, cost, estimated),
                    finish_reason=choice.finish_reason or "stop",
                    seconds=raw.seconds,
                    first_token_s=raw.seconds if raw.first_token_s is None else raw.first_token_s,
                    logprob=sum(choice.logprobs) / len(choice.logprobs) if choice.logprobs else None,
                    worst_logprob=min(choice.logprobs, default=None),
                    cached_tokens=raw.cached_tokens,
                )
            )
        return replies


def _shares(total: int, counts: Sequence[int]) -> list[int]:
    """Split a total in proportion to counts, exactly."""
    whole = sum(counts) or 1
    parts = [total * count // whole for count in counts]
    parts[0] += total - sum(parts)
    return parts


def _body(endpoint: Endpoint, request: _Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [dict(message) for message in request.messages],
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": request.max_tokens,
        "stream_options": {"include_usage": True},
    }
    if request.count > 1:
        body["n"] = request.count
    if request.stop:
        body["stop"] = list(request.stop)
    extra: dict[str, Any] = {}
    if request.grammar and endpoint.kind in ("builtin", "llamacpp"):
        extra["grammar"] = request.grammar
    if endpoint.kind == "builtin":
        body["logprobs"] = True
        extra["greedy_first"] = request.greedy_first
    return body | ({"extra_body": extra} if extra else {})


def _without_refused(body: Mapping[str, Any], error: Exception) -> dict[str, Any] | None:
    """The same request without the optional parameter that the server refused, or ``None`` if that was not it.

    Reasoning models take neither ``temperature`` nor ``max_tokens``, and small servers do not know ``seed`` or
    ``stream_options``.
    """
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
        return None
    text = error.message
    if "max_completion_tokens" in text and "max_tokens" in body:
        rest = {name: value for name, value in body.items() if name != "max_tokens"}
        return rest | {"max_completion_tokens": body["max_tokens"]}
    for name in ("stream_options", "temperature", "seed", "logprobs"):
        if name in body and name in text:
            return {key: value for key, value in body.items() if key != name}
    return None
