"""One program from prompt to value: reply, extraction, checks, twin, run, and a bounded scrubbed repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nl2net.assistant.answer import Attempt
from nl2net.assistant.extract import extract_program
from nl2net.errors import ReplyError
from nl2net.model import Finding, GraphSchema, Library, Severity
from nl2net.prompts import Message, repair_messages
from nl2net.sandbox.outcome import CheckReport, Facts, Outcome, RunReport, Task, TwinReport

# Outcomes that end an attempt without a repair: the program spoke for itself, or a second try cannot help.
_FINAL = frozenset({Outcome.OK, Outcome.CANNOT_ANSWER, Outcome.ASK_USER})
_WORDS: Mapping[Outcome, str] = {
    Outcome.OK: "ok",
    Outcome.CANNOT_ANSWER: "ok",
    Outcome.ASK_USER: "ok",
    Outcome.REFUSED: "refused",
    Outcome.ERROR: "error",
    Outcome.TIME: "time",
    Outcome.MEMORY: "memory",
    Outcome.OUTPUT: "output",
    Outcome.RECURSION: "error",
    Outcome.PROCESSES: "refused",
}


class Checker(Protocol):
    """What is needed of a sandbox that never holds data (``nl2net.sandbox.Sandbox``)."""

    def check(self, program: str, *, library: Library, schema: GraphSchema, facts: Facts) -> CheckReport:
        """Findings of validator and lint."""

    def try_on_twin(
        self, program: str, *, library: Library, schema: GraphSchema, facts: Facts, placeholders: Sequence[str]
    ) -> TwinReport:
        """Run the masked program on a made-up graph."""


class Runner(Protocol):
    """What is needed of a graph holder (``nl2net.sandbox.GraphHolder``)."""

    def run(self, task: Task, *, limits: Any = None, cancel: Any = None) -> RunReport:
        """Run a program over the private graph."""


class Speaker(Protocol):
    """Gives the reply to a conversation; hides the client, the cache and the budget."""

    def reply(self, messages: Sequence[Message], *, purpose: str, sample: int = 0) -> str:
        """The text of one reply, at temperature 0."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The last usable program of one sample.

    ``origin`` is ``"model"`` or ``"library"``; a library program has the ``score`` of its question, and is ``sure``
    when that is enough to answer without a model.
    """

    program: str
    report: RunReport | None
    findings: tuple[Finding, ...] = ()
    repairs: int = 0
    attempts: tuple[Attempt, ...] = ()
    problem: str = ""
    origin: str = "model"
    score: float = 0.0
    sure: bool = False

    @property
    def ok(self) -> bool:
        """Whether it has a value."""
        return self.report is not None and self.report.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a program should be repaired; ``message`` and ``hint`` may be sent."""

    key: str
    message: str
    hint: str = ""
    line: int | None = None


