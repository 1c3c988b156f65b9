"""How well a claim answers a part of a question that no typed value can fill: a name, a place, a cause, a statement."""

from __future__ import annotations

import re

from nl2net.incident.binding import is_unnamed
from nl2net.incident.claims import mentions
from nl2net.incident.language import (
    MONTHS,
    NUMBER_WORDS,
    STOP,
    countries,
    is_event_word,
    related,
    stem,
    stems,
    terms_of,
)
from nl2net.incident.records import Claim, Slot

_CAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|caused?(?: by)?|cause was|reasons? (?:was|is|were|for|given)|root cause|trigger\w*|"
    r"led to|leads? to|result(?:ed)? (?:of|from|in)|owing to|blamed?|"
    r"after (?:a|an|the|one|its|staff|engineers?)\b|when (?:a|an|the|staff|engineers?)\b|so that|"
    r"so (?:many|much|few)\b.{3,80}\bthat|"
    r"since (?:the|an?|"
    r"its|both|no|it|they|staff)\b|which (?:made|"
    r"meant|let|changed|win)|"
    r"misconfigur\w+|mistake|human error|by (?:longest|accident)|in part because|thanks to|removed|stemmed|stems "
    r"from|traced to)\b",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"\b(?:because(?: of)?|due to|caused (?:by|the|an?)|cause (?:was|of)|reasons? (?:was|is|were|for)|root cause|"
    r"triggered|led to|result(?:ed)? (?:of|from|in)|owing to|blamed|"
    r"stemmed|traced to|thanks to|in part because|which win|misconfigur\w+|human error|by longest)\b",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"\b(?:suspect\w*|attribut\w+|blam\w+|scrutin\w+|arrest\w*|accus\w+|responsib\w+|culprit|claimed|charged with|"
    r"convicted|behind the)\b",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"\b(?:had (?:(?!been)\w+ed|broken|gone)|had been (?!out|suspected)\w+(?:ed|en)|fail\w*|error|fault|bug|expired|"
    r"crash\w*|flood\w*|overload\w*)\b",
    re.IGNORECASE,
)
# What was told as earlier than the event is a candidate for its cause, unless it tells of people and plans.
_EARLIER = re.compile(
    r"\bhad (?:(?!been)\w+ed|broken|gone|risen|fallen|grown|taken|caught|run|left|lost)\b|"
    r"\bhad been (?!out|suspected|planned|warned|informed|repaired|restored|"
    r"expected|reported|"
    r"attributed|scheduled|told)\w+(?:ed|en|ut|et)\b",
    re.IGNORECASE,
)
_CAUSAL = stems("cause trigger lead")
PLAIN = stems("make use run have call build operate own do get take")
_SPEECH = re.compile(
    r"\b(?:said|says|wrote|writes|stated|states|claimed|claims|told|called|calls|held|reported|announced|according to|"
    r"explained|denied|admitted|promised|blamed|warned)\b",
    re.IGNORECASE,
)


def _is_part(part: str, named: frozenset[str]) -> bool:
    """Whether a piece of "Verizon/DQE" is a name; the stem of the whole may have lost its last letter."""
    return part in named or (len(part) > 1 and any(name[:-1] == part for name in named))


def telling_terms(slot: Slot) -> tuple[str, ...]:
    """Terms of a slot without names, and without the words that only say which kind of answer is wanted."""
    named = frozenset(t for name in slot.anchors for t in terms_of(name))
    terms = dict.fromkeys(t for t in slot.terms if not all(_is_part(part, named) for part in re.split(r"[/-]", t)))
    if slot.type == "cause":
        kept = [t for t in terms if t not in related(stem("trigger")) | stems("blame behind")]
        return tuple(kept or terms)
    if slot.type == "name":
        kept = [t for t in terms if t not in _CAUSAL]
        return tuple(kept or terms)
    if slot.type == "place":
        drop = (
            related("country")
            | related(stem("join"))
            | stems(" ".join(NUMBER_WORDS))
            | stems("city place location based located situated stand lie")
        )
        return tuple(t for t in terms if t not in drop)
    return tuple(terms)


