"""Which reader a file needs, by its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nl2net.errors import DataError, UserError
from nl2net.segmentation.flows import NORMAL_SCHEMA
from nl2net.segmentation.readers import aws, azure, gcp, hubble, tables, zeek
from nl2net.segmentation.readers.plan import Head, Plan
from nl2net.segmentation.readers.stream import first_text


@dataclass(frozen=True, slots=True)
class Format:
    """A name for ``--format``, a test on the first text, and the plan."""

    name: str
    looks_like: Callable[[Head], bool]
    plan: Callable[[Head], Plan]


# Order matters: the most specific first, the generic table last.
FORMATS: tuple[Format, ...] = (
    Format("azure_vnet", azure.looks_like_vnet, azure.plan_vnet),
    Format("azure_nsg", azure.looks_like_nsg, azure.plan_nsg),
    Format("hubble", hubble.looks_like, hubble.plan),
    Format("gcp_vpc", gcp.looks_like, gcp.plan),
    Format("zeek_conn", zeek.looks_like_json, zeek.plan_json),
    Format("zeek_conn", zeek.looks_like_tsv, zeek.plan_tsv),
    Format("aws_vpc", aws.looks_like, aws.plan),
    Format("nfdump", lambda head: tables.is_nfdump(tables.header_of(next(head.lines(), ""))), tables.plan),
    Format("five_tuple", tables.looks_like, tables.plan),
)
NAMES = (*tuple(dict.fromkeys(format_.name for format_ in FORMATS)), "parquet")


def plan_for(path: Path, *, format_name: str | None = None, timezone: str | None = None) -> Plan:
    """The plan for a file.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    format_name : str, optional
        Name of a format, or ``aws:`` with the field list of a custom AWS log without header.
    timezone : str, optional
        Zone of stamps that carry none.

    Raises
    ------
    UserError
        The format name is unknown.
    DataError
        The content fits no reader; the message shows how it begins.
    """
    if _is_parquet(path):
        return _plan_parquet(path)
    head = Head(path, first_text(path), timezone)
    if format_name and format_name.startswith("aws:"):
        return aws.plan(head, fields=format_name[4:])
    if format_name and format_name not in NAMES:
        raise UserError(f"unknown flow format {format_name!r}", hint=f"Known: {', '.join(NAMES)}, aws:FIELDS.")
    candidates = [format_ for format_ in FORMATS if format_name in (None, format_.name)]
    for format_ in candidates:
        if format_.looks_like(head):
            return format_.plan(head)
    if format_name and candidates:
        return candidates[-1].plan(head)
    begin = head.text[:80].replace("\n", "\\n")
    raise DataError(
        f"no flow-log format fits; it begins with {begin!r}", path=path, hint=f"Name one of {', '.join(NAMES)}."
    )


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"PAR1"
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=path) from None


def _plan_parquet(path: Path) -> Plan:
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, ValueError) as error:
        raise DataError(f"broken Parquet: {error}", path=path) from None
    names = list(schema.names)
    if set(NORMAL_SCHEMA.names) <= set(names):
        return Plan("normal", "", "normal")
    folded = {name.replace("_", "-") for name in names}
    if {"srcaddr", "dstaddr"} <= folded and folded & {"log-status", "interface-id", "account-id"}:
        return Plan("aws_vpc", aws.parquet_sql(names), "parquet", one_directional=True)
    found = tables.find_columns(names)
    tables.check_columns(found, names, Head(path, ""))
    column = {name: f"CAST({_identifier(names[at])} AS VARCHAR)" for name, at in found.items()}
    unit = "s"
    if "start" in found:
        unit = "iso" if str(schema.field(names[found["start"]]).type).startswith("timestamp") else _unit(path, found)
    return Plan("five_tuple", tables.table_sql(column, unit, "NULL", bad="NULL"), "parquet")


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unit(path: Path, found: dict[str, int]) -> str:
    import pyarrow.parquet as pq

    from nl2net.segmentation.readers.plan import time_unit

    batches: Iterator[object] = pq.ParquetFile(path).iter_batches(batch_size=1)
    first = next(batches, None)
    return "s" if first is None else time_unit(str(first.column(found["start"])[0].as_py()))  # type: ignore[attr-defined]


__all__ = ["FORMATS", "NAMES", "Format", "plan_for"]
