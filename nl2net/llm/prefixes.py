"""States of prompts that were read before, kept in memory."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import llama_cpp

_MAX_BYTES = 256_000_000
_SHORTEST = 64


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """Length of the common beginning.

    Examples
    --------
    >>> common_prefix([1, 2, 3], [1, 2, 4, 5])
    2
    """
    length = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        length += 1
    return length


class PrefixStore:
    """Saved key-value states of sequence 0, the least recently used dropped first.

    Only one prompt is live in the context at a time: cells of others would be scanned by every attention step. A saved
    state costs about 28 kB a token with the larger model and is back within milliseconds.
    """

    def __init__(self, ctx: Any, *, max_bytes: int = _MAX_BYTES) -> None:
        self._ctx = ctx
        self._max_bytes = max_bytes
        self._states: OrderedDict[tuple[int, ...], Any] = OrderedDict()

    def best(self, tokens: Sequence[int]) -> tuple[int, ...] | None:
        """The saved prompt with the longest beginning in common."""
        return max(self._states, key=lambda saved: common_prefix(saved, tokens), default=None)

    def keep(self, live: Sequence[int]) -> None:
        """Save sequence 0, which holds the tokens ``live``; replaces what is mostly the same."""
        if len(live) < _SHORTEST:
            return
        for saved in [s for s in self._states if common_prefix(s, live) > len(s) // 2]:
            del self._states[saved]
        size = llama_cpp.llama_state_seq_get_size(self._ctx, 0)
        buffer = (ctypes.c_uint8 * size)()
        if llama_cpp.llama_state_seq_get_data(self._ctx, buffer, size, 0) == 0:
            return
        self._states[tuple(live)] = buffer
        while len(self._states) > 1 and sum(len(state) for state in self._states.values()) > self._max_bytes:
            self._states.popitem(last=False)

    def restore(self, saved: tuple[int, ...]) -> list[int]:
        """Load a saved state into sequence 0 and return its tokens; empty if that failed."""
        buffer = self._states[saved]
        self._states.move_to_end(saved)
        done = llama_cpp.llama_state_seq_set_data(self._ctx, buffer, len(buffer), 0)
        return list(saved) if done else []
