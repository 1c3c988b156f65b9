"""Equality of single values: numbers with tolerance, text after normalisation, nested values recursively."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_PLAIN = frozenset({str, int})
_YES = frozenset({"true", "yes"})
_NO = frozenset({"false", "no"})


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two numbers are equal if they differ by at most ``absolute`` or by ``relative`` of the larger one."""

    relative: float = 1e-6
    absolute: float = 1e-9


EXACT = Tolerance()


def is_number(value: object) -> bool:
    """Whether a value is an integer or a float, and no boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def clean(value: Any) -> Any:
    """A scalar without the wrappers of numpy, pandas and datetime; text trimmed and in NFC.

    Examples
    --------
    >>> clean("  Zu\\u0308rich ")
    'Zürich'
    """
    if isinstance(value, str):
        text = value.strip()
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return clean(value.item())
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    return str(value)


def numbers_equal(left: float, right: float, tolerance: Tolerance = EXACT) -> bool:
    """Compare two numbers: integers exactly, unless the case states an absolute tolerance.

    Examples
    --------
    >>> numbers_equal(16000, 16000.0), numbers_equal(3, 4), numbers_equal(float("nan"), float("nan"))
    (True, False, True)
    """
    if isinstance(left, int) and isinstance(right, int) and tolerance.absolute < 1e-6:
        return left == right
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=tolerance.relative, abs_tol=tolerance.absolute)


def texts_equal(left: str, right: str, tolerance: Tolerance = EXACT) -> bool:
    """Compare two texts exactly, or as numbers if both are numbers without leading zeros."""
    if left == right:
        return True
    if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
        return numbers_equal(float(left), float(right), tolerance)
    return False


def cells_equal(left: Any, right: Any, tolerance: Tolerance = EXACT) -> bool:
    """Compare two cells, whatever they hold.

    A boolean equals the words true, yes, false and no. Nested lists are compared as multisets.

    Examples
    --------
    >>> cells_equal(True, "Yes"), cells_equal(1, True), cells_equal("10.0", "10"), cells_equal(7, "7")
    (True, False, True, False)
    """
    if type(left) is type(right) and type(left) in _PLAIN:
        # Nearly all cells of nearly all answers: no cleaning can part two equal ones, nor join two integers.
        if left == right:
            return True
        if type(left) is int:
            return numbers_equal(left, right, tolerance)
    if isinstance(left, (list, tuple)) or isinstance(right, (list, tuple)):
        return _lists_equal(left, right, tolerance)
    if isinstance(left, Mapping) or isinstance(right, Mapping):
        return _mappings_equal(left, right, tolerance)
    left, right = clean(left), clean(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return _truth(left) is not None and _truth(left) == _truth(right)
    if is_number(left) and is_number(right):
        return numbers_equal(left, right, tolerance)
    if isinstance(left, str) and isinstance(right, str):
        return texts_equal(left, right, tolerance)
    return left is None and right is None


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.lower().rstrip(".!")
        return True if word in _YES else False if word in _NO else None
    return None


def _lists_equal(left: Any, right: Any, tolerance: Tolerance) -> bool:
    if not isinstance(left, (list, tuple)) or not isinstance(right, (list, tuple)) or len(left) != len(right):
        return False
    return multisets_equal(left, right, tolerance)


def _mappings_equal(left: Any, right: Any, tolerance: Tolerance) -> bool:
    if not isinstance(left, Mapping) or not isinstance(right, Mapping) or left.keys() != right.keys():
        return False
    return all(cells_equal(left[key], right[key], tolerance) for key in left)


def multisets_equal(left: Sequence[Any], right: Sequence[Any], tolerance: Tolerance = EXACT) -> bool:
    """Compare two sequences of cells without regard to order, each element used once."""
    remaining = list(right)
    for item in left:
        match = next((i for i, other in enumerate(remaining) if cells_equal(item, other, tolerance)), None)
        if match is None:
            return False
        del remaining[match]
    return not remaining
