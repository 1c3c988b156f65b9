"""The chat client behind the narrow door of `nl2net.incident.model_use`, with a gate and a log of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nl2net.config import Settings, load_settings
from nl2net.errors import PrivacyError
from nl2net.incident.model_use import Model
from nl2net.locations import Locations, default_locations

if TYPE_CHECKING:
    from nl2net.llm import ChatClient, Message, OutgoingRequest


def append_log(path: Path, row: Mapping[str, object]) -> None:
    """Append one line to the log of everything that left this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"time": datetime.now(UTC).isoformat(timespec="seconds"), **row}) + "\n")


class PassageGate:
    """Lets passages go to this machine only, unless the corpus is public; logs what goes, byte for byte.

    Parameters
    ----------
    log : Path
        JSON lines.
    public : bool
        Whether the corpus says that it is public.
    """

    def __init__(self, log: Path, *, public: bool) -> None:
        self._log = log
        self._public = public

    def inspect(self, request: OutgoingRequest) -> None:
        """Refuse a request elsewhere, log one that may go."""
        from nl2net.llm.gate import is_loopback

        if request.body and not self._public and not is_loopback(request.url):
            raise PrivacyError(
                f"passages of a private corpus may not go to {request.url}",
                hint='Use a local model, or write visibility = "public" into corpus.toml.',
            )
        text = request.body.decode("utf-8", "replace")
        append_log(
            self._log, {"purpose": request.purpose, "url": request.url, "bytes": len(request.body), "body": text}
        )


class ChatModel:
    """A `ChatClient` as the investigation sees it.

    Parameters
    ----------
    client : ChatClient
        For one endpoint.
    """

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._client.endpoint.model

    @property
    def is_local(self) -> bool:
        """Whether requests stay on this machine."""
        return self._client.endpoint.local

    def complete(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 64) -> str:
        """The reply; one that was cut at the limit is taken as it stands."""
        from nl2net.llm.client import ReplyCut

        try:
            chat = [cast("Message", dict(message)) for message in messages]
            return self._client.complete(chat, purpose="investigate", max_tokens=max_tokens).text
        except ReplyCut as cut:
            return cut.reply.text


def connect_model(
    name: str, *, visibility: str = "private", settings: Settings | None = None, locations: Locations | None = None
) -> Model | None:
    """A client for a model, ``None`` for ``none``.

    Parameters
    ----------
    name : str
        ``none``, ``builtin``, or a name at the configured endpoint.
    visibility : str
        Of the corpus whose passages are to be shown.
    settings : Settings, optional
        Endpoint and limits; by default from flags, environment and files.
    locations : Locations, optional
        Where the log lies.

    Raises
    ------
    UserError, ModelError
        There is no such model.

    Examples
    --------
    >>> connect_model("none") is None
    True
    """
    if name == "none":
        return None
    from nl2net.llm import Budget, ChatClient, resolve_endpoint

    locations = locations or default_locations()
    settings = settings or load_settings({"model": name}, locations=locations)
    endpoint = resolve_endpoint(settings, model=name, locations=locations)
    gate = PassageGate(locations.egress_log, public=visibility == "public")
    budget = Budget(max_cost_usd=settings.max_cost_usd, max_tokens=settings.max_tokens)
    return ChatModel(ChatClient(endpoint, gate=gate, budget=budget, timeout_s=settings.request_timeout_s))
