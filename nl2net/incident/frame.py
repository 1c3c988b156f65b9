"""A question as typed slots, named subjects and dates, by rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from nl2net.incident.entities import cable_mentions
from nl2net.incident.language import MONTHS, STOP, is_past, stem, stems, terms_of, words_of
from nl2net.incident.records import Slot, TypedValue
from nl2net.incident.text import sentence_spans, word_set
from nl2net.incident.typed import is_real_date, typed_values

_LEAD = r"(?:(?:in|at|from|by|for|to|on|over|through|during|until|of|with|since|under|against)\s+)?"
_ASKING = r"(?:how many|how much|how long|how often|how far|how|when|who|whom|whose|why|which|what|where)\b"
_HEAD = re.compile(
    rf"(?:^|(?<=[,;:.?!])\s*(?:and\s+|but\s+)?|\band\s+(?:if so,?\s+)?|\bor\s+)(?={_LEAD}{_ASKING})", re.IGNORECASE
)
_AUX = r"(?:did|do|does|was|were|is|are|had|has|have|will|would|could|can|should|went|go|got|came|fell|lost|failed)"
_POLAR = re.compile(r"^(?:did|do|does|was|were|is|are|had|has|have|could|can)\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"^(?:was|were|did|is|are)\b.*?\b(?:\w+)\s+or\s+(?:\w+)\b", re.IGNORECASE)
_META = {
    "agreement": re.compile(
        r"\b(?:sources?|reports?|documents?|notes?|accounts?|texts?|pages?|figures?)\b[^.?;]*\b(?:dis)?agree\w*|\b(?:dis)?agree\b[^.?;]*"
        r"\b(?:sources?|reports?)|\bexplain the difference|\bdo (?:the|all) (?:sources|reports|figures) (?:match|differ|conflict)"
        r"|\b(?:sources|reports|figures|accounts) (?:differ|conflict|contradict)\w*|\bsay how\b|\bis there (?:any )?(?:a )?(?:conflict|"
        r"disagreement)\w*|\bwhat do the (?:different )?sources say\b",
        re.IGNORECASE,
    ),
    "origins": re.compile(r"\bindependent (?:sources?|origins?)\b|\bhow many (?:sources|origins)\b", re.IGNORECASE),
    "quality": re.compile(
        r"\bhow (?:good|strong|solid|reliable|certain|sure|well supported|trustworthy)\b[^?]*\b(?:evidence|source|claim|sources)?"
        r"|\bhow (?:much )?(?:can|should) .{0,30}\btrust", re.IGNORECASE
    ),
    "measured": re.compile(r"\b(?:by|from|in|on) the (?:measured|measurement|recorded|observed)\b|\bmeasured times?\b", re.IGNORECASE),
}  # fmt: skip
_FORECAST = re.compile(
    r"\bwill\b(?!\s+(?:power|of)\b)|\bnext (?:day|week|month|quarter|year|decade)\b|\btomorrow\b|\bin the (?:near )?future\b"
    r"|\b(?:going|likely|expected) to (?:happen|fail|leak|break|be (?:cut|hit|attacked)) (?:next|soon|again)|\bforecast\b|\bpredict\b",
    re.IGNORECASE,
)
# Words in capitals that name no subject of an incident.
_COMMON = word_set(
    "as asn ases bgp utc gmt ip isp isps ipv4 ipv6 dns mrt ddos aedt aest est edt et pst pdt pt cet cest "
    "bst ist jst gb tb mb km uk us eu usa i a the in on at from how when who why which what where list "
    "name give build did was were is are internet january february local central eastern pacific explain "
    "do does and or of for to monday tuesday wednesday thursday friday saturday sunday compute count iot "
    "vpn tcp udp http https tls ssl api ceo cto"
) | frozenset(MONTHS)
_DURATION_UNITS = re.compile(r"how many (seconds|minutes|hours|days)\b", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\b(?:between|from)\s+(?P<a>.+?)\s+(?:and|to|until)\s+(?P<b>(?:the|its|their|a|an|when|first|full|services?|it)\b.+)$",
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
_START = re.compile(r"\b(?:beg[aiu]n|begins?|beginning|start\w*|first|onset|commence\w*)\b", re.IGNORECASE)
_END = re.compile(
    r"\b(?:end(?:ed|s)?|stop\w*|finish\w*|over|restor\w+|resum\w+|back|return\w*|recover\w*|repair\w*|withdr\w+|last)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A question by parts.

    Attributes
    ----------
    slots : tuple of Slot
        What is asked, in order.
    names : tuple of str
        Subjects that a document must speak of.
    dates : tuple of (year, month, day)
        Dates of the question; zero for unknown parts.
    entities : tuple of TypedValue
        AS numbers, prefixes and times of the question.
    wants : frozenset of str
        ``agreement``, ``origins``, ``quality``, ``measured``.
    listing : bool
        Whether all matches over all documents are asked for.
    out_of_scope : str
        Why no evidence can settle it, or ``""``.
    """

    question: str
    slots: tuple[Slot, ...]
    names: tuple[str, ...]
    dates: tuple[tuple[int, int, int], ...]
    entities: tuple[TypedValue, ...]
    wants: frozenset[str]
    listing: bool = False
    out_of_scope: str = ""
    polar: bool = False


