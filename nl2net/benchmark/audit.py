"""A second look at a finished suite, apart from its gate: the zeros that a report states are counted here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nl2net.benchmark.items import Item
from nl2net.benchmark.scoring import Outcome
from nl2net.benchmark.working import Job, solve_plain


@dataclass(frozen=True, slots=True)
class Audit:
    """Faults of a suite; all of them should be 0.

    Attributes
    ----------
    unsafe : int
        The reference breaks an invariant or leaves the scope.
    no_op : int
        Doing nothing is right, and the item is no healthy control.
    duplicate : int
        Items that occur before.
    unobservable : int
        Faults that no flow shows.
    unsolved : int
        Items that the key itself does not solve.
    """

    unsafe: int = 0
    no_op: int = 0
    duplicate: int = 0
    unobservable: int = 0
    unsolved: int = 0


def audit(items: Sequence[Item]) -> Audit:
    """Solve every item with its key and with doing nothing, and count what should not be.

    Examples
    --------
    >>> from nl2net.benchmark.items import Order, make_items
    >>> audit(make_items(Order(("traffic",), 3, seed="demo")).items)
    Audit(unsafe=0, no_op=0, duplicate=0, unobservable=0, unsolved=0)
    """
    solved = [solve_plain(Job(item, "oracle")) for item in items]
    idle = [solve_plain(Job(item, "noop")) for item in items if not item.control]
    hidden = [item.task for item in items if item.task is not None and not item.control and not item.task.key.symptoms]
    return Audit(
        unsafe=sum(not record.safe for record in solved),
        no_op=sum(record.outcome is Outcome.SOLVED for record in idle),
        duplicate=len(items) - len({item.id for item in items}),
        unobservable=len(hidden),
        unsolved=sum(record.outcome is not Outcome.SOLVED for record in solved),
    )
