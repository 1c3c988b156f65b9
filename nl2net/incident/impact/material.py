"""What computations on the data files of a corpus take and return."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nl2net.incident.impact.asgraph import AsGraph, Relations
from nl2net.incident.impact.programs import Programs
from nl2net.incident.impact.updates import UpdateFile


@dataclass(frozen=True, slots=True)
class Result:
    """One computed statement."""

    name: str
    text: str
    value: Any
    program: str
    assumption: str = ""
    source: str = ""  # the program that ran in the sandbox and returned the same


@dataclass(frozen=True, slots=True)
class Material:
    """Data that a question names. ``graph`` comes from the paths, from the links file or from the relationships."""

    question: str
    stream: UpdateFile | None
    relations: Relations | None
    graph: AsGraph
    graph_rule: str
    programs: Programs | None = None


@dataclass(frozen=True, slots=True)
class Capability:
    """``answers`` matches questions; ``needs`` names the data: ``stream``, ``relations`` or ``graph``."""

    name: str
    answers: re.Pattern[str]
    needs: str
    compute: Callable[[Material], Sequence[Result]]
