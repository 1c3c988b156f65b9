"""What a run has paid for: every reply of a model on disk before it is used, and one budget for all calls at once.

A call is written down before it is sent and again when its reply is there. After any stop, kill -9 included, replies
that were paid for are taken from the file and not asked again; calls without a reply may have been paid for, so their
worst case counts as spent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nl2net.benchmark.runs import complete_lines
from nl2net.errors import DataError
from nl2net.llm.client import ChatClient, Message, Reply, ReplyCut
from nl2net.llm.endpoint import Endpoint
from nl2net.llm.usage import Budget, estimate_tokens
from nl2net.model import Usage

_WORK: ContextVar[str] = ContextVar("nl2net_bench_work", default="")


@contextlib.contextmanager
def working_on(work: str) -> Iterator[None]:
    """Name the case that this thread works on; its calls are kept under that name."""
    token = _WORK.set(work)
    try:
        yield
    finally:
        _WORK.reset(token)


class Ledger:
    """Calls of a run in JSON lines, and the budget that they share.

    Parameters
    ----------
    path : Path
        ``calls.jsonl`` of the run folder, mode 0600.
    max_cost_usd, max_tokens : optional
        Caps of the whole run, calls of earlier starts included.

    Attributes
    ----------
    lost : int
        Calls of earlier starts that were sent and never answered.
    """

    def __init__(self, path: Path, *, max_cost_usd: float | None = None, max_tokens: int | None = None) -> None:
        self.budget = Budget(max_cost_usd=max_cost_usd, max_tokens=max_tokens)
        self.lost = 0
        self._path = path
        self._lock = threading.Lock()
        self._replies: dict[str, list[Reply]] = {}
        self._usage: dict[str, Usage] = {}
        self._turns: Counter[tuple[str, str]] = Counter()
        self._load()

    def _load(self) -> None:
        open_calls: dict[str, Usage] = {}
        spent = Usage()
        for number, line in enumerate(complete_lines(self._path), start=1):
            try:
                entry = json.loads(line)
                if entry["event"] == "sent":
                    if entry["key"] in open_calls:  # it was lost once before
                        spent, self.lost = spent + open_calls[entry["key"]], self.lost + 1
                    open_calls[entry["key"]] = Usage(**entry["worst"])
                    continue
                open_calls.pop(entry["key"], None)
                if entry["event"] == "reply":
                    replies = [Reply(**{**item, "usage": Usage(**item["usage"])}) for item in entry["replies"]]
                    self._replies[entry["key"]] = replies
                    spent = spent + self._count(entry["work"], replies)
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"not a call of a run: {error}", path=self._path, line=number) from None
        for worst in open_calls.values():
            spent, self.lost = spent + worst, self.lost + 1
        self.budget.spent = spent

    def usage_of(self, work: str) -> Usage:
        """What the calls of one case have used."""
        return self._usage.get(work, Usage())

    def key(self, request: object) -> str:
        """Name of a call: case, request, and how often the case has made this very request."""
        work = _WORK.get()
        digest = hashlib.sha256(json.dumps(request, sort_keys=True, default=str).encode()).hexdigest()[:24]
        with self._lock:
            self._turns[work, digest] += 1
            return f"{work}|{digest}|{self._turns[work, digest]}"

    def known(self, key: str) -> list[Reply] | None:
        """Replies that were paid for already."""
        return self._replies.get(key)

    def sent(self, key: str, worst: Usage) -> None:
        """A call is about to leave."""
        self._write({"event": "sent", "key": key, "work": _WORK.get(), "worst": asdict(worst)})

    def replied(self, key: str, replies: Sequence[Reply]) -> None:
        """Its replies are there; on disk when this returns."""
        work = _WORK.get()
        self._write({"event": "reply", "key": key, "work": work, "replies": [asdict(reply) for reply in replies]})
        with self._lock:
            self._replies[key] = list(replies)
            self._count(work, replies)

    def failed(self, key: str, error: BaseException) -> None:
        """The endpoint gave no reply that could be charged."""
        self._write({"event": "failed", "key": key, "work": _WORK.get(), "error": type(error).__name__})

    def _count(self, work: str, replies: Sequence[Reply]) -> Usage:
        used = sum((reply.usage for reply in replies), Usage())
        self._usage[work] = self._usage.get(work, Usage()) + used
        return used

    def _write(self, entry: dict[str, Any]) -> None:
        line = (json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n").encode()
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class Throttle:
    """Limits the calls that are open at once, and holds all back while the endpoint asks for a rest.

    Parameters
    ----------
    most : int
        Calls at once.
    sleep, clock : callable
        For tests.
    """

    def __init__(
        self,
        most: int,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = threading.Semaphore(most)
        self._sleep, self._clock = sleep, clock
        self._not_before = 0.0

    def back_off(self, seconds: float) -> None:
        """Wait before a call is tried again, and let no other call start meanwhile."""
        self._not_before = max(self._not_before, self._clock() + seconds)
        self._sleep(seconds)

    @contextlib.contextmanager
    def slot(self) -> Iterator[None]:
        """Room for one call."""
        with self._open:
            rest = self._not_before - self._clock()
            if rest > 0:
                self._sleep(rest)
            yield


class LedgerClient:
    """A chat client whose calls are kept in a ledger. Stands where a `ChatClient` stands."""

    def __init__(self, client: ChatClient, ledger: Ledger, throttle: Throttle) -> None:
        self._client, self._ledger, self._throttle = client, ledger, throttle
        self.budget = client.budget

    @property
    def endpoint(self) -> Endpoint:
        """Where it asks."""
        return self._client.endpoint

    def complete(self, messages: Sequence[Message], *, purpose: str, **options: Any) -> Reply:
        """One reply, as `ChatClient.complete`."""
        reply = self._once(messages, 1, purpose, options, lambda: [self._complete(messages, purpose, options)])[0]
        if reply.finish_reason == "length":
            raise ReplyCut(reply, int(options.get("max_tokens", 512)))
        return reply

    def sample(self, messages: Sequence[Message], *, count: int, purpose: str, **options: Any) -> list[Reply]:
        """Several replies, as `ChatClient.sample`."""
        return self._once(
            messages,
            count,
            purpose,
            options,
            lambda: self._client.sample(messages, count=count, purpose=purpose, **options),
        )

    def _complete(self, messages: Sequence[Message], purpose: str, options: dict[str, Any]) -> Reply:
        try:
            return self._client.complete(messages, purpose=purpose, **options)
        except ReplyCut as cut:  # a reply that was paid for
            return cut.reply

    def _once(
        self,
        messages: Sequence[Message],
        count: int,
        purpose: str,
        options: dict[str, Any],
        ask: Callable[[], list[Reply]],
    ) -> list[Reply]:
        asked = {name: value for name, value in options.items() if name not in ("on_text", "cancel")}
        key = self._ledger.key([self.endpoint.model, [dict(m) for m in messages], count, purpose, asked])
        known = self._ledger.known(key)
        if known is not None:
            return known
        with self._throttle.slot():
            self._ledger.sent(key, self._worst(messages, count, options))
            try:
                replies = ask()
            except Exception as error:
                self._ledger.failed(key, error)
                raise
        self._ledger.replied(key, replies)
        return replies

    def _worst(self, messages: Sequence[Message], count: int, options: dict[str, Any]) -> Usage:
        prompt = sum(estimate_tokens(message["content"]) + 8 for message in messages)
        completion = int(options.get("max_tokens", 512)) * count
        price = self._client.price
        return Usage(1, prompt, completion, None if price is None else price.cost(prompt, completion), True)
