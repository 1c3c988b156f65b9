"""Folding parallel links into one, on request."""

from __future__ import annotations

from typing import Any

from nl2net.errors import UserError
from nl2net.graphs.draft import Draft
from nl2net.graphs.source import Source

_HOW: dict[str, Any] = {"sum": sum, "min": min, "max": max}


def parse_merge(text: str) -> tuple[str, tuple[str, ...]]:
    """Split ``HOW:ATTR,ATTR``.

    Raises
    ------
    UserError
        Unknown way, or no attribute.

    Examples
    --------
    >>> parse_merge("sum:bytes,packets")
    ('sum', ('bytes', 'packets'))
    """
    how, _, rest = text.partition(":")
    names = tuple(name.strip() for name in rest.split(",") if name.strip())
    if how not in _HOW or not names:
        raise UserError(f"--merge {text!r} is not understood", hint="Write sum:bytes,packets (or min:, max:).")
    return how, names


def merge_parallel(draft: Draft, text: str, source: Source) -> None:
    """Fold links between the same ends: named attributes are combined, the others kept where all agree."""
    how, names = parse_merge(text)
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for u, v, data in zip(draft.sources, draft.targets, draft.edge_attributes, strict=True):
        pair = (u, v) if draft.directed or (v, u) not in groups else (v, u)
        groups.setdefault(pair, []).append(data)
    before = len(draft.sources)
    merged = [_fold(rows, how, names, source) for rows in groups.values()]
    draft.sources = [u for u, _ in groups]
    draft.targets = [v for _, v in groups]
    draft.edge_attributes = merged
    if before > len(merged):
        draft.find("parallel", before - len(merged), f"parallel links were folded by --merge {text}", severity="info")


def _fold(rows: list[dict[str, Any]], how: str, names: tuple[str, ...], source: Source) -> dict[str, Any]:
    if len(rows) == 1:
        return rows[0]
    folded: dict[str, Any] = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        values = [row[name] for row in rows if name in row]
        if name in names:
            if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
                raise source.error("--merge needs numbers", field=name)
            folded[name] = _HOW[how](values)
        elif len(values) == len(rows) and all(value == values[0] for value in values):
            folded[name] = values[0]
    return folded
