"""Everything after the programs: which candidate is the answer, how sure it is, and what is said with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nl2net.assistant.agreement import Choice
from nl2net.assistant.answer import Answer, Attempt, Provenance
from nl2net.assistant.attempts import Candidate
from nl2net.assistant.confidence import Signals, confidence
from nl2net.assistant.gate import PrivacyGate
from nl2net.assistant.scripts import program_hash
from nl2net.assistant.state import AskState
from nl2net.assistant.validators import caveats, change_problems
from nl2net.errors import Nl2netError
from nl2net.graphs import LoadedGraph
from nl2net.model import Severity, Status, Usage
from nl2net.prompts import template_hash
from nl2net.sandbox.outcome import LayerReport, Outcome, RunReport

_EXIT_CODES = {Status.ANSWERED: 0, Status.FAILED: 1, Status.REFUSED: 5}
_STATUS_BY_EXIT = {5: Status.REFUSED, 6: Status.CANNOT_ANSWER}


@dataclass(frozen=True, slots=True)
class Concluder:
    """Turns what happened to a question into its answer."""

    graph: LoadedGraph
    gate: PrivacyGate

    def plain(self, state: AskState, status: Status, message: str, *, choices: tuple[str, ...] = ()) -> Answer:
        """An answer without a program."""
        speaker = state.speaker
        return Answer(
            status=status,
            exit_code=_EXIT_CODES.get(status, 6),
            question=state.question,
            masked=state.masked.text,
            graph=graph_facts(self.graph),
            message=message,
            choices=choices,
            caveats=tuple(state.caveats),
            usage=speaker.usage if speaker else Usage(),
            provenance=Provenance(
                model=speaker.model if speaker and speaker.model else "none",
                origin="model" if speaker and speaker.model else "",
                template=template_hash(),
                schema_hash=self.graph.schema_hash,
                fingerprint=self.graph.fingerprint,
            ),
            turn=state.turn,
        )

    def failed(self, state: AskState, error: Nl2netError) -> Answer:
        """The answer of a question that an error ended."""
        answer = self.plain(state, _STATUS_BY_EXIT.get(error.exit_code, Status.FAILED), str(error))
        return replace(answer, exit_code=error.exit_code)

    def conclude(self, state: AskState, choice: Choice, *, threshold: float) -> Answer:
        """The answer of the chosen candidate, or the reason why there is none."""
        candidate = choice.candidate
        report = candidate.report
        answer = replace(
            self.plain(state, Status.FAILED, ""),
            library=state.library,
            code=report.program if report and report.program else candidate.program,
            masked_code=candidate.program,
            attempts=candidate.attempts or (Attempt(candidate.program, "ok"),),
            findings=candidate.findings,
            printed=report.printed if report else "",
        )
        if report is None or report.outcome is not Outcome.OK:
            return unusable(answer, candidate)
        answer = self._with_result(answer, state, report)
        signals = signals_of(state, choice)
        sure = confidence(signals)
        answer = replace(answer, confidence=sure, signals=signals)
        return doubtful(answer, choice) if sure < threshold or choice.tied else answer

    def _with_result(self, answer: Answer, state: AskState, report: RunReport) -> Answer:
        assert report.result is not None
        notes = [*answer.caveats, *caveats(state.masked.text, answer.masked_code, report, self.graph.schema)]
        if candidate_is_borrowed(answer):
            notes.append("a verified program of the library was carried over to this question; no model was asked")
        notes += [finding.message for finding in answer.findings if finding.severity is not Severity.REFUSE]
        changes = report.changes or None
        if changes is not None:
            notes += change_problems(changes, self.graph.graph)
        return replace(
            answer,
            status=Status.REFUSED if state.refusal else Status.ANSWERED,
            exit_code=5 if state.refusal else 0,
            result=report.result,
            labels=labels_of(report.result.data, self.graph.graph),
            changes=changes,
            caveats=tuple(dict.fromkeys(notes)),
            message=state.refusal,
            provenance=replace(
                answer.provenance, program_hash=program_hash(answer.code), sandbox=sandbox_words(report.layers)
            ),
        )


def candidate_is_borrowed(answer: Answer) -> bool:
    """Whether a program was found without any reply of a model."""
    return answer.provenance.model == "none" and bool(answer.code)


def graph_facts(graph: LoadedGraph) -> dict[str, Any]:
    """The ``graph`` part of the envelope."""
    return {
        "name": graph.name,
        "fingerprint": graph.fingerprint,
        "nodes": graph.graph.number_of_nodes(),
        "edges": graph.graph.number_of_edges(),
        "class": graph.schema.graph_class.name,
    }


def sandbox_words(layers: LayerReport) -> str:
    """State of the sandbox as it is recorded with an answer."""
    return f"{layers.level}" + (" (unsealed execution accepted)" if layers.accepted_unsealed else "")


def signals_of(state: AskState, choice: Choice) -> Signals:
    """What the confidence is computed from."""
    candidate = choice.candidate
    result = candidate.report.result if candidate.report else None
    data = result.data if result else None
    rows = data.get("rows") if isinstance(data, dict) else data
    logprobs = state.speaker.logprobs if state.speaker else []
    return Signals(
        consistency=choice.consistency,
        samples=choice.drawn,
        repairs=candidate.repairs,
        findings=sum(f.severity is not Severity.CAVEAT for f in candidate.findings),
        similarity=max((found.score for found in state.found), default=0.0),
        unused=sum(token not in candidate.program for token in state.masked.bindings),
        logprob=logprobs[0] if logprobs else 0.0,
        empty=int(isinstance(rows, list) and not rows),
        borrowed=choice.borrowed,
        alone=int(choice.drawn == 1),
    )


def unusable(answer: Answer, candidate: Candidate) -> Answer:
    """The answer where no program gave a value."""
    report = candidate.report
    if report is None:
        return _not_run(answer, candidate)
    outcome = report.outcome
    if outcome is Outcome.CANNOT_ANSWER:
        return replace(answer, status=Status.CANNOT_ANSWER, exit_code=6, message=report.message)
    if outcome is Outcome.ASK_USER:
        return replace(
            answer, status=Status.NEEDS_CLARIFICATION, exit_code=6, message=report.message, choices=report.choices
        )
    if outcome is Outcome.REFUSED:
        return replace(answer, status=Status.REFUSED, exit_code=5, message=report.error)
    return replace(answer, exit_code=1 if outcome is Outcome.ERROR else 4, message=report.error or str(outcome))


def _not_run(answer: Answer, candidate: Candidate) -> Answer:
    message = candidate.problem or "the model wrote no usable program"
    if any(finding.severity is Severity.REFUSE for finding in candidate.findings):
        return replace(answer, status=Status.REFUSED, exit_code=5, message=message)
    if candidate.findings:
        return replace(answer, status=Status.CANNOT_ANSWER, exit_code=6, message=message)
    return replace(answer, message=message)


def doubtful(answer: Answer, choice: Choice) -> Answer:
    """An answer that is withheld; its program and attempts stay visible."""
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
        name = graph.nodes[text].get("name") if text in graph else None
        if name not in {None, text}:
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
