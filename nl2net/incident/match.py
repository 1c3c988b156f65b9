"""How well a claim, and a value in it, answers a slot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network

from nl2net.incident.binding import belongs, other_label
from nl2net.incident.claims import clause_of, disowned, is_reporting, mentions, named_by
from nl2net.incident.fits import PLAIN, open_fit, telling_terms
from nl2net.incident.language import (
    is_event_word,
    related,
    stem,
    stems,
    terms_of,
)
from nl2net.incident.naming import names_of, slot_terms
from nl2net.incident.records import Claim, Slot, TypedValue
from nl2net.incident.typed import typed_values

# Kinds of values that can fill a slot of a type.
KINDS: dict[str, tuple[str, ...]] = {
    "time": ("time", "date"),
    "date": ("date",),
    "count": ("count",),
    "duration": ("duration",),
    "percent": ("percent",),
    "money": ("money",),
    "length": ("length",),
    "asn": ("asn",),
    "prefix": ("prefix",),
    "amount": ("percent", "count", "money"),
    "sum of money": ("money", "percent"),
}
_WEAK = 0.75  # credit of a related word
_TITLE = 0.7  # credit of a word of the title: the document is about it
_CONTEXT = 0.5  # credit of a word that only the heading has


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that may answer a slot, with the value that would.

    ``coverage`` is the weight share of the slot's words that the claim, its clause and its heading hold.
    """

    claim: Claim
    value: TypedValue | None
    score: float
    coverage: float
    exact: bool  # the noun or all anchors match
    named: int = 0  # names of the slot in the clause of the value, or in the sentence where there is none
    gone: bool = False  # the claim takes the value back


