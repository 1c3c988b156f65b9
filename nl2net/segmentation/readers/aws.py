"""AWS VPC flow logs: version 2 with its default fields, and custom fields in any order.

References
----------
Amazon VPC User Guide, "Flow log records" (fields of versions 2 to 10).
"""

from __future__ import annotations

import re

from nl2net.errors import DataError
from nl2net.segmentation.readers.plan import Head, Plan, meta, quote, select, time_us

DEFAULT_FIELDS = [
    "version",
    "account-id",
    "interface-id",
    "srcaddr",
    "dstaddr",
    "srcport",
    "dstport",
    "protocol",
    "packets",
    "bytes",
    "start",
    "end",
    "action",
    "log-status",
]
_NEEDED = ("srcaddr", "dstaddr", "dstport", "protocol", "start")
_KNOWN = {*DEFAULT_FIELDS, "vpc-id", "subnet-id", "instance-id", "tcp-flags", "type", "pkt-srcaddr", "pkt-dstaddr"}


def looks_like(head: Head) -> bool:
    """Whether the first line is a header of AWS fields or a record with the default fields."""
    first = next(head.lines(), "").split()
    names = {name.strip("${}").replace("_", "-") for name in first}
    return len(names & _KNOWN) >= 5 or (len(first) == 14 and first[0] == "2") or _cloudwatch(first)


def _cloudwatch(first: list[str]) -> bool:
    return len(first) == 15 and first[1] == "2" and re.match(r"\d{4}-\d\d-\d\dT", first[0]) is not None


def plan(head: Head, fields: str = "") -> Plan:
    """Read by the header, by the given field list (``${...}`` or bare names), or by the default fields."""
    first = next(head.lines(), "").split()
    header = len({name.strip("${}").replace("_", "-") for name in first} & _KNOWN) >= 5
    names = [name.strip("${},").replace("_", "-") for name in (fields.split() or (first if header else DEFAULT_FIELDS))]
    prefix = not header and not fields and _cloudwatch(first)
    column = {name: f"NULLIF(f[{at + 1 + prefix}], '-')" for at, name in enumerate(names)}
    return Plan("aws_vpc", _sql(column, len(names) + prefix, names[0]), "rows", delimiter=" ", one_directional=True)


def parquet_sql(columns: list[str]) -> str:
    """The same for a Parquet file, whose column names use ``_`` for ``-``."""
    column = {name.replace("_", "-"): f"NULLIF(CAST(\"{name}\" AS VARCHAR), '-')" for name in columns}
    return _sql(column, 0, "")


def _sql(column: dict[str, str], count: int, first: str) -> str:
    missing = [name for name in _NEEDED if name not in column and f"pkt-{name}" not in column]
    if missing:
        raise DataError(f"an AWS flow log without {', '.join(missing)}", hint=f"Fields found: {', '.join(column)}.")

    def get(name: str) -> str:
        return column.get(name, "NULL")

    flags = f"TRY_CAST({get('tcp-flags')} AS INTEGER)"
    direction = get("flow-direction")
    own = {"instance": get("instance-id"), "subnet": get("subnet-id"), "vpc": get("vpc-id")}
    status = get("log-status")
    skip = f"CASE WHEN {status} IN ('NODATA', 'SKIPDATA') THEN lower({status})"
    bad = "NULL"
    if count:
        skip = f"CASE WHEN len(f) = 1 AND f[1] = '' THEN 'blank' WHEN f[1] = {quote(first)} THEN 'header'" + skip[4:]
        bad = f"CASE WHEN len(f) <> {count} THEN 'number of fields' END"
    own_src = meta({**own, "service": get("pkt-src-aws-service")})
    own_dst = meta({**own, "service": get("pkt-dst-aws-service")})
    return select(
        {
            "skip": skip + " END",
            "bad": bad,
            "t0": time_us(get("start"), "s"),
            "t1": time_us(get("end"), "s"),
            "src": f"COALESCE({get('pkt-srcaddr')}, {get('srcaddr')})",
            "dst": f"COALESCE({get('pkt-dstaddr')}, {get('dstaddr')})",
            "sport": get("srcport"),
            "dport": get("dstport"),
            "proto": get("protocol"),
            "pkts_fwd": get("packets"),
            "bytes_fwd": get("bytes"),
            "action": f"CASE {get('action')} WHEN 'ACCEPT' THEN 'allow' WHEN 'REJECT' THEN 'deny' END",
            # Flags are OR-ed over the interval: 18 is SYN-ACK (src serves), 2 without 16 is SYN (src started).
            "initiator": f"CASE WHEN {flags} & 18 = 18 THEN 'dst' WHEN {flags} & 2 = 2 THEN 'src' END",
            "src_meta": f"CASE WHEN {direction} = 'egress' THEN {own_src} END",
            "dst_meta": f"CASE WHEN {direction} = 'ingress' THEN {own_dst} END",
            "reporter": get("interface-id"),
            "sample_rate": "1.0",
        }
    )
