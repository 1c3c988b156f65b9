"""The prompts of an incident investigation: a system part and a question with quotes as marked data."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined

from nl2net.prompts.render import Message

# Raise it when the wording of a template of the folder changes.
INVESTIGATION_VERSION = "1"
_BREAK = "\n=====\n"


@cache
def _sources() -> dict[str, str]:
    folder = files("nl2net.prompts").joinpath("templates").joinpath("investigation")
    return {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".j2")}


@cache
def investigation_hash() -> str:
    """First 12 hex digits of the SHA-256 over the templates of an investigation, by name."""
    text = "\0".join(f"{name}\0{source}" for name, source in sorted(_sources().items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def investigation_messages(purpose: str, *, question: str, quotes: str) -> list[Message]:
    """The chat of one small step.

    Parameters
    ----------
    purpose : str
        ``choose``, ``confirm`` or ``summarise``.
    question : str
        The question, or the part of it that is open.
    quotes : str
        Quotes between marks that no document can know.

    Examples
    --------
    >>> [message["role"] for message in investigation_messages("confirm", question="When", quotes="It failed.")]
    ['system', 'user']
    """
    # Prompts are plain text for a model, not HTML.
    environment = Environment(loader=DictLoader(_sources()), undefined=StrictUndefined, autoescape=False)  # noqa: S701
    text = environment.get_template(f"{purpose}.j2").render(question=question, quotes=quotes)
    system, _, user = text.partition(_BREAK)
    return [{"role": "system", "content": system.strip()}, {"role": "user", "content": user.strip()}]
