"""Zeek conn.log, as tab-separated text with header directives and as JSON lines.

References
----------
The Book of Zeek, "conn.log" and "Zeek Log Formats".
"""

from __future__ import annotations

import re

from nl2net.errors import DataError
from nl2net.segmentation.readers.plan import Head, Plan, quote, select, time_unit, time_us

_ANSWERED = ("SF", "S1", "S2", "S3", "RSTO", "RSTR", "RSTRH", "SHR")
_SILENT = ("S0", "REJ", "SH", "RSTOS0")
_JSON_FIELDS = [
    "ts",
    "id.orig_h",
    "id.orig_p",
    "id.resp_h",
    "id.resp_p",
    "proto",
    "duration",
    "conn_state",
    "orig_bytes",
    "resp_bytes",
    "orig_pkts",
    "orig_ip_bytes",
    "resp_pkts",
    "resp_ip_bytes",
    "service",
]


def looks_like_tsv(head: Head) -> bool:
    """Whether the file begins with Zeek's directives."""
    return head.text.startswith("#") and "#fields" in head.text


def looks_like_json(head: Head) -> bool:
    """Whether the first record has Zeek's dotted keys."""
    return '"id.orig_h"' in head.text


def _directive(head: Head, name: str, default: str) -> str:
    found = re.search(rf"^#{name}[ \t]*(.*?)\r?$", head.text, re.MULTILINE)
    return found.group(1) if found else default


def plan_tsv(head: Head) -> Plan:
    """Read by ``#fields``, ``#separator``, ``#unset_field`` and ``#empty_field``."""
    separator = _directive(head, "separator", "\\x09").strip()
    separator = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m.group(1), 16)), separator) or "\t"
    found = re.search(r"^#fields(.*?)\r?$", head.text, re.MULTILINE)
    names = (found.group(1) if found else "").strip(separator).split(separator)
    missing = [name for name in ("id.orig_h", "id.resp_h", "id.resp_p") if name not in names]
    if missing:
        raise DataError(f"not a conn.log: no {', '.join(missing)}", path=head.path, hint=f"Fields: {', '.join(names)}")
    unset = _directive(head, "unset_field", separator + "-").strip(separator) or "-"
    empty = _directive(head, "empty_field", separator + "(empty)").strip(separator) or "(empty)"
    column = {name: f"NULLIF(NULLIF(f[{at + 1}], {quote(unset)}), {quote(empty)})" for at, name in enumerate(names)}
    data = next((line for line in head.lines() if not line.startswith("#")), "")
    cells = data.split(separator)
    stamp = cells[names.index("ts")] if "ts" in names and len(cells) == len(names) else "0"
    skip = "CASE WHEN starts_with(f[1], '#') THEN 'directive' WHEN len(f) = 1 AND f[1] = '' THEN 'blank' END"
    bad = f"CASE WHEN len(f) <> {len(names)} THEN 'number of fields' END"
    return Plan("zeek_conn", _sql(column, time_unit(stamp), skip, bad=bad), "rows", delimiter=separator)


def plan_json(head: Head) -> Plan:
    """Read JSON lines; unset fields are absent, and ``ts`` is a number or an ISO stamp."""
    stamp = re.search(r'"ts"\s*:\s*"?([^",}]+)', head.text)
    column = {name: f"j[{at + 1}]" for at, name in enumerate(_JSON_FIELDS)}
    paths = ", ".join(f"'$.\"{name}\"'" for name in _JSON_FIELDS)
    source = (
        "(SELECT line_no, line, CASE WHEN json_valid(line) THEN "  # noqa: S608 - paths are constants of this module
        f"json_extract_string(line, [{paths}]) END AS j FROM chunk)"
    )
    skip = "CASE WHEN trim(line) = '' THEN 'blank' END"
    bad = f"CASE WHEN j IS NULL THEN 'broken JSON' WHEN {column['id.orig_h']} IS NULL THEN 'no connection' END"
    unit = time_unit(stamp.group(1)) if stamp else "s"
    return Plan("zeek_conn", _sql(column, unit, skip, bad=bad, source=source), "json")


def _sql(column: dict[str, str], unit: str, skip: str, *, bad: str, source: str = "chunk") -> str:
    def get(name: str) -> str:
        return column.get(name, "NULL")

    start, state, proto = time_us(get("ts"), unit), get("conn_state"), get("proto")
    is_icmp = f"starts_with(lower(COALESCE({proto}, '')), 'icmp')"
    proto6 = f"CASE WHEN {is_icmp} AND contains({get('id.orig_h')}, ':') THEN '58' ELSE {proto} END"
    seconds = f"COALESCE(TRY_CAST({get('duration')} AS DOUBLE), 0)"
    return select(
        {
            "skip": skip,
            "bad": bad,
            "t0": start,
            "t1": f"{start} + CAST({seconds} * 1e6 AS BIGINT)",
            "src": get("id.orig_h"),
            "dst": get("id.resp_h"),
            "sport": f"CASE WHEN NOT {is_icmp} THEN {get('id.orig_p')} END",
            "dport": f"CASE WHEN NOT {is_icmp} THEN {get('id.resp_p')} END",
            "icmp_type": f"CASE WHEN {is_icmp} THEN {get('id.orig_p')} END",
            "icmp_code": f"CASE WHEN {is_icmp} THEN {get('id.resp_p')} END",
            "proto": proto6,
            "pkts_fwd": get("orig_pkts"),
            "bytes_fwd": f"COALESCE({get('orig_ip_bytes')}, {get('orig_bytes')})",
            "pkts_rev": get("resp_pkts"),
            "bytes_rev": f"COALESCE({get('resp_ip_bytes')}, {get('resp_bytes')})",
            "answered": f"CASE WHEN {state} IN {_ANSWERED} THEN true WHEN {state} IN {_SILENT} THEN false END",
            "initiator": "'src'",
            "sample_rate": "1.0",
        },
        source=source,
    )
