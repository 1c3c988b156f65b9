"""What a question costs: usage, prices and budgets."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from nl2net.errors import BudgetError
from nl2net.model import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost in US dollars.

        Examples
        --------
        >>> Price(2.5, 10.0).cost(1_000, 100)
        0.0035
        """
        return round((prompt_tokens * self.input + completion_tokens * self.output) / 1e6, 10)


FREE = Price(0.0, 0.0)


@cache
def _price_table() -> tuple[str, dict[str, Price]]:
    table = json.loads(files("nl2net.llm").joinpath("data/prices.json").read_text(encoding="utf-8"))
    return table["as_of"], {name: Price(**entry) for name, entry in table["models"].items()}


def price_of(model: str, *, local: bool = False) -> Price | None:
    """Price of a model: 0 for local ones, ``None`` if the table does not know it.

    A dated name such as ``gpt-4o-2024-08-06`` takes the price of the longest name in the table that it extends.

    Examples
    --------
    >>> price_of("gpt-4o-mini-2024-07-18").input
    0.15
    >>> price_of("anything", local=True).output
    0.0
    >>> price_of("gpt-4omega") is None
    True
    """
    if local:
        return FREE
    name = model.rsplit("/", 1)[-1].lower()
    fitting = [known for known in _price_table()[1] if name == known or name.startswith(f"{known}-20")]
    return _price_table()[1][max(fitting, key=len)] if fitting else None


def price_date() -> str:
    """Date of the price table."""
    return _price_table()[0]


def estimate_tokens(text: str) -> int:
    """Rough number of tokens, on the high side: one for three bytes.

    Examples
    --------
    >>> estimate_tokens("def answer(graph):")
    6
    """
    return -(-len(text.encode("utf-8")) // 3)


@dataclass(slots=True)
class Budget:
    """Caps on tokens and cost for a question or a session. Safe to share between threads.

    Before a request its worst case is reserved; afterwards the reservation is replaced by what it really used. So two
    requests at once cannot pass a cap that each alone would keep.

    Parameters
    ----------
    max_cost_usd : float, optional
        Cap in US dollars. A model without a known price is refused under a cost cap.
    max_tokens : int, optional
        Cap on prompt and completion tokens together.

    Examples
    --------
    >>> budget = Budget(max_tokens=100)
    >>> ticket = budget.reserve(30, 40, price=None)
    >>> budget.settle(ticket, Usage(1, 30, 10, None))
    >>> budget.spent.tokens
    40
    >>> budget.reserve(30, 40, price=None)
    Traceback (most recent call last):
    nl2net.errors.BudgetError: the next request may need 70 tokens, 60 of 100 are left
    """

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    spent: Usage = field(default_factory=Usage)
    _reserved: dict[int, tuple[int, float]] = field(default_factory=dict, repr=False)
    _next: int = field(default=0, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def reserve(self, prompt_tokens: int, completion_tokens: int, *, price: Price | None) -> int:
        """Set the worst case of a request aside and return a ticket.

        Raises
        ------
        BudgetError
            It could pass a cap; nothing is reserved.
        """
        tokens = prompt_tokens + completion_tokens
        cost = 0.0 if price is None else price.cost(prompt_tokens, completion_tokens)
        with self._lock:
            self._check_tokens(tokens)
            self._check_cost(cost, price)
            self._next += 1
            self._reserved[self._next] = (tokens, cost)
            return self._next

    def settle(self, ticket: int, usage: Usage) -> None:
        """Replace a reservation by what was used; an empty `Usage` gives it back."""
        with self._lock:
            self._reserved.pop(ticket, None)
            self.spent = self.spent + usage

    def _check_tokens(self, tokens: int) -> None:
        if self.max_tokens is None:
            return
        left = self.max_tokens - self.spent.tokens - sum(held for held, _ in self._reserved.values())
        if tokens > left:
            raise BudgetError(
                f"the next request may need {tokens} tokens, {max(left, 0)} of {self.max_tokens} are left",
                hint="Raise --max-tokens, or ask for fewer samples.",
            )

    def _check_cost(self, cost: float, price: Price | None) -> None:
        if self.max_cost_usd is None:
            return
        if price is None:
            raise BudgetError(
                "a cost cap is set, but the price of this model is not known",
                hint="Cap tokens instead (--max-tokens), or use a model of the price table.",
            )
        left = self.max_cost_usd - (self.spent.cost_usd or 0.0) - sum(held for _, held in self._reserved.values())
        if cost > left:
            raise BudgetError(
                f"the next request may cost USD {cost:.4f}, USD {max(left, 0.0):.4f} of {self.max_cost_usd:g} are left",
                hint="Raise --max-cost, or use a cheaper model.",
            )
