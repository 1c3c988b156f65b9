"""How well a claim, and a value in it, answers a slot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network

from nl2net.incident.binding import belongs, is_unnamed, other_label
from nl2net.incident.claims import clause_of, disowned, is_reporting, mentions, named_by
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
_CAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|caused?(?: by)?|cause was|reasons? (?:was|is|were|for|given)|root cause|trigger\w*|"
    r"led to|leads? to|result(?:ed)? (?:of|from|in)|owing to|blamed?|"
    r"after (?:a|an|the|one|its|staff|engineers?)\b|when (?:a|an|the|staff|engineers?)\b|so that|since (?:the|an?|"
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
_PLAIN = stems("make use run have call build operate own do get take")
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
        held = [v for v in entities if any(_same_entity(v, w) for w in claim.values)]
        if entities and not held and _speaks_of_another(claim, entities):
            continue
        heading = frozenset(terms_of(claim.context))
        # "Which vendor": notes name the vendor without calling it one.
        soft = frozenset(slot.nouns) | _PLAIN if slot.type in ("name", "cause") else frozenset()
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


def _same_entity(asked: TypedValue, told: TypedValue) -> bool:
    """The same AS, time or prefix, or a prefix that covers the asked one."""
    if asked.kind != told.kind:
        return False
    if asked.kind != "prefix" or asked.value == told.value:
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


def telling_terms(slot: Slot) -> tuple[str, ...]:
    """Terms of a slot without names, and without the words that only say which kind of answer is wanted."""
    named = frozenset(t for name in slot.anchors for t in terms_of(name))
    terms = dict.fromkeys(t for t in slot.terms if not all(part in named for part in re.split(r"[/-]", t)))
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


def _typed(
    slot: Slot, claim: Claim, terms: tuple[str, ...], *, base: tuple[float, float, frozenset[str]], weights: Weights
) -> list[Candidate]:
    cover, bonus, _ = base
    if slot.type not in KINDS:
        fit = _open_fit(slot, claim)
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
    verbs = [t for t in rest if not is_event_word(t) and t not in _PLAIN and t not in terms_of(claim.heading)]
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


def _open_fit(slot: Slot, claim: Claim) -> float:
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


_SPEECH = re.compile(
    r"\b(?:said|says|wrote|writes|stated|states|claimed|claims|told|called|calls|held|reported|announced|according to|"
    r"explained|denied|admitted|promised|blamed|warned)\b",
    re.IGNORECASE,
)


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
