"""Choosing the next token, reproducibly."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

_TOP_K = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """A token and its natural log probability at temperature 1, without grammar."""

    token: int
    logprob: float


class BadGrammar(ValueError):
    """The grammar cannot be parsed."""


class Grammar:
    """Where a reply stands in a GBNF grammar."""

    def __init__(self, vocab: Any, text: str) -> None:
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, text.encode("utf-8"), b"root")
        if not self._sampler:
            raise BadGrammar("the grammar cannot be parsed")

    def allows(self, token: int) -> bool:
        """Whether a token may come next."""
        return bool(np.isfinite(self.mask(np.array([token]), np.zeros(1, dtype=np.float32))[0]))

    def mask(self, tokens: npt.NDArray[np.int64], logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The logits with minus infinity for tokens that may not come next."""
        data = (llama_cpp.llama_token_data * len(tokens))()
        view = np.ctypeslib.as_array(data)
        view["id"], view["logit"], view["p"] = tokens, logits, 0.0
        array = llama_cpp.llama_token_data_array(data=data, size=len(tokens), selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.array(view["logit"], dtype=np.float32)

    def accept(self, token: int) -> None:
        """Move on by a token."""
        llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free it."""
        if self._sampler:
            llama_cpp.llama_sampler_free(self._sampler)
            self._sampler = None


class Sampler:
    """Draws tokens: greedy at temperature 0, else top-k 40 and top-p.

    The generator is NumPy's PCG64, so a seed gives the same draws on every machine.
    """

    def __init__(self, temperature: float, top_p: float, *, seed: int, grammar: Grammar | None = None) -> None:
        self._temperature = temperature
        self._top_p = top_p
        self._random = np.random.default_rng(seed)
        self._grammar = grammar

    def choose(self, logits: npt.NDArray[np.float32]) -> Choice:
        """The next token for the logits of the last one."""
        token = self._draw(logits)
        if self._grammar is not None:
            # Checking one token is cheap, checking the whole vocabulary is not.
            if not self._grammar.allows(token):
                token = self._draw(self._grammar.mask(np.arange(len(logits)), logits))
            self._grammar.accept(token)
        peak = float(logits.max())
        total = float(np.exp(logits - peak, dtype=np.float32).sum(dtype=np.float64))
        return Choice(token, float(logits[token]) - peak - float(np.log(total)))

    def _draw(self, logits: npt.NDArray[np.float32]) -> int:
        if self._temperature <= 0:
            return int(logits.argmax())
        top = np.argpartition(logits, -_TOP_K)[-_TOP_K:]
        top = top[np.lexsort((top, -logits[top]))]
        weights = np.exp((logits[top].astype(np.float64) - float(logits[top[0]])) / self._temperature)
        weights /= weights.sum()
        inside = int(np.searchsorted(np.cumsum(weights), self._top_p)) + 1
        weights = weights[:inside] / weights[:inside].sum()
        return int(self._random.choice(top[:inside], p=weights))

    def close(self) -> None:
        """Free the grammar."""
        if self._grammar is not None:
            self._grammar.close()
