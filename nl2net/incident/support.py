"""Whether the quotes of an answer carry what the question asks of them: its words, its names, its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nl2net.incident.claims import named_by
from nl2net.incident.fits import telling_terms
from nl2net.incident.language import is_past, related, stem, stems, terms_of
from nl2net.incident.match import Weights
from nl2net.incident.records import Claim, Slot
from nl2net.incident.typed import dates_fit

# Words of a question that only say which kind of value is wanted, by slot type.
_KIND_WORDS = {
    "time": stems("time hour clock moment utc"),
    "date": stems("day date month year"),
    "count": stems("number count figure"),
    "asn": stems("as asn number autonomous system"),
    "prefix": stems("prefix block"),
    "duration": related(stem("duration")),
    "span": related(stem("duration")) | stems("pass take"),
    "sum": related(stem("duration")) | stems("add total"),
    "money": stems("money sum amount big large high"),
    "cause": related(stem("cause")) | stems("mistake error reason happen"),
    "place": stems("place location city country"),
    "percent": stems("share percentage fraction proportion cent"),
    "length": stems("length long"),
}
_EMPTY_DEEDS = stems("happen have do go become be get got take work") | related(stem("cause"))
_SILENCE = re.compile(
    r"\b(?:did not|didn't|does not|do not|would not|has not|have not|had not) (?:\w+ )?"
    r"(?:said?|say|tell|told|know|disclosed?|named?|give|given|reveal(?:ed)?|publish(?:ed)?|comment(?:ed)?|"
    r"answer(?:ed)?|stated?)\b|\bundisclosed\b|\bdeclined to\b|"
    r"\b(?:was|were|is|are|has|have) not (?:been )?(?:stated|disclosed|named|given|published|recorded|known|"
    r"made public|revealed|reported)\b",
    re.IGNORECASE,
)
_UNSETTLED = re.compile(
    r"\bno (?:\w+ )?(?:finding|conclusion|verdict|proof|attribution)\b|\bnot (?:been |yet |conclusively |finally )*"
    r"(?:attributed|established|determined|confirmed|identified|proven|settled)\b|\bunknown\b|\bunclear\b|"
    r"\bnobody knows\b|\bunder (?:investigation|scrutiny)\b|\bremains? open\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Support:
    """What of a question its quotes carry; all in [0, 1].

    Attributes
    ----------
    quoted : float
        Weight share of the question's words that the quotes hold.
    missing : float
        Weight share of those that neither quotes nor title nor the sentence before hold.
    lacking : float
        Their number, in thirds, at most 1.
    unnamed : float
        Share of the names of the question that the quotes do not speak of in any way.
    unbound : float
        Share of those that do not stand in the quotes themselves.
    clash : float
        1 if the quotes tell of another date than the one asked of, and of no fitting one.
    undone : float
        1 if what the question says was done is told by none of the quotes and by no title.
    """

    quoted: float = 1.0
    missing: float = 0.0
    lacking: float = 0.0
    unnamed: float = 0.0
    unbound: float = 0.0
    clash: float = 0.0
    undone: float = 0.0


def support_of(
    slot: Slot, claims: Sequence[Claim], weights: Weights, *, dates: Sequence[tuple[int, int, int]] = ()
) -> Support:
    """How well the claims chosen for a slot carry it.

    Parameters
    ----------
    slot : Slot
        What was asked.
    claims : sequence of Claim
        The quotes that would be shown.
    weights : Weights
        Of the pool.
    dates : sequence of (year, month, day)
        Dates of the question.
    """
    if not claims:
        return Support()
    quoted = missing = total = 0.0
    lacking = 0
    held = frozenset().union(*(claim.terms for claim in claims))
    around = frozenset().union(*(frozenset(terms_of(f"{c.heading} {c.carried} {c.source.title}")) for c in claims))
    for term in _asked_terms(slot):
        weight = weights.of(term)
        total += weight
        if related(term) & held:
            quoted += weight
        elif not related(term) & around:
            missing += weight
            lacking += 1
    titled = frozenset().union(*(frozenset(terms_of(c.heading)) for c in claims))
    told = [max((named_by(claim, name) for claim in claims), default=0) for name in slot.anchors]
    return Support(
        quoted / total if total else 1.0,
        missing / total if total else 0.0,
        min(lacking, 3) / 3,
        sum(how == 0 for how in told) / len(told) if told else 0.0,
        sum(how < 2 for how in told) / len(told) if told else 0.0,
        float(_clashes(slot, claims, dates)),
        float(any(not related(deed) & (held | titled) for deed in deeds_of(slot))),
    )


def deeds_of(slot: Slot) -> tuple[str, ...]:
    """Verbs of a question, where their place makes them plain: "did MainOne leak", "who owns", "which vendor made".

    Examples
    --------
    >>> deeds_of(Slot("who", "actor", "Who owns the cable")), deeds_of(Slot("n", "count", "", anchors=("Vega",)))
    (('own',), ())
    """
    found = list(slot.must)
    for name in slot.anchors:
        match = re.search(rf"\b(?:did|does|do)\s+(?:the\s+)?{re.escape(name)}\s+([a-z]{{3,}})\b", slot.text)
        found += [stem(match.group(1))] if match else []
    found += _first_verb(slot.text)
    if match := re.search(r"\btaken? .*?\bto ([a-z]{3,})\b", slot.text):
        found.append(stem(match.group(1)))
    return tuple(d for d in dict.fromkeys(found) if d not in _EMPTY_DEEDS)


_HELPER = re.compile(r"(?:is|was|are|were|did|does|do|had|has|have|will|would|can|could)$", re.IGNORECASE)


def _first_verb(text: str) -> list[str]:
    """The first plain past form after "which N", "who" or "how many N", unless a helping verb comes before it."""
    match = re.match(r"^(?:\w+\s+)?(who|which|what|how many)\s+(.+)$", text, re.IGNORECASE)
    if match is None:
        return []
    words = match.group(2).split()[:7]
    if match.group(1).lower() == "who" and words and words[0].islower() and not _HELPER.match(words[0]):
        return [stem(words[0])]
    for place, word in enumerate(words):
        if _HELPER.match(word):
            return []
        if place and word.islower() and (re.fullmatch(r"\w{2,}ed", word) or is_past(word)):
            return [stem(word)]
    return []


def _asked_terms(slot: Slot) -> tuple[str, ...]:
    if slot.bare:  # its words come from another part, whose quotes answer for them
        return ()
    drop = _KIND_WORDS.get(slot.type, frozenset())
    return tuple(term for term in telling_terms(slot) if term not in drop)


def _clashes(slot: Slot, claims: Sequence[Claim], dates: Sequence[tuple[int, int, int]]) -> bool:
    told = [v.value for claim in claims for v in claim.values if v.kind == "date" and (v.value[0] or v.value[2])]
    if slot.type in ("time", "date") or not dates or not told:
        return False
    return not any(dates_fit(date, other) for date in dates for other in told)


def is_silence(text: str) -> bool:
    """Whether a source says that it does not tell something: that denies nothing.

    Examples
    --------
    >>> is_silence("The company did not say what it cost."), is_silence("It did not fail.")
    (True, False)
    """
    return _SILENCE.search(text) is not None


def silent_claim(slot: Slot, claims: Sequence[Claim], weights: Weights) -> Claim | None:
    """A claim by which a source says that it does not tell, or does not know, what is asked.

    Parameters
    ----------
    slot : Slot
        What is asked.
    claims : sequence of Claim
        The pool.
    weights : Weights
        Of that pool.
    """
    return _speaking(_SILENCE, slot, claims, weights)


def unsettled_claim(slot: Slot, claims: Sequence[Claim], weights: Weights) -> Claim | None:
    """A claim by which a source says that the asked thing is not settled: "not been attributed to anyone"."""
    return _speaking(_UNSETTLED, slot, claims, weights)


def _speaking(pattern: re.Pattern[str], slot: Slot, claims: Sequence[Claim], weights: Weights) -> Claim | None:
    best: tuple[float, Claim] | None = None
    for claim in claims:
        match = pattern.search(claim.quote)
        if match is None or any(named_by(claim, name) == 0 for name in slot.anchors):
            continue
        support = support_of(slot, [claim], weights)
        # The words of the question must be what the source is silent about, so some of them follow the denial.
        after = frozenset(terms_of(claim.quote[match.start() :]))
        asked = _asked_terms(slot)
        fits = bool(asked) and support.missing <= 0.25 and any(related(t) & after for t in asked)
        if fits and (best is None or support.quoted > best[0]):
            best = (support.quoted, claim)
    return best[1] if best else None
