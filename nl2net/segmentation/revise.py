"""Answers of a person who looks at roles, kept as hard hints, and the roles inferred again under them.

The hints lie beside the roles, in ``hints.json``, in the format that ``nl2net segment roles --hints`` reads. Nothing
here writes roles: `revise` gives them, and `nl2net.segmentation.workspace.write_run` writes them when they are wanted.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nl2net.errors import UserError
from nl2net.locations import atomic_write
from nl2net.segmentation.flows import report_from_json
from nl2net.segmentation.hints import Hints, Pair, load_hints
from nl2net.segmentation.workspace import RolesRun, RunOptions, Workspace, infer_from_population

HINTS = "hints.json"
# What every target takes as a label or a name.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class Cancelled(Exception):
    """The person does not want to wait any more; nothing was written."""


def hints_of(folder: Path) -> Hints:
    """The hints that were given for a folder of roles so far."""
    path = folder / HINTS
    return load_hints(path) if path.is_file() else Hints()


def save_hints(hints: Hints, folder: Path) -> Path:
    """Write the hints beside the roles.

    Raises
    ------
    UserError
        They contradict each other; nothing is written.
    """
    clash = hints.contradictions()
    if clash:
        first, second = clash[0]
        raise UserError(
            f"{first} and {second} are to be apart, but other hints put them together",
            hint="Take one of the hints back.",
        )
    body = {
        "together": [list(pair) for pair in hints.together],
        "apart": [list(pair) for pair in hints.apart],
        "labels": dict(hints.soft),
        "names": dict(hints.names),
    }
    with atomic_write(folder / HINTS) as stream:
        stream.write(json.dumps(body, indent=1, ensure_ascii=False).encode())
    return folder / HINTS


def accept_role(hints: Hints, members: Sequence[str]) -> Hints:
    """The role stands: its members stay together.

    Raises
    ------
    UserError
        A role of one has nothing to hold together.

    Examples
    --------
    >>> accept_role(Hints(), ["a", "b", "c"]).together
    (('a', 'b'), ('b', 'c'))
    """
    if len(members) < 2:
        raise UserError("a role of one has nothing to hold together", hint="Merge it, or give it a name.")
    return replace(hints, together=_added(hints.together, _chain(members)))


def merge_roles(hints: Hints, groups: Sequence[Sequence[str]]) -> Hints:
    """All members of several roles are one role; former answers that said otherwise are taken back.

    Examples
    --------
    >>> merged = merge_roles(Hints(apart=(("a", "c"),)), [["a", "b"], ["c"]])
    >>> merged.together, merged.apart
    ((('a', 'b'), ('b', 'c')), ())
    """
    if len(groups) < 2:
        raise UserError("merging needs two roles", hint="Mark one, then choose another.")
    members = [member for group in groups for member in group]
    inside = set(members)
    apart = tuple(pair for pair in hints.apart if not inside.issuperset(pair))
    return replace(hints, together=_added(hints.together, _chain(members)), apart=apart)


def split_role(hints: Hints, leaving: Sequence[str], staying: Sequence[str]) -> Hints:
    """Some members leave their role and form one of their own.

    Former answers that tied the two sides together are taken back; each side is held together.

    Examples
    --------
    >>> found = split_role(Hints(together=(("a", "b"), ("b", "c"))), ["c"], ["a", "b"])
    >>> found.together, found.apart
    ((('a', 'b'),), (('a', 'c'),))
    """
    if not leaving or not staying:
        raise UserError("splitting needs members on both sides", hint="Mark those that are to leave, but not all.")
    sides = dict.fromkeys(staying, 0) | dict.fromkeys(leaving, 1)
    kept = [pair for pair in hints.together if _same_side(pair, sides)]
    together = _added(_added(kept, _chain(staying)), _chain(leaving))
    return replace(hints, together=together, apart=_added(hints.apart, [(staying[0], leaving[0])]))


def rename_role(hints: Hints, role: str, name: str, *, taken: Iterable[str] = ()) -> Hints:
    """Give a role a name; names given before lead to the new one.

    Raises
    ------
    UserError
        Not a name that every target takes, or another role has it.

    Examples
    --------
    >>> once = rename_role(Hints(), "tcp443-1a2b", "front")
    >>> dict(rename_role(once, "front", "edge").names)
    {'tcp443-1a2b': 'edge', 'front': 'edge'}
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name of a role", hint="Up to 63 letters, digits, dots, dashes, underscores.")
    if name in set(taken) - {role}:
        raise UserError(f"there is a role {name} already", hint="Merge the two, if they are one.")
    if name == role:
        return hints
    names = {old: name if new == role else new for old, new in hints.names.items() if old != name}
    return replace(hints, names={**names, role: name})


