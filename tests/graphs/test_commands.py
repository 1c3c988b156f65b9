"""`nl2net graph` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nl2net.cli.main import build_app
from nl2net.display import clean


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("NL2NET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return CliRunner()


def test_add_list_schema_check_convert_show(run: CliRunner, tmp_path: Path) -> None:
    app = build_app()
    (tmp_path / "links.csv").write_text("src,dst,bw\nr1,r2,10\nr2,r3,20\n")
    assert run.invoke(app, ["graph", "add", "links.csv", "--unit", "bw=Mbit/s"]).exit_code == 0
    assert "links" in run.invoke(app, ["graph", "list"]).stdout
    assert "Mbit/s" in run.invoke(app, ["graph", "schema", "links"]).stdout
    report = json.loads(run.invoke(app, ["graph", "check", "links", "--json"]).stdout)
    assert report["nodes"] == 3 and report["findings"]
    assert run.invoke(app, ["graph", "convert", "links", "out.graphml"]).exit_code == 0
    shown = json.loads(run.invoke(app, ["graph", "show", "out.graphml", "--json", "--png", "out.png"]).stdout)
    assert shown["edges"] == 2
    assert (tmp_path / "out.png").read_bytes()[:4] == b"\x89PNG"


def test_names_cannot_reach_the_terminal_as_sequences(run: CliRunner, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07core\u202e1"
    (tmp_path / "g.json").write_text(json.dumps({"nodes": [{"id": evil}, {"id": "b"}], "links": []}))
    shown = run.invoke(build_app(), ["graph", "show", "g.json"]).stdout
    assert "core" in shown
    assert clean(shown) == shown


@pytest.mark.slow
def test_a_large_graph_is_drawn_by_communities(run: CliRunner) -> None:
    result = run.invoke(build_app(), ["graph", "show", "malt", "--json", "--png", "m.png"])
    assert "communities of 1534 nodes" in json.loads(result.stdout)["drawn"]
