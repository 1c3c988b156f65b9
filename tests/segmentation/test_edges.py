"""From records to typed edges: direction, twins, buckets, and two engines that agree."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest

from nl2net.segmentation.aggregate import (
    build_edges,
    direct_edges,
    direction_counts,
    flows_table,
    hourly_edges,
    merged_hours,
)
from nl2net.segmentation.endpoints import PRIVATE, Scope, answered_share, survey
from nl2net.segmentation.engines import DuckEngine, make_engine
from nl2net.segmentation.evaluation.estate import DEFAULT, Observer
from nl2net.segmentation.evaluation.family_a import build_family_a
from nl2net.segmentation.flows import FlowStore
from nl2net.segmentation.readers import read_flows
from tests.conftest import SHARED
from tests.segmentation.stories import write_window


def store_of(tmp_path: Path, text: str) -> FlowStore:
    (tmp_path / "x.csv").write_text(text)
    return read_flows([tmp_path / "x.csv"], tmp_path / "flows")


def edges_of(store: FlowStore) -> pd.DataFrame:
    frame: pd.DataFrame = build_edges(DuckEngine(), store.files(), store.report).to_pandas()
    return frame.sort_values(["client", "server", "proto", "port"], ignore_index=True)


def test_both_directions_are_one_edge_with_an_answer(tmp_path: Path) -> None:
    store = read_flows([SHARED / "flows" / "samples" / "aws_vpc_v2.log"], tmp_path / "flows")
    edges = edges_of(store)
    allowed = edges[edges["denied"] == 0]
    assert allowed[["client", "server", "port"]].values.tolist() == [["10.20.4.17", "10.20.9.33", 5432]]
    assert allowed["connections"].tolist() == [1]
    assert allowed["bytes"].tolist() == [2210 + 9180]
    assert answered_share(allowed).tolist() == [1.0]


def test_reports_of_two_ends_are_one_flow(tmp_path: Path) -> None:
    text = "ts,src,sport,dst,dport,proto,bytes,reporter\n"
    text += "1790000000,10.0.0.1,40000,10.0.0.2,443,6,500,a\n1790000010,10.0.0.1,40000,10.0.0.2,443,6,700,b\n"
    text += "1790000020,10.0.0.1,40000,10.0.0.2,443,6,100,b\n"
    edges = edges_of(store_of(tmp_path, text))
    assert edges["connections"].tolist() == [1]
    assert edges["bytes"].tolist() == [800]


def test_direction_is_recovered_without_flags(tmp_path: Path) -> None:
    window = Observer(build_family_a(1), DEFAULT).window()
    write_window(window, tmp_path / "x.csv", both_ways=True)
    store = read_flows([tmp_path / "x.csv"], tmp_path / "flows")
    found = edges_of(store)
    wanted = window.edges[window.legitimate]
    keys = ["client", "server", "proto", "port"]
    known = set(map(tuple, found[keys].to_numpy().tolist()))
    recovered = [tuple(row) in known for row in wanted[keys].to_numpy().tolist()]
    assert sum(recovered) / len(recovered) >= 0.99
    rules = DuckEngine().run(direction_counts(flows_table(), undecided=True), {"flows": store.files()}).to_pandas()
    assert rules["records"].sum() == store.report.flows


def test_buckets_add_up_over_hours_and_repeats_do_not(tmp_path: Path) -> None:
    stamps = [0, 10, 299, 300, 3600, 3601, 7200 + 900]
    text = "ts,src,sport,dst,dport,proto\n" + "".join(
        f"{1_789_999_200 + s},10.0.0.1,40000,10.0.0.2,443,6\n" for s in stamps
    )
    edges = edges_of(store_of(tmp_path, text))
    assert edges["buckets"].tolist() == [4]


# ibis 12 reads an option of pandas that pandas 3 has deprecated.
@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")
def test_hour_by_hour_equals_all_at_once(tmp_path: Path) -> None:
    window = Observer(build_family_a(2), DEFAULT).window()
    write_window(window, tmp_path / "x.csv")
    store = read_flows([tmp_path / "x.csv"], tmp_path / "flows")
    engine = DuckEngine()
    hourly = hourly_edges(flows_table(), undecided=False, several_reporters=False)
    parts = []
    for at, file in enumerate(store.files()):
        part = tmp_path / f"hour{at}.parquet"
        # Direction comes from the source port here, so that hours do not depend on each other.
        engine.run(hourly, {"flows": [file]}).to_pandas().to_parquet(part)
        parts.append(part)
    import ibis

    schema = ibis.memtable(pd.read_parquet(parts[0])).schema()
    merged = engine.run(merged_hours(ibis.table(schema, name="hours")), {"hours": parts}).to_pandas()
    whole = engine.run(
        direct_edges(flows_table(), undecided=False, several_reporters=False), {"flows": store.files()}
    ).to_pandas()[merged.columns]
    keys = ["client", "server", "proto", "port"]
    pd.testing.assert_frame_equal(
        merged.sort_values(keys, ignore_index=True), whole.sort_values(keys, ignore_index=True), check_dtype=False
    )


def test_equals_a_hand_written_query(tmp_path: Path) -> None:
    window = Observer(build_family_a(3), DEFAULT).window()
    write_window(window, tmp_path / "x.csv")
    frame = pd.read_csv(tmp_path / "x.csv").assign(initiator="src")
    frame.to_csv(tmp_path / "y.csv", index=False)
    store = read_flows([tmp_path / "y.csv"], tmp_path / "flows")
    edges = edges_of(store)[["client", "server", "port", "connections", "bytes"]]
    files = [str(file) for file in store.files()]
    by_hand = duckdb.execute(
        "SELECT src AS client, dst AS server, dport AS port, count(*) AS connections, sum(bytes_fwd) AS bytes "
        "FROM read_parquet(?, hive_partitioning = false) GROUP BY src, dst, proto, dport "
        "ORDER BY src, dst, proto, dport",
        [files],
    ).df()
    pd.testing.assert_frame_equal(edges, by_hand, check_dtype=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_spark_gives_what_duckdb_gives(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed: pip install 'nl2net[spark]' (needs Java)")
    store = read_flows([SHARED / "flows" / "samples"], tmp_path / "flows")
    spark = make_engine("pyspark")
    try:
        found = build_edges(spark, store.files(), store.report).to_pandas()
    finally:
        spark._session.stop()  # type: ignore[attr-defined]
    keys = ["client", "server", "proto", "port"]
    found = found.sort_values(keys, ignore_index=True)
    wanted = edges_of(store)
    for column in wanted.columns:
        assert found[column].astype(str).tolist() == wanted[column].astype(str).tolist(), column


def test_external_tail_folds_and_totals_agree() -> None:
    window = Observer(build_family_a(1), DEFAULT).window()
    edges = window.edges.copy()
    many = pd.DataFrame(
        {
            "client": [f"198.51.{i // 200}.{i % 200 + 1}" for i in range(3000)],
            "server": edges["server"].iloc[0],
            "proto": 6,
            "port": 443,
            "connections": 1,
            "bytes": 40,
            "buckets": 1,
            "answered_yes": 1,
            "answered_no": 0,
            "denied": 0,
            "first_seen": edges["first_seen"].iloc[0],
            "last_seen": edges["last_seen"].iloc[0],
        }
    )
    both = pd.concat([edges, many], ignore_index=True)
    population = survey(both)
    assert {"external:198.51.0.0/16"} == {name for name in population.folded if name.startswith("external:198")}
    assert len(population.edges) < len(both) - 2900
    for column in ("bytes", "connections", "denied"):
        assert population.edges[column].sum() == both[column].sum()


def test_scanners_are_found_and_busy_clients_are_not() -> None:
    window = Observer(build_family_a(2), DEFAULT).window()
    assert set(survey(window.edges).scanners) == set(window.scanners)


def test_public_addresses_count_as_inside_when_nothing_is_private() -> None:
    window = Observer(build_family_a(1), DEFAULT).window()
    swap = {name: name.replace("10.", "44.", 1) for name in set(window.edges["client"]) | set(window.edges["server"])}
    edges = window.edges.assign(client=window.edges["client"].map(swap), server=window.edges["server"].map(swap))
    population = survey(edges)
    assert all(population.inside.values())
    assert population.notes
    assert not survey(edges, Scope((*PRIVATE, "44.40.0.0/16"))).notes
