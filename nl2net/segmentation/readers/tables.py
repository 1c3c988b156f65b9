"""Generic 5-tuple CSV and nfdump CSV: columns are found by the names of the header.

References
----------
nfdump 1.6 and 1.7 manual pages, output formats ``csv`` and ``csv-fast``.
"""

from __future__ import annotations

import csv
import re

from nl2net.errors import DataError
from nl2net.segmentation.readers.plan import Head, Plan, select, time_unit, time_us

ALIASES: dict[str, tuple[str, ...]] = {
    "src": ("src", "src_ip", "source_ip", "saddr", "srcaddr", "sa", "id.orig_h", "source", "source_address", "srcip",
            "src_addr", "source_addr", "client", "client_ip", "ip_src", "src_address", "sourceip", "orig_h"),
    "dst": ("dst", "dst_ip", "dest_ip", "destination_ip", "daddr", "dstaddr", "da", "id.resp_h", "destination",
            "destination_address", "dstip", "dst_addr", "dest_addr", "dest", "server", "server_ip", "ip_dst",
            "dst_address", "destinationip", "resp_h", "destip"),
    "sport": ("sport", "src_port", "source_port", "srcport", "sp", "id.orig_p", "client_port", "sourceport", "orig_p",
              "l4_src_port"),
    "dport": ("dport", "dst_port", "dest_port", "destination_port", "dstport", "dp", "id.resp_p", "server_port",
              "destinationport", "destport", "service_port", "port", "resp_p", "l4_dst_port"),
    "proto": ("proto", "protocol", "pr", "prot", "ip_proto", "ip_protocol", "l4_proto", "transport"),
    "start": ("ts_start", "timestamp", "ts", "time", "start", "start_time", "firstseen", "first_seen", "first",
              "date", "datetime", "starttime", "flow_start", "begin"),
    "end": ("ts_end", "end", "end_time", "lastseen", "last_seen", "te", "last", "endtime", "flow_end"),
    "duration": ("duration", "td", "dur"),
    "pkts_fwd": ("pkts_fwd", "packets", "pkts", "ipkt", "num_packets", "packets_sent", "src_pkts", "orig_pkts",
                 "in_pkts", "totpkts", "packet_count"),
    "bytes_fwd": ("bytes_fwd", "bytes", "ibyt", "num_bytes", "octets", "bytes_sent", "src_bytes", "orig_bytes",
                  "in_bytes", "totbytes", "byte_count"),
    "pkts_rev": ("pkts_rev", "opkt", "packets_rev", "packets_received", "dst_pkts", "resp_pkts", "out_pkts"),
    "bytes_rev": ("bytes_rev", "obyt", "bytes_received", "dst_bytes", "resp_bytes", "out_bytes"),
    "flags": ("flags", "flg", "tcp_flags", "tcp-flags", "tcpflags"),
    "action": ("action", "verdict", "decision", "disposition"),
    "reporter": ("reporter", "exporter", "sensor", "ra", "exporter_ip", "interface-id", "interface_id"),
    "icmp_type": ("icmp_type",),
    "icmp_code": ("icmp_code",),
    "initiator": ("initiator",),
    "answered": ("answered",),
}  # fmt: skip
_NFDUMP = ({"firstseen", "srcaddr", "dstaddr"}, {"ts", "te", "sa", "da"})
_ALLOW = ("allow", "allowed", "accept", "accepted", "permit", "permitted", "pass", "forwarded", "a")
_DENY = ("deny", "denied", "reject", "rejected", "drop", "dropped", "block", "blocked", "d")


def delimiter_of(line: str) -> str:
    """The delimiter that cuts a header into most fields."""
    return max((",", ";", "\t", "|", " "), key=lambda sign: (line.count(sign), sign == ","))


def header_of(line: str) -> list[str]:
    """Names of a header line, unquoted; none for a line that is no row of a table."""
    return [cell.strip() for cell in _cells(line.lstrip("#").strip(), delimiter_of(line))]


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # bytes of another format, or of an encoding that was not told
        return []


def find_columns(names: list[str]) -> dict[str, int]:
    """Position of every known column; the first alias in the order of the table wins.

    Examples
    --------
    >>> find_columns(["Source IP", "dst_ip", "Dst Port"])
    {'src': 0, 'dst': 1, 'dport': 2}
    """
    folded = [re.sub(r"[\s/]+", "_", name.strip().lower()) for name in names]
    found = {}
    for column, aliases in ALIASES.items():
        position = next((folded.index(alias) for alias in aliases if alias in folded), None)
        if position is not None:
            found[column] = position
    return found


def check_columns(found: dict[str, int], names: list[str], head: Head) -> None:
    """Refuse a table that cannot name a service, and say which columns it has."""
    missing = [name for name in ("src", "dst", "dport") if name not in found]
    if missing:
        words = {"src": "source address", "dst": "destination address", "dport": "destination port"}
        raise DataError(
            f"no column for {', '.join(words[name] for name in missing)}",
            path=head.path,
            line=1,
            hint=f"Columns found: {', '.join(names)}. Rename one to {ALIASES[missing[0]][0]}.",
        )


