"""One investigation: frame, gather, solve, test what is known, go round again within a budget, conclude."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from nl2net.errors import BudgetError, ModelError
from nl2net.incident.assemble import Ledger, abstain_text, attacked, build_report
from nl2net.incident.confidence import features_of, score, shipped_scale
from nl2net.incident.frame import Frame, frame_question
from nl2net.incident.impact.answer import answer_from_data
from nl2net.incident.impact.programs import Programs
from nl2net.incident.language import expand
from nl2net.incident.listing import list_matches
from nl2net.incident.match import Weights, candidates
from nl2net.incident.model_use import Calls, Model, check_visibility, choose_quote, summarise
from nl2net.incident.origins import Origins
from nl2net.incident.outcome import Outcome
from nl2net.incident.pool import Pool, build_pool
from nl2net.incident.premise import PremiseCheck, check_polar, check_presumed
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Report, ReportStatus
from nl2net.incident.solve import Solver
from nl2net.prompts import INVESTIGATION_VERSION, investigation_hash

Listener = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits of one investigation."""

    rounds: int = 3
    passages: int = 60
    calls: int = 20
    tokens: int = 20_000
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Options:
    """What the analyst decides beside the question.

    ``pinned`` documents are always read, ``banned`` ones never; ``prose`` lets a model write a leading sentence
    that is checked
    against the quotes. ``least`` is the confidence below which a slot stays open; by default the fitted one.
    """

    as_of: str = ""
    pinned: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    prose: bool = True
    least: float | None = None
    budget: Budget = field(default_factory=Budget)


