"""The model's side of a question: one client behind a reply cache, with the gate told which stage speaks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
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

    ``lead`` is the head of the program that the built-in model is made to continue.
    """

    client: Any
    gate: PrivacyGate
    store: Store | None
    hooks: Hooks
    temperature: float = 0.7
    use_cache: bool = True
    grammar: str | None = None
    lead: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    model: str = ""
    cached: int = 0
    logprobs: list[float] = field(default_factory=list)

    def reply(self, messages: Sequence[Message], *, purpose: str, sample: int = 0) -> str:
        """One reply at temperature 0."""
        return self.draw(messages, 1, purpose=purpose)[0]

    def draw(self, messages: Sequence[Message], count: int, *, purpose: str) -> list[str]:
        """Several replies to one prompt: the first at temperature 0, the rest at ``temperature``.

        The built-in model reads the prompt once for all of them.
        """
        self.gate.stage = purpose
        keys = [self._key(messages, number) for number in range(count)]
        remembered = [self._remembered(key) for key in keys]
        if all(remembered):
            self.cached += 1
            for known in remembered:
                self._note(known)
            return [str(known["text"]) for known in remembered]
        lead, asked, stop = self._lead(messages)
        replies = self._ask(asked, count, purpose=purpose, stop=stop)
        texts = []
        for key, reply in zip(keys, replies, strict=True):
            known = {"text": lead + reply.text, "model": reply.model, "logprob": reply.logprob}
            self.usage = self.usage + reply.usage
            self._note(known)
            texts.append(lead + reply.text)
            if self.store is not None and self.use_cache:
                self.store.remember_reply(key, known)
        self.seconds += max(reply.seconds for reply in replies)
        return texts

    def _ask(self, messages: list[Message], count: int, *, purpose: str, stop: list[str] | None) -> list[Any]:
        common = {
            "purpose": purpose, "max_tokens": _MAX_TOKENS, "grammar": self.grammar, "stop": stop,
            "cancel": self.hooks.cancel,
        }  # fmt: skip
        if count == 1:
            return [self.client.complete(messages, temperature=0.0, on_text=self.hooks.text, **common)]
        return list(self.client.sample(messages, count=count, temperature=self.temperature, **common))

    def _lead(self, messages: Sequence[Message]) -> tuple[str, list[Message], list[str] | None]:
        """Start the reply of the built-in model with the head of the program, so that it writes no prose."""
        if self.client.endpoint.kind != "builtin" or not self.lead:
            return "", list(messages), None
        return self.lead, [*messages, {"role": "assistant", "content": self.lead}], ["```"]

    def _remembered(self, key: str) -> dict[str, Any]:
        known = self.store.cached_reply(key) if self.store is not None and self.use_cache else None
        return known or {}

    def _note(self, known: Mapping[str, Any]) -> None:
        self.model = str(known["model"]) or self.model
        self.gate.allow(str(known["text"]))
        if known.get("logprob") is not None:
            self.logprobs.append(float(known["logprob"]))

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
            "lead": self.lead,
            "template": template_hash(),
            "version": __version__,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
