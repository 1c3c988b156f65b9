"""Every format tells the same story, and every line is accounted for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nl2net.errors import DataError, UserError
from nl2net.segmentation.flows import NORMAL_SCHEMA, FileReport, ReadReport
from nl2net.segmentation.readers import FlowOptions, iter_flows, read_flows
from nl2net.segmentation.readers.stream import json_values, line_blocks
from tests.conftest import SHARED

SAMPLES = SHARED / "flows" / "samples"
DATABASE = (6, 5432)


def read(path: Path, options: FlowOptions | None = None) -> tuple[list[dict[str, object]], FileReport]:
    report = ReadReport()
    tables = list(iter_flows([path], options, report=report))
    rows = pa.concat_tables(tables).to_pylist() if tables else []
    return rows, report.files[0]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "format_name", "records"),
    [
        ("aws_vpc_v2.log", "aws_vpc", 3),
        ("aws_vpc_v5_s3.log", "aws_vpc", 2),
        ("azure_nsg_v2.json", "azure_nsg", 3),
        ("azure_vnet_v4.json", "azure_vnet", 3),
        ("gcp_vpc.jsonl", "gcp_vpc", 1),
        ("zeek_conn.log", "zeek_conn", 2),
        ("zeek_conn.json", "zeek_conn", 1),
        ("nfdump_csv.csv", "nfdump", 2),
        ("nfdump_csv_fast.csv", "nfdump", 1),
        ("hubble_flows.jsonl", "hubble", 1),
        ("five_tuple.csv", "five_tuple", 1),
    ],
)
def test_samples_tell_one_story(name: str, format_name: str, records: int) -> None:
    rows, report = read(SAMPLES / name)
    assert report.format == format_name
    assert len(rows) == records
    assert not report.bad
    call = next(row for row in rows if (row["proto"], row["dport"]) == DATABASE and row["pkts_fwd"] in (14, None))
    assert str(call["src"]).endswith(".17") and str(call["dst"]).endswith(".33")
    assert call["sport"] == 48122
    assert call["ts_start"].timestamp() == pytest.approx(1_790_000_000, abs=1)  # type: ignore[attr-defined]
    counters = [row for row in rows if row["pkts_fwd"] == 14]
    if format_name != "hubble":
        assert counters[0]["bytes_fwd"] == 2210
    if format_name in ("azure_nsg", "azure_vnet", "zeek_conn"):
        assert (counters[0]["pkts_rev"], counters[0]["bytes_rev"]) == (12, 9180)


def test_denied_records_are_kept() -> None:
    for name in ("aws_vpc_v2.log", "azure_nsg_v2.json", "azure_vnet_v4.json"):
        rows, _ = read(SAMPLES / name)
        assert [row["dport"] for row in rows if row["action"] == "deny"] == [23]


def test_aws_rows_without_flow_are_counted() -> None:
    _, report = read(SAMPLES / "aws_vpc_v2.log")
    assert report.skipped == {"nodata": 1}


def test_tcp_flags_of_aws_name_the_initiator() -> None:
    rows, _ = read(SAMPLES / "aws_vpc_v5_s3.log")
    assert [row["initiator"] for row in rows] == ["src", "dst"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_files_read_alike(tmp_path: Path, pack: object) -> None:
    packed = tmp_path / "flows.bin"
    packed.write_bytes(pack((SAMPLES / "zeek_conn.log").read_bytes()))  # type: ignore[operator]
    assert read(packed)[0] == read(SAMPLES / "zeek_conn.log")[0]


def test_broken_gzip_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    broken = tmp_path / "flows.gz"
    broken.write_bytes(gzip.compress((SAMPLES / "zeek_conn.log").read_bytes())[:-20])
    with pytest.raises(DataError, match=r"flows\.gz.*compressed"):
        read(broken)


def test_bad_lines_are_counted_sampled_and_not_fatal(tmp_path: Path) -> None:
    good = (SAMPLES / "aws_vpc_v2.log").read_text().splitlines()[0]
    lines = [good, good.replace(" 5432 ", " 99999 "), "garbage", good.replace("10.20.4.17", "10.20.4.999"), good]
    rows, report = read(write(tmp_path / "flows.log", "\n".join(lines) + "\n"))
    assert len(rows) == 2
    assert report.bad == {"port": 1, "number of fields": 1, "address": 1}
    assert {sample.line for sample in report.samples} == {2, 3, 4}
    assert report.records == report.flows + sum(report.bad.values()) + sum(report.skipped.values())


def test_strict_stops_at_the_first_bad_line(tmp_path: Path) -> None:
    good = (SAMPLES / "aws_vpc_v2.log").read_text().splitlines()[0]
    path = write(tmp_path / "flows.log", f"{good}\ngarbage\n")
    with pytest.raises(DataError, match="line 2"):
        read(path, FlowOptions(strict=True))


def test_custom_aws_fields_without_header(tmp_path: Path) -> None:
    path = write(tmp_path / "x.log", "10.0.0.1 10.0.0.2 40000 443 6 1790000000 1790000060 ACCEPT\n")
    options = FlowOptions(format="aws:srcaddr dstaddr srcport dstport protocol start end action")
    rows, _ = read(path, options)
    assert (rows[0]["dst"], rows[0]["dport"], rows[0]["action"]) == ("10.0.0.2", 443, "allow")


def test_packet_addresses_of_aws_win(tmp_path: Path) -> None:
    header = "srcaddr dstaddr srcport dstport protocol start end pkt-srcaddr pkt-dstaddr log-status"
    path = write(tmp_path / "x.log", f"{header}\n10.0.0.1 10.0.0.9 1 443 6 1790000000 1790000060 10.7.0.1 - OK\n")
    row = read(path)[0][0]
    assert (row["src"], row["dst"]) == ("10.7.0.1", "10.0.0.9")


def test_aws_parquet_with_underscores(tmp_path: Path) -> None:
    table = pa.table(
        {
            "interface_id": ["eni-1"],
            "srcaddr": ["10.0.0.1"],
            "dstaddr": ["10.0.0.2"],
            "srcport": [40000],
            "dstport": [443],
            "protocol": [6],
            "start": [1_790_000_000],
            "end": [1_790_000_060],
            "tcp_flags": [2],
            "log_status": ["OK"],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    row = read(tmp_path / "x.parquet")[0][0]
    assert (row["source_format"], row["initiator"], row["dport"]) == ("aws_vpc", "src", 443)


def test_ipv6_is_canonical_and_mapped_addresses_unwrap(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv",
        "ts,src,sport,dst,dport,proto\n1790000000,2001:DB8::0:1,4000,fd00::2,443,tcp\n"
        "1790000000,::ffff:10.0.0.1,4000,fe80::1%eth0,443,tcp\n",
    )
    rows, _ = read(path)
    assert [(row["src"], row["dst"]) for row in rows] == [("2001:db8::1", "fd00::2"), ("10.0.0.1", "fe80::1")]


def test_icmp_of_nfdump_hides_in_the_port(tmp_path: Path) -> None:
    header = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"
    path = write(
        tmp_path / "x.csv",
        f"{header}\n2026-09-21 14:13:20.123,0.0,ICMP,10.0.0.1,0,10.0.0.2,8.0,1,84,1\nSummary\n1,2,3\n",
    )
    rows, report = read(path)
    assert (rows[0]["icmp_type"], rows[0]["icmp_code"], rows[0]["dport"]) == (8, 0, None)
    assert not report.bad


def test_local_time_needs_a_zone_or_a_note(tmp_path: Path) -> None:
    utc, report = read(SAMPLES / "nfdump_csv.csv")
    assert any("zone" in note for note in report.notes)
    paris, quiet = read(SAMPLES / "nfdump_csv.csv", FlowOptions(timezone="Europe/Paris"))
    assert not quiet.notes
    moved = utc[0]["ts_start"] - paris[0]["ts_start"]  # type: ignore[operator]
    assert moved.total_seconds() == 7200


def test_long_form_of_nfdump_16(tmp_path: Path) -> None:
    header = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt"
    row = "2026-09-21 14:13:20,2026-09-21 14:13:30,10.0,fd00::1,fd00::2,40000,443,TCP,....S.,0,0,5,500,4,400"
    found = read(write(tmp_path / "x.csv", f"{header}\n{row}\n"))[0][0]
    assert (found["pkts_fwd"], found["bytes_rev"], found["initiator"]) == (5, 400, "src")


def test_zeek_with_iso_stamps_and_own_separator(tmp_path: Path) -> None:
    path = write(
        tmp_path / "conn.log",
        "#separator \\x7c\n#unset_field|-\n#fields|ts|id.orig_h|id.orig_p|id.resp_h|id.resp_p|proto|conn_state\n"
        "2026-09-21T14:13:20.5Z|10.0.0.1|8|10.0.0.2|0|icmp|OTH\n2026-09-21T14:13:21Z|10.0.0.1|-|10.0.0.2|53|udp|S0\n",
    )
    rows, _ = read(path)
    assert (rows[0]["icmp_type"], rows[0]["answered"]) == (8, None)
    assert (rows[1]["sport"], rows[1]["dport"], rows[1]["answered"]) == (None, 53, False)


def test_hubble_replies_and_layer_7_are_skipped_and_old_reply_field_ignored(tmp_path: Path) -> None:
    flow = json.loads((SAMPLES / "hubble_flows.jsonl").read_text())["flow"]
    variants = [
        flow,
        {**flow, "is_reply": True},
        {**flow, "Type": "L7"},
        {**{k: v for k, v in flow.items() if k != "is_reply"}, "reply": True, "l4": {"UDP": {"destination_port": 53}}},
        {**flow, "verdict": "AUDIT"},
    ]
    path = write(tmp_path / "x.jsonl", "".join(json.dumps({"flow": v}) + "\n" for v in variants))
    rows, report = read(path)
    assert report.skipped == {"reply": 1, "layer 7": 1}
    assert [row["initiator"] for row in rows] == ["src", None, "src"]
    assert [row["action"] for row in rows] == ["allow", "allow", "deny"]


def test_gcp_array_of_entries_and_direction(tmp_path: Path) -> None:
    entry = json.loads((SAMPLES / "gcp_vpc.jsonl").read_text())
    entry["jsonPayload"]["connection_direction"] = "INGRESS"
    rows, _ = read(write(tmp_path / "x.json", json.dumps([entry, entry], indent=2)))
    assert len(rows) == 2
    # Reported by the source as coming in: the destination started it.
    assert rows[0]["initiator"] == "dst"


def test_azure_document_that_was_cut_off_gives_its_complete_records(tmp_path: Path) -> None:
    record = json.loads((SAMPLES / "azure_vnet_v4.json").read_text())["records"][0]
    text = json.dumps({"records": [record, record, record]})
    rows, report = read(write(tmp_path / "x.json", text[: -len(json.dumps(record)) // 2]))
    assert len(rows) == 6
    assert sum(report.bad.values()) == 1


def test_azure_record_of_another_shape_is_bad_not_fatal(tmp_path: Path) -> None:
    record = json.loads((SAMPLES / "azure_nsg_v2.json").read_text())["records"][0]
    rows, report = read(write(tmp_path / "x.json", json.dumps({"records": [{"category": "x"}, record]})))
    assert len(rows) == 3
    assert sum(report.bad.values()) == 1


def test_table_without_destination_port_is_refused_with_its_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "src_ip,dst_ip,bytes\n10.0.0.1,10.0.0.2,5\n")
    with pytest.raises(DataError, match="destination port") as caught:
        read(path)
    assert "src_ip, dst_ip, bytes" in caught.value.hint


def test_unknown_content_and_unknown_format_are_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", "hello\n")
    with pytest.raises(DataError, match="no flow-log format fits"):
        read(path)
    with pytest.raises(UserError, match="unknown flow format"):
        read(path, FlowOptions(format="netflow9"))


def test_quoted_fields_and_semicolons(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", '"ts";"src";"dst";"dport";"proto"\n"1790000000";"10.0.0.1";"10.0.0.2";"443";"tcp"\n'
    )
    assert read(path)[0][0]["dport"] == 443


def test_store_is_partitioned_by_hour_and_reads_itself(tmp_path: Path) -> None:
    text = "ts,src,sport,dst,dport,proto\n" + "".join(
        f"{1_790_000_000 + 3600 * hour},10.0.0.1,40000,10.0.0.2,443,tcp\n" for hour in range(40)
    )
    store = read_flows([write(tmp_path / "x.csv", text)], tmp_path / "flows")
    assert len(store.files()) == 40
    assert pq.read_schema(store.files()[0]).equals(NORMAL_SCHEMA)
    again = read_flows([tmp_path / "flows"], tmp_path / "again")
    assert again.report.flows == 40


def test_window_keeps_what_starts_inside(tmp_path: Path) -> None:
    text = "ts,src,dst,dport\n" + "".join(f"{1_790_000_000 + i},10.0.0.1,10.0.0.2,443\n" for i in range(10))
    options = FlowOptions(window=(1_790_000_003_000_000, 1_790_000_006_000_000))
    assert len(read(write(tmp_path / "x.csv", text), options)[0]) == 3


def test_nothing_readable_is_an_error_and_leaves_no_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "ts,src,dst,dport\nnever,10.0.0.1,10.0.0.2,443\n")
    with pytest.raises(DataError, match="no flow record"):
        read_flows([path], tmp_path / "flows")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["x.csv"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)))
def test_blocks_of_any_size_give_the_lines(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in lines), newline="")
    for size in (1, 7, 1 << 20):
        blocks = list(line_blocks(path, size=size))
        assert [line for block in blocks for line in block.lines.to_pylist()] == lines
        assert [n for block in blocks for n in block.numbers().to_pylist()] == list(range(1, len(lines) + 1))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=200), at=st.integers(0, 3))
def test_junk_between_lines_costs_only_itself(tmp_path: Path, junk: bytes, at: int) -> None:
    good = (SAMPLES / "aws_vpc_v2.log").read_bytes().splitlines()[0]
    lines = [good] * 4
    lines.insert(at + 1, junk.replace(b"\n", b" ").replace(b"\r", b" "))
    path = tmp_path / "junk.log"
    path.write_bytes(b"\n".join(lines) + b"\n")
    rows, report = read(path)
    assert len(rows) >= 4
    assert report.records == 5 == report.flows + sum(report.bad.values()) + sum(report.skipped.values())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3), max_size=6)
)
def test_json_values_of_an_array_or_in_a_row(tmp_path: Path, values: list[dict[str, object]]) -> None:
    path = tmp_path / "values.json"
    for text in (json.dumps(values, indent=1), "\n".join(json.dumps(v) for v in values)):
        path.write_text(text)
        assert [item.value for item in json_values(path)] == values
