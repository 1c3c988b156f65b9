"""Azure NSG flow logs (version 2) and virtual network flow logs (version 4): nested JSON documents.

References
----------
Microsoft Learn, "Flow logging for network security groups" and "Virtual network flow logs".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from nl2net.segmentation.readers.plan import Chunk, Head, Plan, select, time_us
from nl2net.segmentation.readers.stream import json_values

_ROWS = 200_000


def looks_like_nsg(head: Head) -> bool:
    """Whether the document has flow tuples of the older form."""
    return '"flowTuples"' in head.text and '"flowRecords"' not in head.text


def looks_like_vnet(head: Head) -> bool:
    """Whether the document has flow records of the newer form."""
    return '"flowRecords"' in head.text


def plan_nsg(_head: Head) -> Plan:
    """Tuples ``seconds,src,dst,sport,dport,T|U,I|O,A|D,B|C|E`` and four counters."""
    return Plan("azure_nsg", _sql(vnet=False), "azure")


def plan_vnet(_head: Head) -> Plan:
    """Tuples ``ms,src,dst,sport,dport,proto,I|O,B|C|E|D,encryption`` and four counters."""
    return Plan("azure_vnet", _sql(vnet=True), "azure")


def _sql(*, vnet: bool) -> str:
    state = "f[8]" if vnet else "f[9]"
    # A flow that begins has no counters yet; VNet logs write zeros there, which would count as a connection.
    counter = {
        name: f"CASE WHEN {state} <> 'B' THEN NULLIF(f[{at}], '') END"
        for name, at in (("pkts_fwd", 10), ("bytes_fwd", 11), ("pkts_rev", 12), ("bytes_rev", 13))
    }
    back = f"TRY_CAST({counter['pkts_rev']} AS BIGINT)"
    proto = "f[6]" if vnet else "CASE f[6] WHEN 'T' THEN '6' WHEN 'U' THEN '17' ELSE f[6] END"
    deny = f"{state} = 'D'" if vnet else "f[8] = 'D'"
    known = f"{state} IN ('B', 'C', 'E', 'D')" if vnet else "f[8] IN ('A', 'D')"
    start = time_us("f[1]", "ms" if vnet else "s")
    fewest = 13 if vnet else 8
    return select(
        {
            "bad": f"CASE WHEN len(f) < {fewest} THEN 'number of fields' WHEN NOT {known} THEN 'state' END",
            "t0": start,
            "t1": start,
            "src": "f[2]",
            "dst": "f[3]",
            "sport": "NULLIF(f[4], '')",
            "dport": "NULLIF(f[5], '')",
            "proto": proto,
            **counter,
            "action": f"CASE WHEN {deny} THEN 'deny' ELSE 'allow' END",
            "answered": f"CASE WHEN {state} IN ('C', 'E') AND {back} > 0 THEN true WHEN {state} = 'E' AND "
            f"{back} = 0 THEN false END",
            "initiator": "'src'",
            "src_meta": "CASE WHEN f[7] = 'O' THEN meta END",
            "dst_meta": "CASE WHEN f[7] = 'I' THEN meta END",
            "reporter": "reporter",
            "sample_rate": "1.0",
        },
        source="(SELECT *, string_split(line, ',') AS f FROM chunk)",
    )


def _tuples(record: Any) -> Iterator[tuple[str, str, str]]:
    """(tuple, rule, reporter) of one record; raises on another shape."""
    if "flowRecords" in record:
        reporter = str(record.get("macAddress", ""))
        for flow in record["flowRecords"]["flows"]:
            for group in flow["flowGroups"]:
                for text in group["flowTuples"]:
                    yield str(text), str(group.get("rule", "")), reporter
        return
    for rule in record["properties"]["flows"]:
        for flow in rule["flows"]:
            reporter = str(flow.get("mac", record.get("macAddress", "")))
            for text in flow["flowTuples"]:
                yield str(text), str(rule.get("rule", "")), reporter


def chunks(path: Path) -> Iterator[Chunk]:
    """Flow tuples of a document, at most about 200,000 at a time; the line is that of the record."""
    rows: list[tuple[int, str, str]] = []
    broken: list[tuple[int, str, str]] = []
    for item in json_values(path):
        if item.error:
            broken.append((item.line, item.error, str(item.value)))
            continue
        try:
            rows.extend((item.line, text, reporter) for text, _rule, reporter in _tuples(item.value))
        except (KeyError, TypeError, AttributeError) as error:
            broken.append(
                (item.line, f"record without {error.args[0] if error.args else error}", str(item.value)[:160])
            )
        if len(rows) >= _ROWS:
            yield _chunk(rows, broken)
            rows, broken = [], []
    if rows or broken:
        yield _chunk(rows, broken)


def _chunk(rows: list[tuple[int, str, str]], broken: list[tuple[int, str, str]]) -> Chunk:
    numbers, texts, reporters = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {
            "line_no": pa.array(numbers, pa.int64()),
            "line": pa.array(texts, pa.string()),
            "reporter": pa.array(reporters, pa.string()),
            "meta": pa.nulls(len(numbers), pa.string()),
        }
    )
    return Chunk(table, tuple(broken))
