"""GCP VPC flow logs as JSON LogEntry objects.

References
----------
Google Cloud documentation, "VPC Flow Logs record format".
"""

from __future__ import annotations

from nl2net.segmentation.readers.plan import Head, Plan, meta, select, time_us

_PATHS = {
    "src": "connection.src_ip",
    "dst": "connection.dest_ip",
    "sport": "connection.src_port",
    "dport": "connection.dest_port",
    "proto": "connection.protocol",
    "reporter": "reporter",
    "bytes": "bytes_sent",
    "packets": "packets_sent",
    "start": "start_time",
    "end": "end_time",
    "direction": "connection_direction",
    "src_vm": "src_instance.vm_name",
    "dst_vm": "dest_instance.vm_name",
    "src_subnet": "src_vpc.subnetwork_name",
    "dst_subnet": "dest_vpc.subnetwork_name",
    "src_pod": "src_gke_details.pod.pod_name",
    "dst_pod": "dest_gke_details.pod.pod_name",
    "src_workload": "src_gke_details.pod.pod_workload.workload_name",
    "dst_workload": "dest_gke_details.pod.pod_workload.workload_name",
    "rate": "sampling_rate",
}


def looks_like(head: Head) -> bool:
    """Whether the first record has a GCP connection object."""
    return '"src_ip"' in head.text and '"dest_ip"' in head.text and '"connection"' in head.text


def plan(head: Head) -> Plan:
    """Read LogEntry objects, or bare payloads as other sinks write them."""
    roots = [name for name in ("jsonPayload", "json_payload") if f'"{name}"' in head.text]
    root = f"$.{roots[0]}." if roots else "$."
    at = {name: f"j[{index + 1}]" for index, name in enumerate(_PATHS)}
    paths = ", ".join(f"'{root}{path}'" for path in _PATHS.values())
    # The direction is that of the connection as its reporter sees it.
    own = f"starts_with({at['reporter']}, 'SRC')"
    out = f"upper({at['direction']}) IN ('EGRESS', 'OUTBOUND', 'OUTGOING')"
    came = f"upper({at['direction']}) IN ('INGRESS', 'INBOUND', 'INCOMING')"
    source = (
        "(SELECT line_no, line, CASE WHEN json_valid(line) THEN "  # noqa: S608 - paths are constants of this module
        f"json_extract_string(line, [{paths}]) END AS j FROM chunk)"
    )
    sql = select(
        {
            "skip": "CASE WHEN trim(line) = '' THEN 'blank' END",
            "bad": f"CASE WHEN j IS NULL THEN 'broken JSON' WHEN {at['src']} IS NULL THEN 'no connection' END",
            "t0": time_us(at["start"], "iso"),
            "t1": time_us(at["end"], "iso"),
            "src": at["src"],
            "dst": at["dst"],
            "sport": at["sport"],
            "dport": at["dport"],
            "proto": at["proto"],
            "pkts_fwd": at["packets"],
            "bytes_fwd": at["bytes"],
            "action": "'allow'",
            "initiator": f"CASE WHEN ({own} AND {out}) OR (NOT {own} AND {came}) THEN 'src' "
            f"WHEN ({own} AND {came}) OR (NOT {own} AND {out}) THEN 'dst' END",
            "src_meta": meta(
                {
                    "vm": at["src_vm"],
                    "subnet": at["src_subnet"],
                    "pod": at["src_pod"],
                    "workload": at["src_workload"],
                }
            ),
            "dst_meta": meta(
                {
                    "vm": at["dst_vm"],
                    "subnet": at["dst_subnet"],
                    "pod": at["dst_pod"],
                    "workload": at["dst_workload"],
                }
            ),
            "reporter": at["reporter"],
            "sample_rate": f"TRY_CAST({at['rate']} AS DOUBLE)",
        },
        source=source,
    )
    return Plan("gcp_vpc", sql, "json", one_directional=True, notes=("GCP samples flows: counters are estimates",))
