"""Flow logs that the tests write: the online shop as Hubble lines, an estate as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd

from nl2net.segmentation.evaluation.estate import Window
from nl2net.segmentation.frames import rows_of

START = 1_790_000_000


def boutique_lines(calls: Path, *, replicas: int = 3, labels: bool = True) -> list[str]:
    """Hubble lines of every call of the shop, with name lookup, three times in ten minutes."""
    with calls.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = sorted({row["client"] for row in rows} | {row["server"] for row in rows})
    address = {(name, r): f"10.0.{at}.{r + 10}" for at, name in enumerate(names) for r in range(replicas)}
    lines: list[str] = []

    def end(name: str, replica: int, space: str = "shop") -> dict[str, object]:
        body: dict[str, object] = {"namespace": space, "pod_name": f"{name}-6d5f7c9b8-q2w{replica}e"}
        if labels:
            body |= {"labels": [f"k8s:app={name}"], "workloads": [{"name": name, "kind": "Deployment"}]}
        return body

    def add(client: tuple[str, int], server: str, proto: str, port: int, *, to: str, second: int) -> None:
        stamp = pd.Timestamp(START + second, unit="s", tz="UTC").isoformat().replace("+00:00", "Z")
        target = end(server, 0, "kube-system" if server == "kube-dns" else "shop")
        flow = {
            "time": stamp,
            "verdict": "FORWARDED",
            "IP": {"source": address[client], "destination": to},
            "l4": {proto: {"source_port": 40000 + len(lines) % 20000, "destination_port": port}},
            "source": end(*client),
            "destination": target,
            "Type": "L3_L4",
            "is_reply": False,
        }
        lines.append(json.dumps({"flow": flow}))

    for second in (0, 290, 580):
        for row in rows:
            for replica in range(replicas):
                for other in range(replicas):
                    add(
                        (row["client"], replica),
                        row["server"],
                        row["protocol"],
                        int(row["target_port"]),
                        to=address[row["server"], other],
                        second=second,
                    )
        for name in names:
            for replica in range(replicas):
                add((name, replica), "kube-dns", "UDP", 53, to="10.0.200.2", second=second)
    return lines


def write_window(window: Window, path: Path, *, seed: int = 0, both_ways: bool = False) -> None:
    """Connections of a window as 5-tuple CSV; ``both_ways`` writes a record per direction and no answers."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[object, ...]] = []
    for edge in rows_of(window.edges):
        begin = edge.first_seen.timestamp()
        for at in range(min(int(edge.connections), 6)):
            stamp = begin + (at * 300 if at < edge.buckets else 0)
            source = int(rng.integers(32768, 60999))
            rows.append((stamp, edge.client, source, edge.server, edge.port, edge.proto, 10, 1000))
            if both_ways and edge.answered_yes:
                rows.append((stamp, edge.server, edge.port, edge.client, source, edge.proto, 8, 900))
    frame = pd.DataFrame(rows, columns=["ts", "src", "sport", "dst", "dport", "proto", "packets", "bytes"])
    frame.to_csv(path, index=False)
