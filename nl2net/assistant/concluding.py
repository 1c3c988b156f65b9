"""From a chosen candidate to the answer: what an unusable or a doubtful one becomes, and display names of node ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nl2net.assistant.agreement import Choice
from nl2net.assistant.answer import Answer
from nl2net.assistant.attempts import Candidate
from nl2net.model import Severity, Status
from nl2net.sandbox.outcome import Outcome


def unusable(answer: Answer, candidate: Candidate) -> Answer:
    report = candidate.report
    if report is None:
        refused = any(f.severity is Severity.REFUSE for f in candidate.findings)
        if refused:
            return replace(answer, status=Status.REFUSED, exit_code=5, message=candidate.problem)
        if candidate.findings:
            return replace(answer, status=Status.CANNOT_ANSWER, exit_code=6, message=candidate.problem)
        return replace(answer, message=candidate.problem or "the model wrote no usable program")
    outcome = report.outcome
    if outcome is Outcome.CANNOT_ANSWER:
        return replace(answer, status=Status.CANNOT_ANSWER, exit_code=6, message=report.message)
    if outcome is Outcome.ASK_USER:
        return replace(
            answer, status=Status.NEEDS_CLARIFICATION, exit_code=6, message=report.message, choices=report.choices
        )
    if outcome is Outcome.REFUSED:
        return replace(answer, status=Status.REFUSED, exit_code=5, message=report.error)
    code = 1 if outcome is Outcome.ERROR else 4
    return replace(answer, exit_code=code, message=report.error or str(outcome))


def doubtful(answer: Answer, choice: Choice) -> Answer:
    reason = (
        "the samples disagree and none has a majority"
        if choice.tied
        else f"confidence {answer.confidence:.2f} is below the threshold"
    )
    return replace(
        answer,
        status=Status.CANNOT_ANSWER,
        exit_code=6,
        result=None,
        changes=None,
        message=f"not sure enough to answer: {reason}. The program is shown; rephrase, or lower the threshold.",
    )


def labels_of(data: Any, graph: Any, limit: int = 5000) -> dict[str, str]:
    """Display names of the node ids in a result, where names differ from ids."""
    labels: dict[str, str] = {}
    for text in _texts(data):
        if len(labels) >= limit:
            break
        if text in graph and (name := graph.nodes[text].get("name")) not in {None, text}:
            labels[text] = str(name)
    return labels


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from _texts(item)
