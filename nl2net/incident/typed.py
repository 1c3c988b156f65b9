"""Typed values in text.

Times, dates, durations, counts, shares, lengths, sums of money, AS numbers, prefixes, ordinals.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any

from nl2net.incident.language import MONTHS, NUMBER_WORDS, ORDINALS
from nl2net.incident.records import TypedValue

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:[,\u202f' ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_WORDS = "|".join(w for w in sorted(NUMBER_WORDS, key=len, reverse=True) if w != "no")
_ANY = rf"(?:{_NUMBER}|\b(?:{_WORDS})\b)"
_SCALE = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
    "hundred": 100,
}
_BOUND = (
    r"(?P<bound>about|around|approximately|roughly|nearly|almost|some|circa|~|over|more than|at least|upwards of|up "
    r"to|less than|"
    r"fewer than|at most|under|an estimated|estimated)?\s*"
)
_BOUNDS = {
    "over": "more than", "more than": "more than", "at least": "more than", "upwards of": "more than",
    "up to": "less than",
    "less than": "less than", "fewer than": "less than", "at most": "less than", "under": "less than", "": "",
}  # fmt: skip
_ZONE = (
    r"UTC|GMT|AEDT|AEST|ACDT|AWST|NZDT|NZST|CEST|CET|EEST|EET|MSK|BST|IST|JST|KST|PKT|SGT|HKT|CST|CDT|EST|EDT|ET|PST|"
    r"PDT|PT|MST|MDT|WAT"
    r"|EAT|SAST|BRT|US/[A-Z][a-z]+|Central|Eastern|Pacific|Mountain|local|Z"
)

_TIME = re.compile(
    rf"(?<![\d.,:/])(?P<h>[01]?\d|"
    rf"2[0-3])(?:(?P<sep>[:.])(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?)?\s?(?P<half>[ap]\.?m\b\.?)?"
    rf"(?![\d/])(?:\s*(?P<zone>{_ZONE})\b)?",
    re.IGNORECASE,
)
_DATES = (
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<mon>{_MONTH})\b\.?,?(?:\s+(?P<y>\d{{4}}))?", re.IGNORECASE
    ),
    re.compile(
        rf"\b(?P<mon>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<y>\d{{4}}))?", re.IGNORECASE
    ),
    re.compile(r"(?<![\d-])(?P<y>\d{4})-(?P<n>\d{2})-(?P<d>\d{2})(?!\d)"),
    re.compile(rf"\b(?P<mon>{_MONTH})\b\.?,?(?:\s+of)?\s+(?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(r"(?<![\d.,:/-])(?P<y>(?:19|20)\d{2})(?![\d.,:/-]*\d)"),
)
_UNITS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "h": 3600, "day": 86400, "week": 604800,
    "month": 2629800, "year": 31557600,
}  # fmt: skip
_DURATION = re.compile(
    rf"{_BOUND}(?P<low>{_ANY}|\ba\b|\ban\b|half an)(?:\s*(?:to|-|–|or|"
    rf"and)\s*(?P<high>{_ANY}))?[\s-]*(?:(?P<more>more)\s+)?"
    r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\b"
    rf"(?:(?:,|\s+and)?\s+(?P<low2>{_ANY})[\s-]*(?P<unit2>minutes?|mins?|seconds?|secs?)\b)?",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"{_BOUND}(?P<n>{_ANY})\s*(?:%|per\s?cent\b)", re.IGNORECASE)
_LENGTH = re.compile(
    rf"{_BOUND}(?P<n>{_NUMBER})[\s-]*(?P<unit>km|kilomet(?:re|er)s?|miles?|nautical miles|met(?:re|er)s?|m|feet|"
    rf"ft)\b(?!\w)",
    re.IGNORECASE,
)
_METRES = {"k": 1000.0, "mi": 1609.344, "na": 1852.0, "m": 1.0, "f": 0.3048}
_MONEY = re.compile(
    rf"{_BOUND}(?:(?P<cur>US\$|A\$|C\$|NZ\$|[$€£¥])\s?(?P<n>{_NUMBER})(?:\s?(?P<scale>thousand|million|billion|"
    rf"trillion|bn|m|k)\b)?"
    rf"|(?P<n2>{_NUMBER})(?:\s(?P<scale2>thousand|million|billion|trillion))?\s(?P<cur2>(?:US |Canadian |Australian "
    rf")?dollars?"
    r"|euros?|pounds?|yen|yuan|rupees?|won|kron(?:a|or|er)|francs?|shillings?|USD|EUR|GBP|CAD|AUD|cents?)\b)",
    re.IGNORECASE,
)
_ASN = re.compile(r"\bASN?[\s-]?(?:number\s+)?(?P<n>\d{1,10})\b")
_PATH = re.compile(
    r"\b(?:paths?|hops?|sequence|ASes|ASNs?)\b[^.;]{0,40}?(?P<run>\b\d{1,10}(?:[ ,>→-]+\d{1,10})+)(?![\d:/]|\.\d)",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})/\d{1,3}\b")
_ORDINAL = re.compile(
    rf"\b(?P<o>{'|'.join(ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))\b(?=\s+(?P<noun>[a-z]+))", re.IGNORECASE
)
_COUNT = re.compile(
    rf"{_BOUND}(?<![\w.,:/-])(?P<n>{_ANY})(?:\s*(?:to|-|–)\s*(?P<high>{_NUMBER}))?(?P<scale>\s(?:thousand|million|"
    rf"billion|hundred))?"
    r"(?![\d:/%]|\.\d|-\d)(?=[\s-]*(?P<noun>(?:\d{3}\s+)?(?:[A-Za-z][\w-]*)(?:\s+(?!(?:and|or|in|on|at|of|to|by|from|"
    r"with|for|as|that|which"
    r"|while|were|was|had|have|did|is|are|but|so|after|before|because|its|his|her|their|the)\b)[A-Za-z0-9][\w-]*){0,3}"
    r"(?:\s+(?:of|to)\s+(?:the\s+)?[A-Za-z0-9][\w-]*)?)?)",
    re.IGNORECASE,
)


def _number(text: str) -> float:
    lowered = text.lower().strip()
    if lowered in NUMBER_WORDS:
        return float(NUMBER_WORDS[lowered])
    if lowered in ("a", "an"):
        return 1.0
    if lowered == "half an":
        return 0.5
    return float(re.sub(r"[,\u202f' ]", "", lowered))


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _bound(match: re.Match[str]) -> str:
    word = (match.group("bound") or "").lower()
    return _BOUNDS.get(word, "about" if word else "")


def _value(match: re.Match[str], kind: str, value: Any, *, noun: str = "", bound: str = "") -> TypedValue:
    text = match.group()
    lead = len(text) - len(text.lstrip())
    start, end = match.start() + lead, match.end() - (len(text) - len(text.rstrip()))
    return TypedValue(kind, value, text.strip(), start, end, noun, bound)


def _dates(text: str) -> Iterator[TypedValue]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = MONTHS[parts["mon"].lower()] if parts.get("mon") else int(parts.get("n") or 0)
            day = int(parts.get("d") or 0)
            year = int(parts.get("y") or 0)
            if month > 12 or day > 31 or ((parts.get("mon", "") or "").islower() and not day):
                continue
            yield _value(match, "date", (year, month, day))


def _times(text: str) -> Iterator[TypedValue]:
    zone = ""
    found = []
    for match in _TIME.finditer(text):
        half = (match.group("half") or "").lower().replace(".", "")
        if match.group("m") is None and not half:
            continue
        if match.group("sep") == "." and not half and not match.group("zone"):
            continue
        hour = int(match.group("h"))
        if half:
            if not 1 <= hour <= 12:
                continue
            hour = hour % 12 + (12 if half == "pm" else 0)
        seconds = hour * 3600 + int(match.group("m") or 0) * 60 + int(match.group("s") or 0)
        bound = (
            "about"
            if re.search(r"(?:about|around|approximately|roughly|circa|~)\s*$", text[: match.start()], re.I)
            else ""
        )
        found.append((match, seconds, match.group("zone") or "", bound))
    # "11:10 to 13:20 UTC": a zone counts for the times before it.
    for match, seconds, own, bound in reversed(found):
        zone = own or zone
        named = zone.upper() if zone.lower() not in ("central", "eastern", "pacific", "mountain", "local") else zone
        yield _value(match, "time", seconds, noun="UTC" if named in ("GMT", "Z") else named, bound=bound)


def _durations(text: str) -> Iterator[TypedValue]:
    for match in _DURATION.finditer(text):
        scale = _scale_of(match.group("unit"))
        low = _number(match.group("low")) * scale
        high = _number(match.group("high")) * scale if match.group("high") else low
        if match.group("low2"):
            extra = _number(match.group("low2")) * _scale_of(match.group("unit2"))
            low, high = low + extra, high + extra
        noun = "more" if match.group("more") else ""
        yield _value(
            match, "duration", (_plain(min(low, high)), _plain(max(low, high))), noun=noun, bound=_bound(match)
        )


def _scale_of(unit: str) -> float:
    unit = unit.lower().removesuffix("s") if len(unit) > 1 else unit.lower()
    return float(_UNITS[unit])


def _percents(text: str) -> Iterator[TypedValue]:
    for match in _PERCENT.finditer(text):
        value = _plain(_number(match.group("n")))
        noun = re.match(r"\s*(?:of\s+(?:the\s+|all\s+|its\s+)?)?((?:\w+\s?){0,3})", text[match.end() :])
        yield _value(match, "percent", (value, value), noun=noun.group(1).strip() if noun else "", bound=_bound(match))


def _lengths(text: str) -> Iterator[TypedValue]:
    for match in _LENGTH.finditer(text):
        unit = match.group("unit").lower()
        if unit == "m" and not text[match.start() : match.end()].rstrip().endswith(" m"):
            continue
        factor = next(scale for head, scale in _METRES.items() if unit.startswith(head))
        metres = _plain(round(_number(match.group("n")) * factor, 3))
        yield _value(match, "length", (metres, metres), noun=unit, bound=_bound(match))


def _money(text: str) -> Iterator[TypedValue]:
    for match in _MONEY.finditer(text):
        number = _number(match.group("n") or match.group("n2"))
        scale = (match.group("scale") or match.group("scale2") or "").lower()
        value = _plain(number * _SCALE.get(scale, 1))
        yield _value(
            match,
            "money",
            (value, value),
            noun=(match.group("cur") or match.group("cur2")).strip(),
            bound=_bound(match),
        )


def _asns(text: str) -> Iterator[TypedValue]:
    for match in _ASN.finditer(text):
        if int(match.group("n")) < 1 << 32:
            yield _value(match, "asn", int(match.group("n")))
    for match in _PATH.finditer(text):
        for number in re.finditer(r"\d{1,10}", match.group("run")):
            if 0 < int(number.group()) < 1 << 32:
                start = match.start("run") + number.start()
                yield TypedValue("asn", int(number.group()), number.group(), start, start + len(number.group()), "path")


def _prefixes(text: str) -> Iterator[TypedValue]:
    for match in _PREFIX.finditer(text):
        try:
            network = ipaddress.ip_network(match.group(), strict=False)
        except ValueError:
            continue
        yield _value(match, "prefix", str(network))


def _ordinals(text: str) -> Iterator[TypedValue]:
    for match in _ORDINAL.finditer(text):
        word = match.group("o").lower()
        value = ORDINALS.get(word) or int(re.sub(r"\D", "", word))
        yield _value(match, "ordinal", value, noun=match.group("noun").lower())


def _counts(text: str) -> Iterator[TypedValue]:
    for match in _COUNT.finditer(text):
        noun = match.group("noun") or ""
        if re.search(r"\b(?:thousand|million|billion)\s$", text[: match.start("n")]):
            continue  # the 911 of "25 million 911 calls" is a name
        scale = _SCALE.get((match.group("scale") or "").strip().lower(), 1)
        low = _number(match.group("n")) * scale
        high = _number(match.group("high")) * scale if match.group("high") else low
        end = (
            match.end("scale") if match.group("scale") else match.end("high") if match.group("high") else match.end("n")
        )
        start = match.start("bound") if match.group("bound") else match.start("n")
        span = text[start:end]
        if of := re.match(
            rf"\s+of\s+(?:the\s+|its\s+|all\s+)?(?:{_ANY})\s+(?P<noun>[a-z][\w-]*(?:\s+[a-z][\w-]*)?)", text[end:], re.I
        ):
            noun = of.group("noun")  # in "37 of 212 peers" both numbers count peers
        if joined := re.match(
            rf"\s+[a-z-]*[a-rt-z]\s+and\s+(?:{_ANY})\s+(?:[a-z-]+\s+)?(?P<noun>[a-z]+s)\b", text[end:], re.I
        ):
            noun = f"{noun} {joined.group('noun')}"  # "4.6 million mobile and 380,000 fixed-line customers"
        yield TypedValue("count", (_plain(low), _plain(max(low, high))), span, start, end, noun, _bound(match))


# Earlier kinds claim their span: "24 February" is no count of 24, "25%" no 25.
_FINDERS: tuple[tuple[str, Callable[[str], Iterator[TypedValue]]], ...] = (
    ("prefix", _prefixes),
    ("asn", _asns),
    ("money", _money),
    ("percent", _percents),
    ("length", _lengths),
    ("duration", _durations),
    ("date", _dates),
    ("time", _times),
    ("ordinal", _ordinals),
    ("count", _counts),
)


def typed_values(text: str, *, kinds: frozenset[str] | None = None) -> tuple[TypedValue, ...]:
    """Values in a text, in order; no two overlap.

    Parameters
    ----------
    text : str
        A sentence, or a whole document.
    kinds : frozenset of str, optional
        Look for these kinds only.

    Examples
    --------
    >>> [(v.kind, v.value) for v in typed_values("AS17557 cut 25% of 90 routers at 4:05am AEDT for 12 to 15 hours.")]
    [('asn', 17557), ('percent', (25, 25)), ('count', (90, 90)), ('time', 14700), ('duration', (43200, 54000))]
    """
    taken: list[TypedValue] = []
    used = bytearray(len(text) + 1)
    for kind, finder in _FINDERS:
        if kinds is not None and kind not in kinds:
            continue
        for value in finder(text):
            if not any(used[value.start : value.end]):
                used[value.start : value.end] = b"\x01" * (value.end - value.start)
                taken.append(value)
    return tuple(sorted(taken, key=lambda value: value.start))


def is_real_date(date: tuple[int, int, int]) -> bool:
    """Whether a day of that number exists; unknown parts are zero.

    Examples
    --------
    >>> is_real_date((2021, 2, 30)), is_real_date((2024, 2, 29)), is_real_date((0, 3, 0))
    (False, True, True)
    """
    year, month, day = date
    if not day or not month:
        return True
    return 1 <= day <= calendar.monthrange(year or 2024, month)[1]


def dates_fit(asked: tuple[int, int, int], found: tuple[int, int, int]) -> bool:
    """Whether a date found can be the date asked for; parts unknown on either side fit.

    Examples
    --------
    >>> dates_fit((2024, 2, 0), (2024, 2, 24)), dates_fit((2025, 9, 0), (2024, 2, 24))
    (True, False)
    """
    return all(a == 0 or b == 0 or a == b for a, b in zip(asked, found, strict=True))


def spoken_duration(seconds: float) -> str:
    """A duration in words and in minutes.

    Examples
    --------
    >>> spoken_duration(7359), spoken_duration(8040)
    ('2 h 2 min 39 s (122.65 minutes)', '2 h 14 min (134 minutes)')
    """
    whole = round(seconds)
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{n} {u}" for n, u in ((days, "d"), (hours, "h"), (minutes, "min"), (left, "s")) if n] or ["0 s"]
    total = whole / 60
    return f"{' '.join(parts)} ({total:.10g} minutes)" if left == 0 else f"{' '.join(parts)} ({total:.2f} minutes)"


def spoken_time(seconds: int, zone: str = "") -> str:
    """A time of the day.

    Examples
    --------
    >>> spoken_time(67620, "UTC")
    '18:47 UTC'
    """
    text = f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}"
    if seconds % 60:
        text += f":{seconds % 60:02d}"
    return f"{text} {zone}".strip()
