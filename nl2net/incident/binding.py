"""Whether a value in a sentence belongs to what is asked: to its name, its label, its end of a span, to fact at all."""

from __future__ import annotations

import re

from nl2net.incident.claims import clause_of, is_reporting, mentions
from nl2net.incident.language import related, stem
from nl2net.incident.records import Claim, Slot, TypedValue
from nl2net.incident.typed import typed_values

_LABEL = re.compile(
    r"\b(?P<noun>halls?|zones?|sites?|phases?|regions?|pairs?|racks?|units?|pumps?|ports?|cores?|waves?|stages?|segments?|"
    r"lines?|blocks?|buildings?|rooms?|floors?|clusters?|rings?)\s+"
    r"(?P<list>(?:[A-Z]|\d{1,3})(?:(?:, | and | or |, and )(?:[A-Z]|\d{1,3}))*)\b"
    r"(?![\w:.%/-]*\d)"
)
_UNREAL = re.compile(
    r"\b(?:would(?! not)|could have|might|should|if|unless|when it would|a limit of|up to a maximum of|planned to|"
    r"is to|are to)\b",
    re.IGNORECASE,
)
_BOUND = frozenset({"count", "percent", "money", "length", "amount"})
_NAME = r"[A-Z][\w&'-]*"


def said_already(slot: Slot, value: TypedValue) -> bool:
    """What the question says itself is no answer to it."""
    if value.kind not in ("date", "time", "asn", "prefix") or slot.alternatives:
        return False
    return any(v.kind == value.kind and v.value == value.value for v in typed_values(slot.text))


