"""Plain flow tables (CSV or Parquet with one row per flow) as a communication graph of addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.columns_to_links import Table, find_ends
from nl2net.graphs.readers.tables import read_table, sniff_delimiter
from nl2net.graphs.source import Source

_ALIASES: dict[str, tuple[str, ...]] = {
    "source_port": ("src_port", "srcport", "source_port", "sport", "sp"),
    "port": ("dst_port", "dstport", "destination_port", "target_port", "dport", "dp", "service_port"),
    "protocol": ("protocol", "proto", "pr", "ip_protocol"),
    "bytes": ("bytes", "octets", "bytes_sent", "ibyt", "in_bytes", "byte_count"),
    "bits": ("bits",),
    "packets": ("packets", "pkts", "ipkt", "in_pkts", "packet_count"),
    "flows": ("flows", "fl"),
    "time": ("timestamp", "time", "start", "start_time", "first_seen", "firstseen", "ts", "first_switched"),
    "end_time": ("end", "end_time", "last_seen", "lastseen", "te", "last_switched"),
    "sampling": ("sampling_rate", "sampling", "sample_rate"),
    "action": ("action", "verdict", "decision", "disposition", "status"),
}
_REJECTED = re.compile(r"deny|denied|reject|drop|block|refus", re.IGNORECASE)
_ADDRESS_WORDS = ("ip", "addr", "address", "src", "dst", "client", "server", "host", "source", "target", "destination")


def flow_columns(names: Sequence[str]) -> dict[str, str]:
    """Our name for a flow field to its column."""
    lowered = {name.lower().replace(" ", "_").replace(".", "_"): name for name in reversed(names)}
    return {
        field: lowered[alias]
        for field, aliases in _ALIASES.items()
        for alias in [next((alias for alias in aliases if alias in lowered), "")]
        if alias
    }


def is_flow_header(names: Sequence[str]) -> bool:
    """Whether a header is that of a flow table: two ends, a volume, and a port, protocol or time.

    Examples
    --------
    >>> is_flow_header(["src_ip", "dst_ip", "dst_port", "bytes"])
    True
    >>> is_flow_header(["source", "target", "bytes"])
    False
    """
    found = flow_columns(names)
    if find_ends(list(names), ReadOptions()) is None:
        return False
    volume = found.keys() & {"bytes", "bits", "packets", "flows"}
    return bool(volume) and bool(found.keys() & {"port", "protocol"})


def _numbers(table: Table, column: str, source: Source) -> list[int | float]:
    numbers: list[int | float] = []
    for line, value in enumerate(table.column(column), start=1 + table.headed):
        if value in ("", None):
            numbers.append(0)
            continue
        try:
            numbers.append(value if isinstance(value, (int, float)) else int(value))
        except ValueError:
            try:
                numbers.append(float(value))
            except ValueError:
                raise source.error(f"{str(value)[:40]!r} is no number", line=line, field=column) from None
    return numbers


def iso_time(value: Any) -> tuple[str, bool] | None:
    """A stamp as ISO 8601 in UTC, and whether its zone was given.

    Examples
    --------
    >>> iso_time("1790000000"), iso_time("2026-09-21 14:13:20.123")
    (('2026-09-21T14:13:20+00:00', True), ('2026-09-21T14:13:20.123000+00:00', False))
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        try:
            stamp = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
        except ValueError:
            return None
        return stamp.replace(tzinfo=stamp.tzinfo or UTC).astimezone(UTC).isoformat(), stamp.tzinfo is not None
    while abs(number) > 1e11:  # milliseconds, microseconds, nanoseconds
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC).isoformat(), True
    except (ValueError, OverflowError, OSError):
        return None


def flows_to_draft(table: Table, source: Source, options: ReadOptions) -> Draft:
    """Sum flows by source and target (and protocol and port with ``--by-port``)."""
    ends = find_ends(table.names, options)
    if ends is None:
        raise source.error("no columns for source and target", hint="Name them with --source COL --target COL.")
    found = flow_columns([name for name in table.names if name not in ends])
    count = len(table.columns[0])
    draft = Draft(directed=True, implicit_nodes=True, counts={"flows": count})
    volumes = _volumes(table, found, source, draft)
    keys = _keys(table, found, ends, options)
    repeated = _repeated(table, found, ends, draft)
    rejected = (
        [bool(_REJECTED.search(str(value))) for value in table.column(found["action"])] if "action" in found else []
    )
    times = _times(table, found, source, draft)
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for index, key in enumerate(keys):
        if not key[0] or not key[1]:
            draft.skip("flow without source or target")
            continue
        if index in repeated:
            continue
        record = sums.setdefault(key, {})
        if rejected and rejected[index]:
            record["rejected_flows"] = record.get("rejected_flows", 0) + 1
            continue
        for name, values in volumes.items():
            record[name] = record.get(name, 0) + values[index]
        if times is not None:
            first, last = times[index]
            record["first_time"] = min(record.get("first_time", first), first) if first else record.get("first_time")
            record["last_time"] = max(record.get("last_time", last), last) if last else record.get("last_time")
    for key, record in sums.items():
        if options.by_port:
            record.update(
                {name: value for name, value in zip(("protocol", "port"), key[2:], strict=True) if value != ""}
            )
        draft.add_edge(str(key[0]), str(key[1]), record)
    draft.units.update({"bytes": "byte", "packets": "packet", "flows": "flow"})
    draft.notes.append("an edge runs from the sender to the receiver; the reply is an edge of its own")
    return draft


