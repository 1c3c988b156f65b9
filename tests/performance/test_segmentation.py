"""Aggregation against a hand-written query of the same content, and roles of many endpoints; ratios from one run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from nl2net.segmentation.aggregate import direct_edges, flows_table
from nl2net.segmentation.endpoints import survey
from nl2net.segmentation.engines import DuckEngine
from nl2net.segmentation.flows import NORMAL_SCHEMA
from nl2net.segmentation.roles import infer_roles

RECORDS = 1_000_000
BY_HAND = """
SELECT client, server, proto, port, sum(there), sum(back), sum(denied), sum(yes), sum(no), sum(volume), min(ts_start),
       max(ts_end), count(DISTINCT bucket) FILTER (WHERE denied = 0)
FROM (SELECT if(initiator = 'src', src, dst) AS client, if(initiator = 'src', dst, src) AS server, proto,
             if(initiator = 'src', dport, sport) AS port, if(action <> 'deny' AND initiator = 'src', 1, 0) AS there,
             if(action <> 'deny' AND initiator <> 'src', 1, 0) AS back, if(action = 'deny', 1, 0) AS denied,
             if(answered, 1, 0) AS yes, if(NOT answered, 1, 0) AS no,
             coalesce(bytes_fwd, 0) + coalesce(bytes_rev, 0) AS volume, ts_start, ts_end,
             epoch_us(ts_start) // 300000000 AS bucket
      FROM flows) GROUP BY ALL
"""


def _records(folder: Path) -> list[Path]:
    rng = np.random.default_rng(1)
    edges = 200_000
    names = np.array([f"10.{40 + (i >> 16)}.{(i >> 8) & 255}.{i & 255}" for i in range(24_000)])
    client, server = rng.integers(0, 20_000, edges), rng.integers(20_000, 24_000, edges)
    port = rng.choice([443, 5432, 6379, 9092, 8080], edges)
    files = []
    for at in range(RECORDS // 500_000):
        picked = rng.integers(0, edges, 500_000)
        stamp = 1_790_000_000_000_000 + rng.integers(0, 86_400_000_000, 500_000)
        columns = {
            "ts_start": pa.array(stamp, pa.timestamp("us", "UTC")),
            "ts_end": pa.array(stamp, pa.timestamp("us", "UTC")),
            "src": pa.array(names[client[picked]]),
            "dst": pa.array(names[server[picked]]),
            "sport": pa.array(rng.integers(32768, 60999, 500_000), pa.uint16()),
            "dport": pa.array(port[picked], pa.uint16()),
            "proto": pa.array(np.full(500_000, 6), pa.uint8()),
            "bytes_fwd": pa.array(rng.integers(40, 9000, 500_000)),
            "action": pa.array(["allow"] * 500_000),
            "answered": pa.array([True] * 500_000),
            "initiator": pa.array(["src"] * 500_000),
            "source_format": pa.array(["zeek_conn"] * 500_000),
        }
        full = [columns.get(field.name, pa.nulls(500_000, field.type)) for field in NORMAL_SCHEMA]
        files.append(folder / f"part{at}.parquet")
        pq.write_table(pa.Table.from_arrays(full, schema=NORMAL_SCHEMA), files[-1])
    return files


def test_typed_edges_against_a_hand_written_query(tmp_path: Path) -> None:
    files = _records(tmp_path)
    engine = DuckEngine()
    ours, by_hand = [], []
    expression = direct_edges(flows_table(), undecided=False, several_reporters=False, azure=False)
    for _ in range(3):
        begin = time.process_time()
        edges = engine.run(expression, {"flows": files})
        ours.append(time.process_time() - begin)
        begin = time.process_time()
        other = engine._connection.sql(BY_HAND).to_arrow_table()
        by_hand.append(time.process_time() - begin)
        assert len(edges) == len(other)
    ratio = min(ours) / min(by_hand)
    print(f"typed edges of {RECORDS} records: {min(ours):.2f} s CPU, by hand {min(by_hand):.2f} s, ratio {ratio:.2f}")
    assert ratio <= 2.0  # the goal is 1.2; a busy machine adds noise that this guard leaves room for


def test_roles_of_many_endpoints() -> None:
    rng = np.random.default_rng(1)
    endpoints, per = 6_000, 18
    role = rng.integers(0, 900, endpoints)
    peers = rng.integers(0, 900, (900, per))
    members = [np.flatnonzero(role == r) for r in range(900)]
    rows = []
    for at in range(endpoints):
        for slot, target in enumerate(peers[role[at]]):
            if len(members[target]):
                server = int(members[target][rng.integers(len(members[target]))])
                rows.append((f"10.1.{at >> 8}.{at & 255}", f"10.1.{server >> 8}.{server & 255}", 6, 1000 + slot))
    frame = pd.DataFrame(rows, columns=["client", "server", "proto", "port"]).drop_duplicates(ignore_index=True)
    stamp = pd.Timestamp("2026-09-21T14:00:00Z")
    frame = frame[frame["client"] != frame["server"]].assign(
        connections=9, bytes=900, buckets=3, answered_yes=9, answered_no=0, denied=0, first_seen=stamp, last_seen=stamp
    )
    population = survey(frame)
    begin = time.process_time()
    model = infer_roles(population)
    print(f"roles of {len(model.names)} endpoints, {len(frame)} edges: {time.process_time() - begin:.1f} s CPU")
    assert len(set(model.labels.tolist())) > 100