def slot_terms(text: str) -> tuple[str, ...]:
    """Stems of a part of a question without its dates, numbers of entities and times, which are compared by type.

    Examples
    --------
    >>> slot_terms("the route leak of 24 June 2019 from AS64496")
    ('route', 'leak')
    """
    rest = list(text)
    for value in typed_values(text):
        if value.kind in ("date", "asn", "prefix", "time"):
            rest[value.start : value.end] = " " * (value.end - value.start)
    return tuple(term for term in dict.fromkeys(terms_of("".join(rest))) if term not in _EMPTY)


_EMPTY = stems(
    "thought believed known utc gmt time date number row happen list corpus question aedt est cet measured recorded"
)


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
        if bare.lower() in _COMMON or bare.lower() in STOP or re.fullmatch(r"AS\d+", bare) or (bare.isdigit() and not parts[-1]):
            parts.append([])
        elif bare in ("of", "the", "and", "de"):
            # "AT&T and Verizon" are two names, "Bank of Norland" is one.
            parts.append([]) if bare != "of" else parts[-1].append(bare)
        else:
            parts[-1].append(bare)
    return [" ".join(part).removesuffix(" of").removeprefix("of ") for part in parts if part and part != ["of"]]


def frame_question(question: str) -> Frame:
    """The parts of a question.

    Parameters
    ----------
    question : str
        As asked.

    Examples
    --------
    >>> frame = frame_question("In which phase did the Rogers outage of 2022 happen, and how long did it last?")
    >>> [(slot.type, slot.text) for slot in frame.slots], frame.names, frame.dates
    ([('name', 'In which phase did the Rogers outage of 2022 happen'), ('duration', 'how long did it last')], ('Rogers',), ((2022, 0, 0),))
    """
    text = " ".join(question.split()).strip()
    wants = frozenset(name for name, pattern in _META.items() if pattern.search(text))
    values = typed_values(text)
    dates = tuple(value.value for value in values if value.kind == "date")
    entities = tuple(value for value in values if value.kind in ("asn", "prefix", "time"))
    segments = _segments(text)
    names = names_of(text)
    slots: list[Slot] = []
    for segment in segments:
        slots += _slots_of(segment, bool(slots))
    if not slots:
        slots = [Slot("answer", "text", text, tuple(terms_of(text)))]
    context = next((slot for slot in slots if slot.terms), slots[0])
    slots = [replace(_inherit(slot, context), must=_deed(slot.text)) for slot in slots]
    listing = (
        re.match(r"^(?:list|name|give|enumerate)\b.*\b(?:all|every|the \w+ \w+|corpus)\b", text, re.IGNORECASE)
        is not None
    )
    return Frame(
        question=text,
        slots=tuple(_unique(_separate(slots))),
        names=names,
        dates=dates,
        entities=entities,
        wants=wants,
        listing=listing and re.search(r"\b(?:corpus|documents|notes|all)\b", text, re.IGNORECASE) is not None,
        out_of_scope=_out_of_scope(text, dates),
        polar=_POLAR.match(segments[0]) is not None and not slots[0].alternatives if segments else False,
    )


