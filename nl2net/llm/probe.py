"""Model servers that already run on this machine, and the models of any endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nl2net.errors import EndpointError, Nl2netError, ReplyError
from nl2net.llm.endpoint import Endpoint, Kind
from nl2net.llm.gate import Gate, ProbeGate, sending_for

if TYPE_CHECKING:
    import httpx

PROBE_TIMEOUT_S = 0.4
# Models of these families answer no questions.
_NOT_CHAT = ("embed", "rerank", "whisper", "bge-", "tts", "clip")
_PREFERRED = ("coder", "code", "instruct", "chat")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A well-known server and its port."""

    kind: Kind
    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


KNOWN_SERVERS = (
    LocalServer("ollama", 11434),
    LocalServer("lmstudio", 1234),
    LocalServer("vllm", 8000),
    LocalServer("llamacpp", 8080),
)


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answered, with its chat models, best first."""

    kind: Kind
    base_url: str
    models: tuple[str, ...]


def find_local_servers(
    servers: Sequence[LocalServer] = KNOWN_SERVERS, *, gate: Gate | None = None
) -> list[FoundServer]:
    """Ask the well-known ports of this machine for their models; what does not answer like one is left out."""
    found = []
    for server in servers:
        endpoint = Endpoint(server.base_url, "", kind=server.kind, origin="loopback")
        try:
            names = list_models(endpoint, gate=gate or ProbeGate(), timeout_s=PROBE_TIMEOUT_S, purpose="probe")
        except Nl2netError:
            continue
        chat = chat_models(names)
        if chat:
            found.append(FoundServer(server.kind, server.base_url, chat))
    return found


def chat_models(names: Sequence[str]) -> tuple[str, ...]:
    """Models that can chat, those for code first.

    Examples
    --------
    >>> chat_models(["nomic-embed-text", "llama3.2", "qwen2.5-coder:7b"])
    ('qwen2.5-coder:7b', 'llama3.2')
    """
    usable = [name for name in names if not any(word in name.lower() for word in _NOT_CHAT)]

    def rank(name: str) -> int:
        return next((i for i, word in enumerate(_PREFERRED) if word in name.lower()), len(_PREFERRED))

    return tuple(sorted(usable, key=rank))


def list_models(endpoint: Endpoint, *, gate: Gate, timeout_s: float = 10.0, purpose: str = "models") -> list[str]:
    """Names of the models of an endpoint.

    Raises
    ------
    EndpointError, ReplyError
        It cannot be reached, refuses the key, or does not answer like a model server.
    """
    import httpx

    from nl2net.llm.faults import own_error
    from nl2net.llm.transport import open_http

    headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    try:
        with sending_for(purpose), open_http(endpoint.base_url, gate, timeout_s=timeout_s) as http:
            response = http.get(f"{endpoint.base_url.rstrip('/')}/models", headers=headers)
    except httpx.HTTPError as error:
        raise own_error(error) or EndpointError(f"no connection to {endpoint.base_url}") from None
    return _names(endpoint, response)


def _names(endpoint: Endpoint, response: httpx.Response) -> list[str]:
    if response.status_code in (401, 403):
        raise EndpointError(
            f"{endpoint.base_url} refused the key (HTTP {response.status_code})", hint="Check OPENAI_API_KEY."
        )
    if response.status_code != 200:
        raise EndpointError(f"{endpoint.base_url} lists no models (HTTP {response.status_code})")
    try:
        data: Any = json.loads(response.content)
        return [str(entry["id"]) for entry in data["data"]]
    except (ValueError, KeyError, TypeError):
        raise ReplyError(f"{endpoint.base_url} does not answer like a model server") from None
