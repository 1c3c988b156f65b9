"""One token per network entity, for documents and questions alike, that a full-text index cannot split."""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from importlib.resources import files

from nl2net.incident.language import cable_aliases, fold_name
from nl2net.incident.records import TypedValue
from nl2net.incident.typed import typed_values

_IDENTIFIER = re.compile(r"\b(?=[\w./-]*\d)(?=[\w./-]*[A-Za-z])[A-Za-z0-9]+(?:[-./][A-Za-z0-9]+)*\b")
_ADDRESS = re.compile(
    r"(?<![\w.:/])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})(?![\w:/]|\.\d)"
)
_CABLE_WORD = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*")
_TOKEN_KINDS = frozenset({"prefix", "asn", "date", "time"})
_WIDEST = {4: 8, 6: 16}


def prefix_token(prefix: str) -> str:
    """A reversible token of letters and digits.

    Examples
    --------
    >>> prefix_token("208.65.153.0/24"), prefix_token("2001:db8::/32")
    ('pfx4d0419900l24', 'pfx620010db8000000000000000000000000l32')
    """
    network = ipaddress.ip_network(prefix, strict=False)
    return f"pfx{network.version}{network.network_address.packed.hex()}l{network.prefixlen}"


def prefix_of_token(token: str) -> str:
    """The prefix that `prefix_token` was given.

    Examples
    --------
    >>> prefix_of_token("pfx4d0419900l24")
    '208.65.153.0/24'
    """
    match = re.fullmatch(r"pfx([46])([0-9a-f]+)l(\d+)", token)
    if match is None:
        raise ValueError(f"no prefix token: {token!r}")
    return f"{ipaddress.ip_address(bytes.fromhex(match.group(2)))}/{match.group(3)}"


def covering_tokens(prefix: str) -> list[str]:
    """Tokens of the prefix and of all that cover it, down to /8 or /16.

    Examples
    --------
    >>> len(covering_tokens("208.65.153.0/24"))
    17
    """
    network = ipaddress.ip_network(prefix, strict=False)
    lengths = range(network.prefixlen, min(_WIDEST[network.version], network.prefixlen) - 1, -1)
    return [prefix_token(str(network.supernet(new_prefix=length))) for length in lengths]


def _value_tokens(value: TypedValue) -> list[str]:
    if value.kind == "asn":
        return [f"asn{value.value}"]
    if value.kind == "prefix":
        return covering_tokens(value.value)
    if value.kind == "time":
        return [f"clock{value.value // 60:04d}"]
    if value.kind == "date":
        year, month, day = value.value
        tokens = [f"year{year}"] if year else []
        tokens += [f"month{year}x{month:02d}"] if year and month else []
        tokens += [f"day{month:02d}x{day:02d}"] if month and day else []
        return tokens
    return []


@cache
def _first_words() -> frozenset[str]:
    """Folded words that a cable name can begin with, so that most words of a text are passed over at once."""
    lines = (files("nl2net.incident") / "data" / "cables.txt").read_text(encoding="utf-8").splitlines()
    names = [name for line in lines if line and not line.startswith("#") for name in line.split("|")]
    return frozenset(fold_name(match.group()) for name in names if (match := _CABLE_WORD.search(name)))


def cable_mentions(text: str) -> list[str]:
    """Folded first names of the cable systems that a text names.

    Examples
    --------
    >>> cable_mentions("SMW4 and Europe India Gateway") == [fold_name("SEA-ME-WE 4"), "eig"]
    True
    """
    aliases = cable_aliases()
    heads = _first_words()
    words = list(_CABLE_WORD.finditer(text))
    found: list[str] = []
    place = 0
    while place < len(words):
        # Names of cables begin with a capital or a digit, so most words are passed over without a look.
        begins = not words[place].group().islower() and fold_name(words[place].group()) in heads
        for size in (5, 4, 3, 2, 1) if begins else ():
            chunk = text[words[place].start() : words[min(place + size, len(words)) - 1].end()]
            name = aliases.get(fold_name(chunk)) if place + size <= len(words) else None
            # "ace" and "falcon" are words, so a name must be written as one.
            if name and (chunk != chunk.lower()):
                found.append(name)
                place += size - 1
                break
        place += 1
    return found


def entity_tokens(text: str, *, covering: bool = True) -> list[str]:
    """Tokens of all entities in a text.

    Parameters
    ----------
    text : str
        A passage or a question.
    covering : bool
        Whether a prefix also gives the tokens of the prefixes around it.

    Examples
    --------
    >>> entity_tokens("AS 17557 at 18:47 UTC")
    ['asn17557', 'clock1127']
    >>> set(entity_tokens("SMW4")) & set(entity_tokens("SEA-ME-WE 4"))
    {'cableseamewe4'}
    """
    tokens: list[str] = []
    for value in typed_values(text, kinds=_TOKEN_KINDS):
        found = _value_tokens(value)
        tokens += found if covering or value.kind != "prefix" else found[:1]
    tokens += [
        f"ip{ipaddress.ip_address(m.group()).packed.hex()}" for m in _ADDRESS.finditer(text) if _is_address(m.group())
    ]
    tokens += [f"cable{name}" for name in cable_mentions(text)]
    plain = [match.group() for match in _IDENTIFIER.finditer(text)]
    tokens += [
        f"id{fold_name(word)}" for word in plain if not re.fullmatch(r"AS\d+|\d+[A-Za-z]{1,2}|[\d.:/a-f]+", word)
    ]
    return list(dict.fromkeys(tokens))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
