"""Where a model answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from nl2net.llm.gate import is_loopback

Kind = Literal["builtin", "openai", "compatible", "ollama", "lmstudio", "vllm", "llamacpp"]
Origin = Literal["flag", "settings", "environment", "loopback", "built-in"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address.

    Attributes
    ----------
    base_url : str
        Base URL with ``/v1``; empty for the built-in model until it is opened.
    model : str
        Name that the server expects.
    api_key : str
        Hidden from ``repr``.
    kind, origin : str
        What kind of server it is, and where the choice came from.
    opener : callable, optional
        Starts the server if needed and returns the endpoint with its address; for the built-in model.

    Examples
    --------
    >>> Endpoint("https://api.openai.com/v1", "gpt-4o-mini", api_key="sk-1", kind="openai", origin="environment")
    Endpoint(base_url='https://api.openai.com/v1', model='gpt-4o-mini', kind='openai', origin='environment')
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    kind: Kind = "compatible"
    origin: Origin = "settings"
    opener: Callable[[], Endpoint] | None = field(default=None, repr=False, compare=False)

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        return self.kind == "builtin" or is_loopback(self.base_url)

    def open(self) -> Endpoint:
        """The endpoint with an address: starts the built-in server if it is not running."""
        return self if self.opener is None else self.opener()
