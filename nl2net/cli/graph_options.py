"""The reading and schema options that every command with a graph takes.

A command declares them by name, such as ``format: FormatOption = None``, and hands them to `read_options`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

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


def read_options(
    *,
    format: str | None = None,
    multigraph: bool = False,
    allow_dangling: bool = False,
    unit: Sequence[str] | None = None,
    source: str | None = None,
    target: str | None = None,
    merge: str | None = None,
    layer: str | None = None,
    local: str | None = None,
    by_port: bool = False,
) -> ReadOptions:
    """The reading options of a command line as one value."""
    from nl2net.graphs import ReadOptions

    return ReadOptions(
        format=format,
        multigraph=multigraph,
        allow_dangling=allow_dangling,
        units=parse_units(unit),
        source=source,
        target=target,
        merge=merge,
        layer=layer,
        local=local,
        by_port=by_port,
    )


def schema_options(
    share_values: Sequence[str] | None = None, share_range: Sequence[str] | None = None, coarse_counts: bool = False
) -> SchemaOptions | None:
    """The schema options of a command line; ``None`` where none was given, so that stored ones hold."""
    from nl2net.graphs import SchemaOptions

    if not (share_values or share_range or coarse_counts):
        return None
    return SchemaOptions(frozenset(share_values or ()), frozenset(share_range or ()), coarse_counts)
