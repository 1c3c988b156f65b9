"""A folder of roles or of a policy, as the Segmentation screen needs it. Nothing here knows of Textual."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nl2net.errors import DataError

if TYPE_CHECKING:
    from nl2net.segmentation.explain import Explainer, RoleCard, TokenShare
    from nl2net.segmentation.hints import Hints
    from nl2net.segmentation.policy.rules import Policy
    from nl2net.segmentation.workspace import RolesRun, Workspace


@dataclass(frozen=True, slots=True)
class Member:
    """An endpoint with its role, and why it is there."""

    name: str
    role: str
    reason: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Estate:
    """What a folder holds.

    Attributes
    ----------
    folder : Path
        The folder.
    cards : mapping of str to RoleCard
        By role, largest first; scanners in quarantine have no card.
    members : mapping of str to sequence of Member
        By role.
    policy : Policy
        Rules and review list; from ``policy.json`` if the folder has one, else made from the roles in view.
    draft : mapping
        ``draft.json`` of ``nl2net segment policy``, or empty.
    notes, questions : sequence of str
        What the run said.
    workspace, explainer : optional
        Only of a folder of roles; without them roles can be looked at, but not changed.
    run : RolesRun, optional
        Roles inferred again that are not written yet.
    """

    folder: Path
    cards: Mapping[str, RoleCard]
    members: Mapping[str, Sequence[Member]]
    policy: Policy | None = None
    draft: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    questions: Sequence[str] = ()
    workspace: Workspace | None = None
    explainer: Explainer | None = None
    run: RolesRun | None = None

    @property
    def roles(self) -> list[str]:
        """All roles, in the order of the list."""
        return [*self.cards, *(role for role in self.members if role not in self.cards)]

    def names(self, role: str) -> list[str]:
        """Endpoints of a role."""
        return [member.name for member in self.members.get(role, ())]

    def role_of(self, name: str) -> str:
        """Role of an endpoint."""
        return next((role for role, found in self.members.items() if any(m.name == name for m in found)), "")


def folder_kind(folder: Path) -> str:
    """What a folder is to the screen, in a word."""
    if (folder / "edges.parquet").is_file() and (folder / "roles.json").is_file():
        return "roles"
    return "policy" if (folder / "policy.json").is_file() else ""


def open_estate(folder: Path) -> Estate:
    """Read a folder that ``nl2net segment roles`` or ``segment policy`` wrote.

    Raises
    ------
    DataError
        It is neither, or a file of it cannot be read.
    """
    if (folder / "edges.parquet").is_file():
        from nl2net.segmentation.workspace import open_workspace

        return _of_workspace(open_workspace(folder), (folder / "roles.csv").read_text(encoding="utf-8"))
    if (folder / "policy.json").is_file():
        return _of_policy(folder)
    raise DataError(
        "no folder of roles", path=folder, hint="nl2net segment roles FLOWS --out FOLDER makes one; open that FOLDER."
    )


def _of_workspace(workspace: Workspace, text: str, run: RolesRun | None = None) -> Estate:
    from nl2net.segmentation.draft import roles_of
    from nl2net.segmentation.explain import Explainer
    from nl2net.segmentation.policy.modes import build_policy

    explainer = Explainer(workspace.model, workspace.ids, run.soft if run else None)
    cards = explainer.cards()
    return Estate(
        workspace.folder,
        {card.id: card for card in cards},
        _members(text, explainer.confidence()),
        build_policy(workspace.model.population, roles_of(workspace)),
        _draft(workspace.folder) if run is None else {},
        tuple(workspace.facts["notes"]),
        tuple(explainer.questions(cards)),
        workspace,
        explainer,
        run,
    )


def _of_policy(folder: Path) -> Estate:
    from nl2net.segmentation.explain import RoleCard
    from nl2net.segmentation.policy.output import read_policy_json

    policy, draft = read_policy_json(folder / "policy.json"), _draft(folder)
    facts: Mapping[str, Any] = _json(folder / "roles.json") if (folder / "roles.json").is_file() else {"roles": []}
    path = folder / "roles.csv"
    text = path.read_text(encoding="utf-8") if path.is_file() else "ip,role\n"
    cards = {body["id"]: RoleCard.from_json(body) for body in facts["roles"]}
    notes = [*draft.get("notes", ()), *facts.get("notes", ())]
    return Estate(folder, cards, _members(text, {}), policy, draft, notes, tuple(facts.get("questions", ())))


def _draft(folder: Path) -> Mapping[str, Any]:
    return _json(folder / "draft.json") if (folder / "draft.json").is_file() else {}


def _json(path: Path) -> Mapping[str, Any]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", path=path, hint="Run nl2net segment again.") from None
    if not isinstance(body, dict):
        raise DataError("no JSON object", path=path, hint="Run nl2net segment again.")
    return body


def _members(text: str, confidence: Mapping[str, float]) -> dict[str, list[Member]]:
    """Members by role from the text of a ``roles.csv``; one that was edited may lack reasons."""
    found: dict[str, list[Member]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        name = f"external:{row['ip']}" if "/" in row["ip"] else row["ip"]
        member = Member(name, row["role"], row.get("reason") or "", confidence.get(name, _number(row)))
        found.setdefault(row["role"], []).append(member)
    return found


def _number(row: Mapping[str, str]) -> float | None:
    try:
        return float(row["confidence"])
    except (KeyError, TypeError, ValueError):
        return None


# ---- infer again ----------------------------------------------------------------------------------------------------


def revise_estate(estate: Estate, hints: Hints, cancelled: Callable[[], bool]) -> tuple[Estate, list[str]]:
    """The estate with roles inferred again under hints, and what became of the roles; nothing is written."""
    from nl2net.segmentation.explain import Explainer
    from nl2net.segmentation.revise import Cancelled, revise, role_changes
    from nl2net.segmentation.workspace import roles_csv

    assert estate.workspace is not None
    run, workspace = revise(estate.workspace, hints, cancelled=cancelled)
    explainer = Explainer(run.model, run.ids, run.soft)
    text = roles_csv(run, explainer, explainer.cards())
    if cancelled():
        raise Cancelled
    fresh = _of_workspace(workspace, text, run)
    return fresh, role_changes(estate.workspace.members(), workspace.members())


def write_estate(estate: Estate) -> Estate:
    """Write roles that were inferred again into their folder."""
    from nl2net.segmentation.workspace import write_run

    if estate.run is not None:
        write_run(estate.run, estate.folder)
    return replace(estate, run=None)


# ---- why two are not one --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two roles or two endpoints side by side; ``nats`` is the evidence against joining them."""

    first: str
    second: str
    tokens: Sequence[TokenShare]
    nats: float
    said: str


def contrast(estate: Estate, first: str, second: str, *, members: bool) -> Contrast:
    """Why two roles, or the roles of two endpoints, are not one.

    Raises
    ------
    UserError
        Nothing is known of one of the two.
    DataError
        The folder has no edges to tell it from.
    """
    explainer = estate.explainer
    if explainer is None:
        raise DataError("has no edges to compare", path=estate.folder, hint="Open the folder of segment roles.")
    if not members:
        said = "two roles"
        return Contrast(first, second, explainer.why_apart(first, second), explainer.evidence(first, second), said)
    one, other = estate.role_of(first), estate.role_of(second)
    said = f"both in {one}" if one == other else f"in {one} and {other}"
    tokens = explainer.why_members_apart(first, second)
    return Contrast(first, second, tokens, explainer.evidence(first, second), said)
