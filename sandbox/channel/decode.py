"""Decode what a child sent. The bytes are hostile: every fault is one error class that never echoes them."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import ipaddress
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from nl2net.sandbox.channel.values import GraphValue, TableValue, ViewValue
from nl2net.sandbox.outcome import Limits

# A token costs the parent about 60 bytes; this many bounds what a forged frame can make it allocate.
MOST_TOKENS = 12_000_000
_INTEGER_BITS = 4096
_DEPTH_SLACK = 12


class BadFrame(Exception):
    """The bytes are not what an honest child sends. Carries no part of them."""


def _no_constant(_: str) -> Any:
    raise BadFrame("a constant that JSON does not have")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadFrame("a number out of range")
    return number


def _small_integer(text: str) -> int:
    if len(text) > 20:
        raise BadFrame("a long number")
    return int(text)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadFrame("a key that stands twice")
    return found


def parse_object(body: bytes, keys: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """Parse a JSON object with exactly these keys and value types.

    Raises
    ------
    BadFrame
        Anything else.

    Examples
    --------
    >>> parse_object(b'{"a": 1}', {"a": int})
    {'a': 1}
    >>> parse_object(b'{"a": NaN}', {"a": float})
    Traceback (most recent call last):
    ...
    nl2net.sandbox.channel.decode.BadFrame: a constant that JSON does not have
    """
    if sum(body.count(mark) for mark in (b",", b"[", b"{", b":")) > MOST_TOKENS:
        raise BadFrame("too many values")
    try:
        found = json.loads(
            body.decode("utf-8"),
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_small_integer,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError):
        raise BadFrame("not the JSON of a report") from None
    if type(found) is not dict or found.keys() != keys.keys():
        raise BadFrame("other fields than those of a report")
    for name, kinds in keys.items():
        allowed = kinds if isinstance(kinds, tuple) else (kinds,)
        if type(found[name]) not in allowed:
            raise BadFrame(f"field {name} has another type")
    return found


class Decoder:
    """Turns tagged JSON into values within the caps of one run."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Decode one value; raises ``BadFrame`` on any shape that the encoder does not write."""
        if depth > self.limits.depth + _DEPTH_SLACK:
            raise BadFrame("nested too deeply")
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind is list:
            return [self.decode(item, depth + 1) for item in value]
        if kind is dict:
            return self._object(value, depth)
        return value

    def _text(self, value: str) -> str:
        if len(value) > self.limits.text_chars or any("\ud800" <= mark <= "\udfff" for mark in value):
            raise BadFrame("a text that no encoder writes")
        return value

    def _object(self, value: dict[str, Any], depth: int) -> Any:
        tags = [key for key in value if key.startswith("$")]
        if not tags:
            return {self._text(key): self.decode(item, depth + 1) for key, item in value.items()}
        handler = _TAGS.get(tags[0])
        if len(value) != 1 or handler is None:
            raise BadFrame("an unknown tag")
        try:
            return handler(self, value[tags[0]], depth)
        except (ValueError, TypeError, ArithmeticError, decimal.InvalidOperation):
            raise BadFrame(f"a malformed {tags[0][1:]}") from None

    def members(self, value: Any, depth: int) -> list[Any]:
        """Decode a list, and nothing but a list."""
        if type(value) is not list:
            raise BadFrame("a list was expected")
        return [self.decode(item, depth + 1) for item in value]


def _integer(decoder: Decoder, value: Any, depth: int) -> Any:
    if type(value) is not str or len(value) > _INTEGER_BITS // 4 + 3 or not value.lstrip("-").startswith("0x"):
        raise BadFrame("a malformed int")
    return int(value, 16)


def _float(decoder: Decoder, value: Any, depth: int) -> Any:
    if value not in ("nan", "inf", "-inf"):
        raise BadFrame("a malformed float")
    return float(value)


def _complex(decoder: Decoder, value: Any, depth: int) -> Any:
    real, imaginary = decoder.members(value, depth)
    return complex(real, imaginary)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise BadFrame("a member that cannot stand in a set or as a key") from None
    return value


def _set(decoder: Decoder, value: Any, depth: int) -> Any:
    return frozenset(_hashable(_frozen(item)) for item in decoder.members(value, depth))


def _frozen(value: Any) -> Any:
    return tuple(value) if type(value) is list else value


def _pairs(decoder: Decoder, value: Any, depth: int) -> Any:
    found: dict[Any, Any] = {}
    for pair in value if type(value) is list else [None]:
        if type(pair) is not list or len(pair) != 2:
            raise BadFrame("a malformed pair")
        found[_hashable(decoder.decode(pair[0], depth + 1))] = decoder.decode(pair[1], depth + 1)
    return found


