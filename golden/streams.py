"""Random streams that give the same values on every platform and Python version.

Only bits of SHA-256 are used: the algorithms behind ``random.choice``, ``shuffle`` and ``sample`` may change between
Python versions, and a suite has to be byte-identical for the same seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")
_WORD = 8
_RANGE = 1 << (8 * _WORD)


class Stream:
    """Values drawn from SHA-256 in counter mode.

    Parameters
    ----------
    *key : object
        What the stream is for: generator version, seed, application, index, purpose. Other keys, other stream.

    Examples
    --------
    >>> Stream("demo", 1).below(100)
    92
    >>> Stream("demo", 1).pick(["a", "b", "c"])
    'a'
    """

    __slots__ = ("_buffer", "_counter", "_key")

    def __init__(self, *key: object) -> None:
        text = "\x1f".join(str(part) for part in key)
        self._key = hashlib.sha256(text.encode()).digest()
        self._counter = 0
        self._buffer = b""

    def bits(self) -> int:
        """The next 64 bits as an integer."""
        if not self._buffer:
            self._buffer = hashlib.sha256(self._key + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
        word, self._buffer = self._buffer[:_WORD], self._buffer[_WORD:]
        return int.from_bytes(word, "big")

    def below(self, bound: int) -> int:
        """An integer from 0 to ``bound - 1``, without modulo bias."""
        if bound < 1:
            raise ValueError(f"bound must be positive, not {bound}")
        limit = _RANGE - _RANGE % bound
        while (value := self.bits()) >= limit:
            pass
        return value % bound

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True in ``percent`` of 100 draws."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """One item."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Permute in place (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different positions of ``items``, in random order."""
        if count > len(items):
            raise ValueError(f"cannot take {count} of {len(items)} items")
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]
