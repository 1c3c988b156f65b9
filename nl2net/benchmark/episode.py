"""One agent works on one task: observe, reply, run, until it says so or a limit is reached."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nl2net.benchmark.applications import application as find_application
from nl2net.benchmark.applications.base import Application, Executor, Observed
from nl2net.benchmark.applications.shell import Ran, Shell
from nl2net.benchmark.applications.tasks import Task
from nl2net.benchmark.interactive import EpisodeRecord, InteractiveAgent, Observation, replay
from nl2net.benchmark.replies import MAX_REPLY, BadReply, Reply, read_reply
from nl2net.benchmark.scoring import Ending, score
from nl2net.benchmark.transcripts import FORMAT, pack_matrix, trace_of
from nl2net.errors import DataError, ModelError
from nl2net.model import Usage

__all__ = ["EpisodeRecord", "InteractiveAgent", "Observation", "replay", "run_episode"]

INVALID_MOST = 3  # invalid replies in a row end an episode
Clock = Callable[[], float]


def run_episode(
    task: Task,
    agent: InteractiveAgent,
    *,
    backend: str = "simulated",
    application: Application | None = None,
    clock: Clock = time.monotonic,
) -> EpisodeRecord:
    """Let an agent work on a task in a fresh network, and judge it.

    Parameters
    ----------
    task : Task
        The agent sees its public half only.
    agent : InteractiveAgent
        What it raises is its own failure; a `ModelError` gives the outcome ``model_error``.
    backend : str
        ``simulated`` or ``kernel``.
    application : Application, optional
        By default the one that the task names.
    """
    episode = _Episode(task, agent, clock)
    episode.run(application or find_application(task.application), backend)
    return episode.record()


class _Stalled(Exception):
    """The agent did not answer in time."""


class _Episode:
    """State of an episode under way."""

    def __init__(self, task: Task, agent: InteractiveAgent, clock: Clock) -> None:
        self.task = task
        self.agent = agent
        self._clock = clock
        self._started = clock()
        self._agent_s = self._tool_s = 0.0
        self._steps: list[dict[str, Any]] = []
        self._start: dict[str, Any] = {}
        self._ending = Ending.HARNESS
        self._why = ""
        self._backend = ""
        self._commands = self._changes = self._invalid = 0
        self._places: Sequence[str] = task.plan["places"]

    def run(self, application: Application, backend: str) -> None:
        """Build, break, and go on turn by turn; what our own code raises is a harness error."""
        try:
            with application.open(self.task.state, backend=backend) as executor:
                self._backend = executor.backend
                self._break(executor)
                shell = Shell(application, self.task.state, executor, timeout_s=self.task.budget.command_s)
                self._ending = self._turns(executor, shell)
        except Exception as error:  # our own fault: it must not count for or against the agent
            self._ending = Ending.HARNESS
            self._why = f"{type(error).__name__}: {error}"

    def _break(self, executor: Executor) -> None:
        for fault in self.task.key.faults:
            for action in fault.actions:
                done = executor.apply(action)
                if not done.accepted:
                    raise DataError(f"fault {fault.kind} at {fault.place} is refused: {done.reason}")

    def _observe(self, executor: Executor) -> tuple[Observed, ...]:
        begun = self._clock()
        observed = executor.observe()
        self._tool_s += self._clock() - begun
        return observed

    def _turns(self, executor: Executor, shell: Shell) -> Ending:
        observed = self._observe(executor)
        self._start = pack_matrix(observed)
        wrong = any(flow.allowed != seen.passed for flow, seen in zip(self.task.state.flows, observed, strict=True))
        if wrong == self.task.control:
            raise DataError(
                "the faults show no symptom here" if not wrong else "the healthy network is not healthy here"
            )
        output = ""
        try:
            self._ask(partial(self.agent.start, self.task.public()))
            while (limit := self._limit()) is None:
                text = self._ask(partial(self.agent.reply, self._observation(observed, output)))
                ending, ran = self._step(str(text), shell)
                if ran.changes:
                    observed = self._observe(executor)
                    self._steps[-1]["matrix"] = pack_matrix(observed)
                if ending is not None:
                    return ending
                output = ran.output
        except _Stalled:
            return Ending.SECONDS
        except ModelError as error:
            self._why = str(error)
            return Ending.MODEL
        except _AgentFault as error:
            self._why = str(error)
            return Ending.CRASHED
        return limit

    def _limit(self) -> Ending | None:
        budget = self.task.budget
        if len(self._steps) >= budget.turns:
            return Ending.TURNS
        if self._commands >= budget.commands:
            return Ending.COMMANDS
        return Ending.SECONDS if self._clock() - self._started >= budget.seconds else None

    def _observation(self, observed: Sequence[Observed], output: str) -> Observation:
        budget = self.task.budget
        return Observation(
            turn=len(self._steps) + 1,
            flows=self.task.state.flows,
            observed=observed,
            output=output,
            turns_left=budget.turns - len(self._steps),
            commands_left=budget.commands - self._commands,
            seconds_left=budget.seconds - (self._clock() - self._started),
        )

    def _ask(self, call: Callable[[], Any]) -> Any:
        """Call the agent in a thread of its own, so that one that never answers ends with its seconds."""
        begun = self._clock()
        left = self.task.budget.seconds - (begun - self._started)
        answer: list[Any] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(call())
            except BaseException as error:  # whatever an agent raises is its own failure
                failure.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(max(left, 0.001))
        self._agent_s += self._clock() - begun
        if thread.is_alive():
            raise _Stalled
        if failure and isinstance(failure[0], ModelError):
            raise failure[0]
        if failure:
            raise _AgentFault(f"{type(failure[0]).__name__}: {failure[0]}"[:500])
        return answer[0]

    def _step(self, text: str, shell: Shell) -> tuple[Ending | None, Ran]:
        """Read one reply, carry it out and write it down."""
        ending: Ending | None = None
        reply = Reply()
        ran = Ran()
        try:
            reply = read_reply(text, places=self._places)
            self._invalid = 0
        except BadReply as error:
            self._invalid += 1
            ran.output = f"invalid reply: {error}\n"
            ending = Ending.INVALID if self._invalid >= INVALID_MOST else None
        if reply.done or reply.abstain:
            ending = Ending.DONE if reply.done else Ending.ABSTAINED
        begun = self._clock()
        if reply.command:
            ending, ran = self._run(reply, shell)
        spent = self._clock() - begun
        self._tool_s += spent
        ran.output = _cut(ran.output, self.task.budget.output_chars)
        self._write(text, reply, ran, spent)
        return ending, ran

    def _run(self, reply: Reply, shell: Shell) -> tuple[Ending | None, Ran]:
        try:
            ran = shell.run(reply.node, reply.command, most=self.task.budget.commands - self._commands)
        except Exception as error:  # a command that takes the network down must not void the episode
            return Ending.LOST, Ran(f"the network was lost: {type(error).__name__}: {error}\n", -1)
        self._commands += ran.commands
        self._changes += ran.changes
        return None, ran

    def _write(self, text: str, reply: Reply, ran: Ran, spent: float) -> None:
        step = {
            "turn": len(self._steps) + 1,
            "reply": text[: MAX_REPLY + 1],
            "node": reply.node,
            "command": reply.command,
            "status": ran.status,
            "output": ran.output,
            "commands": ran.commands,
            "changes": ran.changes,
            "blocked": ran.blocked,
            "forbidden": ran.forbidden,
            "tool_s": round(spent, 4),
            "matrix": None,
        }
        self._steps.append(step)

    def record(self) -> EpisodeRecord:
        """The judged record."""
        task = self.task
        flows = [list(flow) for flow in task.state.flows]
        causes = [[fault.kind, fault.place] for fault in task.key.faults]
        transcript: dict[str, Any] = {"format": FORMAT, "handle": task.handle, "question": task.question}
        transcript |= {"flows": flows, "places": list(self._places), "causes": causes, "start": self._start}
        transcript |= {"steps": self._steps, "ending": str(self._ending), "why": self._why}
        transcript = json.loads(json.dumps(transcript))  # nothing that an agent holds may change it later
        usage = getattr(self.agent, "usage", None)
        found = score(trace_of(transcript))
        return EpisodeRecord(
            task=task.id,
            agent=self.agent.name,
            application=task.application,
            type=task.type,
            level=task.level,
            split=str(task.split),
            control=task.control,
            cluster=task.cluster,
            backend=self._backend,
            outcome=found.outcome,
            correct=found.correct,
            safe=found.safe,
            diagnosed=found.diagnosed,
            progress=found.progress,
            regressions=found.regressions,
            undone=found.undone,
            blocked=sum(step["blocked"] for step in self._steps),
            forbidden=sum(step["forbidden"] for step in self._steps),
            reason="; ".join(part for part in (found.reason, self._why) if part),
            turns=len(self._steps),
            commands=self._commands,
            changes=self._changes,
            reference_changes=sum(command.line.count(" && ") + 1 for command in task.key.repair),
            seconds=round(self._clock() - self._started, 4),
            agent_s=round(self._agent_s, 4),
            tool_s=round(self._tool_s, 4),
            usage=usage if isinstance(usage, Usage) else Usage(),
            transcript=transcript,
        )


class _AgentFault(Exception):
    """The agent raised something."""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n... ({len(text) - limit} more characters)\n"
