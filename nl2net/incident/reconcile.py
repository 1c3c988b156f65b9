"""Values of one slot that disagree: grouped, weighed, never averaged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nl2net.incident.claims import is_reporting
from nl2net.incident.match import Candidate
from nl2net.incident.origins import Origins
from nl2net.incident.records import Claim, Slot, TypedValue
from nl2net.incident.typed import dates_fit

_OFFSETS = {
    "UTC": 0, "AEDT": 11, "AEST": 10, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "IST": 5.5, "JST": 9, "KST": 9,
    "EST": -5, "EDT": -4,
    "CST": -6, "CDT": -5, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "SGT": 8, "HKT": 8, "PKT": 5, "NZDT": 13,
    "NZST": 12, "BST": 1,
    "WAT": 1, "EAT": 3, "SAST": 2, "MSK": 3, "BRT": -3,
}  # fmt: skip
_TWICE = re.compile(
    r"\bonce\b.+\bonce\b|\bin one place\b.+\b(?:another|other)\b|\bfirst\b.+\band then\b.+\bin the same\b|"
    r"\bboth\b.+\band\b",
    re.I,
)
_RANGES = frozenset({"count", "duration", "percent", "length", "money"})


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates whose values agree."""

    members: tuple[Candidate, ...]
    live: bool
    rank: int
    origins: int

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(dict.fromkeys(member.claim for member in self.members))

    @property
    def label(self) -> str:
        value = self.members[0].value
        return value.text if value else self.members[0].claim.quote


@dataclass(frozen=True, slots=True)
class Verdict:
    """Groups of a slot, the preferred one first if there is one."""

    groups: tuple[Group, ...]
    preferred: Group | None
    reason: str
    kind: str  # "" if there is no disagreement

    @property
    def is_live(self) -> bool:
        """Whether two values stand that their own sources keep up."""
        return bool(self.kind) and (self.kind == "inside one source" or sum(group.live for group in self.groups) > 1)


def _range(value: TypedValue) -> tuple[float, float]:
    low, high = value.value
    slack = {"about": 0.1, "": 0.005}.get(value.bound, 0.005)
    if value.bound == "more than":
        return low * 0.99, high * 2
    if value.bound == "less than":
        return low / 2, high * 1.01
    return low * (1 - slack), high * (1 + slack)


def _utc(value: TypedValue) -> float | None:
    if value.noun in _OFFSETS:
        return float((value.value - _OFFSETS[value.noun] * 3600) % 86400)
    return None


def compatible(one: TypedValue, two: TypedValue) -> bool:
    """Whether two values can both hold.

    Examples
    --------
    >>> from nl2net.incident.typed import typed_values
    >>> first, second = typed_values("more than 25,000 calls"), typed_values("25 million calls")
    >>> compatible(first[0], typed_values("25,000 calls")[0]), compatible(first[0], second[0])
    (True, False)
    """
    if one.kind != two.kind:
        return True
    if one.kind in _RANGES:
        a, b = _range(one), _range(two)
        return a[0] <= b[1] and b[0] <= a[1]
    if one.kind == "date":
        return dates_fit(one.value, two.value)
    if one.kind == "time":
        slack = 600 if "about" in (one.bound, two.bound) else 60
        first, second = _utc(one), _utc(two)
        if one.noun and two.noun and one.noun != two.noun and (first is None or second is None):
            return True
        apart = _apart(one, two, first, second)
        return apart <= slack
    return bool(one.value == two.value)


def _apart(one: TypedValue, two: TypedValue, first: float | None, second: float | None) -> float:
    """Seconds between two times of the day, in UTC where both zones are known."""
    both = first is not None and second is not None
    apart = abs((first or 0.0) - (second or 0.0)) if both else abs(float(one.value) - float(two.value))
    return min(apart, 86400 - apart)


def _group(found: Sequence[Candidate], same: Callable[[Candidate, Candidate], bool], origins: Origins) -> list[Group]:
    parts: list[list[Candidate]] = []
    for candidate in found:
        home = next((part for part in parts if all(same(candidate, other) for other in part)), None)
        if home is None:
            parts.append([candidate])
        else:
            home.append(candidate)
    groups = []
    for part in parts:
        standing = [c for c in part if not c.gone]
        ranks = [c.claim.source.source_class.rank for c in standing or part]
        groups.append(Group(tuple(part), bool(standing), min(ranks), origins.count([c.claim for c in part])))
    return groups


