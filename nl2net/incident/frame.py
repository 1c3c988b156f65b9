"""A question as typed slots, named subjects and dates, by rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from nl2net.incident.language import stem
from nl2net.incident.naming import EMPTY, names_of, slot_terms
from nl2net.incident.records import Slot, TypedValue
from nl2net.incident.slots import ASKING, LEAD, POLAR, slots_of
from nl2net.incident.text import sentence_spans
from nl2net.incident.typed import is_real_date, typed_values

_HEAD = re.compile(
    rf"(?:^|(?<=[,;:.?!])\s*(?:and\s+|but\s+)?|\band\s+(?:if so,?\s+)?|\bor\s+)(?={LEAD}{ASKING})", re.IGNORECASE
)
_META = {
    "agreement": re.compile(
        r"\b(?:sources?|reports?|documents?|notes?|accounts?|texts?|pages?|figures?)\b[^.?;]*\b(?:dis)?agree\w*|"
        r"\b(?:dis)?agree\b[^.?;]*"
        r"\b(?:sources?|reports?)|\bexplain the difference|\bdo (?:the|all) (?:sources|reports|figures) (?:match|"
        r"differ|conflict)"
        r"|\b(?:sources|reports|figures|accounts) (?:differ|conflict|contradict)\w*|\bsay how\b|\bis there (?:any "
        r")?(?:a )?(?:conflict|"
        r"disagreement)\w*|\bwhat do the (?:different )?sources say\b",
        re.IGNORECASE,
    ),
    "origins": re.compile(r"\bindependent (?:sources?|origins?)\b|\bhow many (?:sources|origins)\b", re.IGNORECASE),
    "quality": re.compile(
        r"\bhow (?:good|strong|solid|reliable|certain|sure|well supported|trustworthy)\b[^?]*\b(?:evidence|source|"
        r"claim|sources)?"
        r"|\bhow (?:much )?(?:can|should) .{0,30}\btrust", re.IGNORECASE
    ),
    "measured": re.compile(r"\b(?:by|from|in|on) the (?:measured|measurement|recorded|observed)\b|\bmeasured "
                           r"times?\b", re.IGNORECASE),
}  # fmt: skip
_FORECAST = re.compile(
    r"\bwill\b(?!\s+(?:power|of)\b)|\bnext (?:day|week|month|quarter|year|decade)\b|\btomorrow\b|\bin the (?:near "
    r")?future\b"
    r"|\b(?:going|likely|expected) to (?:happen|fail|leak|break|be (?:cut|hit|attacked)) (?:next|soon|again)|"
    r"\bforecast\b|\bpredict\b",
    re.IGNORECASE,
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


def frame_question(question: str) -> Frame:
    """The parts of a question.

    Parameters
    ----------
    question : str
        As asked.

    Examples
    --------
    >>> frame = frame_question("In which phase did the Rogers outage of 2022 happen, and how long did it last?")
    >>> [slot.type for slot in frame.slots], frame.names, frame.dates
    (['name', 'duration'], ('Rogers',), ((2022, 0, 0),))
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
        slots += slots_of(segment, bool(slots))
    if not slots:
        slots = [Slot("answer", "text", text, slot_terms(text))]
    context = next((slot for slot in slots if slot.terms), slots[0])
    slots = [
        replace(_inherit(slot, context), must=() if slot.name in ("start", "end") else _deed(slot.text))
        for slot in slots
    ]
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
        polar=POLAR.match(segments[0]) is not None and not slots[0].alternatives if segments else False,
    )


def _deed(segment: str) -> tuple[str, ...]:
    """The participle of a passive question: "when was the cable repaired" asks for a repair and nothing else."""
    match = re.search(
        r"\b(?:was|were|been|be|get|got)\b[^,;]*?\b(\w+ed|cut|hit|lost|sunk|found|built|shut|sold|paid|broken|stolen|"
        r"withdrawn|taken|"
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
    r"(?:^|[,;]?\s+(?:and|but)\s+)(?:do|does|did|where do|how do) (?:the |all )?(?:sources|reports|documents|"
    r"accounts|figures)\b.*$",
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
    while len(parts) > 1 and not re.search(ASKING, parts[0], re.IGNORECASE) and not POLAR.match(parts[0]):
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
    meaningful = [term for term in slot.terms if term not in EMPTY]
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