def _deed(segment: str) -> tuple[str, ...]:
    """The participle of a passive question: "when was the cable repaired" asks for a repair and nothing else."""
    match = re.search(
        r"\b(?:was|were|been|be|get|got)\b[^,;]*?\b(\w+ed|cut|hit|lost|sunk|found|built|shut|sold|paid|broken|stolen|withdrawn|taken|"
        r"made|sent|put)\b(?:\s+(?:in|on|at|by|from|to|of|for|during|back|off|again|after|because|with)\b.*)?$",
        segment,
        re.IGNORECASE,
    )
    return (stem(match.group(1)),) if match else ()


def _out_of_scope(text: str, dates: tuple[tuple[int, int, int], ...]) -> str:
    for date in dates:
        if not is_real_date(date):
            return f"there is no day {date[2]} in month {date[1]} of {date[0] or 'that year'}"
    if _FORECAST.search(text):
        return "a forecast: no evidence can settle what has not happened"
    return ""


_META_TAIL = re.compile(
    r"(?:^|[,;]?\s+(?:and|but)\s+)(?:do|does|did|where do|how do) (?:the |all )?(?:sources|reports|documents|accounts|figures)\b.*$",
    re.IGNORECASE,
)


def _segments(text: str) -> list[str]:
    parts: list[str] = []
    for sentence in (piece for a, b in sentence_spans(text) for piece in re.split(r"(?<=[;:])\s+", text[a:b])):
        cuts = [match.end() for match in _HEAD.finditer(sentence)]
        starts = [0, *[cut for cut in cuts if cut > 0]]
        for begin, stop in zip(starts, [*starts[1:], len(sentence)], strict=True):
            piece = re.sub(r"(?:[\s,;:.?!]+(?:and|but|or)?)*$", "", _META_TAIL.sub("", sentence[begin:stop])).strip()
            if piece:
                parts.append(piece)
    parts = [part for part in parts if not _is_meta(part)]
    # "In the stream x, which prefix ..." names the place; the question comes after it.
    while len(parts) > 1 and not re.search(_ASKING, parts[0], re.IGNORECASE) and not _POLAR.match(parts[0]):
        parts.pop(0)
    return parts


def _is_meta(segment: str) -> bool:
    if re.match(r"^(?:explain|say|describe|the (?:sources|reports|figures))\b", segment, re.IGNORECASE):
        return True
    if _META["origins"].search(segment):
        return True
    return any(
        pattern.match(segment) or _covers(pattern, segment) for name, pattern in _META.items() if name != "measured"
    )


def _covers(pattern: re.Pattern[str], segment: str) -> bool:
    match = pattern.search(segment)
    return match is not None and len(match.group()) > 0.55 * len(segment)


def _inherit(slot: Slot, first: Slot) -> Slot:
    """A bare "why" or "when" asks about what the first part speaks of."""
    meaningful = [term for term in slot.terms if term not in _EMPTY]
    return slot if meaningful else replace(slot, terms=(*slot.terms, *first.terms), bare=True)


def _separate(slots: list[Slot]) -> list[Slot]:
    """ "calls and 911 calls": the first are those that are not the second."""
    made = []
    for slot in slots:
        others = [
            o for o in slots if o is not slot and o.type == slot.type == "count" and o.nouns[-1:] == slot.nouns[-1:]
        ]
        avoid = tuple(n for o in others for n in o.nouns if n not in slot.nouns)
        made.append(replace(slot, avoid=avoid) if avoid and slot.nouns else slot)
    return made


def _unique(slots: list[Slot]) -> list[Slot]:
    seen: dict[str, int] = {}
    found = []
    for slot in slots:
        seen[slot.name] = seen.get(slot.name, 0) + 1
        found.append(slot if seen[slot.name] == 1 else replace(slot, name=f"{slot.name} {seen[slot.name]}"))
    return found