class Weights:
    """Inverse claim frequency of terms within a pool of claims."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.total = max(len(claims), 1)
        self.counts: dict[str, int] = {}
        for claim in claims:
            for term in claim.terms:
                self.counts[term] = self.counts.get(term, 0) + 1

    def of(self, term: str) -> float:
        """Weight of a term; unknown ones weigh most."""
        return math.log(1 + (self.total + 1) / (0.5 + self.counts.get(term, 0)))


def _credit(term: str, terms: Iterable[str], heading: frozenset[str], title: frozenset[str] = frozenset()) -> float:
    held = terms if isinstance(terms, frozenset) else frozenset(terms)
    if term in held:
        return 1.0
    if related(term) & held:
        return _WEAK
    if term in title or related(term) & title:
        return _TITLE
    if term in heading or related(term) & heading:
        return _CONTEXT
    return 0.0


def coverage(
    terms: Sequence[str],
    held: frozenset[str],
    heading: frozenset[str],
    weights: Weights,
    *,
    soft: frozenset[str] = frozenset(),
    title: frozenset[str] = frozenset(),
) -> float:
    """Weight share of ``terms`` that a text holds, 1.0 when there are none; ``soft`` terms weigh half if absent."""
    total = credit = 0.0
    for term in terms:
        given = _credit(term, held, heading, title)
        weight = weights.of(term) * (0.5 if term in soft and not given else 1.0)
        total += weight
        credit += weight * given
    return credit / total if total else 1.0


def anchors_met(slot: Slot, claim: Claim) -> tuple[int, int]:
    """How many names of the slot the claim holds, and how many its own words must hold at least."""
    told = {name: named_by(claim, name) for name in slot.anchors}
    own = [name for name, how in told.items() if how == 2]
    free = [name for name, how in told.items() if how == 1]
    needed = len(slot.anchors) - len(free)
    return len(own), needed


def candidates(slot: Slot, claims: Sequence[Claim], weights: Weights) -> list[Candidate]:
    """Claims that may answer a slot, best first.

    Parameters
    ----------
    slot : Slot
        What is asked.
    claims : sequence of Claim
        The pool.
    weights : Weights
        Of that pool.
    """
    terms = telling_terms(slot)
    entities = [v for v in typed_values(slot.text) if v.kind in ("asn", "prefix", "time") and slot.type != "span"]
    found = []
    for claim in claims:
        if other_label(slot.text, claim.quote):
            continue
        own, needed = anchors_met(slot, claim)
        if needed and own == 0:
            continue
        held = [v for v in entities if any(_same_entity(slot, v, w) for w in claim.values)]
        if entities and not held and _speaks_of_another(claim, entities):
            continue
        heading = frozenset(terms_of(claim.context))
        # "Which vendor": notes name the vendor without calling it one.
        soft = frozenset(slot.nouns) | PLAIN if slot.type in ("name", "cause") else frozenset()
        cover = coverage(terms, claim.terms, heading, weights, soft=soft, title=frozenset(terms_of(claim.heading)))
        if entities and not held:
            cover *= 0.9
        order = re.search(r"\b(?:before|after|during)\b", slot.text, re.IGNORECASE)
        if order and slot.type not in ("span", "duration"):
            base_bonus = 0.15 if re.search(rf"\b{order.group()}\b", claim.quote, re.IGNORECASE) else 0.0
        else:
            base_bonus = 0.0
        bonus = base_bonus + 0.12 * len(held) + 0.1 * min(own, 2) + (0.15 if is_reporting(claim.quote) else 0.0)
        undone = bool(slot.must) and not any(related(deed) & claim.terms for deed in slot.must)
        if undone and slot.type in ("time", "date"):
            continue
        if undone and slot.type in KINDS:
            cover, bonus = 0.7 * cover, bonus - 0.15
        made = _typed(slot, claim, terms, base=(cover, bonus, heading), weights=weights)
        found += [c if c.value is not None else replace(c, named=own) for c in made]
    return sorted(found, key=lambda c: (-c.score, c.claim.source.source_class.rank, c.claim.doc, c.claim.start))


def _same_entity(slot: Slot, asked: TypedValue, told: TypedValue) -> bool:
    """The same AS, time or prefix, or a covering prefix where that is asked for."""
    if asked.kind != told.kind:
        return False
    covers = re.search(r"\bcover\w*|\bcontain\w*|\binside\b", slot.text, re.IGNORECASE)
    if asked.kind != "prefix" or asked.value == told.value or not covers:
        return bool(asked.value == told.value)
    one, two = ip_network(asked.value), ip_network(told.value)
    return one.version == two.version and one.subnet_of(two)  # type: ignore[arg-type]


def _speaks_of_another(claim: Claim, entities: Sequence[TypedValue]) -> bool:
    """Whether a claim without the asked prefix or AS cannot be on it: it names another, or nothing before it did."""
    kinds = {v.kind for v in entities}
    if "time" in kinds or any(v.kind in kinds for v in claim.values):
        return True
    earlier = typed_values(claim.carried)
    return not all(any(v.kind == w.kind and v.value == w.value for w in earlier) for v in entities)


def _typed(
    slot: Slot, claim: Claim, terms: tuple[str, ...], *, base: tuple[float, float, frozenset[str]], weights: Weights
) -> list[Candidate]:
    cover, bonus, _ = base
    if slot.type not in KINDS:
        fit = open_fit(slot, claim)
        return [Candidate(claim, None, 0.7 * cover + bonus + fit, cover, fit > 0)] if fit >= 0 else []
    found = []
    for value in claim.values:
        if value.kind not in KINDS[slot.type] or (slot.type == "duration" and _is_distance(claim, value)):
            continue
        exact = bool(slot.nouns) and (_noun_fits(slot, claim, value) or _same_deed(slot, claim, value))
        if slot.type in ("count", "amount", "percent") and slot.nouns and not exact:
            continue
        clause = clause_of(claim, value)
        near = frozenset(terms_of(clause))
        local = coverage(terms, near, frozenset(), weights) + 0.25 * _edge_fit(slot, claim, value)
        named = sum(mentions(clause, name) for name in slot.anchors)
        score = 0.5 * cover + 0.35 * local + bonus + 0.1 * min(named, 2) + (0.1 if exact else 0.0)
        score -= 0.2 if value.kind == "date" and slot.type == "time" else 0.0
        edge = _edge_fit(slot, claim, value)
        ends = slot.edge == "end" and re.search(r"\b(?:end|stop|finish|over)\w*\b", slot.text, re.IGNORECASE)
        if not belongs(slot, claim, value) or edge <= -1.0 or (ends and edge <= 0 and value.kind == "time"):
            continue
        score += _duration_fit(slot, claim, value) if slot.type == "duration" else 0.0
        found.append(Candidate(claim, value, score, cover, exact, named=named, gone=disowned(claim, value)))
    return found


def _duration_fit(slot: Slot, claim: Claim, value: TypedValue) -> float:
    """How long the event itself lasted, before how long a part of it did."""
    before, after = claim.quote[: value.start], claim.quote[value.end :]
    whole = re.search(
        r"\b(?:last\w*|took|duration of|restored\b.*\bafter|down for|out for|ended after)\s*$", before, re.IGNORECASE
    )
    named = re.match(
        r"[\s-]*(?:long\s+)?(?:outage|failure|disruption|leak|hijack|attack|blackout|incident)", after, re.IGNORECASE
    )
    unit = bool(slot.unit) and slot.unit.rstrip("s") in value.text
    return 0.25 * bool(whole or named) + 0.1 * unit


def _is_distance(claim: Claim, value: TypedValue) -> bool:
    """ "two weeks before" is a distance between two events, not how long one lasted."""
    return (
        re.match(r"\s*(?:before|after|earlier|later|ago|afterwards|since)\b", claim.quote[value.end :], re.IGNORECASE)
        is not None
    )


def _noun_fits(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """What is counted is what was asked for.

    All nouns of the slot near the number, the head noun among its own words.
    """
    if not slot.nouns:
        return True
    own = set(terms_of(value.noun)[:5])
    clause = frozenset(terms_of(clause_of(claim, value)))
    head = slot.nouns[-1]
    if not own and is_reporting(claim.quote):
        own = set(clause)
    if not (related(head) & own) or set(slot.avoid) & own:
        return False
    return all(related(noun) & (clause | own) or noun in terms_of(claim.context) for noun in slot.nouns[:-1])


def _same_deed(slot: Slot, claim: Claim, value: TypedValue) -> bool:
    """Counted under another noun, but by the very words of the question: "consists of 64,000 recorders"."""
    clause = frozenset(terms_of(clause_of(claim, value)))
    alone = sum(v.kind == "count" and v.end - v.start > 1 for v in claim.values) == 1
    rest = [t for t in telling_terms(slot) if t not in slot.nouns]
    verbs = [t for t in rest if not is_event_word(t) and t not in PLAIN and t not in terms_of(claim.heading)]
    return (
        bool(alone and set(verbs) & clause)
        and all(t in claim.terms for t in verbs)
        and all(mentions(claim.quote, n) for n in slot.anchors)
    )


def _edge_fit(slot: Slot, claim: Claim, value: TypedValue) -> float:
    """+1 if a time stands at the asked end of an interval or beside a word for it, -1 at the other end."""
    if not slot.edge or value.kind not in ("time", "date"):
        return 0.0
    after, before = claim.quote[value.end : value.end + 12], claim.quote[max(0, value.start - 12) : value.start]
    if re.search(
        r"\b(?:from|since|starting at|starting|beginning at)\s+(?:about\s+)?$",
        claim.quote[: value.start],
        re.IGNORECASE,
    ):
        return 1.0 if slot.edge == "start" else -1.0
    opens = re.match(r"\s*(?:\w{2,4}\s+)?(?:to|until|till|-|–)\s*(?:about\s+)?\d", after) is not None
    closes = re.search(r"\d\s*(?:[ap]m|[A-Z]{3,4})?\s*(?:to|until|till|-|–)\s*(?:about\s+)?$", before) is not None
    if opens or closes:
        return 1.0 if (slot.edge == "start") == opens else -1.0
    words = frozenset(terms_of(_lead_in(claim, value)))
    start, end = (
        bool(words & related(stem("begin"))),
        bool(words & (related(stem("end")) | related(stem("return")) | stems("withdraw until"))),
    )
    if not start and not end and words & (related(stem("fail")) | stems("lose stop shut")):
        return 0.8 if slot.edge == "start" else -0.5
    if start == end:
        return 0.0
    return 1.0 if (slot.edge == "start") == start else -1.0


def _lead_in(claim: Claim, value: TypedValue) -> str:
    """Words that tell what happened at a time: its clause up to the next time."""
    clause = clause_of(claim, value)
    if len(clause) - (value.end - value.start) < 12:
        return claim.quote
    return clause


def span_end(
    words: str, slot: Slot, *, edge: str, claims: Sequence[Claim], weights: Weights, kind: str = "time"
) -> Candidate | None:
    """The time of one end of a span, such as "the withdrawal by PCCW Global".

    Among claims that fit about equally the earliest is the start of something, the latest its end.
    """
    if re.search(r"\b(?:end|return|restor|recover|withdr|repair|back)\w*", words, re.IGNORECASE):
        edge = "end"
    anchors = names_of(words)
    end = Slot(slot.name, kind, words, slot_terms(words), anchors=anchors, edge=edge)
    entities = [v for v in typed_values(words) if v.kind in ("asn", "prefix")]
    found = [c for c in candidates(end, claims, weights) if c.value is not None and c.value.kind == kind]
    found = [c for c in found if all(any(v.value == w.value for w in c.claim.values) for v in entities)]
    if not found or found[0].coverage < 0.3:
        return None
    close = [c for c in found if c.score >= found[0].score - 0.08]
    order = sorted(close, key=lambda c: c.value.value if c.value else 0)
    return order[0] if edge == "start" else found[0]