class Investigator:
    """Answers questions from a shelf of documents.

    Parameters
    ----------
    shelf : Shelf
        A corpus or a recording.
    model : Model, optional
        Without one, quotes alone answer.
    options : Options, optional
        Dates, pins, bans and the budget.
    listener : callable, optional
        Gets one event per step.
    clock : callable, optional
        Seconds; comes in as a parameter so that a replay gives the same bytes.
    mark : callable, optional
        Random delimiters around passages in prompts.
    programs : Programs, optional
        Runs event models as programs in the sandbox and compares them with the library; without it the library
        computes alone.

    Examples
    --------
    >>> import tempfile; from pathlib import Path
    >>> from nl2net.incident.corpus import Corpus
    >>> with tempfile.TemporaryDirectory() as name:
    ...     text = "# Vega outage\\n- The Vega exchange failed at 10:00 UTC on 3 May 2031.\\n"
    ...     _ = (Path(name) / "a.md").write_text(text)
    ...     corpus = Corpus(Path(name), index=":memory:")
    ...     _ = corpus.refresh()
    ...     report = Investigator(corpus).investigate("When did the Vega exchange fail?")
    >>> report.status.value, report.slots[0].value == 36000, report.evidence[0].quote
    ('answered', True, 'The Vega exchange failed at 10:00 UTC on 3 May 2031.')
    """

    def __init__(
        self,
        shelf: Shelf,
        *,
        model: Model | None = None,
        options: Options | None = None,
        listener: Listener | None = None,
        clock: Callable[[], float] = time.monotonic,
        mark: Callable[[], str] | None = None,
        recorded: dict[str, str] | None = None,
        programs: Programs | None = None,
    ) -> None:
        self.shelf = shelf
        self.programs = programs
        self.options = options or Options()
        self.clock = clock
        self._listener = listener
        self._mark = mark or (lambda: secrets.token_hex(6))
        budget = self.options.budget
        self.calls = (
            Calls(model, budget.calls, budget.tokens, recorded if recorded is not None else {}) if model else None
        )
        if model is not None:
            check_visibility(model, shelf.settings.visibility)
        if self.options.as_of:
            shelf.as_of = self.options.as_of
        self._transcript: list[Mapping[str, Any]] = []
        self._notes: list[str] = []

    def _tell(self, step: str, **facts: Any) -> None:
        event = {"step": step, **facts}
        self._transcript.append(event)
        if self._listener:
            self._listener(event)

    def investigate(self, question: str) -> Report:
        """Answer a question.

        Parameters
        ----------
        question : str
            In plain words.
        """
        begin = self.clock()
        self._transcript, self._notes = [], []
        frame = frame_question(question)
        self._tell(
            "frame",
            slots=[[s.name, s.type] for s in frame.slots],
            names=list(frame.names),
            dates=[list(d) for d in frame.dates],
        )
        if frame.out_of_scope:
            report = Report(ReportStatus.OUT_OF_SCOPE, question, abstain_text(frame.out_of_scope, []))
            return self._finish(report, begin, rounds=0)
        if (computed := answer_from_data(self.shelf, frame, self.programs)) is not None:
            self._tell("compute", programs=[e.program for e in computed.evidence])
            return self._finish(computed, begin, rounds=1)
        if frame.listing:
            return self._finish(self._list(frame), begin, rounds=1)
        report, rounds = self._rounds(frame, begin)
        return self._finish(report, begin, rounds=rounds)

    def _list(self, frame: Frame) -> Report:
        matches = list_matches(self.shelf, frame)
        documents = tuple(document for document, _ in matches)
        pool = Pool(documents, tuple(c for _, claims in matches for c in claims))
        outcomes = [
            Outcome(replace(frame.slots[0], name=d.title), "settled", claims=c, coverage=0.8) for d, c in matches
        ]
        self._tell("list", documents=[d.id for d in documents])
        ledger = Ledger(self.shelf, Origins(documents))
        return build_report(
            frame, pool, outcomes or [Outcome(frame.slots[0], "open")], ledger=ledger, check=PremiseCheck("")
        )

    def _rounds(self, frame: Frame, begin: float) -> tuple[Report, int]:
        budget = self.options.budget
        words: list[str] = []
        known = barren = number = 0
        pool = Pool((), ())
        outcomes: list[Outcome] = []
        for number in range(1, budget.rounds + 1):
            pool = self._gather(frame, number, words)
            outcomes = self._solve(frame, pool)
            gained = len(pool.claims) - known
            known = len(pool.claims)
            barren = barren + 1 if gained <= 0 else 0
            states = {o.slot.name: o.state for o in outcomes}
            self._tell(
                "round",
                number=number,
                words=list(words),
                documents=[d.id for d in pool.documents],
                gained=gained,
                slots=states,
            )
            still = [o for o in outcomes if o.state == "open" and o.slot.required]
            if not still or barren > 1 or pool.undated or self.clock() - begin > budget.seconds:
                break
            words = self._next_words(still, pool, number)
        outcomes = self._ask_model(self._gate(outcomes, pool), pool)
        check = self._premise(frame, outcomes, pool)
        ledger = Ledger(self.shelf, Origins(pool.documents))
        report = build_report(frame, pool, self._polar(frame, outcomes, check), ledger=ledger, check=check)
        return self._with_prose(report, frame, outcomes), number

    def _gate(self, outcomes: list[Outcome], pool: Pool) -> list[Outcome]:
        """Leave a slot open where the evidence is too thin for the answer it would give."""
        least = shipped_scale().threshold if self.options.least is None else self.options.least
        origins, flagged = Origins(pool.documents), attacked(pool.documents)
        kept = []
        for outcome in outcomes:
            if outcome.state != "open" and score(features_of(outcome, origins, flagged)) < least:
                self._tell("refuse", slot=outcome.slot.name, near=[[c.doc, c.start, c.end] for c in outcome.claims[:2]])
                outcome = Outcome(outcome.slot, "open", note="what was found does not carry the question")
            kept.append(outcome)
        return kept

    def _gather(self, frame: Frame, number: int, words: Sequence[str]) -> Pool:
        pool = build_pool(
            self.shelf,
            frame,
            limit=12 * number,
            more_words=words,
            pinned=self.options.pinned,
            banned=self.options.banned,
        )
        limit = self.options.budget.passages * 4
        return pool if len(pool.claims) <= limit else replace(pool, claims=pool.claims[:limit])

    def _solve(self, frame: Frame, pool: Pool) -> list[Outcome]:
        if frame.polar:
            return [Outcome(frame.slots[0], "open")]
        return Solver(frame, pool).solve()

    def _next_words(self, still: Sequence[Outcome], pool: Pool, number: int) -> list[str]:
        """Words for the next search: first the related ones of the open slots, then entities near the subject."""
        if number == 1:
            return expand(term for outcome in still for term in outcome.slot.terms)[:24]
        near = [v.text for claim in pool.claims for v in claim.values if v.kind in ("asn", "prefix")]
        return list(dict.fromkeys([*(t for o in still for t in o.slot.nouns), *near]))[:24]

    def _premise(self, frame: Frame, outcomes: Sequence[Outcome], pool: Pool) -> PremiseCheck:
        if frame.polar:
            return check_polar(frame, frame.slots[0], pool)
        still = [o.slot for o in outcomes if o.state == "open" and o.slot.required]
        check = check_presumed(frame, still, pool) if still else PremiseCheck("")
        self._tell("test", open=[s.name for s in still], premise=check.verdict or "not decided")
        return check

    def _polar(self, frame: Frame, outcomes: list[Outcome], check: PremiseCheck) -> list[Outcome]:
        if not frame.polar:
            return outcomes
        if check.outcome is not None:
            return [check.outcome]
        if check.verdict == "true":
            return [Outcome(frame.slots[0], "settled", claims=check.claims, coverage=0.7)]
        return outcomes

    def _ask_model(self, outcomes: list[Outcome], pool: Pool) -> list[Outcome]:
        """A model may fill what the rules left open; it never changes what they found."""
        if self.calls is None or pool.unknown or not pool.claims:
            return outcomes
        weights = Weights(pool.claims)
        return [self._fill(outcome, pool, weights) for outcome in outcomes]

    def _fill(self, outcome: Outcome, pool: Pool, weights: Weights) -> Outcome:
        settled = outcome.state != "open" or outcome.slot.type in ("polar", "span", "sum", "identity")
        if settled or self.calls is None:
            return outcome
        ranked = [c.claim for c in candidates(outcome.slot, pool.claims, weights)] or list(pool.claims)
        claim = self._try(partial(choose_quote, self.calls, outcome.slot, ranked, mark=self._mark))
        if claim is None:
            return outcome
        self._tell("model", slot=outcome.slot.name, picked=[claim.doc, claim.start, claim.end])
        return Outcome(outcome.slot, "settled", claims=(claim,), coverage=0.5)

    def _try(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except BudgetError as error:
            self._notes.append(f"the model was not asked further: {error}")
        except ModelError as error:
            self._notes.append(f"the model failed, so quotes alone answer: {error}")
            self.calls = None
        return None

    def _with_prose(self, report: Report, frame: Frame, outcomes: Sequence[Outcome]) -> Report:
        if self.calls is None or not self.options.prose or report.status is not ReportStatus.ANSWERED:
            return report
        claims = list(dict.fromkeys(c for o in outcomes for c in o.claims))
        calls = self.calls
        sentence = self._try(lambda: summarise(calls, frame.question, claims, mark=self._mark))
        return replace(report, answer=f"{sentence}\n{report.answer}") if sentence else report

    def _finish(self, report: Report, begin: float, *, rounds: int) -> Report:
        sent = self.calls.sent if self.calls else []
        budget = asdict(self.options.budget)
        undated = [
            e.doc
            for e in report.evidence
            if e.kind == "quote" and self.options.as_of and not self.shelf.document(e.doc).published
        ]
        notes = [f"{len(set(undated))} cited documents have no publication date and were kept"] if undated else []
        self._tell("conclude", status=report.status.value)
        return replace(
            report,
            assumptions=(*report.assumptions, *notes, *self._notes),
            transcript=tuple(self._transcript),
            rounds=rounds,
            as_of=self.options.as_of or None,
            budget={**budget, "used_calls": len(sent), "used_tokens": self.calls.spent if self.calls else 0},
            egress={
                "requests": len(sent),
                "bytes": sum(int(s["bytes"]) for s in sent),
                "model": self.calls.model.name if self.calls else "none",
                "prompts": f"{INVESTIGATION_VERSION}:{investigation_hash()}" if self.calls else "",
                "passages": [p for s in sent for p in s["passages"]],
            },
            timing={"total_s": round(self.clock() - begin, 3)},
        )
