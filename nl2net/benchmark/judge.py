"""From an answer to an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nl2net.benchmark.agents import AgentAnswer
from nl2net.golden.case import Case
from nl2net.golden.comparison import compare
from nl2net.model import Status


class Outcome(StrEnum):
    """How a case ended. Only ``harness_error``, a fault of our own, leaves the rate."""

    CORRECT = "correct"
    WRONG = "wrong-delivered"
    ABSTAINED = "abstained"
    REFUSED = "refused"
    FAILED = "failed"
    HARNESS = "harness_error"


@dataclass(frozen=True, slots=True)
class Judged:
    """Outcome and reason; the reason may hold data values and stays on this machine."""

    outcome: Outcome
    reason: str = ""


_NOT_ANSWERED = {
    Status.CANNOT_ANSWER: Outcome.ABSTAINED,
    Status.NEEDS_CLARIFICATION: Outcome.ABSTAINED,
    Status.REFUSED: Outcome.REFUSED,
    Status.FAILED: Outcome.FAILED,
}


def judge(case: Case, answer: AgentAnswer, graph: Any) -> Judged:
    """Compare an answer with the key of its case.

    Parameters
    ----------
    case : Case
        The case with its key.
    answer : AgentAnswer
        What the agent handed over.
    graph : networkx graph
        The original graph, untouched by the agent.

    Notes
    -----
    Where a refusal is right, it must be of the wanted class and name what is missing; any value is wrong-delivered.
    """
    if case.outcome is not Status.ANSWERED:
        return _judge_refusal(case, answer)
    if answer.status is not Status.ANSWERED:
        return Judged(_NOT_ANSWERED[answer.status], answer.message)
    try:
        verdict = compare(case.expected, answer.result, case.comparison, graph=graph, changes=answer.changes)
    except Exception as error:  # a grader that fails is our fault, never a score of zero
        return Judged(Outcome.HARNESS, f"{type(error).__name__}: {error}")
    return Judged(Outcome.CORRECT if verdict else Outcome.WRONG, verdict.reason)


def _judge_refusal(case: Case, answer: AgentAnswer) -> Judged:
    if answer.status is Status.ANSWERED:
        return Judged(Outcome.WRONG, f"answered where {case.outcome} was right")
    if answer.status is not case.outcome:
        return Judged(_NOT_ANSWERED[answer.status], f"{answer.status} where {case.outcome} was right")
    message = answer.message.lower()
    if case.missing and not any(word in message for word in case.missing):
        return Judged(Outcome.ABSTAINED, "the message does not name what is missing")
    return Judged(Outcome.CORRECT)
