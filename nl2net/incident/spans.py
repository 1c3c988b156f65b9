"""How long something lasted, from a start and an end that are told apart from each other or in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from nl2net.incident.claims import clause_of, named_by
from nl2net.incident.fits import telling_terms
from nl2net.incident.intervals import interval_pairs
from nl2net.incident.language import is_event_word, related, stem, stems, terms_of
from nl2net.incident.match import Candidate, Weights, candidates, span_end
from nl2net.incident.outcome import Computed, Outcome
from nl2net.incident.records import Claim, Slot, TypedValue
from nl2net.incident.typed import spoken_duration

# Least coverage of the words of a slot, by whether a typed value stands behind it.
TYPED_FLOOR = 0.34
_OPENING = related(stem("begin")) | related(stem("fail")) | stems("stop go lose become off hit announce cut trip")
_CLOSING = related(stem("end")) | related(stem("return")) | stems("withdraw until restore fully back")


class Spans:
    """The part of a solver that measures time; ``_claims`` are those that may speak."""

    weights: Weights

    def _claims(self) -> Sequence[Claim]:
        raise NotImplementedError

    def _span(self, slot: Slot) -> Outcome:
        if slot.unit == "days":
            return self._days(slot)
        first = span_end(slot.ends[0], slot, edge="start", claims=self._claims(), weights=self.weights)
        last = span_end(slot.ends[1], slot, edge="", claims=self._claims(), weights=self.weights)
        if first is None or last is None or first.value is None or last.value is None:
            return Outcome(slot, "open", claims=tuple(c.claim for c in (first, last) if c))
        if first.value == last.value and first.claim == last.claim:
            return Outcome(slot, "open", claims=(first.claim,))
        return self._difference(slot, first.claim, first.value, second=(last.claim, last.value))

    def _days(self, slot: Slot) -> Outcome:
        """Days between two told dates."""
        ends = [
            span_end(words, slot, edge=edge, claims=self._claims(), weights=self.weights, kind="date")
            for words, edge in zip(slot.ends, ("start", ""), strict=True)
        ]
        first, last = ends
        if first is None or last is None or first.value is None or last.value is None:
            return Outcome(slot, "open")
        one, two = first.value.value, last.value.value
        year = one[0] or two[0]
        if not (year and one[1] and one[2] and two[1] and two[2]) or one == two:
            return Outcome(slot, "open")
        apart = (date(two[0] or year, two[1], two[2]) - date(one[0] or year, one[1], one[2])).days
        computed = Computed(
            "end - start",
            (("start", first.value.text), ("end", last.value.text)),
            apart * 86400,
            f"{abs(apart)} days",
            "whole days between two dates",
        )
        claims = tuple(dict.fromkeys([first.claim, last.claim]))
        return Outcome(slot, "settled", computed.text, apart * 86400, claims, computed=computed, coverage=0.8)

    def _difference(self, slot: Slot, claim: Claim, start: TypedValue, *, second: tuple[Claim, TypedValue]) -> Outcome:
        other, end = second
        days = _days_apart(claim, other)
        seconds = (end.value - start.value) % 86400 if days is None else days * 86400 + end.value - start.value
        assumption = "both times are in the same zone" + (
            "" if days else ", and the end follows the start within a day"
        )
        computed = Computed(
            "end - start", (("start", start.text), ("end", end.text)), seconds, spoken_duration(seconds), assumption
        )
        return Outcome(
            slot,
            "settled",
            computed.text,
            seconds,
            tuple(dict.fromkeys([claim, other])),
            computed=computed,
            coverage=0.8,
        )

    def _intervals(self, slot: Slot) -> list[tuple[Candidate, list[tuple[TypedValue, TypedValue]]]]:
        units = stems("minute hour second day add last pass")
        terms = tuple(t for t in slot.terms if t not in units)
        telling = tuple(t for t in terms if not is_event_word(t)) if slot.type == "duration" else terms
        probe = replace(slot, type="time", nouns=(), unit="", terms=telling or terms, text="", must=())
        found = candidates(probe, self._claims(), self.weights)
        result = []
        seen = set()
        for candidate in found:
            if candidate.coverage >= TYPED_FLOOR and candidate.claim not in seen:
                seen.add(candidate.claim)
                if pairs := interval_pairs(candidate.claim):
                    result.append((candidate, pairs))
        return result

    def _with_derived(self, slot: Slot, found: list[Candidate]) -> list[Candidate]:
        """Durations that are told, and those that follow from a start and an end in one sentence."""
        derived = []
        told = {c.claim for c in found}
        for probe, pairs in self._intervals(slot):
            if slot.nth and len(pairs) >= max(slot.nth, 2):
                pairs = [pairs[slot.nth - 1]]
            if len(pairs) == 1 and probe.claim not in told:
                length = (pairs[0][1].value - pairs[0][0].value) % 86400
                value = TypedValue(
                    "duration", (length, length), spoken_duration(length), pairs[0][0].start, pairs[0][1].end
                )
                derived.append(replace(probe, value=value, exact=True))
        return sorted([*found, *derived], key=lambda c: (-c.score, c.claim.source.source_class.rank))

    def _explain(self, outcome: Outcome) -> Outcome:
        """Record how a derived duration was computed."""
        best = outcome.verdict.groups[0].members[0] if outcome.verdict else None
        claim = best.claim if best else outcome.claims[0]
        pairs = interval_pairs(claim)
        if outcome.slot.nth and len(pairs) >= max(outcome.slot.nth, 2):
            pairs = [pairs[outcome.slot.nth - 1]]
        told = any(v.kind == "duration" for v in claim.values)
        if told or len(pairs) != 1:
            return outcome
        return replace(
            outcome, computed=self._difference(outcome.slot, claim, pairs[0][0], second=(claim, pairs[0][1])).computed
        )

    def _derived_duration(self, slot: Slot) -> Outcome:
        """From the time something began and the time it ended or came back, told apart from each other."""
        told = [
            (claim, value)
            for claim in self._claims()
            for value in claim.values
            if value.kind == "time" and all(named_by(claim, name) for name in slot.anchors)
        ]
        ends = [(claim, value) for claim, value in told if _tells(claim, value, _CLOSING)]
        best: tuple[float, Claim, TypedValue, Claim, TypedValue] | None = None
        for last, end in ends:
            for first, start in told:
                if first.doc != last.doc or not _ordered(first, start, last, end):
                    continue
                if not (_tells(first, start, _OPENING) or _opens_at(first, start)) or _tells(first, start, _CLOSING):
                    continue
                fit = self._pair_fit(slot, first, last)
                if best is None or fit > best[0]:
                    best = (fit, first, start, last, end)
        if best is None:
            return Outcome(slot, "open")
        return self._difference(slot, best[1], best[2], second=(best[3], best[4]))

    def _pair_fit(self, slot: Slot, first: Claim, last: Claim) -> float:
        """How much two claims speak of the slot: its names and its telling words in their own sentences."""
        terms = [t for t in telling_terms(slot) if not is_event_word(t)]
        named = sum((named_by(c, name) == 2) for c in (first, last) for name in slot.anchors)
        words = sum(bool(related(t) & c.terms) for c in (first, last) for t in terms)
        return named + 0.5 * words


def _tells(claim: Claim, value: TypedValue, words: frozenset[str]) -> bool:
    """Whether the clause of a value holds one of the words."""
    alone = sum(v.kind == "time" for v in claim.values) == 1
    clause = claim.quote if alone else clause_of(claim, value)
    if words is _OPENING and re.search(r"\b(?:off|down|out)\b", clause):
        return True
    return bool(frozenset(terms_of(clause)) & words)


def _opens_at(claim: Claim, value: TypedValue) -> bool:
    return (
        re.search(r"\b(?:from|since|starting at|starting)\s+(?:about\s+)?$", claim.quote[: value.start], re.I)
        is not None
    )


def _day_of(claim: Claim) -> tuple[int, int, int] | None:
    """The one full day that a claim tells."""
    days = {v.value for v in claim.values if v.kind == "date" and v.value[1] and v.value[2]}
    return next(iter(days)) if len(days) == 1 else None


def _days_apart(first: Claim, last: Claim) -> int | None:
    """Days between the days that two claims tell, if both do and they differ."""
    one, two = _day_of(first), _day_of(last)
    if one is None or two is None or one == two or first == last:
        return None
    year = one[0] or two[0] or 2023
    return (date(two[0] or year, two[1], two[2]) - date(year, one[1], one[2])).days


def _ordered(first: Claim, start: TypedValue, last: Claim, end: TypedValue) -> bool:
    one, two = _day_of(first), _day_of(last)
    if one and two and one[1:] != two[1:]:
        return one[1:] < two[1:]
    return bool(start.value < end.value) and (first, start) != (last, end)