def _slots_of(segment: str, later: bool) -> list[Slot]:
    lowered = segment.lower()
    anchors = tuple(dict.fromkeys([*names_of(segment), *cable_mentions(segment)][: len(names_of(segment)) or 3]))
    base = Slot("answer", "text", segment, slot_terms(_without_head(segment)), anchors=anchors)
    if match := re.match(r"^from when (?:to|until|till) when\b(.*)", lowered):
        return [
            replace(base, name="start", type="time", edge="start"),
            replace(base, name="end", type="time", edge="end"),
        ]
    if re.search(r"\bhow many\b", lowered):
        return _how_many(segment, base)
    if "how much" in lowered:
        noun = re.search(r"how much\s+(\w+)", lowered)
        kind = (
            "money"
            if (noun and noun.group(1) in ("money", "compensation", "cash"))
            or re.search(r"\b(?:cost|pay|paid)\b", lowered)
            else "amount"
        )
        return [
            replace(
                base, name=noun.group(1) if noun else "amount", type=kind, nouns=(stem(noun.group(1)),) if noun else ()
            )
        ]
    if "how long" in lowered:
        return [_how_long(segment, base)]
    if match := re.search(rf"\b(?:what|which)\b.*?\b({_TIME_WORDS})\b", lowered):
        return _time_slots(segment, base)
    if re.search(r"\bwhen\b", lowered) and re.match(rf"^{_LEAD}when\b", lowered):
        return _time_slots(segment, base)
    if match := _ALTERNATIVES.match(segment):
        if slot := _alternatives(segment, base):
            return [slot]
    if _POLAR.match(segment) and not later:
        return [replace(base, name="premise", type="polar")]
    return [_open_slot(segment, base)] if re.search(_ASKING, lowered) or not later else []


_TIME_WORDS = r"times?|hours? of (?:the )?day|dates?|day|month|year|moment"


def _without_head(segment: str) -> str:
    return re.sub(rf"^{_LEAD}{_ASKING}", "", segment, flags=re.IGNORECASE)


def _how_many(segment: str, base: Slot) -> list[Slot]:
    if re.search(r"how many per\s?cent", segment, re.IGNORECASE):
        return [replace(base, name="share", type="percent", terms=tuple(t for t in base.terms if t not in stems("percent per cent")))]
    if match := _DURATION_UNITS.search(segment):
        return [_span_slot(segment, base, match.group(1).lower())]
    match = re.search(
        rf"how many\s+(.+?)(?:\s+(?={_AUX}\b)|\s+\b(?:of|in|on|at|from|that|who|which|because|\w{{3,}}ed)\b|$)", segment, re.IGNORECASE
    )
    phrase = match.group(1) if match else ""
    pieces = [piece.strip() for piece in re.split(r",\s*(?:and\s+)?|\s+and\s+", phrase) if piece.strip()]
    slots = []
    rest = tuple(term for term in base.terms if term not in terms_of(phrase))
    for piece in pieces or [phrase]:
        nouns = slot_terms(piece)
        slots.append(replace(base, name=piece or "count", type="count", nouns=nouns, terms=(*nouns, *rest)))
    return slots


def _span_slot(segment: str, base: Slot, unit: str) -> Slot:
    if match := _BETWEEN.search(segment) or _AFTER.search(segment) or _UNTIL.search(segment):
        return replace(base, name=unit, type="span", unit=unit, ends=(match.group("a"), match.group("b")))
    return replace(base, name=unit, type="sum" if _SUM.search(segment) else "duration", unit=unit)


def _how_long(segment: str, base: Slot) -> Slot:
    if match := _BETWEEN.search(segment) or _AFTER.search(segment) or _UNTIL.search(segment):
        return replace(base, name="duration", type="span", ends=(match.group("a"), match.group("b")))
    if re.search(r"how long (?:is|are)\b", segment, re.IGNORECASE):
        return replace(base, name="length", type="length")
    return replace(
        base, name="duration", type="sum" if re.search(r"\badd up|\bin total\b|\baltogether\b", segment) else "duration"
    )


