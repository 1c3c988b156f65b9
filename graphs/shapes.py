"""Shapes of texts: what values look like, without any of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address, NetmaskValueError, ip_network

_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
_FQDN = re.compile(r"(?=.{4,253}\Z)(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.){2,}[A-Za-z]{2,24}\.?")
_COUNTRY = re.compile(r"[A-Z]{2}")
_URL = re.compile(r"https?://\S+")
_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w]|_", re.UNICODE)
_NUMBER_TEXT = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:[,.]\d{3})+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?")


def _is(kind: type, text: str) -> bool:
    try:
        kind(text)
    except (AddressValueError, ValueError):
        return False
    return True


def _is_cidr(text: str) -> bool:
    if "/" not in text:
        return False
    try:
        ip_network(text, strict=False)
    except (AddressValueError, NetmaskValueError, ValueError):
        return False
    return True


_TESTS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("IPv4", lambda text: _is(IPv4Address, text)),
    ("IPv6", lambda text: _is(IPv6Address, text)),
    ("CIDR", _is_cidr),
    ("MAC", _MAC.fullmatch),
    ("ISO date", _DATE.fullmatch),
    ("ISO time", _TIME.fullmatch),
    ("URL", _URL.fullmatch),
    ("country code", _COUNTRY.fullmatch),
    ("FQDN", _FQDN.fullmatch),
)


def is_address_like(text: str) -> bool:
    """Whether a text is an address, prefix or hardware address.

    Examples
    --------
    >>> is_address_like("10.0.0.0/8"), is_address_like("Internal")
    (True, False)
    """
    return any(test(text) for name, test in _TESTS if name in ("IPv4", "IPv6", "CIDR", "MAC"))


def signature(text: str) -> str:
    """Runs of letters as ``a``, of digits as ``1``, everything else as it stands.

    Examples
    --------
    >>> signature("leaf-12.eth0")
    'a-1.a1'
    >>> signature("New York")
    'a a'
    """
    pieces: list[str] = []
    for piece in _PIECE.findall(text[:200]):
        kind = "1" if piece[0].isdecimal() else "a" if piece[0].isalpha() else piece
        # Letters and digits in turn are one word: "s2c1" and "ju1" are both `a1`.
        if pieces and kind in ("a", "1") and pieces[-1] in ("a", "1", "a1"):
            pieces[-1] = "a1" if kind != pieces[-1] else kind
        else:
            pieces.append(kind)
    words = "".join(pieces)
    return re.sub(r"[^a1.\-_:/ @]", "*", words)


_WORDS = {"a": "letters", "1": "digits", "a1": "letters+digits"}
_SEPARATORS = {".": "dots", "-": "hyphens", "_": "underscores", ":": "colons", "/": "slashes", " ": "blanks", "@": "@"}


def _describe(one: str) -> str:
    parts = re.findall(r"a1|a|1|.", one)
    return "".join(f"<{_WORDS[part]}>" if part in _WORDS else part for part in parts)


def _usable(one: str) -> str:
    """The description of a signature, or an empty text where it says nothing worth a line."""
    return _describe(one) if len(one) <= 40 and "*" not in one and one != "a" and " " not in one else ""


_CLASSES = {"a": r"[^\W\d_]+", "1": r"\d+", "a1": r"(?=[^\W_]*\d)(?=\d*[^\W\d_])[^\W_]+"}


def _pattern(one: str) -> re.Pattern[str]:
    """An expression for texts of a signature, ten times as fast as making the signature of each."""
    parts = re.findall(r"a1|a|1|.", one)
    return re.compile("".join(_CLASSES.get(part, re.escape(part)) for part in parts))


def text_shape(values: Iterable[str]) -> str:
    """The shape that all texts have, or an empty text.

    Parameters
    ----------
    values : iterable of str
        All distinct values.

    Returns
    -------
    str
        ``IPv4``, ``IPv6``, ``CIDR``, ``MAC``, ``ISO date``, ``ISO time``, ``URL``, ``country code``, ``FQDN``, a
        pattern such as ``<letters+digits>.<digits>``, or ``words joined by dots``; empty where nothing holds for all.

    Examples
    --------
    >>> text_shape(["10.0.0.1", "10.0.0.2"])
    'IPv4'
    >>> text_shape(["leaf1", "spine12"])
    '<letters+digits>'
    >>> text_shape(["a.b", "a.b.c1"])
    'words joined by dots'
    """
    texts = values if isinstance(values, Sequence) else list(values)
    if not texts:
        return ""
    first = texts[:20]
    for name, test in _TESTS:
        if all(test(text) for text in first) and all(test(text) for text in texts):
            return name
    signatures = {signature(text) for text in texts[:200]}
    if len(signatures) == 1 and all(map(_pattern(next(iter(signatures))).fullmatch, texts)):
        return _usable(next(iter(signatures)))
    if len(signatures) <= 200:
        signatures = set(map(signature, texts))
    if len(signatures) == 1:
        return _usable(signatures.pop())
    if any("*" in one for one in signatures) or len(signatures) > 200:
        return ""
    used = {mark for one in signatures for mark in one if mark in _SEPARATORS}
    if len(used) == 1 and " " not in used and all(used & set(one) for one in signatures):
        return f"words joined by {_SEPARATORS[used.pop()]}"
    return ""


def matches_shape(text: str, shape: str) -> bool:
    """Whether one text has a shape that `text_shape` gave; true for an empty shape."""
    if not shape:
        return True
    for name, test in _TESTS:
        if name == shape:
            return bool(test(text))
    if shape.startswith("words joined by "):
        mark = {word: sign for sign, word in _SEPARATORS.items()}[shape.removeprefix("words joined by ")]
        return mark in text
    return _describe(signature(text)) == shape


def looks_numeric(values: Sequence[str]) -> bool:
    """Whether all texts look like numbers, leading zeros and thousands marks included."""
    return bool(values) and all(map(_NUMBER_TEXT.fullmatch, values))
