"""Questions that take something for granted: what the evidence says about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nl2net.incident.binding import labels_of, other_label
from nl2net.incident.claims import denied_words, is_denial, mentions, state_denial
from nl2net.incident.frame import Frame
from nl2net.incident.language import is_event_word, related, stem, stems, terms_of
from nl2net.incident.match import Candidate, Weights, candidates, coverage
from nl2net.incident.naming import slot_terms
from nl2net.incident.origins import Origins
from nl2net.incident.outcome import Outcome
from nl2net.incident.pool import Pool
from nl2net.incident.reconcile import compatible, rivals_of, weigh
from nl2net.incident.records import Claim, Slot, TypedValue
from nl2net.incident.support import is_silence
from nl2net.incident.typed import typed_values

_PRESUMING = re.compile(r"^(?:why|how)\s+(?:did|was|were|had|has|does|do|is|are)\b", re.IGNORECASE)
_HOLDING = re.compile(
    r"\b(?:kept|continued) (?:running|working|to (?:run|work))\b|\bstayed (?:up|in service|online)\b", re.IGNORECASE
)
_CAUSED = re.compile(
    r"\b(?:caused|triggered|brought (?:down|about)|started|due to|because of|result of|blamed on)\b(?:\s+by)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PremiseCheck:
    """``verdict`` is ``"true"``, ``"false"`` or ``""`` (nothing in the evidence decides)."""

    verdict: str
    claims: tuple[Claim, ...] = ()
    note: str = ""
    outcome: Outcome | None = None


def check_polar(frame: Frame, slot: Slot, pool: Pool) -> PremiseCheck:
    """A yes-or-no question.

    A number in it is compared with the values of the same slot; without one, the best claim that covers the question
    decides, by whether it denies.
    """
    weights = Weights(pool.claims)
    stated = [
        v for v in typed_values(slot.text) if v.kind in ("count", "duration", "percent", "money", "length", "time")
    ]
    for value in stated:
        head = _value_nouns(value) if value.kind == "count" else ()
        terms = tuple(t for t in slot.terms if t not in slot_terms(value.text))
        probe = Slot("premise", value.kind, slot.text if value.kind != "time" else "", terms, head, slot.anchors)
        found = [c for c in candidates(probe, pool.claims, weights) if c.coverage >= 0.34]
        if found:
            return _compare(frame, probe, found, value=value, pool=pool)
    if not frame.names and not frame.dates and not frame.entities:
        return PremiseCheck("")
    return _by_coverage(slot, pool, weights)


def _value_nouns(value: TypedValue) -> tuple[str, ...]:
    """ "calls to 911" has the head "call", put last, and the modifier "911"."""
    head, _, rest = re.sub(r"\b(?:of|to)\b(?: the)?", "|", value.noun).partition("|")
    words = slot_terms(head)
    return (*slot_terms(rest), *words)


def _compare(frame: Frame, probe: Slot, found: list[Candidate], *, value: TypedValue, pool: Pool) -> PremiseCheck:
    verdict = weigh(probe, rivals_of(probe, found, asked=True), Origins(pool.documents))
    best = verdict.preferred or verdict.groups[0]
    agrees = best.members[0].value is not None and compatible(best.members[0].value, value)
    claims = tuple(dict.fromkeys(c for g in verdict.groups for c in g.claims))
    label = best.label
    outcome = Outcome(
        probe,
        "conflict" if verdict.is_live and verdict.preferred is None else "settled",
        label,
        best.members[0].value.value if best.members[0].value else None,
        claims,
        verdict=verdict if verdict.kind else None,
        coverage=found[0].coverage,
    )
    return PremiseCheck("true" if agrees else "false", best.claims, label, outcome)


def _by_coverage(slot: Slot, pool: Pool, weights: Weights) -> PremiseCheck:
    dull = stems("cause reason")
    terms = tuple(t for t in slot.terms if t not in dull and not any(t in terms_of(name) for name in slot.anchors))
    ranked = sorted(
        (
            (coverage(terms, c.terms, _event_heading(c), weights, title=frozenset(terms_of(c.heading))), c)
            for c in pool.claims
        ),
        key=lambda item: (-item[0], item[1].start),
    )
    strict = [(share, claim) for share, claim in ranked if share >= 0.6 and not other_label(slot.text, claim.quote)]
    named = [n for n in slot.anchors if n not in pool.unknown]
    for _, claim in strict:
        if all(mentions(claim.quote + " " + claim.heading, name) for name in named):
            verdict = "false" if is_denial(claim.quote) != is_denial(slot.text) else "true"
            return PremiseCheck(verdict, (claim,), "")
    if (held_up := _held_up(slot, pool, named)) is not None:
        return PremiseCheck("false", (held_up,))
    if _CAUSED.search(slot.text):
        return other_cause(slot, pool, weights)
    return PremiseCheck("")


def _held_up(slot: Slot, pool: Pool, named: Sequence[str]) -> Claim | None:
    """ "Did hall A go down?": a claim on hall A that says it kept running."""
    failing = related(stem("outage")) | related(stem("affect")) | related(stem("cut"))
    if not any(t in failing for t in slot.terms) and not re.search(r"\b(?:down|off|dark)\b", slot.text):
        return None
    labels = labels_of(slot.text)
    things = [t for t in slot.terms if t not in failing and not any(t in terms_of(name) for name in named)]
    for claim in pool.claims:
        told = labels_of(claim.quote)
        fits = all(n in told and asked & told[n] for n, asked in labels.items())
        spoken = [t for t in things if t in claim.terms] or [n for n in named if mentions(claim.quote, n)]
        if (state_denial(claim.quote) or _HOLDING.search(claim.quote)) and fits and (labels or spoken):
            return claim
    return None


def _event_heading(claim: Claim) -> frozenset[str]:
    """Words of the heading that name the kind of event; the claim need not repeat them."""
    return frozenset(
        t for t in terms_of(claim.heading) if is_event_word(t) or related(t) & stems("leak hijack cut attack")
    )


def other_cause(slot: Slot, pool: Pool, weights: Weights) -> PremiseCheck:
    """Whether the evidence names another cause than the question does."""
    match = _CAUSED.search(slot.text)
    if match is None:
        return PremiseCheck("")
    active = not re.search(r"\bby$|of$|to$|on$", match.group(), re.IGNORECASE)
    blamed = slot_terms(slot.text[: match.start()] if active else slot.text[match.end() :])
    blamed = tuple(t for t in blamed if not any(t in terms_of(c.heading) for c in pool.claims[:1]))
    telling = tuple(t for t in blamed if t not in related(stem("outage")))
    blamed = telling or blamed
    probe = Slot("cause", "cause", "", tuple(t for t in slot.terms if t not in blamed), anchors=())
    causes = [c for c in candidates(probe, pool.claims, weights) if c.coverage >= 0.4 and c.score > 0.4]
    if not causes or not blamed:
        return PremiseCheck("")
    held = frozenset().union(*(c.claim.terms for c in causes[:3]))
    if any(related(term) & held for term in blamed):
        return PremiseCheck("true", (causes[0].claim,))
    return PremiseCheck("false", tuple(c.claim for c in causes[:2]))


def check_presumed(frame: Frame, open_slots: Sequence[Slot], pool: Pool) -> PremiseCheck:
    """A question that presumes an event: does the evidence deny it, or tell that something else did it?

    Without evidence against it the result is no verdict, for silence is no denial.
    """
    weights = Weights(pool.claims)
    for slot in open_slots:
        if is_denial(slot.text):
            continue
        terms = tuple(t for t in slot.terms if not any(t in terms_of(name) for name in frame.names))
        own = tuple(name for name in slot.anchors if name not in pool.unknown)
        for claim in sorted(pool.claims, key=lambda c: c.source.source_class.rank):
            if is_silence(claim.quote) or _holds_value(slot, claim):
                continue
            needed = [name for name in own if not mentions(claim.heading, name)]
            named = [name for name in needed if mentions(claim.quote, name)]
            loose = slot.type in ("amount", "percent", "count", "duration", "time")
            if (named or not needed) and _denies(claim, terms, weights, subject=named, loose=loose):
                return PremiseCheck("false", (claim,))
        if _PRESUMING.match(slot.text):
            check = _other_actor(slot, pool, weights)
            if check.verdict:
                return check
    return PremiseCheck("")


def _holds_value(slot: Slot, claim: Claim) -> bool:
    """Whether a claim gives a figure for what is counted: "2 million homes had no power" denies no loss."""
    head = related(slot.nouns[-1]) if slot.nouns else frozenset()
    return slot.type == "count" and any(v.kind == "count" and head & set(terms_of(v.noun)) for v in claim.values)


def _denies(claim: Claim, terms: tuple[str, ...], weights: Weights, *, subject: Sequence[str], loose: bool) -> bool:
    """Whether a claim denies what the terms presume.

    Of the asked subject a mere state such as "had been out" is enough.
    """
    share = coverage(terms, claim.terms, frozenset(), weights)
    for clause in re.split(r";\s|,\s(?=and|but|while)", claim.quote):
        if state_denial(clause):
            told = any(mentions(clause, name) for name in subject)
            return share > 0 or loose if told else share >= 0.4 and not subject
    denied = frozenset(terms_of(denied_words(claim.quote)))
    return share >= 0.5 and any(related(term) & denied for term in terms)


def _other_actor(slot: Slot, pool: Pool, weights: Weights) -> PremiseCheck:
    """ "Why did X stop Y?" when X is nowhere named and something else stopped Y."""
    match = re.match(
        r"^(?:why|how)\s+(?:did|was|were|had|has|does|do|is|are)\s+(?P<rest>.+)$", slot.text, re.IGNORECASE
    )
    if match is None or not pool.claims:
        return PremiseCheck("")
    words = slot_terms(match.group("rest"))
    absent = [t for t in words if not any(related(t) & (c.terms | frozenset(terms_of(c.heading))) for c in pool.claims)]
    if not absent or not words or absent[0] not in words[:3]:
        return PremiseCheck("")
    rest = tuple(t for t in words if t not in absent)
    title = frozenset(t for c in pool.claims for t in terms_of(c.heading))
    # The words that tell this event from its neighbours must stand in the claim itself.
    telling = tuple(t for t in rest if t not in title)
    best: tuple[float, Claim] | None = None
    for claim in pool.claims:
        share = coverage(telling or rest, claim.terms, frozenset(), weights)
        if share >= 0.6 and (best is None or share > best[0]):
            best = (share, claim)
    if best is None:
        return PremiseCheck("")
    # What did it instead, where a cause is told, before what merely tells the event.
    causes = [
        c
        for c in candidates(Slot("cause", "cause", f"What {' '.join(rest)}", rest), pool.claims, weights)
        if c.coverage >= 0.4
    ]
    return PremiseCheck("false", tuple(dict.fromkeys([*(c.claim for c in causes[:1]), best[1]])))
