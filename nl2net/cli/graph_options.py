"""The reading and schema options that every command with a graph takes.

A command declares one parameter ``flags: ReadFlags`` and is registered through `read_flags`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from nl2net.errors import UserError

if TYPE_CHECKING:
    from nl2net.graphs import ReadOptions, SchemaOptions

FormatOption = Annotated[
    str | None, typer.Option("--format", help="Format of the file; by default its content decides.")
]
MultigraphOption = Annotated[bool, typer.Option("--multigraph", help="Keep a multigraph even without parallel links.")]
DanglingOption = Annotated[bool, typer.Option("--allow-dangling", help="Create nodes for link ends without a record.")]
UnitOption = Annotated[
    list[str] | None, typer.Option("--unit", metavar="ATTR=UNIT", help="Unit of a numeric attribute; may repeat.")
]
SourceOption = Annotated[str | None, typer.Option("--source", metavar="COL", help="Column of the first link end.")]
TargetOption = Annotated[str | None, typer.Option("--target", metavar="COL", help="Column of the second link end.")]
MergeOption = Annotated[
    str | None, typer.Option("--merge", metavar="HOW", help="Fold parallel links, such as sum:bytes,packets.")
]
LayerOption = Annotated[str | None, typer.Option("--layer", metavar="NAME", help="One layer of an RFC 8345 file.")]
LocalOption = Annotated[
    str | None, typer.Option("--local", metavar="NAME", help="The device that a neighbour table belongs to.")
]
ByPortOption = Annotated[bool, typer.Option("--by-port", help="One edge per protocol and port of a flow table.")]
ShareValuesOption = Annotated[
    list[str] | None,
    typer.Option("--share-values", metavar="ATTR", help="Let the schema list the values of an attribute; may repeat."),
]
ShareRangeOption = Annotated[
    list[str] | None,
    typer.Option("--share-range", metavar="ATTR", help="Let the schema say minimum and maximum; may repeat."),
]
CoarseOption = Annotated[bool, typer.Option("--coarse-counts", help="Say all, most, some or few instead of n of m.")]


def parse_units(texts: Sequence[str] | None) -> dict[str, str]:
    """Units by attribute.

    Raises
    ------
    UserError
        A text is not of the form ``ATTR=UNIT``.

    Examples
    --------
    >>> parse_units(["bw=Mbit/s"])
    {'bw': 'Mbit/s'}
    """
    units = {}
    for text in texts or ():
        name, mark, unit = text.partition("=")
        if not (mark and name.strip() and unit.strip()):
            raise UserError(f"--unit {text!r} is not understood", hint="Write --unit ATTR=UNIT, such as bw=Mbit/s.")
        units[name.strip()] = unit.strip()
    return units


@dataclass(frozen=True, slots=True)
class ReadFlags:
    """The reading options of one command line."""

    format: str | None = None
    multigraph: bool = False
    allow_dangling: bool = False
    unit: tuple[str, ...] = ()
    source: str | None = None
    target: str | None = None
    merge: str | None = None
    layer: str | None = None
    local: str | None = None
    by_port: bool = False

    def options(self) -> ReadOptions:
        """The options as a reader takes them.

        Raises
        ------
        UserError
            A unit is not of the form ``ATTR=UNIT``.
        """
        from nl2net.graphs import ReadOptions

        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "unit"}
        return ReadOptions(**values, units=parse_units(self.unit))


_FLAGS: dict[str, Any] = {
    "format": FormatOption,
    "multigraph": MultigraphOption,
    "allow_dangling": DanglingOption,
    "unit": UnitOption,
    "source": SourceOption,
    "target": TargetOption,
    "merge": MergeOption,
    "layer": LayerOption,
    "local": LocalOption,
    "by_port": ByPortOption,
}


def read_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the reading options in place of its parameter ``flags: ReadFlags``.

    Examples
    --------
    >>> def show(graph: str, flags: ReadFlags) -> None: ...
    >>> sorted(inspect.signature(read_flags(show)).parameters)[:4]
    ['allow_dangling', 'by_port', 'format', 'graph']
    """
    # Not `functools.wraps`: typer would follow `__wrapped__` to the signature that is replaced here.
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints.get(name, parameter.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "flags"
    ]
    defaults = ReadFlags()
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if name == "unit" else getattr(defaults, name),
            annotation=annotation,
        )
        for name, annotation in _FLAGS.items()
    ]

    def with_flags(**values: Any) -> None:
        chosen = {name: values.pop(name) for name in _FLAGS}
        chosen["unit"] = tuple(chosen["unit"] or ())
        command(**values, flags=ReadFlags(**chosen))

    with_flags.__name__ = command.__name__
    with_flags.__doc__ = command.__doc__
    with_flags.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return with_flags


def schema_options(
    share_values: Sequence[str] | None = None, share_range: Sequence[str] | None = None, coarse_counts: bool = False
) -> SchemaOptions | None:
    """The schema options of a command line; ``None`` where none was given, so that stored ones hold."""
    from nl2net.graphs import SchemaOptions

    if not (share_values or share_range or coarse_counts):
        return None
    return SchemaOptions(frozenset(share_values or ()), frozenset(share_range or ()), coarse_counts)
