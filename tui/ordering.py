"""Order of rows by one column: numbers, then texts in natural order, then what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_DIGITS = re.compile(r"(\d+)")


def sort_key(value: Any) -> tuple[Any, ...]:
    """Key that orders any values.

    Examples
    --------
    >>> sorted([None, "eth10", "eth2", 3, 1.5, True], key=sort_key)
    [1.5, 3, True, 'eth2', 'eth10', None]
    """
    if value is None or value != value:
        return (3,)
    if isinstance(value, bool):
        return (1, int(value))
    if isinstance(value, int | float):
        return (0, value)
    parts = _DIGITS.split(str(value).casefold())
    return (2, tuple((1, int(part)) if part.isdecimal() else (0, part) for part in parts if part))


def sorted_rows(rows: Sequence[Sequence[Any]], column: int, *, descending: bool = False) -> list[int]:
    """Indices of the rows in the order of one column; equal rows stay as they are, missing values come last.

    Examples
    --------
    >>> sorted_rows([["b"], [None], ["a"]], 0), sorted_rows([["b"], [None], ["a"]], 0, descending=True)
    ([2, 0, 1], [0, 2, 1])
    """
    keys = [sort_key(row[column]) if column < len(row) else (3,) for row in rows]
    there = [at for at, key in enumerate(keys) if key != (3,)]
    there.sort(key=lambda at: keys[at], reverse=descending)
    return there + [at for at, key in enumerate(keys) if key == (3,)]