def weigh(slot: Slot, found: Sequence[Candidate], origins: Origins) -> Verdict:
    """Group the values of candidates and prefer by class, then by independent origins.

    Parameters
    ----------
    slot : Slot
        What is asked.
    found : sequence of Candidate
        Those that answer it, with values.
    origins : Origins
        Of the pool.
    """

    def same(one: Candidate, two: Candidate) -> bool:
        return one.value is None or two.value is None or compatible(one.value, two.value)

    if twice := _twice(found):
        groups = [Group((c,), True, c.claim.source.source_class.rank, 1) for c in twice]
        return Verdict(tuple(groups), None, "one text contradicts itself", "inside one source")
    groups = _group(found, same, origins)
    if len(groups) < 2:
        return Verdict(tuple(groups), groups[0] if groups else None, "", "")
    live = sorted((g for g in groups if g.live), key=lambda g: (g.rank, -g.origins))
    dead = [g for g in groups if not g.live]
    if not live:
        return Verdict(tuple(groups), None, "every source takes its own value back", "between sources")
    best, rivals = live[0], live[1:]
    reason = _reason(best, rivals, dead)
    tied = bool(rivals) and rivals[0].rank == best.rank and rivals[0].origins >= best.origins
    kind = (
        "between sources" if len({(c.doc, c.source.key) for g in groups for c in g.claims}) > 1 else "inside one source"
    )
    return Verdict((*live, *dead), None if tied else best, reason, kind)


def _twice(found: Sequence[Candidate]) -> list[Candidate]:
    for candidate in found[:1]:
        if candidate.value is not None and _TWICE.search(candidate.claim.quote):
            pair = [c for c in found if c.claim == candidate.claim]
            distinct = {str(c.value.value): c for c in pair if c.value}
            if len(distinct) > 1:
                return list(distinct.values())
    return []


def _reason(best: Group, rivals: Sequence[Group], dead: Sequence[Group]) -> str:
    if not rivals:
        return "the other value is taken back by its own source" if dead else ""
    name = best.members[0].claim.source.source_class.value
    if rivals[0].rank > best.rank:
        return f"{name} before {rivals[0].members[0].claim.source.source_class.value}"
    if rivals[0].origins < best.origins:
        return f"{best.origins} independent origins against {rivals[0].origins}"
    return "the classes of the sources tie and so do their numbers: none is preferred"


def _same_voice(candidate: Candidate, top: Candidate) -> bool:
    """Two values of one sentence are two facts unless the sentence says otherwise; so are two told by one source."""
    if candidate.gone or is_reporting(candidate.claim.quote) or _TWICE.search(candidate.claim.quote):
        return False
    return candidate.claim.doc == top.claim.doc and candidate.claim.source == top.claim.source


def rivals_of(slot: Slot, found: Sequence[Candidate], *, asked: bool) -> list[Candidate]:
    """Candidates that speak about the same slot as the best one.

    Parameters
    ----------
    slot : Slot
        What is asked.
    found : sequence of Candidate
        Best first.
    asked : bool
        Whether the question asks if sources agree; then weaker matches count.
    """
    if not found:
        return []
    top = found[0]
    share = 0.5 if asked else 0.72
    kept = []
    for candidate in found:
        spoken = is_reporting(candidate.claim.quote) or (asked and candidate.exact)
        near = candidate.score >= share * top.score and candidate.coverage >= share * top.coverage
        if candidate is not top and top.named and not candidate.named and not is_reporting(candidate.claim.quote):
            continue
        if candidate is not top and _same_voice(candidate, top) and not slot.alternatives:
            continue
        if candidate is top or near or (spoken and candidate.score >= 0.25 * top.score):
            kept.append(candidate)
    if slot.alternatives:
        wanted = [v.value for v in slot.alternatives]
        kept = [c for c in kept if c.value is None or c.value.value in wanted] or kept
    return kept