def owns(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """Whether an AS number belongs to a name of the slot.

    "MainOne of Lagos, AS37282", "AS701 (Verizon)" and "Swisscom (AS3303)" do; a number in brackets belongs to the name
    right before it and to no other of the list.
    """
    if value.noun == "path" or is_reporting(claim.quote) or not slot.anchors or len(slot.anchors) > 2:
        return True
    before, after = claim.quote[: value.start], claim.quote[value.end :]
    return any(_beside(name.split(), before, after) for name in slot.anchors)


def _beside(words: list[str], before: str, after: str) -> bool:
    name = rf"{re.escape(words[0])}(?:\s+{_NAME})*"
    if before.rstrip().endswith("("):
        return re.search(rf"\b{name}\s*\($", before) is not None
    tail = (
        rf"\b{name}(?:['’]s)?(?:\s+(?:of|in)\s+{_NAME})?(?:,\s+{_NAME})?"
        rf"(?:,|\s+is|\s+has|\s+with|\s+uses|\s+as)?\s*(?:the\s+)?(?:AS number\s+)?$"
    )
    if re.search(tail, before):
        return True
    return (
        re.match(rf"\s*(?:\(|,|is|belongs to|of|,? which is)\s*(?:the\s+)?(?:[a-z-]+\s+){{0,4}}{name}", after)
        is not None
    )


def labels_of(text: str) -> dict[str, frozenset[str]]:
    """Labels of numbered or lettered things, by the stem of their noun.

    Examples
    --------
    >>> {noun: sorted(labels) for noun, labels in labels_of("Halls A and C kept running in zone 2.").items()}
    {'hall': ['A', 'C'], 'zon': ['2']}
    """
    found: dict[str, frozenset[str]] = {}
    for match in _LABEL.finditer(text[:1].lower() + text[1:]):
        noun = stem(match.group("noun"))
        found[noun] = found.get(noun, frozenset()) | frozenset(re.findall(r"[A-Z]|\d+", match.group("list")))
    return found


def other_label(asked: str, quote: str) -> bool:
    """Whether a sentence is about another hall, zone or phase than the asked one.

    Examples
    --------
    >>> other_label("Did hall A lose power", "Racks in hall B lost power."), other_label("hall A", "Hall A held.")
    (True, False)
    """
    wanted, told = labels_of(asked), labels_of(quote)
    return any(noun in told and not labels & told[noun] for noun, labels in wanted.items())


def is_unreal(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """A figure of a plan, a limit or a condition: "stops when it would delete more than 50 records"."""
    if _UNREAL.search(slot.text):
        return False
    clause = clause_of(claim, value)
    place = clause.find(value.text)
    if place < 0:
        return False
    after = clause[place + len(value.text) :]
    return (
        _UNREAL.search(clause[:place]) is not None
        or re.match(r"(?:\W+\w+){0,3}?\W+(?:would|could|might)\b", after) is not None
    )


def counts_the_whole(slot: Slot, claim: Claim) -> bool:
    """Whether a figure is not that of the asked place: the place is one of a list, or the sentence does not name it."""
    match = re.search(rf"\b(?:in|for|at)\s+({_NAME}(?:\s+{_NAME})*)", slot.text)
    if match is None or not any(name in match.group(1) or match.group(1) in name for name in slot.anchors):
        return False
    name = re.escape(match.group(1))
    if not re.search(rf"\b{name}\b", f"{claim.heading} {claim.quote}"):
        return True
    listed = rf"(?:,|\band)\s+(?:the\s+)?{name}\b|\b{name}\s*(?:,|\s+and)\s+(?:the\s+)?{_NAME}"
    return re.search(listed, claim.quote) is not None and re.search(rf"\b{name}\b.{{0,30}}\d", claim.quote) is None


def is_unnamed(slot: Slot, quote: str) -> bool:
    """Whether the asked thing occurs only as "a trawler", or as "no limit": nothing that could be told by name."""
    if not slot.nouns or re.search(r"\b(?:kind|type|sort)s?\b", slot.text, re.IGNORECASE):
        return False
    for match in re.finditer(r"\b(a|an|one|some|another|no)\s+((?:[\w-]+\s+){0,2}[\w-]+)", quote, re.IGNORECASE):
        words = [stem(word) for word in match.group(2).split()]
        if any(word in related(slot.nouns[-1]) for word in words[-3:]):
            return not re.search(
                rf"\b{re.escape(match.group(2).split()[-1])}s?\s+(?:called\s+|named\s+)?{_NAME}", quote
            )
    return False


def of_another(slot: Slot, claim: Claim) -> bool:
    """Whether "prefixes of Swisscom" are asked for and neither the sentence nor its title speaks of Swisscom."""
    return any(
        re.search(rf"\b[a-z]+s? of (?:the )?{re.escape(name)}\b", slot.text)
        and not mentions(f"{claim.heading} {claim.quote} {claim.carried}", name)
        for name in slot.anchors
    )


def in_another_clause(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """Whether the sentence speaks of the asked name in one clause and gives the value to another name in another."""
    named = [name for name in slot.anchors if mentions(claim.quote, name) and not mentions(claim.heading, name)]
    clause = next((part for part in re.split(r";\s+", claim.quote) if value.text in part), claim.quote)
    if not named or any(mentions(clause, name) for name in named):
        return False
    return re.search(rf"(?<!^)\b{_NAME}\s+{_NAME}\b", clause) is not None


def belongs(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """Whether a typed value of a claim can be what a slot asks for."""
    if said_already(slot, value) or (slot.clock and value.kind == "date"):
        return False
    if slot.type == "asn" and re.search(r"\bAS ?numbers?\b|\bASNs?\b", slot.text) and not owns(slot, claim, value):
        return False
    if slot.type in _BOUND and (of_another(slot, claim) or in_another_clause(slot, claim, value)):
        return False
    if slot.type == "length" and re.match(
        r"\s*(?:off|from|away|of (?:it|them)|inside|within)\b", claim.quote[value.end :]
    ):
        return False
    if slot.type in ("count", "percent", "amount", "money"):
        return not is_unreal(slot, claim, value) and not counts_the_whole(slot, claim)
    return True
