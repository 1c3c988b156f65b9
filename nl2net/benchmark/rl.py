"""Learning from tasks: an environment with ``reset`` and ``step``, and rewards that are pure functions.

`TaskEnvironment` follows the interface of Gymnasium and is one of its environments where it is installed (extra
``train``). An episode is the one of the benchmark, judged by the same judge.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nl2net.benchmark.applications.making import make_tasks
from nl2net.benchmark.applications.tasks import PublicTask, Task
from nl2net.benchmark.episode import run_episode
from nl2net.benchmark.interactive import EpisodeRecord, Observation
from nl2net.benchmark.interactive_models import observation_text, system_text
from nl2net.benchmark.replies import BadReply, read_reply
from nl2net.benchmark.scoring import Outcome, score
from nl2net.benchmark.transcripts import trace_of
from nl2net.errors import UserError
from nl2net.golden.case import Split

_SOLVED, _PROGRESS = 1.0, 0.5
_BROKEN, _FORBIDDEN, _INVALID, _STEP = 0.25, 0.5, 0.1, 0.01
_LONGEST = 1 << 16

if TYPE_CHECKING:
    _Base = object
else:
    try:
        _Base = import_module("gymnasium").Env
    except ImportError:
        _Base = object


@dataclass(frozen=True, slots=True)
class Reward:
    """What a trace is worth, between -1 and 1, and the parts that it is made of.

    A harness error is nobody's doing: its total is 0 and it has no parts.
    """

    total: float
    parts: Mapping[str, float] = field(default_factory=dict)


def reward(task: Task, transcript: Mapping[str, Any]) -> Reward:
    """Reward of an episode; the same for the same transcript, wherever it was recorded.

    Parameters
    ----------
    task : Task
        The task of the episode.
    transcript : mapping
        Of its `EpisodeRecord`.

    Notes
    -----
    Progress is a difference of potentials, the share of flows that are as intended: breaking and repairing earns
    nothing. What is good is capped at 1 before what is bad is taken off, so that no success makes up for harm.
    """
    trace = trace_of(transcript)
    found = score(trace)
    if found.outcome is Outcome.HARNESS:
        return Reward(0.0)
    right = [sum(a == b for a, b in zip(trace.allowed, row, strict=True)) / len(trace.allowed) for row in trace.passed]
    steps = transcript["steps"]
    invalid = sum(_is_invalid(step["reply"], transcript["places"]) for step in steps)
    parts = {
        "solved": _SOLVED * (found.outcome is Outcome.SOLVED),
        "progress": _PROGRESS * (right[-1] - right[0]),
        "broken": -_BROKEN * _harmful_turns(trace.allowed, trace.passed),
        "forbidden": -_FORBIDDEN * trace.forbidden,
        "invalid": -_INVALID * invalid,
        "steps": -_STEP * len(steps),
    }
    good = min(1.0, parts["solved"] + parts["progress"])
    bad = parts["broken"] + parts["forbidden"] + parts["invalid"] + parts["steps"]
    return Reward(round(max(-1.0, good + bad), 6), {name: round(value, 6) for name, value in parts.items()})


def _harmful_turns(allowed: Sequence[bool], rows: Sequence[Sequence[bool]]) -> int:
    """Turns that broke a flow which was as intended."""
    return sum(
        any(a == b != c for a, b, c in zip(allowed, before, after, strict=True)) for before, after in pairwise(rows)
    )


def _is_invalid(text: str, places: Sequence[str]) -> bool:
    try:
        read_reply(text, places=places)
    except BadReply:
        return True
    return False


class _Left(Exception):
    """The environment was reset or closed in the middle of an episode."""


class _Driven:
    """An agent whose replies are the actions of a learner."""

    name = "learner"

    def __init__(self) -> None:
        self.actions: queue.Queue[str | None] = queue.Queue()
        self.seen: queue.Queue[Observation | EpisodeRecord | BaseException] = queue.Queue()

    def start(self, task: PublicTask) -> None:
        """Nothing to forget."""

    def reply(self, observation: Observation) -> str:
        """Show the observation, wait for the action."""
        self.seen.put(observation)
        action = self.actions.get()
        if action is None:
            raise _Left
        return action


class TaskEnvironment(_Base):
    """Tasks of one application as an environment: text in, text out.

    Parameters
    ----------
    application : str
        ``routing`` or ``policy``.
    levels : sequence of int, optional
        Numbers of faults; all by default.
    tasks : sequence of Task, optional
        Fixed tasks, for example of an export, in place of generated ones.
    backend : str
        ``simulated`` or ``kernel``.

    Examples
    --------
    >>> environment = TaskEnvironment("routing", levels=[1])
    >>> seen, info = environment.reset(seed=7)
    >>> _, given, ended, cut, _ = environment.step('{"abstain": "no idea"}')
    >>> given < 0, ended, cut
    (True, True, False)
    """

    metadata: Mapping[str, Any] = {"render_modes": []}

    def __init__(
        self,
        application: str = "routing",
        *,
        levels: Sequence[int] | None = None,
        tasks: Sequence[Task] = (),
        backend: str = "simulated",
    ) -> None:
        if any(task.split is not Split.DEV for task in tasks):
            raise UserError("a learner gets tasks of the development split only")
        self._application, self._levels, self._tasks = application, levels, list(tasks)
        self._backend = backend
        self._agent: _Driven | None = None
        self._thread: threading.Thread | None = None
        self._task: Task | None = None
        self._given = 0.0
        self._places: Sequence[str] = ()
        self._last: Observation | None = None
        self._count = 0
        _add_spaces(self)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task: the first observation holds what an agent is told, and the symptoms.

        Parameters
        ----------
        seed : int, optional
            The same seed gives the same task; without one, the next of a fixed sequence.
        options : mapping, optional
            ``task``: a `Task` of the development split.
        """
        self.close()
        self._count += 1
        self._task = self._pick(self._count if seed is None else seed, (options or {}).get("task"))
        self._agent, self._given = _Driven(), 0.0
        self._thread = threading.Thread(target=self._run, args=(self._task, self._agent), daemon=True)
        self._thread.start()
        first = self._next()
        if not isinstance(first, Observation):
            raise UserError("the task cannot be opened", hint="Is the backend there? Run `nl2net doctor`.")
        self._last = first
        self._places = self._task.plan["places"]
        return f"{system_text(self._task.public(), 'direct')}\n\n{observation_text(first)}", self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Reply to the observation.

        Returns
        -------
        tuple
            Observation, reward, whether the task has ended, whether a limit ended it, and facts. Rewards of an episode
            add up to `reward` of its transcript, which is in the facts at the end.
        """
        if self._agent is None or self._task is None or self._last is None:
            raise UserError("the episode has ended", hint="Call reset.")
        self._agent.actions.put(action)
        found = self._next()
        if isinstance(found, Observation):
            given = self._shaping(self._last, found, action)
            self._last = found
            self._given += given
            return observation_text(found), given, False, False, self._info()
        return self._end(found)

    def _end(self, found: EpisodeRecord | BaseException) -> tuple[str, float, bool, bool, dict[str, Any]]:
        assert self._task is not None
        self._agent = self._last = None
        if isinstance(found, BaseException):
            raise found
        final = reward(self._task, found.transcript)
        given = 0.0 if found.outcome is Outcome.HARNESS else final.total - self._given
        info = self._info() | {"outcome": str(found.outcome), "safe": found.safe, "reward": final, "record": found}
        return "", given, True, found.outcome is Outcome.BUDGET, info

    def _shaping(self, before: Observation, after: Observation, action: str) -> float:
        """What a step in the middle earns: progress less harm and cost; the rest comes with the end."""
        right = [[flow.allowed == seen.passed for flow, seen in zip(o.flows, o.observed, strict=True)]
                 for o in (before, after)]  # fmt: skip
        harm = any(a and not b for a, b in zip(*right, strict=True))
        progress = (sum(right[1]) - sum(right[0])) / len(right[0])
        return _PROGRESS * progress - _BROKEN * harm - _INVALID * _is_invalid(action, self._places) - _STEP

    def close(self) -> None:
        """Leave the episode."""
        if self._agent is not None:
            self._agent.actions.put(None)
        if self._thread is not None:
            self._thread.join(timeout=30)
        self._agent = self._thread = self._last = None

    def _run(self, task: Task, agent: _Driven) -> None:
        try:
            agent.seen.put(run_episode(task, agent, backend=self._backend))
        except BaseException as error:
            agent.seen.put(error)

    def _next(self) -> Observation | EpisodeRecord | BaseException:
        assert self._agent is not None
        return self._agent.seen.get()

    def _pick(self, number: int, wanted: Task | None) -> Task:
        if wanted is not None:
            if wanted.split is not Split.DEV:
                raise UserError("a learner gets tasks of the development split only")
            return wanted
        if self._tasks:
            return self._tasks[number % len(self._tasks)]
        return make_tasks(self._application, f"rl-{number}", Split.DEV, 1, levels=self._levels).tasks[0]

    def _info(self) -> dict[str, Any]:
        assert self._task is not None
        return {"task": self._task.id, "application": self._task.application, "level": self._task.level}


def _add_spaces(environment: Any) -> None:
    """Spaces of text, where Gymnasium is there to have them."""
    try:
        spaces = import_module("gymnasium.spaces")
    except ImportError:
        return
    letters = frozenset(chr(code) for code in range(32, 0x2100)) | {"\n", "\t"}
    for name in ("observation_space", "action_space"):
        setattr(environment, name, spaces.Text(max_length=_LONGEST, min_length=0, charset=letters))