def _time(parse: Callable[[str], Any]) -> Callable[[Decoder, Any, int], Any]:
    def decode(decoder: Decoder, value: Any, depth: int) -> Any:
        if type(value) is not str or len(value) > 64:
            raise BadFrame("a malformed time")
        return parse(value)

    return decode


def _timedelta(decoder: Decoder, value: Any, depth: int) -> Any:
    if type(value) not in (int, float):
        raise BadFrame("a malformed duration")
    return dt.timedelta(seconds=value)


_ADDRESSES: Mapping[str, Callable[[str], Any]] = {
    kind.__name__: kind
    for kind in (
        ipaddress.IPv4Address,
        ipaddress.IPv6Address,
        ipaddress.IPv4Network,
        ipaddress.IPv6Network,
        ipaddress.IPv4Interface,
        ipaddress.IPv6Interface,
    )
}


def _address(decoder: Decoder, value: Any, depth: int) -> Any:
    kind, text = decoder.members(value, depth)
    if kind not in _ADDRESSES or type(text) is not str:
        raise BadFrame("a malformed address")
    return _ADDRESSES[kind](text)


def _decimal(decoder: Decoder, value: Any, depth: int) -> Any:
    if type(value) is not str or len(value) > 2000:
        raise BadFrame("a malformed decimal")
    return decimal.Decimal(value)


def _fraction(decoder: Decoder, value: Any, depth: int) -> Any:
    numerator, denominator = decoder.members(value, depth)
    if type(numerator) is not int or type(denominator) is not int:
        raise BadFrame("a malformed fraction")
    return fractions.Fraction(numerator, denominator)


def _exact_keys(value: Any, keys: set[str]) -> dict[str, Any]:
    if type(value) is not dict or value.keys() != keys:
        raise BadFrame("a malformed record")
    return value


def _table(decoder: Decoder, value: Any, depth: int) -> TableValue:
    found = _exact_keys(value, {"kind", "columns", "index_names", "index", "data"})
    columns = decoder.members(found["columns"], depth)
    index = decoder.members(found["index"], depth)
    data = decoder.members(found["data"], depth)
    names = decoder.members(found["index_names"], depth)
    straight = all(type(column) is list and len(column) == len(index) for column in data)
    if found["kind"] not in ("frame", "series") or len(data) != len(columns) or not straight:
        raise BadFrame("a malformed table")
    rows = zip(*data, strict=True) if data else (() for _ in index)
    return TableValue(tuple(columns), tuple(rows), tuple(index), tuple(names), found["kind"])


def _graph(decoder: Decoder, value: Any, depth: int) -> GraphValue:
    found = _exact_keys(value, {"directed", "multigraph", "nodes", "links"})
    directed, multi = found["directed"], found["multigraph"]
    if type(directed) is not bool or type(multi) is not bool:
        raise BadFrame("a malformed graph")
    nodes = [tuple(node) for node in decoder.members(found["nodes"], depth) if type(node) is list]
    links = [tuple(link) for link in decoder.members(found["links"], depth) if type(link) is list]
    width = 4 if multi else 3
    if len(nodes) != len(found["nodes"]) or len(links) != len(found["links"]):
        raise BadFrame("a malformed graph")
    for row, length in [*((node, 2) for node in nodes), *((link, width) for link in links)]:
        if len(row) != length or type(row[-1]) is not dict:
            raise BadFrame("a malformed graph")
        for part in row[:-1]:
            _hashable(part)
    return GraphValue(directed, multi, tuple(nodes), tuple(links))


_TAGS: Mapping[str, Callable[[Decoder, Any, int], Any]] = {
    "$int": _integer,
    "$float": _float,
    "$complex": _complex,
    "$tuple": lambda decoder, value, depth: tuple(decoder.members(value, depth)),
    "$set": _set,
    "$view": lambda decoder, value, depth: ViewValue(tuple(decoder.members(value, depth))),
    "$array": lambda decoder, value, depth: decoder.decode(value, depth + 1),
    "$index": lambda decoder, value, depth: decoder.members(value, depth),
    "$pairs": _pairs,
    "$datetime": _time(dt.datetime.fromisoformat),
    "$date": _time(dt.date.fromisoformat),
    "$time": _time(dt.time.fromisoformat),
    "$timedelta": _timedelta,
    "$address": _address,
    "$decimal": _decimal,
    "$fraction": _fraction,
    "$table": _table,
    "$graph": _graph,
}
