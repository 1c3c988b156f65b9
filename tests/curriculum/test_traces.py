"""Readers of network traces: the same minute in every format, and what each faulty file is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_data import SHARED

from nl2net.curriculum.traces import generate, load_folder, load_trace, load_traces
from nl2net.errors import DataError, UserError

TRACES = SHARED / "traces"
MINUTE = np.repeat([2.4, 0.6, 4.8, 0.0, 1.2, 3.0, 0.24, 6.0, 1.8], [8, 5, 7, 3, 6, 10, 4, 9, 8])


@pytest.mark.parametrize(
    "name",
    [
        "two-column.txt",
        "two-column-uneven.txt",
        "mahimahi.txt",
        "genet-abr.json",
        "genet-cc.json",
        "hsdpa.log",
        "header.csv",
    ],
)
def test_every_format_gives_the_same_minute(name: str) -> None:
    trace = load_trace(TRACES / "formats" / name)
    assert trace.duration_s == pytest.approx(60)
    assert trace.mean_mbps == pytest.approx(2.706)
    np.testing.assert_allclose(trace.sampled(1.0), MINUTE, atol=1e-9)


def test_settings_come_with_their_units() -> None:
    bitrate = load_trace(TRACES / "formats" / "genet-abr.json")
    assert bitrate.settings == {"rtt_ms": 80.0, "buffer_s": 60.0}
    assert any("60000 read as ms" in note for note in bitrate.notes)
    congestion = load_trace(TRACES / "formats" / "genet-cc.json")
    assert congestion.settings["queue_packets"] == 50
    assert congestion.settings["delay_ms"] == 40


def test_fcc_fetches_are_grouped_and_failures_are_missing() -> None:
    first, second = load_traces(TRACES / "formats" / "fcc-webget.csv")
    assert first.name == "900001-www.example.com"
    assert len(first.mbps) == 28
    assert len(second.mbps) == 29
    assert first.mbps[0] == pytest.approx(2.4)
    assert (first.mbps > 0).all()
    assert any("assumption" in note for note in first.notes)
    with pytest.raises(DataError, match="2 traces"):
        load_trace(TRACES / "formats" / "fcc-webget.csv")


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("empty.txt", None, "no interval"),
        ("one-row.txt", None, "no interval"),
        ("not-increasing.txt", 3, "also line 4"),
        ("not-a-number.txt", 2, "expected a number, found 'nan'"),
        ("text.txt", 2, "found 'fast'"),
        ("negative.txt", 2, "negative rate -0.5"),
        ("all-zero.txt", None, "nothing can ever be delivered"),
        ("three-columns.txt", 1, "ambiguous"),
        ("mahimahi-decreasing.txt", 3, "stamps fall: 9 after 10"),
        ("mahimahi-zero-length.txt", 3, "the period is zero"),
        ("genet-cc-lengths.json", None, "3 times, 2 rates"),
    ],
)
def test_faulty_files_are_refused_with_place_and_way_out(name: str, line: int | None, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load_trace(TRACES / "bad" / name)
    assert caught.value.path is not None
    assert caught.value.path.endswith(name)
    assert caught.value.line == line
    assert said in str(caught.value)
    assert caught.value.hint


def test_a_wrong_unit_is_warned_about() -> None:
    trace = load_trace(TRACES / "bad" / "bits-not-mbits.txt")
    assert any("looks like bit/s" in note for note in trace.notes)


def test_the_fcc_folder_reads_whole() -> None:
    traces = load_folder(TRACES / "fcc")
    assert len(traces) == 170
    assert all(trace.duration_s > 0 for trace in traces)


def test_a_missing_or_empty_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        load_folder(tmp_path / "nothing")
    (tmp_path / "README.md").write_text("not a trace")
    with pytest.raises(DataError, match="no trace"):
        load_folder(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start_s,bandwidth\n0,1\n1,2\n", "no rate column with a unit"),
        ("time,bandwidth_kbps\n0,1\n1,2\n", "no column start_s"),
        ("start_s,bandwidth_kbps\n0,1\n", "no interval"),
        ("start_s,bandwidth_kbps\n0,1\n1,2,3\n", "3 cells, 2 columns"),
        ('{"timestamps": [0, 1], "bandwidths": [1, "x"]}', "expected a number"),
        ('{"timestamps": [0, 1]', "not JSON"),
        ("[1, 2]", "no timestamps"),
    ],
)
def test_other_faults(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trace"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        load_trace(path, form="csv" if text.startswith("time") else None)


def test_an_unknown_format_or_generator_lists_the_known(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("0 1\n1 2\n")
    with pytest.raises(DataError) as caught:
        load_trace(path, form="pcap")
    assert "mahimahi" in caught.value.hint
    with pytest.raises(UserError):
        generate("nothing", seed=1, count=1)


@given(
    spans=st.lists(st.floats(0.01, 50), min_size=1, max_size=20),
    data=st.data(),
)
def test_two_columns_round_trip(
    tmp_path_factory: pytest.TempPathFactory, spans: list[float], data: st.DataObject
) -> None:
    rates = data.draw(st.lists(st.floats(0, 100), min_size=len(spans), max_size=len(spans)))
    times = np.concatenate([[0.0], np.cumsum(spans)])
    path = tmp_path_factory.mktemp("round") / "trace.txt"
    path.write_text("\n".join(f"{t!r} {r!r}" for t, r in zip(map(float, times), [9.0, *rates], strict=True)))
    if not any(rate > 0 for rate in rates):
        with pytest.raises(DataError, match="nothing can ever"):
            load_trace(path)
        return
    trace = load_trace(path)
    np.testing.assert_array_equal(trace.mbps, rates)
    np.testing.assert_array_equal(trace.edges_s, times)


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused_by_name(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "trace.txt"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        trace = load_trace(path)
    except DataError as error:
        assert str(path) in str(error)
    else:
        assert len(trace.edges_s) == len(trace.mbps) + 1
        assert (np.diff(trace.edges_s) > 0).all()


@pytest.mark.parametrize(
    ("name", "mean", "cv", "lag"),
    [
        ("volatile", 2.75, 0.50, 0.75),
        ("broadband", 1.13, 0.25, 0.83),
        ("commute", 1.09, 0.44, 0.85),
        ("wired", 57.0, 0.47, 0.58),
        ("cellular", 2.4, 0.45, 0.60),
    ],
)
def test_generators_match_the_published_medians(name: str, mean: float, cv: float, lag: float) -> None:
    traces = generate(name, seed=3, count=500)
    means = [trace.mbps.mean() for trace in traces]
    spreads = [trace.mbps.std() / trace.mbps.mean() for trace in traces]
    lags = [np.corrcoef(trace.mbps[:-1], trace.mbps[1:])[0, 1] for trace in traces]
    assert np.median(means) == pytest.approx(mean, rel=0.15)
    assert np.median(spreads) == pytest.approx(cv, rel=0.15)
    assert np.median(lags) == pytest.approx(lag, rel=0.15)
