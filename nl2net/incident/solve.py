"""Fills slots from a pool of claims, without any model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nl2net.incident.claims import is_reporting, mentions
from nl2net.incident.fits import new_names
from nl2net.incident.frame import Frame
from nl2net.incident.intervals import interval_pairs
from nl2net.incident.language import related, stem, stems, terms_of
from nl2net.incident.match import KINDS, Candidate, Weights, candidates
from nl2net.incident.origins import Origins
from nl2net.incident.outcome import Computed, Outcome
from nl2net.incident.pool import Pool
from nl2net.incident.reconcile import Group, Verdict, compatible, rivals_of, weigh
from nl2net.incident.records import Claim, Slot, SourceClass, TypedValue
from nl2net.incident.spans import TYPED_FLOOR, Spans
from nl2net.incident.support import silent_claim, support_of, unsettled_claim
from nl2net.incident.typed import spoken_duration

OPEN_FLOOR = 0.5
CAUSE_FLOOR = 0.4
_OPEN_TYPES = frozenset({"text", "name", "actor", "place", "cause", "identity"})


class Solver(Spans):
    """Answers slots from one pool.

    Parameters
    ----------
    frame : Frame
        The question.
    pool : Pool
        Documents and claims that may speak.
    """

    def __init__(self, frame: Frame, pool: Pool) -> None:
        self.frame = frame
        self.pool = pool
        self.weights = Weights(pool.claims)
        self.origins = Origins(pool.documents)
        self.asked = bool(frame.wants & {"agreement", "origins"})

    def solve(self) -> list[Outcome]:
        """Outcomes of all slots, in order."""
        outcomes: list[Outcome] = []
        for slot in self.frame.slots:
            outcome = self._apart(self._solve_slot(slot, outcomes), outcomes)
            outcomes.append(self._heard(outcome))
        return [self._supported(o) for o in self._add_duration_conflict(outcomes)]

    def _supported(self, outcome: Outcome) -> Outcome:
        if outcome.state == "open":
            return outcome
        support = support_of(outcome.slot, outcome.claims, self.weights, dates=self.frame.dates)
        if support.unnamed and outcome.computed is None:
            return Outcome(outcome.slot, "open", note="what was found is not about everything the question names")
        if outcome.label and outcome.computed is None and not support.quoted and self._tells_of_another(outcome):
            return Outcome(outcome.slot, "open", note="what was found tells of something else")
        return replace(outcome, support=support)

    def _tells_of_another(self, outcome: Outcome) -> bool:
        """Whether the quote shares no word with the question and has a subject that neither question nor title name."""
        claim = outcome.claims[0]
        if outcome.slot.bare or is_reporting(claim.quote):
            return False
        fresh = [n for n in new_names(outcome.slot, claim.quote) if not mentions(claim.heading, n)]
        return bool(fresh) and not any(mentions(self.frame.question, n) for n in fresh)

    def _heard(self, outcome: Outcome) -> Outcome:
        """Where a source says that it does not tell or that nobody knows, that stands before any guess."""
        slot = outcome.slot
        if slot.type in ("actor", "cause"):
            open_end = unsettled_claim(slot, self._claims(), self.weights)
            if open_end is not None and open_end not in outcome.claims:
                return Outcome(
                    slot, "settled", claims=(open_end, *outcome.claims[:1]), coverage=outcome.coverage or 0.6
                )
        silent = silent_claim(slot, self._claims(), self.weights)
        if silent is None or (silent in outcome.claims[:1] and outcome.label):
            return outcome
        own = support_of(slot, outcome.claims[:1], self.weights) if outcome.claims else None
        if own is None or own.quoted <= support_of(slot, [silent], self.weights).quoted:
            return Outcome(slot, "open", note=f"{silent.source.title} says that it does not tell: “{silent.quote}”")
        return outcome

    def _apart(self, outcome: Outcome, before: Sequence[Outcome]) -> Outcome:
        """An end that is the start again is no end: look for a time that a later claim gives."""
        slot = outcome.slot
        start = next((o for o in before if o.slot.edge == "start" and o.slot.type == slot.type and o.claims), None)
        if slot.edge != "end" or start is None or (outcome.value != start.value and outcome.state != "open"):
            return outcome
        opened = start.claims[0]
        probe = replace(slot, text="", must=())
        found = [c for c in candidates(probe, self._claims(), self.weights) if c.value and c.claim.doc == opened.doc]
        late = [c for c in found if c.value and c.value.kind == "time" and c.value.value != start.value and _closes(c)]
        return self._typed(slot, late) if late else Outcome(slot, "open")

    def _claims(self) -> Sequence[Claim]:
        if told := re.search(r"\baccording to (?:the )?([\w -]+?)(?=[,?.;]|$)", self.frame.question, re.IGNORECASE):
            # "According to the regulator": what others say is not asked for.
            own = [c for c in self.pool.claims if mentions(f"{c.source.title} {c.quote}", told.group(1))]
            if own:
                return own
        if "measured" in self.frame.wants:
            firm = [c for c in self.pool.claims if c.source.source_class.rank <= SourceClass.MAILING_LIST.rank]
            return firm or self.pool.claims
        return self.pool.claims

    def _solve_slot(self, slot: Slot, before: Sequence[Outcome]) -> Outcome:
        blocked = [name for name in slot.anchors if name in self.pool.unknown]
        if blocked or not self.pool.claims:
            return Outcome(slot, "open")
        if slot.type == "identity":
            return self._identity(slot, before)
        if slot.type == "span":
            return self._span(slot)
        if slot.type == "sum":
            return self._sum(slot)
        kinds = re.search(r"^what (?:kind|type|sort)s? of\b.*\b(?:they|it|these|those)\b", slot.text, re.IGNORECASE)
        if kinds and before and before[-1].claims:
            return Outcome(slot, "settled", claims=before[-1].claims[:1], coverage=before[-1].coverage)
        found = candidates(slot, self._claims(), self.weights)
        if slot.type == "duration":
            outcome = self._typed(slot, self._with_derived(slot, found))
            if self.asked and outcome.state == "settled":
                outcome = self._against_times(outcome)
            return self._derived_duration(slot) if outcome.state == "open" else self._explain(outcome)
        if slot.type in KINDS:
            return self._typed(slot, found)
        return self._open(slot, found)

    def _typed(self, slot: Slot, found: list[Candidate]) -> Outcome:
        firm = [c for c in found if c.coverage >= TYPED_FLOOR or (c.exact and c.score >= 0.5)]
        # What a source reports of itself ("the Ledger put the loss at") need not repeat the words of the question.
        heard = [
            c
            for c in found
            if firm and c not in firm and c.claim.doc == firm[0].claim.doc and is_reporting(c.claim.quote)
        ]
        found = [*firm, *heard]
        found = self._at_position(slot, found)
        if slot.type == "time":
            # A day answers "when" only where no time is told.
            clock = [c for c in found if c.value and c.value.kind == "time"]
            found = clock if clock and clock[0].score >= 0.6 * found[0].score else found
        if not found:
            return Outcome(slot, "open")
        rivals = rivals_of(slot, found, asked=self.asked)
        if slot.type in ("asn", "prefix", "time", "date") and not (slot.edge and self.asked):
            rivals = self._one_story(slot, rivals)
        verdict = weigh(slot, rivals, self.origins)
        best = verdict.preferred or verdict.groups[0]
        state = "conflict" if verdict.is_live else "settled"
        claims = tuple(dict.fromkeys(c for g in verdict.groups for c in g.claims)) if verdict.kind else best.claims
        more = self._named(slot, claims[:1], found)
        return Outcome(
            slot,
            state,
            label="; ".join(dict.fromkeys([m.value.text for m in self._values_of(slot, best, found) if m.value])),
            value=best.members[0].value.value if best.members[0].value else None,
            claims=tuple(dict.fromkeys([*claims, *more])),
            verdict=verdict if verdict.kind else None,
            coverage=found[0].coverage,
            margin=found[0].score - next((c.score for c in found if c.claim != found[0].claim), 0.0),
        )

    def _at_position(self, slot: Slot, found: list[Candidate]) -> list[Candidate]:
        """ "The second attack": the second interval of a sentence that tells several."""
        if not slot.nth or slot.type not in ("time", "duration") or not found:
            return found
        claim = found[0].claim
        pairs = interval_pairs(claim)
        if len(pairs) < max(slot.nth, 2):
            return found
        start, end = pairs[slot.nth - 1]
        if slot.type == "time":
            return [replace(found[0], value=end if slot.edge == "end" else start)]
        return found

    def _values_of(self, slot: Slot, best: Group, found: list[Candidate]) -> list[Candidate]:
        """The values of the best claim that count: all of a plural question, else the one."""
        plural = re.search(r"\b(?:times|numbers|prefixes|which (?:\w+ )?ases|dates)\b", slot.text, re.IGNORECASE)
        top = best.members[0]
        if (plural or len(slot.anchors) > 1) and not slot.edge:
            same = [
                c for c in found if c.claim == top.claim and c.value and top.value and c.value.kind == top.value.kind
            ]
            return sorted(same, key=lambda c: c.value.start if c.value else 0)
        return [top]

    def _one_story(self, slot: Slot, rivals: list[Candidate]) -> list[Candidate]:
        """AS numbers, prefixes and times of one source are a story, no conflict, unless the source says so itself."""
        top = rivals[0]
        if re.search(r"\bonce\b.+\bonce\b", top.claim.quote, re.IGNORECASE):
            return [c for c in rivals if c.claim == top.claim]
        if slot.type in ("asn", "prefix"):
            return [top]
        others = [c for c in rivals if self.origins.of(c.claim) != self.origins.of(top.claim) and c.coverage >= 0.6]
        others = [c for c in others if c.value and top.value and c.value.kind == top.value.kind]
        return [top, *others]

    def _named(self, slot: Slot, chosen: Sequence[Claim], found: list[Candidate]) -> list[Claim]:
        """Further claims for names of the slot that the chosen ones do not hold."""
        extra: list[Claim] = []
        text = " ".join(claim.quote for claim in chosen) + " ".join(c.heading for c in chosen)
        for name in slot.anchors:
            if not mentions(text, name):
                extra += [c.claim for c in found if mentions(c.claim.quote, name)][:1]
        return extra

    def _open(self, slot: Slot, found: list[Candidate]) -> Outcome:
        floor = CAUSE_FLOOR if slot.type in ("cause", "actor", "place") else OPEN_FLOOR
        if slot.bare and len(self.pool.documents) == 1:
            floor = 0.0
        found = [c for c in found if c.coverage >= floor]
        if not found:
            return Outcome(slot, "open")
        top = found[0]
        near = [c for c in found if c.score >= 0.85 * top.score][:3]
        near = [*self._introduced(slot, top), *near]
        plural = bool(slot.nouns) and slot.text.lower().find(f"{slot.name}") >= 0 and slot.name.endswith("s")
        if self.asked and slot.type in ("name", "text", "actor", "cause"):
            return self._versions(slot, found)
        if plural:
            near = near[:2]
        return Outcome(
            slot,
            "settled",
            claims=tuple(dict.fromkeys([*(c.claim for c in near), *self._named(slot, [c.claim for c in near], found)])),
            coverage=top.coverage,
            margin=top.score - (found[1].score if len(found) > 1 else 0.0),
        )

    def _introduced(self, slot: Slot, top: Candidate) -> list[Candidate]:
        """ "The job was stopped": the sentence that first tells which job."""
        head = slot.nouns[-1] if slot.nouns else ""
        told = re.findall(r"\b(?:the|this|that)\s+(\w+)", top.claim.quote, re.IGNORECASE)
        if not head or head not in [stem(word) for word in told]:
            return []
        first = next((c for c in self.pool.claims if c.doc == top.claim.doc and head in c.terms), None)
        return [replace(top, claim=first)] if first is not None and first != top.claim else []

    def _versions(self, slot: Slot, found: list[Candidate]) -> Outcome:
        """All tellings of what the question asks sources to agree on."""
        pool = [c.claim for c in found]
        if slot.nouns:
            head = related(slot.nouns[-1])
            pool += [c for c in self.pool.claims if c not in pool and head & c.terms]
        members = [
            Candidate(claim, _counted(slot, claim), 0.0, found[0].coverage, True) for claim in dict.fromkeys(pool)
        ]
        groups: list[list[Candidate]] = []
        for member in members:
            home = next((g for g in groups if _tells_same(g[0], member)), None)
            groups.append([member]) if home is None else home.append(member)
        made = tuple(
            Group(
                tuple(g),
                True,
                min(c.claim.source.source_class.rank for c in g),
                self.origins.count([c.claim for c in g]),
            )
            for g in groups
        )
        several = len(made) > 1 and len({self.origins.of(c.claim) for c in members}) > 1
        ranked = sorted(made, key=lambda g: (g.rank, -g.origins))
        primary = bool(ranked) and ranked[0].rank <= 2 and (len(ranked) == 1 or ranked[1].rank > ranked[0].rank)
        preferred = ranked[0] if primary else None
        reason = "a primary source before the others" if primary else "no primary source decides between them"
        verdict = Verdict(tuple(ranked), preferred, reason, "between sources") if several else None
        claims = tuple(c.claim for c in members)
        return Outcome(
            slot, "conflict" if several else "settled", claims=claims, verdict=verdict, coverage=found[0].coverage
        )

    def _against_times(self, outcome: Outcome) -> Outcome:
        """A told duration beside the one that follows from the times of start and end."""
        derived = self._derived_duration(outcome.slot)
        told = [(c, v) for c in outcome.claims for v in c.values if v.kind == "duration"]
        if derived.state == "open" or not isinstance(derived.value, int | float) or not told:
            return outcome
        own = TypedValue("duration", (derived.value, derived.value), derived.label, 0, 0)
        if compatible(own, told[0][1]):
            return outcome
        rivals = [Candidate(claim, own, 1.0, outcome.coverage, True) for claim in derived.claims]
        rivals += [Candidate(claim, value, 0.9, outcome.coverage, True) for claim, value in told]
        verdict = weigh(outcome.slot, rivals, self.origins)
        claims = tuple(dict.fromkeys([*derived.claims, *outcome.claims]))
        best = verdict.preferred or verdict.groups[0]
        return Outcome(outcome.slot, "conflict", best.label, derived.value, claims, verdict=verdict, coverage=0.8)

    def _identity(self, slot: Slot, before: Sequence[Outcome]) -> Outcome:
        """Who the AS numbers or names of the part before are."""
        wanted = [v for o in before for c in o.claims for v in c.values if v.kind in ("asn", "prefix")]
        told: list[Claim] = []
        for value in dict.fromkeys((v.kind, v.value) for v in wanted):
            holders = [
                c for c in self.pool.claims if any((v.kind, v.value) == value and v.noun != "path" for v in c.values)
            ]
            told += sorted(holders, key=lambda c: (c.source.source_class.rank, len(c.quote)))[:2]
        claims = tuple(dict.fromkeys(told))
        return Outcome(slot, "settled" if claims else "open", claims=claims, coverage=0.8 if claims else 0.0)

    def _sum(self, slot: Slot) -> Outcome:
        for probe, pairs in self._intervals(slot):
            claim = probe.claim
            lengths = [(b.value - a.value) % 86400 for a, b in pairs]
            terms = tuple((f"{a.text} to {b.text}", f"{n // 60} min") for (a, b), n in zip(pairs, lengths, strict=True))
            total = sum(lengths)
            computed = Computed(
                "sum of (end - start)", terms, total, spoken_duration(total), "each interval lies within one day"
            )
            return Outcome(slot, "settled", computed.text, total, (claim,), computed=computed, coverage=0.8)
        return self._typed(
            replace(slot, type="duration"), candidates(replace(slot, type="duration"), self._claims(), self.weights)
        )

    def _add_duration_conflict(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Where start and end are asked and sources are to be compared, told durations belong to the picture."""
        edges = {o.slot.edge: o for o in outcomes if o.slot.type == "time" and o.slot.edge and o.claims}
        if not self.asked or set(edges) != {"start", "end"}:
            return outcomes
        start, end = edges["start"], edges["end"]
        if not isinstance(start.value, int) or not isinstance(end.value, int):
            return outcomes
        length = (end.value - start.value) % 86400
        own = TypedValue("duration", (length, length), spoken_duration(length), 0, 0)
        told = [
            (claim, value)
            for claim in self.pool.claims
            for value in claim.values
            if value.kind == "duration" and claim not in start.claims[:1] and not compatible(own, value)
        ]
        if not told:
            return outcomes
        base = Candidate(start.claims[0], own, 1.0, start.coverage, True)
        rivals = [base, *(Candidate(claim, value, 0.9, start.coverage, True) for claim, value in told)]
        slot = Slot("duration", "duration", "how long it lasted", required=False)
        verdict = weigh(slot, rivals, self.origins)
        claims = tuple(dict.fromkeys(c for g in verdict.groups for c in g.claims))
        return [
            *outcomes,
            Outcome(slot, "conflict", own.text, length, claims, verdict=verdict, coverage=start.coverage),
        ]


def _closes(candidate: Candidate) -> bool:
    """Whether a time is told as the end of something."""
    return bool((related(stem("end")) | related(stem("return")) | stems("withdraw until")) & candidate.claim.terms)


def _opens(candidate: Candidate) -> bool:
    value = candidate.value
    before = candidate.claim.quote[: value.start] if value else ""
    return re.search(r"\b(?:from|since|starting at|starting)\s+(?:about\s+)?$", before, re.IGNORECASE) is not None


def _counted(slot: Slot, claim: Claim) -> TypedValue | None:
    head = related(slot.nouns[-1]) if slot.nouns else frozenset()
    return next((v for v in claim.values if v.kind == "count" and head & set(terms_of(v.noun))), None)


def _tells_same(one: Candidate, two: Candidate) -> bool:
    if one.value is not None and two.value is not None:
        return compatible(one.value, two.value)
    return one.claim.source == two.claim.source