def is_nfdump(names: list[str]) -> bool:
    """Whether the header is one of nfdump's."""
    folded = {name.lower() for name in names}
    return any(needed <= folded for needed in _NFDUMP)


def looks_like(head: Head) -> bool:
    """Whether the first line is a header with at least two known columns."""
    return len(find_columns(header_of(next(head.lines(), "")))) >= 2


def plan(head: Head) -> Plan:
    """Read by header; decide the form of time once per file."""
    lines = head.lines()
    first = next(lines, "")
    names = header_of(first)
    found = find_columns(names)
    check_columns(found, names, head)
    nfdump = is_nfdump(names)
    delimiter = delimiter_of(first)
    row = _cells(next(lines, ""), delimiter)
    stamp = row[found["start"]].strip() if "start" in found and len(row) > found["start"] else ""
    unit = time_unit(stamp) if stamp else "s"
    column = {name: f"NULLIF(trim(f[{at + 1}]), '')" for name, at in found.items()}
    skip = f"CASE WHEN line_no = 1 OR trim(f[1]) = '{names[0]}' THEN 'header' WHEN len(f) = 1 AND f[1] = '' "
    skip += "THEN 'blank' WHEN starts_with(f[1], '#') THEN 'comment' END"
    bad = f"CASE WHEN len(f) <> {len(names)} THEN 'number of fields' END"
    notes = []
    zoneless = unit == "iso" and not re.search(r"(Z|[+-]\d\d:?\d\d)$", stamp)
    if zoneless and head.timezone is None:
        notes.append("stamps carry no zone: read as UTC (say otherwise with --timezone)")
    if "start" not in found:
        notes.append("no time column: all records are placed at 1970-01-01")
    return Plan(
        "nfdump" if nfdump else "five_tuple",
        table_sql(column, unit, skip, bad=bad),
        "rows",
        delimiter=delimiter,
        stop="Summary" if nfdump else "",
        one_directional=nfdump or "bytes_rev" not in found,
        notes=tuple(notes),
    )


def table_sql(column: dict[str, str], unit: str, skip: str, *, bad: str) -> str:
    """The SELECT of a table whose columns are given as SQL expressions of text."""

    def get(name: str) -> str:
        return column.get(name, "NULL")

    start = time_us(get("start"), unit) if "start" in column else "0"
    end = time_us(get("end"), unit)
    seconds = f"TRY_CAST({get('duration')} AS DOUBLE)"
    flags, action = f"upper({get('flags')})", f"lower({get('action')})"
    number = f"TRY_CAST({get('flags')} AS INTEGER)"
    syn = f"CASE WHEN {number} IS NOT NULL THEN {number} & 2 = 2 ELSE contains({flags}, 'S') END"
    ack = f"CASE WHEN {number} IS NOT NULL THEN {number} & 16 = 16 ELSE contains({flags}, 'A') END"
    initiator = f"CASE WHEN {syn} AND NOT {ack} THEN 'src' END"
    icmp = f"lower({get('proto')}) IN ('1', '58', 'icmp', 'icmp6', 'ipv6-icmp', 'icmpv6')"
    # nfdump writes type and code of ICMP as one number with a point where the destination port would stand.
    dotted = f"CASE WHEN {icmp} THEN string_split({get('dport')}, '.') END"
    return select(
        {
            "skip": skip,
            "bad": bad,
            "t0": start,
            "t1": f"COALESCE({end}, {start} + CAST({seconds} * 1e6 AS BIGINT), {start})",
            "src": get("src"),
            "dst": get("dst"),
            "sport": f"CASE WHEN NOT COALESCE({icmp}, false) THEN {get('sport')} END",
            "dport": f"CASE WHEN NOT COALESCE({icmp}, false) THEN {get('dport')} END",
            "icmp_type": f"COALESCE({get('icmp_type')}, ({dotted})[1])",
            "icmp_code": f"COALESCE({get('icmp_code')}, ({dotted})[2])",
            "proto": get("proto") if "proto" in column else "'tcp'",
            "pkts_fwd": get("pkts_fwd"),
            "bytes_fwd": get("bytes_fwd"),
            "pkts_rev": get("pkts_rev"),
            "bytes_rev": get("bytes_rev"),
            "action": f"CASE WHEN {action} IN {_ALLOW} THEN 'allow' WHEN {action} IN {_DENY} THEN 'deny' END",
            "answered": f"TRY_CAST({get('answered')} AS BOOLEAN)",
            "initiator": f"COALESCE({get('initiator')}, {initiator})",
            "reporter": get("reporter"),
            "sample_rate": "NULL",
        }
    )