def _keys(table: Table, found: dict[str, str], ends: tuple[str, str], options: ReadOptions) -> list[tuple[Any, ...]]:
    parts = [table.column(ends[0]), table.column(ends[1])]
    if options.by_port:
        empty = [""] * len(parts[0])
        protocols = table.column(found["protocol"]) if "protocol" in found else empty
        ports = table.column(found["port"]) if "port" in found else empty
        parts.append([str(value).lower() for value in protocols])
        parts.append([int(value) if str(value).isdigit() else str(value or "") for value in ports])
    return list(zip(*parts, strict=True))


def _volumes(table: Table, found: dict[str, str], source: Source, draft: Draft) -> dict[str, list[int | float]]:
    volumes: dict[str, list[int | float]] = {}
    for name in ("bytes", "packets", "flows"):
        if name in found:
            volumes[name] = _numbers(table, found[name], source)
    if "bits" in found and "bytes" not in volumes:
        volumes["bytes"] = [value / 8 for value in _numbers(table, found["bits"], source)]
        draft.find("unit", len(volumes["bytes"]), "bits were divided by 8 to bytes", severity="info")
    volumes.setdefault("flows", [1] * len(table.columns[0]))
    if "sampling" in found:
        rates = [rate or 1 for rate in _numbers(table, found["sampling"], source)]
        for name in volumes.keys() & {"bytes", "packets"}:
            volumes[name] = [value * rate for value, rate in zip(volumes[name], rates, strict=True)]
        draft.find("sampling", len(rates), "bytes and packets were multiplied by the sampling rate", severity="info")
    return volumes


def _repeated(table: Table, found: dict[str, str], ends: tuple[str, str], draft: Draft) -> set[int]:
    """Rows that another exporter logged as well: the same flow at the same time with the same counters."""
    if "time" not in found or "source_port" not in found:
        return set()
    names = [*ends, *(found[n] for n in ("time", "source_port", "port", "protocol", "bytes", "packets") if n in found)]
    seen: set[tuple[Any, ...]] = set()
    repeated = set()
    for index, key in enumerate(zip(*(table.column(name) for name in names), strict=True)):
        if key in seen:
            repeated.add(index)
        seen.add(key)
    if repeated:
        draft.find("duplicate-flow", len(repeated), "rows repeat a flow logged elsewhere and were counted once")
        draft.skip("flow logged twice", len(repeated))
    return repeated


def _times(table: Table, found: dict[str, str], source: Source, draft: Draft) -> list[tuple[str, str]] | None:
    if "time" not in found:
        return None
    memo = {value: iso_time(value) for value in {*table.column(found["time"])}}
    if any(value is None for value in memo.values()):
        draft.find("text-number", len(memo), "times that are not understood were left out")
        return None
    if not all(value[1] for value in memo.values() if value):
        draft.notes.append("times had no zone and were taken for UTC")
    starts = [(memo[value] or ("", False))[0] for value in table.column(found["time"])]
    if "end_time" not in found:
        return list(zip(starts, starts, strict=True))
    ends = [(iso_time(value) or ("", False))[0] for value in table.column(found["end_time"])]
    return list(zip(starts, ends, strict=True))


def read_flows(source: Source, options: ReadOptions) -> Draft:
    """Read a CSV of flows."""
    return flows_to_draft(read_table(source, options), source, options)


def _is_flows(source: Source) -> bool:
    if source.is_binary or source.is_folder or source.looks_like_json:
        return False
    delimiter = sniff_delimiter(source.head_text)
    if delimiter is None:
        return False
    first = next((line for line in source.head_text.splitlines() if line.strip() and line[0] != "#"), "")
    return is_flow_header([cell.strip().strip('"') for cell in first.split(delimiter)])


READERS = (Reader("flows", _is_flows, read_flows, "flows as CSV (Parquet: `parquet`), as a communication graph"),)
