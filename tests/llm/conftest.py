"""Gates and clients for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from scripted_server import ScriptedServer

from nl2net.llm import ChatClient, Endpoint, OutgoingRequest


@dataclass
class OpenGate:
    """Lets everything pass and remembers it."""

    seen: list[OutgoingRequest] = field(default_factory=list)

    def inspect(self, request: OutgoingRequest) -> None:
        self.seen.append(request)


MakeClient = Callable[..., ChatClient]


@pytest.fixture
def gate() -> OpenGate:
    return OpenGate()


@pytest.fixture
def client_for(gate: OpenGate) -> MakeClient:
    """Makes a client of a scripted server that waits for nothing between its tries."""

    def make(server: ScriptedServer, *, key: str = "sk-very-secret", **options: Any) -> ChatClient:
        endpoint = Endpoint(server.base_url, "scripted", api_key=key, kind="compatible", origin="settings")
        return ChatClient(endpoint, **{"gate": gate, "timeout_s": 10.0, "sleep": lambda _s: None, **options})

    return make
