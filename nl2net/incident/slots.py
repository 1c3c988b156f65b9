"""One part of a question as typed slots: what kind of value would answer it."""

from __future__ import annotations

import re
from dataclasses import replace

from nl2net.incident.entities import cable_mentions
from nl2net.incident.language import ORDINALS, is_past, related, stem, stems, terms_of, words_of
from nl2net.incident.naming import names_of, slot_terms
from nl2net.incident.records import Slot
from nl2net.incident.typed import typed_values

LEAD = r"(?:(?:in|at|from|by|for|to|on|over|through|during|until|of|with|since|under|against)\s+)?"
ASKING = r"(?:how many|how much|how long|how often|how far|how|when|who|whom|whose|why|which|what|where)\b"
AUX = r"(?:did|do|does|was|were|is|are|had|has|have|will|would|could|can|should|went|go|got|came|fell|lost|failed)"
POLAR = re.compile(r"^(?:did|do|does|was|were|is|are|had|has|have|could|can)\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"^(?:was|were|did|is|are)\b.*?\b(?:\w+)\s+or\s+(?:\w+)\b", re.IGNORECASE)
_DURATION_UNITS = re.compile(r"how many (seconds|minutes|hours|days)\b", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\b(?:between|from)\s+(?P<a>.+?)\s+(?:and|to|until)\s+(?P<b>(?:the|its|their|a|an|when|first|full|services?|"
    r"it)\b.+)$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\bhow (?:long|many \w+)\s+(?:after|before)\s+(?P<a>.+?)\s+(?:did|was|were)\s+(?P<b>.+)$", re.IGNORECASE
)
_UNTIL = re.compile(
    r"\bhow (?:long|many \w+)\b.*?\b(?:take|took|passed|before)\s+(?P<b>.+?)\s+(?:after|since)\s+(?P<a>.+)$",
    re.IGNORECASE,
)
_SUM = re.compile(r"\badd up\b|\bin (?:total|all)\b|\baltogether\b|\bsum\b|\bcombined\b", re.IGNORECASE)
_START = re.compile(r"\b(?:beg[aiu]n|begins?|beginning|start\w*|(?<!the )first|onset|commence\w*)\b", re.IGNORECASE)
_END = re.compile(
    r"\b(?:end(?:ed|s)?|stop\w*|finish\w*|over|restor\w+|resum\w+|back|return\w*|recover\w*|repair\w*|withdr\w+|"
    r"last)\b",
    re.I,
)


def slots_of(segment: str, later: bool) -> list[Slot]:
    lowered = segment.lower()
    anchors = tuple(dict.fromkeys([*names_of(segment), *cable_mentions(segment)][: len(names_of(segment)) or 3]))
    base = Slot("answer", "text", segment, slot_terms(_without_head(segment)), anchors=anchors)
    if re.match(r"^from when (?:to|until|till) when\b(.*)", lowered):
        return [
            replace(base, name="start", type="time", edge="start"),
            replace(base, name="end", type="time", edge="end"),
        ]
    if re.search(r"\bhow many\b", lowered):
        return _how_many(segment, base)
    if "how much" in lowered:
        noun = re.search(rf"how much\s+(?:of\s+(?:(?:the|its|all|their)\s+)?)?(?!{AUX}\b|of\b)(\w+)", lowered)
        kind = (
            "money"
            if (noun and noun.group(1) in ("money", "compensation", "cash"))
            or re.search(r"\b(?:cost|pay|paid)\b", lowered)
            else "amount"
        )
        return [
            replace(
                base,
                name=noun.group(1) if noun else "amount",
                type=kind if noun or kind == "money" else "sum of money",
                nouns=(stem(noun.group(1)),) if noun else (),
            )
        ]
    if "how long" in lowered:
        return [_how_long(segment, base)]
    if re.search(rf"^{LEAD}(?:what|which) (?:\S+ ){{0,2}}(?:{_TIME_WORDS})\b", lowered):
        return _time_slots(segment, base)
    if re.search(r"\bwhen\b", lowered) and re.match(rf"^{LEAD}when\b", lowered):
        return _time_slots(segment, base)
    if _ALTERNATIVES.match(segment) and (slot := _alternatives(segment, base)):
        return [slot]
    if POLAR.match(segment) and not later:
        return [replace(base, name="premise", type="polar")]
    return [_open_slot(segment, base)] if re.search(ASKING, lowered) or not later else []


_TIME_WORDS = r"times?|hours? of (?:the )?day|dates?|day|month|year|moment"


def _without_head(segment: str) -> str:
    return re.sub(rf"^{LEAD}{ASKING}", "", segment, flags=re.IGNORECASE)


def _how_many(segment: str, base: Slot) -> list[Slot]:
    if re.search(r"how many per\s?cent", segment, re.IGNORECASE):
        return [
            replace(
                base,
                name="share",
                type="percent",
                terms=tuple(t for t in base.terms if t not in stems("percent per cent")),
            )
        ]
    if match := _DURATION_UNITS.search(segment):
        return [_span_slot(segment, base, match.group(1).lower())]
    match = re.search(
        rf"how many\s+(.+?)(?:\s+(?={AUX}\b)|\s+\b(?:of|in|on|at|from|that|who|which|because|\w{{3,}}ed)\b|$)",
        segment,
        re.IGNORECASE,
    )
    phrase = match.group(1) if match else ""
    pieces = [piece.strip() for piece in re.split(r",\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", phrase) if piece.strip()]
    slots = []
    rest = tuple(term for term in base.terms if term not in terms_of(phrase))
    for piece in pieces or [phrase]:
        head, *more = re.split(r"\s+(?:to|of|for|from)\s+", piece)
        nouns = (*(term for part in more for term in slot_terms(part)), *slot_terms(head))
        slots.append(replace(base, name=piece or "count", type="count", nouns=nouns, terms=(*nouns, *rest)))
    return slots


def _span_slot(segment: str, base: Slot, unit: str) -> Slot:
    if match := _BETWEEN.search(segment) or _AFTER.search(segment) or _UNTIL.search(segment):
        return replace(base, name=unit, type="span", unit=unit, ends=(match.group("a"), match.group("b")))
    base = replace(base, terms=_without(base.terms, _LASTING), nth=_position(segment))
    return replace(base, name=unit, type="sum" if _SUM.search(segment) else "duration", unit=unit)


def _how_long(segment: str, base: Slot) -> Slot:
    if match := _BETWEEN.search(segment) or _AFTER.search(segment) or _UNTIL.search(segment):
        return replace(base, name="duration", type="span", ends=(match.group("a"), match.group("b")))
    if re.search(r"how long (?:is|are)\b", segment, re.IGNORECASE):
        return replace(base, name="length", type="length")
    base = replace(base, terms=_without(base.terms, _LASTING), nth=_position(segment))
    return replace(
        base, name="duration", type="sum" if re.search(r"\badd up|\bin total\b|\baltogether\b", segment) else "duration"
    )


def _time_slots(segment: str, base: Slot) -> list[Slot]:
    kind = "date" if re.search(r"\b(?:dates?|day|month|year)\b(?!s? of)", base.text.lower()[:40]) else "time"
    clock = re.search(r"\b(?:times?|hours? of)\b", base.text.lower()[:40]) is not None
    base = replace(base, terms=_without(base.terms, _EDGES), nth=_position(segment), clock=clock)
    if re.search(r"\b(?:start|begin)\b.{0,25}\b(?:and|to|or)\b.{0,25}\b(?:end|stop|finish)\b", segment, re.IGNORECASE):
        return [replace(base, name="start", type=kind, edge="start"), replace(base, name="end", type=kind, edge="end")]
    edge = "start" if _START.search(segment) else "end" if _END.search(segment) else ""
    if _START.search(segment) and re.search(
        r"\b(?:come|came|coming|back|return\w*|restor\w*|recover\w*)\b", segment, re.IGNORECASE
    ):
        edge = "end"
    return [replace(base, name=f"{kind} {edge}".strip(), type=kind, edge=edge)]


_LASTING = related(stem("duration")) | stems("second take took total go went on add up sum pass")
_EDGES = related(stem("begin")) - {stem("first")} | stems("end stop finish over")


def _without(terms: tuple[str, ...], words: frozenset[str]) -> tuple[str, ...]:
    """Terms without words that only say which kind of answer is wanted, unless nothing else is left."""
    return tuple(t for t in terms if t not in words and t not in _PLACES) or terms


_PLACES = frozenset(stem(word) for word in ORDINALS)


def _position(segment: str) -> int:
    """Which one of several is asked for: "the second attack"."""
    match = re.search(rf"\b({'|'.join(ORDINALS)})\s+(?:and\s+last\s+)?[a-z]+\b", segment, re.IGNORECASE)
    return ORDINALS[match.group(1).lower()] if match else 0


def _alternatives(segment: str, base: Slot) -> Slot | None:
    match = re.search(r"\b([\w,.]+)\s+or\s+([\w,.]+)\s+(.+)", segment)
    if match is None:
        return None
    rest = match.group(3)
    found = [
        v
        for word in match.group(1, 2)
        for v in typed_values(f"{word} {rest}")[:1]
        if v.kind in ("count", "duration", "percent")
    ]
    if len(found) < 2:
        return None
    noun = words_of(rest)[0]
    terms = tuple(t for t in base.terms if t not in (stem(match.group(1)), stem(match.group(2))))
    return replace(base, name=noun, type="count", nouns=(stem(noun),), alternatives=tuple(found), terms=terms)


_CAUSING = (
    r"\b(?:root )?causes?\b|^(?:what|which) (?:[\w-]+ ){0,3}(?:caused|triggered|led to|crashed|broke|took down|"
    r"brought down|knocked|"
    r"disabled|set off|started|was (?:to blame|behind|responsible))\b|^what (?:damaged|destroyed|severed|cut|hit|"
    r"interrupted|stopped|killed)\b"
)


def _open_slot(segment: str, base: Slot) -> Slot:
    lowered = segment.lower()
    head = re.sub(rf"^{LEAD}", "", lowered)
    if re.match(
        r"^what (?:did|does|do|has|had) .+\b(?:say|state|claim|announce|explain|tell)\b(?! (?:the )?[a-z]+ should)",
        head,
    ):
        about = _without(base.terms, related(stem("cause")) | stems("happen say state claim announce explain tell"))
        return replace(base, name="statement", type="said", terms=about)
    if re.match(r"^why\b|^how come\b", head) or re.search(_CAUSING, head):
        thing = re.match(
            r"^(?:what|which)\s+((?:[\w-]+\s+){1,3}?)(?=(?:caused|triggered|led|crashed|broke|took|brought|knocked|"
            r"disabled|set|started|was)\b)",
            head,
        )
        return replace(base, name="cause", type="cause", nouns=slot_terms(thing.group(1)) if thing else ())
    if re.match(r"^(?:who|whose|whom)\b", head):
        if head.startswith("whose"):
            return replace(base, name="owner", type="actor", terms=(*base.terms, stem("belong")))
        identity = re.match(r"^who (?:is|are|was|were) (?:they|it|he|she|these|those)\b", head)
        return replace(base, name="who", type="identity" if identity else "actor")
    if re.match(r"^where\b", head) or re.match(r"^(?:which|what) (?:countr|cit|place|location)", head):
        return replace(base, name="place", type="place")
    price = r"price|costs?|charges?|fees?|fine|revenue|salary"
    if re.match(rf"^(?:what|which) (?:(?:was|is|were|are) )?(?:the |total )*(?:\w+ )?(?:{price})\b", head) or re.search(
        r"^what (?:did|does|would|had) .*\b(?:cost|pay|paid|charge|charged)\b", head
    ):
        return replace(base, name="money", type="money")
    if re.search(r"^(?:what|which) (?:percentage|per cent|share|fraction|proportion)\b", head):
        return replace(base, name="share", type="percent")
    if re.search(
        r"^(?:what|which) (?:was|is|were)?\s*(?:the )?(?:exact |total )?(?:depth|length|width|height|distance)\b|"
        r"\bin (?:metres|meters|km|kilometres)\b",
        head,
    ):
        return replace(base, name="length", type="length")
    if re.search(r"\bas numbers?\b|\basns?\b|^(?:which|what) (?:\w+ )?(?:as|ases)\b", head):
        return replace(base, name="AS number", type="asn")
    if re.search(r"^(?:which|what) (?:\w+ ){0,2}prefix(?:es)?\b", head):
        return replace(base, name="prefix", type="prefix")
    if re.match(r"^how (?:large|big|high|low|cold|hot|fast|strong|deep|wide|tall|heavy|severe|busy)\b", head):
        kind = "length" if re.match(r"^how (?:deep|wide|tall)\b", head) else "size"
        rest = re.sub(r"^how \w+", "", head)
        return replace(base, name="size", type=kind, terms=slot_terms(rest) or base.terms)
    if head.startswith("which") or re.match(
        r"^what\s+(?!(?:is|was|were|are|did|does|do|became|happened|happens|had|has|have|made|went|could)\b)", head
    ):
        noun = _head_noun(
            head, frozenset(re.findall(r"\b(\w+s)\s+(?=[A-Z\d]|(?:the|a|an|its|their|most|all|every)\b)", segment))
        )
        return replace(base, name=noun, type="name", nouns=slot_terms(noun)) if noun else base
    return base


def _head_noun(head: str, verbs: frozenset[str] = frozenset()) -> str:
    """ "which cable systems were cut" asks for cable systems: words up to the first verb or preposition."""
    head = re.sub(r"^(which|what)\s+(?:kinds?|types?|sorts?)\s+of\s+", r"\1 ", head)
    words = re.sub(r"^(?:which|what)\s+(?:of the\s+)?(?:other |two |three |four |five |six )?", "", head).split()
    found: list[str] = []
    for word in words[:4]:
        bare = word.strip(",")
        if (
            re.fullmatch(
                AUX + r"|of|in|on|at|that|to|by|with|from|for|and|cut|hit|put|shut|set|\w{2,}ed|who",
                bare,
            )
            or is_past(bare)
            or (found and bare in verbs)
        ):
            break
        found.append(bare)
        if bare != word:
            break
    return " ".join(found)
