"""The gate: a task is kept only if its faults show, do not hide each other, and its repair is proven safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from nl2net.benchmark.applications.base import (
    Application,
    Changed,
    Command,
    Executor,
    Fault,
    Observed,
    State,
    canonical,
)
from nl2net.benchmark.applications.shell import Shell

Wrong = frozenset[int]


class Rejected(Exception):
    """The candidate fails the gate; the message is the reason by which rejects are counted."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What one fault shows by itself, and the lines that repair it."""

    wrong: Wrong
    repair: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What the faults show together, and a safe order of their repairs."""

    symptoms: tuple[int, ...]
    repair: tuple[Command, ...]


class Workbench:
    """One healthy network in the simulator on which candidates are tried and taken back.

    Raises
    ------
    Rejected
        The healthy network does not fulfil its own intent.
    """

    def __init__(self, application: Application, state: State) -> None:
        self.application = application
        self.state = state
        self._alone: dict[str, Alone | str] = {}
        self._seen: dict[str, Wrong] = {}
        self._open()
        self._healthy = self._executor.digest()
        if self._wrong():
            self._executor.close()
            raise Rejected("unhealthy state")

    def _open(self) -> None:
        self._executor: Executor = self.application.open(self.state)
        self._shell = Shell(self.application, self.state, self._executor)

    def close(self) -> None:
        """Take the network down."""
        self._executor.close()

    def _wrong(self) -> Wrong:
        """Flows that are not as intended; what was observed in an equal state before is not observed again."""
        digest = self._executor.digest()
        if digest not in self._seen:
            self._seen[digest] = wrong_flows(self.state, self._executor.observe())
        return self._seen[digest]

    def _back(self, changed: Sequence[Changed] = ()) -> bool:
        """Back to the healthy state; whether the inverses led there."""
        back = self._executor.undo(changed) and self._executor.digest() == self._healthy
        if not back:
            self._executor.close()
            self._open()
        return back

    def _break(self, faults: Sequence[Fault]) -> list[Changed]:
        """Apply faults in order; takes all back if one is refused."""
        changed: list[Changed] = []
        for action in (action for fault in faults for action in fault.actions):
            done = self._executor.apply(action)
            if not done.accepted:
                self._back(changed)
                raise Rejected("refused")
            changed.append(done)
        return changed

    def alone(self, fault: Fault) -> Alone:
        """Try one fault.

        Raises
        ------
        Rejected
            ``refused``, ``no-op``, ``unobservable`` or ``not restored``.
        """
        key = canonical(fault.to_json())
        if key not in self._alone:
            try:
                self._alone[key] = self._try_alone(fault)
            except Rejected as reason:
                self._alone[key] = str(reason)
        found = self._alone[key]
        if isinstance(found, str):
            raise Rejected(found)
        return found

    def _try_alone(self, fault: Fault) -> Alone:
        changed = self._break([fault])
        still = self._executor.digest() == self._healthy
        wrong = self._wrong()
        inverse = [action for item in reversed(changed) for action in item.inverse]
        back = self._back(changed)
        if still:
            raise Rejected("no-op")
        if not wrong:
            raise Rejected("unobservable")
        if not back:
            raise Rejected("not restored")
        return Alone(wrong, self.application.commands(self.state, inverse))

    def prove(self, faults: Sequence[Fault]) -> Proof:
        """Try faults together and find an order in which their repairs are safe.

        Raises
        ------
        Rejected
            A reason of `alone`, ``masked``, ``unsafe`` or ``not repaired``.
        """
        alone = [self.alone(fault) for fault in faults]
        _check_shadows(alone)
        start = alone[0].wrong
        if len(faults) > 1:
            start = self._together(faults)
            self._check_masks(faults, alone, start)
        reason = ""
        for order in permutations(range(len(faults))):
            lines = [line for place in order for line in alone[place].repair]
            reason = self._rehearse(faults, lines)
            if not reason:
                return Proof(tuple(sorted(start)), tuple(lines))
        raise Rejected(reason)

    def _together(self, faults: Sequence[Fault]) -> Wrong:
        changed = self._break(faults)
        wrong = self._wrong()
        if not self._back(changed):
            raise Rejected("not restored")
        return wrong

    def _check_masks(self, faults: Sequence[Fault], alone: Sequence[Alone], start: Wrong) -> None:
        """Every fault must show beside all the others, and all together differ from each by itself."""
        if any(item.wrong == start for item in alone):
            raise Rejected("masked")
        if len(faults) > 2:
            for left_out in range(len(faults)):
                rest = [number for number in range(len(faults)) if number != left_out]
                # Flows that only the fault left out explains tell soonest; all others only if those do not.
                told = start - frozenset[int]().union(*(alone[number].wrong for number in rest))
                order = [*sorted(told), *sorted(frozenset(range(len(self.state.flows))) - told)]
                if not self._differs([faults[number] for number in rest], start, order):
                    raise Rejected("masked")

    def _differs(self, faults: Sequence[Fault], start: Wrong, order: Sequence[int]) -> bool:
        """Whether these faults by themselves show something else than ``start``."""
        changed = self._break(faults)
        flows = self.state.flows
        step = max(1, len(order) // 8)
        parts = (order[first : first + step] for first in range(0, len(order), step))
        found = any(
            (flows[place].allowed != seen.passed) != (place in start)
            for part in parts
            for place, seen in zip(part, self._executor.probe(part), strict=True)
        )
        self._back(changed)
        return found

    def _rehearse(self, faults: Sequence[Fault], lines: Sequence[Command]) -> str:
        """Run a repair on the broken network: why it fails, or nothing."""
        self._break(faults)
        before = self._wrong()
        reason = ""
        for place, line in lines:
            ran = self._shell.run(place, line)
            if ran.status or ran.blocked:
                reason = "not repaired"
                break
            after = self._wrong()
            if after - before:
                reason = "unsafe"
                break
            before = after
        if before and not reason:
            reason = "not repaired"
        self._back()
        return reason


def _check_shadows(alone: Sequence[Alone]) -> None:
    """Turn away early what would nearly always be masked: a fault all of whose symptoms others show as well."""
    for place, item in enumerate(alone):
        others = [other.wrong for number, other in enumerate(alone) if number != place]
        if others and item.wrong <= frozenset[int]().union(*others):
            raise Rejected("masked")


def wrong_flows(state: State, observed: Sequence[Observed]) -> Wrong:
    """Positions of the flows that are not as intended."""
    return frozenset(
        place
        for place, (flow, seen) in enumerate(zip(state.flows, observed, strict=True))
        if flow.allowed != seen.passed
    )