def _chain(members: Sequence[str]) -> list[Pair]:
    return list(itertools.pairwise(members))


def _added(pairs: Sequence[Pair], more: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(dict.fromkeys([*pairs, *more]))


def _same_side(pair: Pair, sides: Mapping[str, int]) -> bool:
    first, second = (sides.get(name) for name in pair)
    return first is None or second is None or first == second


@dataclass(frozen=True, slots=True)
class Grouped:
    """One answer as a person gave it: what kind, and about whom."""

    kind: str
    names: tuple[str, ...]


def grouped_hints(hints: Hints) -> list[Grouped]:
    """Hints as a person reads them: chains of ``together`` as one group each.

    Examples
    --------
    >>> [g.names for g in grouped_hints(Hints(together=(("a", "b"), ("b", "c")), names={"x": "front"}))]
    [('a', 'b', 'c'), ('x', 'front')]
    """
    groups: list[dict[str, None]] = []
    for pair in hints.together:
        touching = [group for group in groups if any(name in group for name in pair)]
        joined: dict[str, None] = {}
        for group in touching:
            joined |= group
            groups.remove(group)
        groups.append(joined | dict.fromkeys(pair))
    found = [Grouped("together", tuple(group)) for group in groups]
    found += [Grouped("apart", pair) for pair in hints.apart]
    found += [Grouped("name", pair) for pair in hints.names.items()]
    return found + [Grouped("label", pair) for pair in hints.soft.items()]


def without_hint(hints: Hints, hint: Grouped) -> Hints:
    """The hints without one answer."""
    gone = set(hint.names)
    if hint.kind == "together":
        return replace(hints, together=tuple(pair for pair in hints.together if not gone.issuperset(pair)))
    if hint.kind == "apart":
        return replace(hints, apart=tuple(pair for pair in hints.apart if pair != hint.names))
    if hint.kind == "name":
        return replace(hints, names={old: new for old, new in hints.names.items() if (old, new) != hint.names})
    return replace(hints, soft={name: label for name, label in hints.soft.items() if (name, label) != hint.names})


def revise(
    workspace: Workspace, hints: Hints, *, cancelled: Callable[[], bool] = lambda: False
) -> tuple[RolesRun, Workspace]:
    """Infer the roles of a folder again, under hints; nothing is written.

    Parameters
    ----------
    workspace : Workspace
        The folder; its roles keep their ids where most members stay.
    hints : Hints
        Answers so far.
    cancelled : callable, optional
        Asked between the stages.

    Returns
    -------
    RolesRun, Workspace
        What `write_run` writes, and the same as a workspace that can be looked at.

    Raises
    ------
    Cancelled
        The person does not want to wait any more.
    UserError
        Two roles would have one name.
    """
    options = RunOptions(hints=hints, previous=workspace.folder, settings=workspace.model.settings)
    facts = workspace.facts

    def check() -> None:
        if cancelled():
            raise Cancelled

    run = infer_from_population(
        workspace.model.population,
        workspace.metadata,
        report_from_json(facts["read"]),
        options=options,
        direction=facts["direction"],
        check=check,
    )
    double = [name for name, count in Counter(run.ids.values()).items() if count > 1]
    if double:
        raise UserError(f"two roles would be called {double[0]}", hint="Merge them, or take a name back.")
    check()
    fresh = {"external": sorted(run.external()), "shared": sorted(run.shared), "notes": list(run.notes)}
    return run, Workspace(workspace.folder, run.model, run.ids, {**facts, **fresh}, workspace.metadata)


def role_changes(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> list[str]:
    """What became of the roles, in sentences.

    Examples
    --------
    >>> role_changes({"a": ["1", "2"], "b": ["3"]}, {"a": ["1", "2", "3"]})
    ['a: 1 more from b', 'b is gone; its 1 member is in a']
    """
    old = {name: role for role, names in before.items() for name in names}
    new = {name: role for role, names in after.items() for name in names}
    lines = []
    for role, names in sorted(after.items()):
        origin = Counter(old.get(name, "nowhere") for name in names if old.get(name) != role)
        if not origin:
            continue
        parts = ", ".join(f"{count} {'more ' if role in before else ''}from {was}" for was, count in origin.items())
        lines.append(f"{role}: {parts}" if role in before else f"{role} is new: {parts}")
    for role, names in sorted(before.items()):
        if role not in after and names:
            count, place = len(names), Counter(new[name] for name in names if name in new)
            many = "its 1 member is" if count == 1 else f"its {count} members are"
            lines.append(f"{role} is gone; {many} in {', '.join(place) or 'no role'}")
    return lines
