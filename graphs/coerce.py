"""When text becomes a number, and what counts as missing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"-?(?:0|[1-9]\d*),\d+")
_INTEGER_DIGITS = 18  # wider digit strings are identifiers, and would not fit 64 bits in a table


def coerce_texts(values: Sequence[str]) -> list[Any] | None:
    """A whole column as numbers, or ``None`` if it stays text.

    Parameters
    ----------
    values : sequence of str
        Every non-empty value of the column.

    Returns
    -------
    list or None
        Integers where all are integers, else floats; ``None`` where one value is no number or has a leading zero.

    Examples
    --------
    >>> coerce_texts(["1", "20"])
    [1, 20]
    >>> coerce_texts(["1", "2.5"])
    [1.0, 2.5]
    >>> coerce_texts(["7", "007"]) is None
    True
    >>> coerce_texts(["1", "NA"]) is None
    True
    """
    # Each text once: columns of measurements repeat themselves, and the look-up costs little where they do not.
    distinct = list(dict.fromkeys(values))
    numbers = _numbers(distinct)
    if numbers is None:
        return None
    if len(distinct) == len(values):
        return numbers
    return list(map(dict(zip(distinct, numbers, strict=True)).__getitem__, values))


def _numbers(texts: list[str]) -> list[Any] | None:
    if not texts or len(max(texts, key=len)) > 40:
        return None
    try:
        integers = list(map(int, texts))
    except ValueError:
        integers = []
    # `int` also takes "007", "+5", " 5" and "1_000": only what prints the same again is an integer.
    if integers and list(map(str, integers)) == texts:
        return integers if max(map(abs, integers)) < 10**_INTEGER_DIGITS else None
    if not all(map(_NUMBER.fullmatch, texts)):
        return None
    numbers = list(map(float, texts))
    return numbers if all(map(math.isfinite, numbers)) else None


def coerce_decimal_commas(values: Sequence[str]) -> list[Any] | None:
    """A column of numbers with a decimal comma as floats, or ``None``.

    Examples
    --------
    >>> coerce_decimal_commas(["1,5", "2"])
    [1.5, 2.0]
    """
    if not any("," in value for value in values):
        return None
    if not all(_DECIMAL_COMMA.fullmatch(value) or _NUMBER.fullmatch(value) for value in values):
        return None
    return [float(value.replace(",", ".")) for value in values]


def clean_value(value: Any) -> Any:
    """A value in normal form, or ``None`` where it counts as missing.

    Examples
    --------
    >>> clean_value(float("nan")) is None, clean_value(""), clean_value({"a": None, "b": 1})
    (True, None, {'b': 1})
    """
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return value if value else None
    if isinstance(value, (int, float)):
        return None if isinstance(value, float) and math.isnan(value) else value
    if isinstance(value, dict):
        cleaned = ((str(key), clean_value(item)) for key, item in value.items())
        return {key: item for key, item in cleaned if item is not None}
    if isinstance(value, (list, tuple, set, frozenset)):
        members = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [item for item in map(clean_value, members) if item is not None]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        return clean_value(value.item())
    return str(value) or None


def clean_records(records: Sequence[dict[str, Any]], columns: dict[str, list[Any]], missing: Any) -> None:
    """Bring attribute dicts into normal form, in place.

    Parameters
    ----------
    records : sequence of dict
        Attributes per node or link.
    columns : dict of str to list
        The same values by attribute, with ``missing`` for gaps; changed along with the records.
    missing : object
        The mark of a gap.

    Notes
    -----
    Most columns hold plain numbers and non-empty text only; they are found by their set of types and left alone.
    """
    gap = type(missing)
    for name, values in list(columns.items()):
        types = set(map(type, values)) - {gap}
        plain = types <= {int, bool} or (types == {str} and "" not in values)
        if plain or (types == {float} and gap not in map(type, values) and not any(map(math.isnan, values))):
            continue
        kept = False
        for index, value in enumerate(values):
            if value is missing:
                continue
            cleaned = clean_value(value)
            if cleaned is None:
                del records[index][name]
                values[index] = missing
            else:
                kept = True
                if cleaned is not value:
                    records[index][name] = values[index] = cleaned
        if not kept:
            del columns[name]
