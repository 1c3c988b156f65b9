"""Names and telling words of questions."""

from __future__ import annotations

import re

from nl2net.incident.language import MONTHS, STOP, stems, terms_of
from nl2net.incident.text import word_set
from nl2net.incident.typed import typed_values

# Words in capitals that name no subject of an incident.
_COMMON = word_set(
    "as asn ases bgp utc gmt ip isp isps ipv4 ipv6 dns mrt ddos aedt aest est edt et pst pdt pt cet cest "
    "bst ist jst gb tb mb km uk us eu usa i a the in on at from how when who why which what where list "
    "name give build did was were is are internet january february local central eastern pacific explain "
    "do does and or of for to monday tuesday wednesday thursday friday saturday sunday compute count iot "
    "vpn tcp udp http https tls ssl api ceo cto"
) | frozenset(MONTHS)

EMPTY = stems(
    "done thought believed known utc gmt time date number row happen list corpus question aedt est cet "
    "measured recorded"
)


def slot_terms(text: str) -> tuple[str, ...]:
    """Stems of a part of a question without its dates, numbers of entities and times, which are compared by type.

    Examples
    --------
    >>> slot_terms("the route leak of 24 June 2019 from AS64496")
    ('rout', 'leak')
    """
    rest = list(text)
    for value in typed_values(text):
        if value.kind in ("date", "asn", "prefix", "time"):
            rest[value.start : value.end] = " " * (value.end - value.start)
    return tuple(term for term in dict.fromkeys(terms_of("".join(rest))) if term not in EMPTY)


def names_of(text: str) -> tuple[str, ...]:
    """Named subjects of a text: runs of words in capitals and identifiers.

    Examples
    --------
    >>> names_of("When did the Verizon/DQE leak of June 2019 hit Example Telecom in the Red Sea?")
    ('Verizon', 'DQE', 'Example Telecom', 'Red Sea')
    """
    found: list[str] = []
    pattern = (
        r"[A-Z][\w&’'+-]*(?:\s+(?:(?:of|the|and|de)\s+)?(?:[A-Z][\w&’'+-]*|\d{1,2}\b(?=\s*[a-z?,.]|$)))*|\b[a-z]+\d+\b"
    )
    for match in re.finditer(pattern, re.sub(r"[/]", " , ", text)):
        for part in _name_parts(match.group()):
            if part and part not in found:
                found.append(part)
    return tuple(found)


def _name_parts(run: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for word in run.split():
        bare = re.sub(r"[’']s$", "", word).strip("-'’")
        if (
            bare.lower() in _COMMON
            or bare.lower() in STOP
            or re.fullmatch(r"AS\d+", bare)
            or (bare.isdigit() and not parts[-1])
        ):
            parts.append([])
        elif bare in ("of", "the", "and", "de"):
            # "AT&T and Verizon" are two names, "Bank of Norland" is one.
            parts.append([]) if bare != "of" else parts[-1].append(bare)
        else:
            parts[-1].append(bare)
    return [" ".join(part).removesuffix(" of").removeprefix("of ") for part in parts if part and part != ["of"]]
