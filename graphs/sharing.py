"""Values that a user lets the schema say, and the refusal of those that identify something."""

from __future__ import annotations

from typing import Any

from nl2net.errors import UserError
from nl2net.graphs.columns import GraphColumns, present
from nl2net.graphs.loaded import SchemaOptions
from nl2net.model import AttributeSchema

MAX_VALUES = 30
_FREE_TEXT = 40


def _wanted(attribute: AttributeSchema, names: frozenset[str]) -> tuple[bool, bool]:
    """Whether the attribute is listed, and whether with the mark that forces it."""
    forced = f"{attribute.name}!" in names
    return forced or attribute.name in names, forced


def refusal(attribute: AttributeSchema, values: list[Any], ids: set[str]) -> str:
    """Why the values of an attribute may not be shared without force; empty if they may."""
    if attribute.role in ("name", "address", "prefix", "coordinate") or attribute.name in ("name", "ports"):
        return f"it holds a {attribute.role or 'name'} of nodes"
    if attribute.shape in ("IPv4", "IPv6", "CIDR", "MAC", "FQDN", "URL"):
        return f"its values are {attribute.shape}"
    texts = [value for value in values if isinstance(value, str)]
    if ids.intersection(texts):
        return "some values are ids of nodes"
    if attribute.distinct == "unique" and texts:
        return "every record has another value"
    if any(len(text) > _FREE_TEXT or text.count(" ") > 4 for text in texts):
        return "it holds free text"
    if attribute.type.startswith(("list", "mapping", "mixed")):
        return "its values are nested"
    return ""


def shared_values(attribute: AttributeSchema, view: GraphColumns, options: SchemaOptions) -> tuple[Any, ...]:
    """The enumeration of an attribute if the user shared it.

    Raises
    ------
    UserError
        The values identify nodes, are addresses or free text, or are more than 30.
    """
    wanted, forced = _wanted(attribute, options.share_values)
    if not wanted:
        return ()
    values = present(view.columns(attribute.owner)[attribute.name])
    reason = "" if forced else refusal(attribute, values, set(view.ids))
    if reason:
        raise UserError(
            f"the values of {attribute.name!r} are not shared: {reason}",
            hint=f"Write --share-values {attribute.name}! if you are sure.",
        )
    distinct = list(dict.fromkeys(value if isinstance(value, (str, int, float)) else repr(value) for value in values))
    if len(distinct) > MAX_VALUES:
        raise UserError(f"{attribute.name!r} has {len(distinct)} values; at most {MAX_VALUES} can be shared")
    return tuple(sorted(distinct, key=lambda value: (isinstance(value, str), value)))


def shared_range(attribute: AttributeSchema, view: GraphColumns, options: SchemaOptions) -> tuple[float, float] | None:
    """Minimum and maximum of an attribute if the user shared them.

    Raises
    ------
    UserError
        The attribute is no number.
    """
    if not _wanted(attribute, options.share_range)[0]:
        return None
    if attribute.type not in ("integer", "number"):
        raise UserError(f"{attribute.name!r} is {attribute.type}; only numbers have a range")
    values = present(view.columns(attribute.owner)[attribute.name])
    return min(values), max(values)


def check_names(options: SchemaOptions, view: GraphColumns) -> None:
    """Refuse names of attributes that the graph does not have.

    Raises
    ------
    UserError
        With the attributes there are.
    """
    known = {*view.nodes, *view.edges}
    for name in sorted(options.share_values | options.share_range):
        if name.removesuffix("!") not in known and name not in known:
            raise UserError(f"the graph has no attribute {name!r}", hint=f"Attributes: {', '.join(sorted(known))}.")
