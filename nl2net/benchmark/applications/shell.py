"""Runs a line of an agent: taken apart, judged command by command, then executed as it was judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from nl2net.benchmark.applications.base import Application, Executor, State
from nl2net.benchmark.applications.lines import BadLine, split_line

REFUSED = 126


@dataclass(slots=True)
class Ran:
    """What became of a line.

    Attributes
    ----------
    output : str
        What all its commands printed, and why some did not run.
    commands, changes : int
        Commands that ran, and those of them that may change the network.
    blocked, forbidden : int
        Commands that the allow-list refused, and those of them that are unsafe to try.
    """

    output: str = ""
    status: int = 0
    commands: int = 0
    changes: int = 0
    blocked: int = 0
    forbidden: int = 0
    programs: list[str] = field(default_factory=list)


class Shell:
    """The only way from an agent to an executor."""

    def __init__(self, application: Application, state: State, executor: Executor, *, timeout_s: float = 5.0) -> None:
        self._application = application
        self._state = state
        self._executor = executor
        self._timeout_s = timeout_s
        self._places = frozenset(application.describe(state)["places"])

    def run(self, place: str, line: str, *, most: int = 100) -> Ran:
        """Run a line at a place; at most ``most`` commands of it."""
        ran = Ran()
        if place not in self._places:
            return Ran(
                f"there is no place {place!r}; known are {', '.join(sorted(self._places))}\n", REFUSED, blocked=1
            )
        try:
            commands = split_line(line)
        except BadLine as error:
            return Ran(f"refused: {error}\n", REFUSED, blocked=1)
        for joint, words in commands:
            if (joint == "&&" and ran.status != 0) or (joint == "||" and ran.status == 0):
                continue
            if ran.commands >= most:
                ran.output += "stopped: the budget of commands is used up\n"
                break
            self._run_one(ran, place, words)
        return ran

    def _run_one(self, ran: Ran, place: str, words: tuple[str, ...]) -> None:
        verdict = self._application.judge(self._state, place, words)
        ran.programs.append(words[0])
        if not verdict.allowed:
            ran.blocked += 1
            ran.forbidden += verdict.forbidden
            ran.status = REFUSED
            ran.output += f"refused: {verdict.why}\n"
            return
        ran.commands += 1
        ran.changes += verdict.changes
        answer = self._executor.run(place, words, timeout_s=self._timeout_s)
        ran.status = answer.status
        ran.output += answer.output
