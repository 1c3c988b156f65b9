"""Compare the policy file with the installed libraries, and write a candidate for a person to review.

``python -m nl2net.sandbox.language.freeze`` prints the differences and exits with 1 when there are any;
``--candidate FILE`` also writes a file in which new names are ``left`` with the reason ``NEW: review``.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nl2net.sandbox.language.policy import Entry, Policy, load_policy, resolve_class, resolve_module

NEW = "NEW: review"
LIBRARIES = ("networkx", "pandas", "numpy", "scipy")


def kind_of(value: Any) -> str:
    """Kind of a member of a module.

    Examples
    --------
    >>> kind_of(len), kind_of(int), kind_of(ValueError), kind_of(3)
    ('function', 'class', 'exception', 'constant')
    """
    if inspect.ismodule(value):
        return "module"
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "constant"


def member_kind(cls: type, name: str) -> str:
    """``method`` or ``property``, read without running anything."""
    value = inspect.getattr_static(cls, name)
    is_method = callable(value) or isinstance(value, classmethod | staticmethod)
    return "method" if is_method else "property"


def installed(space: str, owner: str) -> dict[str, str] | None:
    """Public names of an owner with their kinds; ``None`` where it does not exist here."""
    if space == "module":
        module = resolve_module(owner)
        return {n: kind_of(getattr(module, n)) for n in dir(module) if not n.startswith("_")}
    cls = resolve_class(owner)
    if cls is None:
        return None
    return {n: member_kind(cls, n) for n in dir(cls) if not n.startswith("_")}


def library_of(owner: str) -> str:
    """The distribution that an owner comes from; ``python`` for the standard library."""
    first = owner.split(":")[0].split(".")[0]
    return first if first in LIBRARIES else "python"


def installed_versions() -> dict[str, str]:
    """Versions that the file is compared with."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, **{name: version(name) for name in LIBRARIES}}


def differences(policy: Policy) -> Iterator[str]:
    """One line for each name that appeared, vanished or changed kind.

    Class blocks list constructors only, so new names there are not reported; and the standard library is compared on
    the Python version that was reviewed.
    """
    same_python = policy.reviewed.get("python") == installed_versions()["python"]
    for space in ("module", "type", "class"):
        for owner in policy.owners(space):
            if library_of(owner) == "python" and not same_python:
                continue
            found = installed(space, owner)
            if found is None:
                yield f"{space} {owner}: vanished"
                continue
            known = {e.name: e for e in policy.entries if e.space == space and e.owner == owner}
            yield from _compare(space, owner, found, known)


def _compare(space: str, owner: str, found: dict[str, str], known: dict[str, Entry]) -> Iterator[str]:
    for name in sorted(found.keys() - known.keys()) if space != "class" else ():
        yield f"{space} {owner}: {name} appeared ({found[name]})"
    for name, entry in known.items():
        if entry.kind == "field":
            continue
        if name not in found:
            yield f"{space} {owner}: {name} vanished"
        elif space != "class" and found[name] != entry.kind:
            yield f"{space} {owner}: {name} was a {entry.kind} and is a {found[name]}"


def render_candidate(policy: Policy) -> str:
    """The file for the installed libraries: old verdicts kept, new names left out and marked."""
    lines = [f"version {policy.version}-candidate"]
    lines += [f"reviewed {name} {number}" for name, number in installed_versions().items()]
    for space in ("module", "type", "class"):
        for owner in policy.owners(space):
            lines.append(f"{space} {owner}")
            lines += _render_owner(policy, space, owner)
    return "\n".join(lines) + "\n"


def _render_owner(policy: Policy, space: str, owner: str) -> Iterator[str]:
    known = {e.name: e for e in policy.entries if e.space == space and e.owner == owner}
    found = installed(space, owner) or {}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, entry in known.items():
        if name in found or entry.kind == "field":
            kind = found.get(name, entry.kind) if space != "class" else entry.kind
            groups.setdefault(("allow" if entry.allowed else "left", kind, entry.why), []).append(name)
    for name in found if space != "class" else ():
        if name not in known:
            groups.setdefault(("left", found[name], NEW), []).append(name)
    for (verdict, kind, why), names in sorted(groups.items()):
        yield f"  {verdict} {kind} | {why}"
        yield from textwrap.wrap(
            " ".join(sorted(names)), 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
        )


def main(arguments: list[str] | None = None) -> int:
    """Print differences; 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidate", type=Path, help="write a candidate file here")
    options = parser.parse_args(arguments)
    policy = load_policy()
    found = list(differences(policy))
    sys.stdout.write("".join(line + "\n" for line in found) or "the policy matches the installed libraries\n")
    if options.candidate is not None:
        options.candidate.write_text(render_candidate(policy), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
