"""What a format contributes: one SELECT over the raw lines of a block, in text; everything else is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

# What a format's SELECT must yield besides `line_no`. Times are microseconds since 1970; addresses, ports, protocol
# and counters are text exactly as found; `skip` and `bad` are reasons.
RAW_COLUMNS: tuple[tuple[str, str], ...] = (
    ("skip", "VARCHAR"),
    ("bad", "VARCHAR"),
    ("t0", "BIGINT"),
    ("t1", "BIGINT"),
    ("src", "VARCHAR"),
    ("dst", "VARCHAR"),
    ("sport", "VARCHAR"),
    ("dport", "VARCHAR"),
    ("proto", "VARCHAR"),
    ("icmp_type", "VARCHAR"),
    ("icmp_code", "VARCHAR"),
    ("pkts_fwd", "VARCHAR"),
    ("bytes_fwd", "VARCHAR"),
    ("pkts_rev", "VARCHAR"),
    ("bytes_rev", "VARCHAR"),
    ("action", "VARCHAR"),
    ("answered", "BOOLEAN"),
    ("initiator", "VARCHAR"),
    ("src_meta", "VARCHAR"),
    ("dst_meta", "VARCHAR"),
    ("reporter", "VARCHAR"),
    ("sample_rate", "DOUBLE"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to read one file.

    Attributes
    ----------
    format : str
        Name of the format, as in ``source_format``.
    sql : str
        SELECT over the table ``chunk``, made by `select`.
    source : {"lines", "rows", "json", "parquet", "azure"}
        What ``chunk`` holds: ``line`` as text; ``f`` as the fields of a line; one JSON text a line; the columns of a
        Parquet file; or the flow tuples of a nested Azure document.
    delimiter : str
        Of ``rows``.
    stop : str
        A line that begins so ends the data.
    one_directional : bool
        The format reports each direction of a connection as a record of its own.
    notes : tuple of str
        Assumptions the user should know.
    """

    format: str
    sql: str
    source: str
    delimiter: str = ""
    stop: str = ""
    one_directional: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows for the table ``chunk`` and the lines that could not even be cut into rows."""

    table: pa.Table
    broken: tuple[tuple[int, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The first text of a file, on which a format decides how to read it."""

    path: Path
    text: str
    timezone: str | None = None

    def lines(self) -> Iterator[str]:
        """Complete, non-empty lines of the head."""
        lines = self.text.split("\n")
        complete = lines[:-1] if len(lines) > 1 else lines
        return (line.rstrip("\r") for line in complete if line.strip())


@dataclass(slots=True)
class Columns:
    """SQL expressions by raw column; what is not set is NULL."""

    expressions: dict[str, str] = field(default_factory=dict)

    def set(self, **expressions: str) -> Columns:
        """Set several columns at once."""
        self.expressions.update(expressions)
        return self


def select(columns: Mapping[str, str], *, source: str = "chunk") -> str:
    """A SELECT that yields every raw column in order.

    Examples
    --------
    >>> select({"src": "f[1]"}).split(", ")[:3]
    ['SELECT line_no', 'CAST(NULL AS VARCHAR) AS skip', 'CAST(NULL AS VARCHAR) AS bad']
    """
    unknown = columns.keys() - {name for name, _ in RAW_COLUMNS}
    if unknown:
        raise ValueError(f"unknown raw columns: {sorted(unknown)}")
    parts = [f"CAST({columns.get(name, 'NULL')} AS {type_}) AS {name}" for name, type_ in RAW_COLUMNS]
    return f"SELECT line_no, {', '.join(parts)} FROM {source}"  # noqa: S608 - built from constants and checked names


def quote(text: str) -> str:
    """A SQL string constant.

    Examples
    --------
    >>> quote("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def time_us(expression: str, unit: str) -> str:
    """SQL for microseconds since 1970 from text in seconds, ms, us, ns or ISO form."""
    factor = {"s": "1e6", "ms": "1e3", "us": "1", "ns": "1e-3"}.get(unit)
    if factor is None:
        return f"epoch_us(TRY_CAST({expression} AS TIMESTAMPTZ))"
    return f"TRY_CAST(ROUND(TRY_CAST({expression} AS DOUBLE) * {factor}) AS BIGINT)"


def time_unit(sample: str) -> str:
    """Unit of a stamp by its form and range.

    Examples
    --------
    >>> [time_unit(text) for text in ("1790000000", "1790000000123", "2026-09-21T14:13:20Z")]
    ['s', 'ms', 'iso']
    """
    try:
        value = float(sample)
    except ValueError:
        return "iso"
    for limit, unit in ((1e11, "s"), (1e14, "ms"), (1e17, "us")):
        if abs(value) < limit:
            return unit
    return "ns"


def meta(pairs: Mapping[str, str]) -> str:
    """SQL for a JSON object of the given expressions; NULL when all of them are."""
    inner = ", ".join(f"{quote(key)}, {value}" for key, value in pairs.items())
    present = " OR ".join(f"({value}) IS NOT NULL" for value in pairs.values())
    return f"CASE WHEN {present} THEN CAST(json_merge_patch('{{}}', json_object({inner})) AS VARCHAR) END"
