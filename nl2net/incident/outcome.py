"""What was found for a slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nl2net.incident.reconcile import Verdict
from nl2net.incident.records import Claim, Slot
from nl2net.incident.support import Support


@dataclass(frozen=True, slots=True)
class Computed:
    """A value derived from typed values, with what was done."""

    operation: str
    inputs: tuple[tuple[str, str], ...]
    value: Any
    text: str
    assumption: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found for a slot."""

    slot: Slot
    state: str  # settled, conflict, open
    label: str = ""
    value: Any = None
    claims: tuple[Claim, ...] = ()
    verdict: Verdict | None = None
    computed: Computed | None = None
    coverage: float = 0.0
    margin: float = 1.0
    denied: bool = False
    support: Support | None = None  # set once the outcome stands
    note: str = ""  # why it stayed open, where there is more to say than that nothing was found