def _time_slots(segment: str, base: Slot) -> list[Slot]:
    kind = "date" if re.search(r"\b(?:dates?|day|month|year)\b(?!s? of)", base.text.lower()[:40]) else "time"
    if re.search(r"\b(?:start|begin)\b.{0,25}\b(?:and|to|or)\b.{0,25}\b(?:end|stop|finish)\b", segment, re.IGNORECASE):
        return [replace(base, name="start", type=kind, edge="start"), replace(base, name="end", type=kind, edge="end")]
    edge = "start" if _START.search(segment) else "end" if _END.search(segment) else ""
    if _START.search(segment) and re.search(
        r"\b(?:come|came|coming|back|return\w*|restor\w*|recover\w*)\b", segment, re.IGNORECASE
    ):
        edge = "end"
    return [replace(base, name=f"{kind} {edge}".strip(), type=kind, edge=edge)]


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
    r"\b(?:root )?causes?\b|^(?:what|which) (?:[\w-]+ ){0,3}(?:caused|triggered|led to|crashed|broke|took down|brought down|knocked|"
    r"disabled|set off|started|was (?:to blame|behind|responsible))\b"
)


def _open_slot(segment: str, base: Slot) -> Slot:
    lowered = segment.lower()
    head = re.sub(rf"^{_LEAD}", "", lowered)
    if re.match(r"^why\b|^how come\b", head) or re.search(_CAUSING, head):
        kind = re.match(
            r"^(?:what|which)\s+((?:[\w-]+\s+){1,3}?)(?=(?:caused|triggered|led|crashed|broke|took|brought|knocked|disabled|set|started|was)\b)",
            head,
        )
        return replace(base, name="cause", type="cause", nouns=slot_terms(kind.group(1)) if kind else ())
    if re.match(r"^(?:who|whose|whom)\b", head):
        identity = re.match(r"^who (?:is|are|was|were) (?:they|it|he|she|these|those)\b", head)
        return replace(base, name="who", type="identity" if identity else "actor")
    if re.match(r"^where\b", head) or re.match(
        r"^(?:which|what) (?:countr|cit|place|location|state|region|port\b)", head
    ):
        return replace(base, name="place", type="place")
    if re.search(r"\b(?:price|cost|charge|fee|fine|compensation|revenue|salary|paid|pay)\b", head) and head.startswith(
        ("what", "which")
    ):
        return replace(base, name="money", type="money")
    if re.search(r"^(?:what|which) (?:percentage|per cent|share|fraction|proportion)\b", head):
        return replace(base, name="share", type="percent")
    if re.search(
        r"^(?:what|which) (?:was|is|were)?\s*(?:the )?(?:exact |total )?(?:depth|length|width|height|distance)\b|\bin (?:metres|meters|km|kilometres)\b",
        head,
    ):
        return replace(base, name="length", type="length")
    if match := re.search(r"\bas numbers?\b|\basns?\b|^(?:which|what) (?:\w+ )?(?:as|ases)\b", head):
        return replace(base, name="AS number", type="asn")
    if re.search(r"^(?:which|what) (?:\w+ ){0,2}prefix(?:es)?\b", head):
        return replace(base, name="prefix", type="prefix")
    if re.match(r"^how (?:large|big|high|fast|strong|deep|wide|tall|heavy|severe|busy)\b", head):
        kind = "length" if re.match(r"^how (?:deep|wide|tall)\b", head) else "size"
        rest = re.sub(r"^how \w+", "", head)
        return replace(base, name="size", type=kind, terms=slot_terms(rest) or base.terms)
    if head.startswith("which") or re.match(
        r"^what\s+(?!(?:is|was|were|are|did|does|do|became|happened|happens|had|has|have|made|went|could)\b)", head
    ):
        noun = _head_noun(head)
        return replace(base, name=noun, type="name", nouns=slot_terms(noun)) if noun else base
    return base


def _head_noun(head: str) -> str:
    """ "which cable systems were cut" asks for cable systems: words up to the first verb or preposition."""
    words = re.sub(r"^(?:which|what)\s+(?:of the\s+)?(?:other |two |three |four |five |six )?", "", head).split()
    found: list[str] = []
    for word in words[:4]:
        bare = word.strip(",")
        if re.fullmatch(
            _AUX
            + r"|of|in|on|at|that|to|by|with|from|for|and|cut|hit|put|shut|set|\w{2,}ed|who",
            bare,
        ) or is_past(bare):
            break
        found.append(bare)
        if bare != word:
            break
    return " ".join(found)
