"""Cilium Hubble flows, one JSON object a line.

References
----------
Cilium API, ``flow.proto``.
"""

from __future__ import annotations

from nl2net.segmentation.readers.plan import Head, Plan, select, time_us

_PATHS = {
    "time": "time",
    "verdict": "verdict",
    "src": "IP.source",
    "dst": "IP.destination",
    "reply": "is_reply",
    "type": "Type",
    "point": "trace_observation_point",
    "node": "node_name",
    **{
        f"{proto}_{side}": f"l4.{proto.upper()}.{side}"
        for proto in ("tcp", "udp", "sctp")
        for side in ("source_port", "destination_port")
    },
    "syn": "l4.TCP.flags.SYN",
    "ack": "l4.TCP.flags.ACK",
    "type4": "l4.ICMPv4.type",
    "code4": "l4.ICMPv4.code",
    "type6": "l4.ICMPv6.type",
    "code6": "l4.ICMPv6.code",
    "icmp4": "l4.ICMPv4",
    "icmp6": "l4.ICMPv6",
    "names": "destination_names[0]",
}
_ENDS = ("source", "destination")


def looks_like(head: Head) -> bool:
    """Whether the first record has Hubble's ``IP`` object and a verdict."""
    return '"IP"' in head.text and '"verdict"' in head.text


def _end(root: str, end: str) -> str:
    path = f"{root}{end}"
    workload = f"json_extract_string(line, '{path}.workloads[0].name')"
    return (
        f"CASE WHEN json_exists(line, '{path}') THEN CAST(json_merge_patch('{{}}', json_object("
        f"'workload', {workload}, "
        f"'namespace', json_extract_string(line, '{path}.namespace'), "
        f"'pod', json_extract_string(line, '{path}.pod_name'), "
        f"'identity', json_extract(line, '{path}.identity'), "
        + (f"'fqdn', json_extract_string(line, '{root}destination_names[0]'), " if end == "destination" else "")
        + f"'labels', json_extract(line, '{path}.labels'))) AS VARCHAR) END"
    )


def plan(head: Head) -> Plan:
    """Read records with or without the ``flow`` wrapper."""
    root = "$.flow." if '"flow"' in head.text else "$."
    at = {name: f"j[{index + 1}]" for index, name in enumerate(_PATHS)}
    paths = ", ".join(f"'{root}{path}'" for path in _PATHS.values())
    source = (
        "(SELECT line_no, line, CASE WHEN json_valid(line) THEN "  # noqa: S608 - paths are constants of this module
        f"json_extract_string(line, [{paths}]) END AS j FROM chunk)"
    )
    ports = {
        side: f"COALESCE({at[f'tcp_{side}']}, {at[f'udp_{side}']}, {at[f'sctp_{side}']})"
        for side in ("source_port", "destination_port")
    }
    start = time_us(at["time"], "iso")
    sql = select(
        {
            "skip": "CASE WHEN trim(line) = '' THEN 'blank' "
            "WHEN j IS NOT NULL AND json_exists(line, '$.node_status') THEN 'node status' "
            "WHEN j IS NOT NULL AND json_exists(line, '$.lost_events') THEN 'lost events' "
            f"WHEN {at['type']} IN ('L7', 'SOCK') THEN 'layer 7' WHEN {at['reply']} = 'true' THEN 'reply' END",
            "bad": f"CASE WHEN j IS NULL THEN 'broken JSON' WHEN {at['src']} IS NULL THEN 'no addresses' END",
            "t0": start,
            "t1": start,
            "src": at["src"],
            "dst": at["dst"],
            "sport": ports["source_port"],
            "dport": ports["destination_port"],
            "icmp_type": f"COALESCE({at['type4']}, {at['type6']}, CASE WHEN {at['icmp4']} IS NOT NULL THEN '0' END)",
            "icmp_code": f"COALESCE({at['code4']}, {at['code6']}, CASE WHEN {at['icmp4']} IS NOT NULL THEN '0' END)",
            "proto": f"CASE WHEN {at['tcp_destination_port']} IS NOT NULL THEN '6' "
            f"WHEN {at['udp_destination_port']} IS NOT NULL THEN '17' "
            f"WHEN {at['sctp_destination_port']} IS NOT NULL THEN '132' WHEN {at['icmp4']} IS NOT NULL THEN '1' "
            f"WHEN {at['icmp6']} IS NOT NULL THEN '58' END",
            # AUDIT traffic passed, but a policy would deny it: it must not become an allow rule by itself.
            "action": f"CASE WHEN {at['verdict']} IN ('DROPPED', 'AUDIT') THEN 'deny' "
            f"WHEN {at['verdict']} IN ('FORWARDED', 'REDIRECTED', 'TRANSLATED') THEN 'allow' END",
            # An absent is_reply is unknown; the old field `reply` is not reliable and is not read.
            "initiator": f"CASE WHEN {at['reply']} = 'false' THEN 'src' WHEN {at['syn']} = 'true' AND "
            f"{at['ack']} = 'true' THEN 'dst' WHEN {at['syn']} = 'true' THEN 'src' END",
            "src_meta": f"CASE WHEN j IS NOT NULL THEN {_end(root, _ENDS[0])} END",
            "dst_meta": f"CASE WHEN j IS NOT NULL THEN {_end(root, _ENDS[1])} END",
            "reporter": f"concat_ws('/', {at['node']}, {at['point']})",
            "sample_rate": "1.0",
        },
        source=source,
    )
    return Plan("hubble", sql, "json", notes=("Hubble has no byte counts",))