def open_fit(slot: Slot, claim: Claim) -> float:
    """Bonus of a claim for a slot without a typed value; negative if it cannot answer it."""
    quote = claim.quote
    if slot.type == "cause":
        return _cause_fit(slot, claim)
    if slot.type == "place":
        return _place_fit(slot, quote)
    if slot.type == "said":
        return 0.2 if _SPEECH.search(quote) and any(mentions(quote, name) for name in slot.anchors) else -1.0
    if slot.type == "name":
        return _name_fit(slot, claim)
    if slot.type == "actor":
        if _ATTRIBUTION.search(quote):
            return 0.25
        return 0.05 if new_names(slot, quote) else -1.0
    if slot.type == "size":
        return 0.1 if claim.values else -1.0
    return 0.0


def _place_fit(slot: Slot, quote: str) -> float:
    """Countries before other names that stand after a word of place."""
    if any(mentions(quote, name) for name in countries()):
        return 0.2
    names = re.findall(r"\b(?:in|at|near|off|from|of|between|to)\s+(?:the\s+)?([A-Z][\w'-]+)", quote)
    asked = slot.text.casefold()
    return 0.1 if [name for name in names if name.casefold() not in asked and name.lower() not in MONTHS] else -1.0


def new_names(slot: Slot, quote: str) -> list[str]:
    """Names in a quote that the slot does not hold already.

    Examples
    --------
    >>> new_names(Slot("ship", "name", "Which ship cut the North cable"), "The anchor of the Marja Lund cut it.")
    ['Marja Lund']
    """
    found = re.findall(
        r"(?<![.!?] )(?<!^)\b[A-Z][\w&-]*(?:[ /][A-Z][\w&-]*)*|^[A-Z][\w&-]*(?:[ /][A-Z][\w&-]+)+|\b\w*\d+[A-Za-z]\w*",
        quote,
    )
    asked = slot.text.casefold()
    fresh = [name for name in found if name.casefold() not in asked and len(name) > 1]
    fresh = [name for name in fresh if name.lower() not in STOP]
    # Zones, clock times, AS numbers and the acronyms of the trade name nobody.
    return [
        name for name in fresh if not re.fullmatch(r"[A-Z]{2,4}T|UTC|AS\d*|BGP|ISP|DNS|IP|DDoS|\d+[apAP][mM]", name)
    ]


def _name_fit(slot: Slot, claim: Claim) -> float:
    """The thing is called by its kind, or a name stands there that the question does not hold.

    And what it did is told.
    """
    head = related(slot.nouns[-1]) if slot.nouns else frozenset()
    kind = bool(head & claim.terms)
    names = bool(new_names(slot, claim.quote))
    if not names and is_unnamed(slot, claim.quote):
        return -1.0
    deeds = [t for t in telling_terms(slot) if t not in slot.nouns and not is_event_word(t)]
    done = [
        t for t in deeds if related(t) & (claim.terms | (frozenset(terms_of(claim.context)) if kind else frozenset()))
    ]
    if not (kind or (names and deeds)) or (deeds and not done):
        return -1.0
    return 0.1 * kind + 0.08 * names


def _cause_fit(slot: Slot, claim: Claim) -> float:
    """Explicit causes before failures told as earlier ("had failed") before mere "after"; a return tells no cause."""
    quote = claim.quote
    back = bool(stems("return restore resume recover come") & claim.terms)
    if _EXPLICIT.search(quote):
        return 0.3
    if _EARLIER.search(quote) and not back:
        return 0.25
    if _CAUSE.search(quote) and not back:
        return 0.2
    said = frozenset().union(*(related(term) for term in slot.terms))
    words = [m.group().split()[-1] for m in _FAILURE.finditer(quote)]
    # "What took down the backbone": a sentence that tells the same deed names what did it.
    deeds = [
        t
        for t in telling_terms(slot)
        if t not in slot.nouns and not (is_event_word(t) and t in terms_of(claim.heading))
    ]
    told = sum(bool(related(term) & claim.terms) for term in deeds)
    active = re.match(r"^(?:what|which)\b(?!.*\b(?:caus|trigger|reason))", slot.text, re.IGNORECASE)
    if active and not back and told >= 0.6 * len(deeds) > 0:
        return 0.15
    return 0.12 if any(stem(word) not in said for word in words) else -1.0
