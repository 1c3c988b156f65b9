"""The model's side of a question: one client behind a reply cache, with the gate told which stage speaks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net import __version__
from nl2net.assistant.gate import PrivacyGate
from nl2net.assistant.options import Hooks
from nl2net.assistant.store import Store
from nl2net.model import Usage
from nl2net.prompts import Message, template_hash

_MAX_TOKENS = 700


@dataclass(slots=True)
class ModelSpeaker:
    """Gets replies, from the cache where the same request was answered before.

    Sample 0 is drawn at temperature 0, the others at ``temperature`` with a seed of their own.
    """

    client: Any
    gate: PrivacyGate
    store: Store | None
    hooks: Hooks
    temperature: float = 0.7
    use_cache: bool = True
    grammar: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    model: str = ""
    cached: int = 0
    logprobs: list[float] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message], *, purpose: str, sample: int) -> str:
        self.gate.stage = purpose
        key = self._key(messages, sample)
        remembered = self.store.cached_reply(key) if self.store is not None and self.use_cache else None
        if remembered is not None:
            self.cached += 1
            self._note(str(remembered["model"]), remembered.get("logprob"))
            self.gate.allow(str(remembered["text"]))
            return str(remembered["text"])
        reply = self.client.complete(
            list(messages), purpose=purpose, temperature=self.temperature if sample else 0.0, seed=1 + sample,
            max_tokens=_MAX_TOKENS, grammar=self.grammar, on_text=self.hooks.text, cancel=self.hooks.cancel,
        )  # fmt: skip
        self.usage = self.usage + reply.usage
        self.seconds += reply.seconds
        logprob = getattr(reply, "logprob", None)
        self._note(reply.model, logprob)
        self.gate.allow(reply.text)
        if self.store is not None and self.use_cache:
            self.store.remember_reply(key, {"text": reply.text, "model": reply.model, "logprob": logprob})
        return str(reply.text)

    def _note(self, model: str, logprob: float | None) -> None:
        self.model = model or self.model
        if logprob is not None:
            self.logprobs.append(logprob)

    def _key(self, messages: Sequence[Message], sample: int) -> str:
        """Everything that decides a reply; schema, question, examples and history are inside the messages."""
        endpoint = self.client.endpoint
        parts = {
            "model": endpoint.model,
            "base_url": endpoint.base_url if endpoint.kind != "builtin" else "builtin",
            "messages": list(messages),
            "temperature": self.temperature if sample else 0.0,
            "sample": sample,
            "grammar": self.grammar,
            "template": template_hash(),
            "version": __version__,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