@dataclass(slots=True)
class Trial:
    """Everything that the attempts of one question share."""

    checker: Checker
    runner: Runner
    speaker: Speaker
    schema: GraphSchema
    library: Library
    facts: Facts
    bindings: Mapping[str, str]
    repairs: int = 1
    limits: Any = None
    cancel: Any = None
    sandbox_s: float = 0.0
    validate: Any = None  # callable(RunReport) -> Problem | None
    seen: dict[str, Candidate] = field(default_factory=dict)

    def sample(self, messages: Sequence[Message], reply: str) -> Candidate:
        """Judge one reply and have it repaired as often as allowed.

        A repair that is worse than what it repairs is thrown away; the same problem twice ends the repair.
        """
        attempts: list[Attempt] = []
        best: Candidate | None = None
        last_problem = ""
        for number in range(self.repairs + 1):
            if number:
                reply = self.speaker.reply(messages, purpose="repair")
            candidate, problem = self._judge(reply, number)
            word = _WORDS[candidate.report.outcome] if candidate.report else "refused" if problem else "error"
            feedback = f"{problem.message} {problem.hint}".strip() if problem and number < self.repairs else ""
            error = candidate.report.error if candidate.report else candidate.problem
            attempts.append(Attempt(candidate.program, word, feedback, error, candidate.findings))
            if best is None or _rank(candidate) >= _rank(best):
                best = candidate
            if problem is None or problem.key == last_problem or not candidate.program:
                break
            last_problem = problem.key
            messages = repair_messages(
                messages, candidate.program, library=self.library,
                message=problem.message, hint=problem.hint, line=problem.line,
            )  # fmt: skip
        assert best is not None
        return Candidate(best.program, best.report, best.findings, len(attempts) - 1, tuple(attempts), best.problem)

    def _judge(self, reply: str, number: int) -> tuple[Candidate, Problem | None]:
        try:
            program = extract_program(reply, self.library)
        except ReplyError as error:
            return Candidate("", None, repairs=number, problem=error.message), None
        if program in self.seen:
            return self.seen[program], None
        candidate, problem = self.examine(program)
        self.seen[program] = candidate
        return candidate, problem

    def examine(self, program: str) -> tuple[Candidate, Problem | None]:
        """Check, try on the twin, run, validate; stop at the first problem that must not reach the data."""
        checked = self.checker.check(program, library=self.library, schema=self.schema, facts=self.facts)
        findings = checked.findings
        refused = next((f for f in findings if f.severity is Severity.REFUSE), None)
        if refused is not None:
            return Candidate(program, None, findings, problem=refused.message), _problem_of(refused)
        repair = next((f for f in findings if f.severity is Severity.REPAIR), None)
        if repair is None or repair.rule not in MUST_NOT_RUN:
            twin = self.checker.try_on_twin(
                program, library=self.library, schema=self.schema, facts=self.facts, placeholders=tuple(self.bindings)
            )
            report = self._run(program)
            problem = self._problem(report, twin, repair)
            return Candidate(program, report, findings, problem=report.error), problem
        return Candidate(program, None, findings, problem=repair.message), _problem_of(repair)

    def _run(self, program: str) -> RunReport:
        task = Task(program, library=self.library, bindings=self.bindings, facts=self.facts)
        report = self.runner.run(task, limits=self.limits, cancel=self.cancel)
        self.sandbox_s += report.wall_s
        return report

    def _problem(self, report: RunReport, twin: TwinReport, finding: Finding | None) -> Problem | None:
        if report.outcome is Outcome.OK:
            found = self.validate(report) if self.validate is not None else None
            return found or (_problem_of(finding) if finding else None)
        if report.outcome in _FINAL:
            return None
        # The twin never held data, so its full error text may be sent; it mostly fails in the same way.
        if finding is not None:
            return _problem_of(finding)
        if twin.outcome is Outcome.ERROR and twin.error:
            return Problem(f"twin:{twin.error}", twin.error, "", twin.line)
        if report.feedback is not None:
            back = report.feedback
            types = f" ({', '.join(back.operand_types)})" if back.operand_types else ""
            place = f" in `{back.expression}`" if back.expression else ""
            return Problem(f"{back.kind}:{back.expression}", f"{back.kind}{types}{place}", back.hint, back.line)
        return Problem(str(report.outcome), f"the program ended with: {report.outcome}")


# A program that reads a name which does not exist would give a plausible wrong value: it is not run at all.
MUST_NOT_RUN = frozenset(
    {"unknown-attribute", "unknown-kind", "unknown-column", "unknown-table", "unknown-placeholder", "text-as-number"}
)


def _problem_of(finding: Finding) -> Problem:
    return Problem(f"{finding.rule}:{finding.message}", finding.message, finding.hint, finding.line)


def _rank(candidate: Candidate) -> tuple[int, int]:
    """Usable before refused, few findings before many."""
    serious = sum(f.severity is not Severity.CAVEAT for f in candidate.findings)
    spoke = candidate.report is not None and candidate.report.outcome in _FINAL
    return (2 * candidate.ok + spoke + (candidate.report is not None), -serious)
