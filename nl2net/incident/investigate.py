"""Answers one question: frame, gather, solve, test, go round again, conclude."""

from __future__ import annotations

from nl2net.incident.assemble import Ledger, abstain_text, build_report
from nl2net.incident.corpus import Corpus
from nl2net.incident.frame import Frame, frame_question
from nl2net.incident.pool import build_pool
from nl2net.incident.premise import PremiseCheck, check_polar, check_presumed
from nl2net.incident.records import Report, ReportStatus
from nl2net.incident.solve import Solver


def simple(corpus: Corpus, question: str) -> Report:
    frame = frame_question(question)
    if frame.out_of_scope:
        return Report(ReportStatus.OUT_OF_SCOPE, question, abstain_text(frame.out_of_scope, []))
    pool = build_pool(corpus, frame)
    solver = Solver(frame, pool)
    ledger = Ledger(corpus, solver.origins)
    if frame.polar:
        check = check_polar(frame, frame.slots[0], pool)
        from nl2net.incident.solve import Outcome
        outcomes = [check.outcome] if check.outcome else [Outcome(frame.slots[0], "settled" if check.verdict == "true" else "open", claims=check.claims, coverage=0.7)]
        return build_report(frame, pool, outcomes, ledger=ledger, check=check)
    if frame.listing:
        from nl2net.incident.listing import list_matches
        from nl2net.incident.solve import Outcome
        from nl2net.incident.origins import Origins
        m = list_matches(corpus, frame)
        import dataclasses
        pool = dataclasses.replace(pool, documents=tuple(d for d, _ in m))
        ledger = Ledger(corpus, Origins(pool.documents))
        outs = [Outcome(dataclasses.replace(frame.slots[0], name=d.title), "settled", claims=cl, coverage=0.8) for d, cl in m]
        return build_report(frame, pool, outs or [Outcome(frame.slots[0], "open")], ledger=ledger, check=PremiseCheck(""))
    outcomes = solver.solve()
    check = PremiseCheck("")
    if any(o.state == "open" and o.slot.required for o in outcomes):
        check = check_presumed(frame, [o.slot for o in outcomes if o.state == "open"], pool)
    return build_report(frame, pool, outcomes, ledger=ledger, check=check)
