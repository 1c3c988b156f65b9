"""Self-learning: run the standing questions of a profile over a corpus and test what is then known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from nl2net.errors import DataError, UserError
from nl2net.incident.loop import Budget
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Report


@dataclass(frozen=True, slots=True)
class Profile:
    """A role made testable: standing questions, perspectives, preferred classes, budget."""

    name: str
    role: str
    goals: tuple[str, ...]
    perspectives: tuple[str, ...]
    classes: tuple[str, ...]
    budget: Budget


@dataclass(frozen=True, slots=True)
class Lesson:
    """A standing question about one incident, and what came of it."""

    incident: str
    question: str
    report: Report

    def row(self) -> dict[str, Any]:
        """For a table: states of slots, origins, what is missing."""
        origins = {e.origin for e in self.report.evidence if e.kind == "quote"}
        return {
            "incident": self.incident,
            "question": self.question,
            "status": self.report.status.value,
            "slots": {r.slot.name: r.state for r in self.report.slots},
            "independent_origins": len(origins),
            "rounds": self.report.rounds,
            "confidence": self.report.confidence,
            "missing": [m.would_help for m in self.report.missing],
        }


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or one from a YAML file.

    Raises
    ------
    UserError
        There is no such profile or file.
    DataError
        The file has no list of goals.

    Examples
    --------
    >>> load_profile("outage").goals[1]
    'What caused the outage?'
    """
    shipped = files("nl2net.incident") / "data" / "profiles"
    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        text = path.read_text(encoding="utf-8")
    elif (shipped / f"{name}.yaml").is_file():
        text = (shipped / f"{name}.yaml").read_text(encoding="utf-8")
    else:
        known = sorted(item.name.removesuffix(".yaml") for item in shipped.iterdir())
        raise UserError(f"no profile {name!r}", hint=f"Give a YAML file or one of {', '.join(known)}.")
    try:
        body = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise DataError(f"no YAML: {error}", path=name, hint="Mend the file.") from None
    if not isinstance(body, dict) or not isinstance(body.get("goals"), list) or not body["goals"]:
        raise DataError(
            "a profile needs a list of goals", path=name, field="goals", hint="Write questions, one a line."
        )
    budget = body.get("budget") or {}
    return Profile(
        name=path.stem,
        role=str(body.get("role", "")),
        goals=tuple(str(goal) for goal in body["goals"]),
        perspectives=tuple(str(p) for p in body.get("perspectives", ())),
        classes=tuple(str(c) for c in body.get("classes", ())),
        budget=Budget(rounds=int(budget.get("rounds", 3)), passages=int(budget.get("passages", 60))),
    )


def learn(
    profile: Profile, shelf: Shelf, documents: Sequence[str], *, ask: Callable[[str, str], Report]
) -> list[Lesson]:
    """Ask every goal about every incident of a corpus.

    Parameters
    ----------
    profile : Profile
        The goals.
    shelf : Shelf
        The corpus.
    documents : sequence of str
        Documents to learn about; data files are left out.
    ask : callable
        Answers a question about one document, given the question and the id.
    """
    lessons = []
    for doc in documents:
        document = shelf.document(doc)
        if document.kind == "data":
            continue
        for goal in profile.goals:
            lessons.append(Lesson(document.title, goal, ask(goal, doc)))
    return lessons
