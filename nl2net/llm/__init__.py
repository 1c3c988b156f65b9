"""Access to language models: one client for any OpenAI-compatible endpoint, and the built-in local model.

The package is lazy (PEP 562): importing it imports neither ``openai`` nor ``httpx``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.llm.client import ChatClient, Message, Reply
    from nl2net.llm.embedding import Embedder, open_embedder
    from nl2net.llm.endpoint import Endpoint
    from nl2net.llm.gate import Gate, OutgoingRequest
    from nl2net.llm.overview import status
    from nl2net.llm.resolve import resolve_endpoint
    from nl2net.llm.usage import Budget
    from nl2net.model import Usage

# Public name -> module that owns it.
_EXPORTS = {
    "Budget": "usage",
    "ChatClient": "client",
    "Embedder": "embedding",
    "Endpoint": "endpoint",
    "Gate": "gate",
    "Message": "client",
    "OutgoingRequest": "gate",
    "Reply": "client",
    "Usage": "usage",
    "open_embedder": "embedding",
    "resolve_endpoint": "resolve",
    "status": "overview",
}

__all__ = [
    "Budget",
    "ChatClient",
    "Embedder",
    "Endpoint",
    "Gate",
    "Message",
    "OutgoingRequest",
    "Reply",
    "Usage",
    "open_embedder",
    "resolve_endpoint",
    "status",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(f"nl2net.llm.{_EXPORTS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
