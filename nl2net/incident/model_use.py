"""The narrow door to a language model: passages as data, closed questions, every word of the reply checked."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nl2net.errors import BudgetError, PrivacyError
from nl2net.incident.fits import new_names
from nl2net.incident.language import terms_of
from nl2net.incident.match import KINDS
from nl2net.incident.records import Claim, Slot
from nl2net.incident.verify import unsupported_values
from nl2net.prompts.investigation import investigation_messages

_MAX_QUOTES = 8


class Model(Protocol):
    """What the investigation needs of a model client."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def is_local(self) -> bool:
        """Whether requests stay on this machine."""

    def complete(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 64) -> str:
        """The reply to a chat."""


@dataclass(slots=True)
class Calls:
    """Model calls of one investigation: counted, limited, recorded.

    Parameters
    ----------
    model : Model
        The client.
    limit : int
        Most calls.
    tokens : int
        Most tokens, estimated as a quarter of the characters.
    recorded : mapping
        Replies by request hash; a replay has no other.
    """

    model: Model
    limit: int = 20
    tokens: int = 20_000
    recorded: dict[str, str] = field(default_factory=dict)
    sent: list[Mapping[str, Any]] = field(default_factory=list)
    spent: int = 0

    def ask(
        self, messages: Sequence[Mapping[str, str]], *, passages: Sequence[Claim] = (), max_tokens: int = 64
    ) -> str:
        """One call.

        Raises
        ------
        BudgetError
            The calls or tokens are used up.
        ModelError
            The endpoint failed.
        """
        body = json.dumps(list(messages), ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(f"{self.model.name}\n{max_tokens}\n{body}".encode()).hexdigest()
        if len(self.sent) >= self.limit or self.spent + len(body) // 4 > self.tokens:
            raise BudgetError("the budget of model calls is used up", hint="Raise --max-tokens.")
        if key not in self.recorded:
            self.recorded[key] = self.model.complete(messages, max_tokens=max_tokens)
        self.spent += (len(body) + len(self.recorded[key])) // 4
        self.sent.append(
            {"request": key, "bytes": len(body.encode()), "passages": [[c.doc, c.start, c.end] for c in passages]}
        )
        return self.recorded[key]


def check_visibility(model: Model, visibility: str) -> None:
    """Refuse to show passages of a private corpus to a model elsewhere.

    Raises
    ------
    PrivacyError
        The corpus is private and the endpoint is not on this machine.
    """
    if visibility != "public" and not model.is_local:
        raise PrivacyError(
            f"the corpus is private and {model.name} is not on this machine",
            hint='Use --model none or a local model, or write visibility = "public" into corpus.toml.',
        )


def wrap_quotes(claims: Sequence[Claim], mark: str) -> str:
    """Quotes as data between marks that no document can know.

    Examples
    --------
    >>> from nl2net.incident.records import Source, SourceClass
    >>> source = Source("k", "t", "", SourceClass.NEWS)
    >>> print(wrap_quotes([Claim("a.md", 0, 2, "It failed.", source, (), frozenset())], "7f"))
    <data-7f 1 a.md>
    It failed.
    </data-7f>
    """
    parts = [
        f"<data-{mark} {n} {c.doc}>\n{c.quote.replace(f'data-{mark}', 'data')}\n</data-{mark}>"
        for n, c in enumerate(claims, start=1)
    ]
    return "\n".join(parts)


def choose_quote(calls: Calls, slot: Slot, claims: Sequence[Claim], *, mark: Callable[[], str]) -> Claim | None:
    """Let the model pick the quote that answers a slot which the rules left open.

    The pick counts only if it is one of the numbers offered, if a value or name of the asked kind stands in it, and
    if a
    second question, asked the other way round, confirms it.

    Parameters
    ----------
    calls : Calls
        Where to ask.
    slot : Slot
        The open slot.
    claims : sequence of Claim
        Candidates, best first; only the first few are shown.
    mark : callable
        Gives a fresh random delimiter.
    """
    shown = [c for c in claims if _could_hold(slot, c)][:_MAX_QUOTES]
    if not shown:
        return None
    messages = investigation_messages("choose", question=slot.text, quotes=wrap_quotes(shown, mark()))
    reply = calls.ask(messages, passages=shown, max_tokens=8)
    match = re.search(r"\d+", reply)
    number = int(match.group()) if match else 0
    if not 1 <= number <= len(shown):
        return None
    claim = shown[number - 1]
    messages = investigation_messages("confirm", question=slot.text, quotes=wrap_quotes([claim], mark()))
    verdict = calls.ask(messages, passages=[claim], max_tokens=4)
    return claim if verdict.strip().lower().startswith("yes") else None


def summarise(calls: Calls, question: str, claims: Sequence[Claim], *, mark: Callable[[], str]) -> str:
    """One sentence on the quotes, or ``""`` if it holds a value or a name that they do not."""
    if not claims:
        return ""
    shown = claims[:_MAX_QUOTES]
    messages = investigation_messages("summarise", question=question, quotes=wrap_quotes(shown, mark()))
    sentence = " ".join(calls.ask(messages, passages=shown, max_tokens=120).split())
    quotes = [claim.quote for claim in claims]
    if not sentence or len(sentence) > 600 or unsupported_values(sentence, [*quotes, question]):
        return ""
    # Not only values: a word that no quote and no question holds ("earthquake") is a claim of the model's own.
    known = frozenset(terms_of(" ".join([*quotes, question])))
    if any(term not in known for term in terms_of(sentence)):
        return ""
    return sentence


def _could_hold(slot: Slot, claim: Claim) -> bool:
    if slot.type in KINDS:
        return any(v.kind in KINDS[slot.type] for v in claim.values)
    return slot.type != "actor" or bool(new_names(slot, claim.quote))
