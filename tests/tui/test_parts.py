"""Parts without a screen: canvas, scenes, regions, ordering, exports, charts, remembered state."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nl2net.errors import UserError
from nl2net.locations import Locations
from nl2net.tui.braille import Canvas
from nl2net.tui.charts import chart_scene, write_chart
from nl2net.tui.export import export_rows
from nl2net.tui.ordering import sorted_rows
from nl2net.tui.regions import region_scene
from nl2net.tui.scenes import Scene, change_scene, topology_scene
from nl2net.tui.state import Remembered
from nl2net.tui.widgets.picture import draw_scene

VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
)


def drawn(scene: Scene, width: int = 60, height: int = 20) -> list[str]:
    canvas = draw_scene(scene, width, height)
    return ["".join(character for character, _ in canvas.row(row)) for row in range(height)]


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault of the rows
@given(st.lists(st.lists(VALUES, max_size=3), max_size=8), st.integers(0, 2), st.booleans())
def test_any_rows_can_be_sorted(rows: list[list[Any]], column: int, descending: bool) -> None:
    order = sorted_rows(rows, column, descending=descending)
    assert sorted(order) == list(range(len(rows)))


@given(st.integers(1, 90), st.integers(1, 30), st.lists(st.tuples(*[st.floats(-500, 500)] * 4), max_size=8), st.text())
def test_a_canvas_never_draws_outside(width: int, height: int, lines: list[Any], text: str) -> None:
    from rich.cells import cell_len

    from nl2net.display import clean_line

    canvas = Canvas(width, height)
    for line in lines:
        x0, y0, x1, y1 = line
        canvas.line(x0, y0, x1, y1, "link")
    canvas.text(-2, 0, clean_line(text), "label")
    for row in range(height):
        assert sum(cell_len(character) for character, _ in canvas.row(row)) <= width + 1


def test_a_topology_shows_every_node_and_marks() -> None:
    graph = nx.path_graph(["a", "b", "c"])
    scene = topology_scene(graph, marked=["b"], name="net")
    assert [mark.colour for mark in scene.marks] == ["node", "marked", "node"]
    text = "\n".join(drawn(scene))
    assert text.count("●") == 3 and "net: 3 nodes" in text
    assert topology_scene(nx.Graph(), name="none").marks == ()


def test_a_change_shows_what_came_and_went() -> None:
    before = nx.path_graph(["a", "b", "c"])
    after = before.copy()
    after.remove_node("c")
    after.add_edge("a", "d")
    scene = change_scene(before, after, "net")
    assert {mark.label: mark.colour for mark in scene.marks} == {"a": "node", "b": "node", "c": "removed", "d": "added"}
    assert sorted(colour for _, _, colour in scene.lines) == ["added", "link", "removed"]


def test_a_large_network_is_summarised_by_regions() -> None:
    graph = nx.relabel_nodes(nx.disjoint_union(nx.star_graph(400), nx.star_graph(200)), str)
    graph.add_node("alone")
    scene = topology_scene(graph, name="big")
    assert len(scene.marks) == 3 and any("(401)" in mark.label for mark in scene.marks)
    assert any("apart (1)" in mark.label for mark in scene.marks)
    assert scene.notes[1].split()[0] == "400"
    assert region_scene(nx.Graph(), name="empty").marks == ()


def test_csv_holds_no_formula_and_parquet_reads_back(tmp_path: Path) -> None:
    rows = [["=1+1", -5, None], ["@x", 2.5, ["a"]], ["\x1b[31m", 1, {"k": 1}]]
    assert export_rows(["a", "n", "m"], rows, tmp_path / "t.csv") == 3
    with (tmp_path / "t.csv").open(newline="") as stream:
        read = list(csv.reader(stream))
    assert read[1][:2] == ["'=1+1", "-5"] and read[2][0] == "'@x" and "\x1b" not in read[3][0]
    assert export_rows(["a", "n", "n"], rows, tmp_path / "t.parquet") == 3
    import duckdb

    assert duckdb.read_parquet(str(tmp_path / "t.parquet")).fetchall()[0][:2] == ("=1+1", -5.0)
    with pytest.raises(UserError, match="csv or"):
        export_rows(["a"], [], tmp_path / "t.xls")
    assert export_rows(["a"], [], tmp_path / "empty.parquet") == 0


@pytest.mark.parametrize("kind", ["bar", "line", "scatter", "histogram"])
def test_charts_are_drawn_in_cells_and_as_png(tmp_path: Path, kind: str) -> None:
    data = {"kind": kind, "table": {"columns": ["site", "links"], "rows": [["a$b", 3], ["c", 9.5], ["d", None]]}}
    assert any(line.strip() for line in drawn(chart_scene(data))[1:])
    write_chart(data, tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "no numbers" in chart_scene({"kind": kind, "table": {}}).notes[0]


def test_remembered_state_survives_damage(locations: Locations) -> None:
    Remembered(graph="g", keys={"a": "f5"}).save(locations)
    assert Remembered.load(locations).keys == {"a": "f5"}
    path = locations.data / "tui.json"
    for damage in ("", "[]", "{", '{"graph": 7, "keys": [], "other": 1}'):
        path.write_text(damage)
        assert Remembered.load(locations) == Remembered()
