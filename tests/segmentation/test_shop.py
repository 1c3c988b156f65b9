"""From logs to a proof: the online shop and an estate, through the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from sklearn.metrics import adjusted_rand_score

from nl2net.cli.main import main
from nl2net.segmentation.evaluation.estate import DEFAULT, Observer
from nl2net.segmentation.evaluation.family_a import build_family_a
from nl2net.segmentation.loader import READERS, is_flow_log, load_graph
from nl2net.segmentation.workspace import open_workspace
from tests.conftest import SHARED
from tests.segmentation.stories import boutique_lines, write_window

CALLS = SHARED / "flows" / "online_boutique" / "calls.csv"


def run(*arguments: str) -> int:
    try:
        main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "flows").mkdir()
    (folder / "flows" / "hubble.jsonl").write_text("\n".join(boutique_lines(CALLS, replicas=3)) + "\n")
    assert run("segment", "roles", str(folder / "flows"), "--out", str(folder / "roles")) == 0
    assert run("segment", "policy", str(folder / "roles"), "--out", str(folder / "policy")) == 0
    return folder


@pytest.mark.parametrize("replicas", [1, 3])
def test_the_shop_leads_back_to_its_calls_exactly(tmp_path: Path, replicas: int) -> None:
    (tmp_path / "hubble.jsonl").write_text("\n".join(boutique_lines(CALLS, replicas=replicas)) + "\n")
    assert run("segment", "roles", str(tmp_path / "hubble.jsonl"), "--out", str(tmp_path / "roles")) == 0
    assert (
        run("segment", "policy", str(tmp_path / "roles"), "--out", str(tmp_path / "policy"), "--target", "kubernetes")
        == 0
    )
    found = {
        (r["client_role"].rsplit("-", 1)[0], r["server_role"].rsplit("-", 1)[0], r["port_low"], r["port_high"])
        for r in rows(tmp_path / "policy" / "rules.csv")
        if r["port_low"] != "53"
    }
    wanted = {(f"shop-{c['client']}", f"shop-{c['server']}", c["target_port"], c["target_port"]) for c in rows(CALLS)}
    assert found == wanted
    lookups = [r for r in rows(tmp_path / "policy" / "rules.csv") if r["port_low"] == "53"]
    assert len(lookups) == 12
    assert rows(tmp_path / "policy" / "review.csv") == []


def test_live_labels_make_the_selectors(shop: Path) -> None:
    text = "".join(path.read_text() for path in (shop / "policy" / "kubernetes").glob("shop-*.yaml"))
    assert "app: cartservice" in text
    assert "10.0." not in text


def test_report_is_one_page_with_pictures(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("segment", "report", str(shop / "policy"), "--html", str(shop / "report.html")) == 0
    page = (shop / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "http://" not in page and "https://" not in page
    assert run("segment", "report", str(shop / "roles"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["roles"]["version"] == 1
    roles = sorted({r["role"] for r in rows(shop / "roles" / "roles.csv")})
    assert run("segment", "report", str(shop / "roles"), "--why", f"{roles[1]},{roles[2]}") == 0
    assert "%" in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["simulated", pytest.param("kernel", marks=pytest.mark.kernel)])
def test_the_proof_has_no_mismatch_and_sees_planted_faults(
    shop: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    arguments = ("segment", "verify", str(shop / "policy"), "--backend", backend, "--members", "1", "--json")
    assert run(*arguments) == 0
    proof = json.loads(capsys.readouterr().out)
    assert proof["backend"] == backend
    assert 0 < proof["reach_1"] <= proof["reach_3"] < 1
    assert proof["ok"] and proof["mismatches"] == [] and proof["dns_broken"] == []
    assert proof["before_open"] == proof["pairs"] == proof["possible"]
    assert proof["after_open"] == proof["intended_open"] == 16
    assert proof["mutations"] and all(m["noticed"] for m in proof["mutations"])


def test_a_wrong_file_shows_as_a_mismatch(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shutil

    copy = tmp_path / "policy"
    shutil.copytree(shop / "policy", copy)
    victim = next(iter((copy / "kubernetes").glob("shop-seg-shop-redis*.yaml")))
    victim.write_text(victim.read_text().replace("port: 6379", "port: 6380"))
    assert run("segment", "verify", str(copy), "--backend", "simulated", "--members", "1", "--json") == 1
    proof = json.loads(capsys.readouterr().out)
    assert [(m["port"], m["intended"]) for m in proof["mismatches"]] == [(6379, True)]


def test_an_estate_from_csv_to_rules_and_what_would_break(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    observer = Observer(build_family_a(2), DEFAULT)
    first, second = observer.window(), observer.window()
    write_window(first, tmp_path / "one.csv", both_ways=True)
    write_window(second, tmp_path / "two.csv", seed=1, both_ways=True)
    assert run("segment", "roles", str(tmp_path / "one.csv"), "--out", str(tmp_path / "roles"), "--json") == 0
    capsys.readouterr()
    found = {r["ip"]: r for r in rows(tmp_path / "roles" / "roles.csv")}
    assert list(next(iter(found.values()))) == ["ip", "role", "reason", "confidence"]
    known = [ip for ip in first.roles if ip in found and ip.startswith("10.")]
    ari = adjusted_rand_score([first.roles[ip] for ip in known], [found[ip]["role"] for ip in known])
    assert ari >= 0.75
    assert {ip for ip, r in found.items() if r["role"] == "quarantine-scanners"} == set(first.scanners)
    policy = ("segment", "policy", str(tmp_path / "roles"), "--out", str(tmp_path / "policy"), "--json")
    assert run(*policy, "--holdout", str(tmp_path / "two.csv"), "--target", "nftables", "--target", "calico") == 0
    draft = json.loads(capsys.readouterr().out)
    assert set(draft["trades"]) == {"strict", "role", "generalised"}
    assert draft["trades"]["strict"]["violation"] > draft["trades"]["role"]["violation"]
    assert draft["trades"]["role"]["over_permission"] < draft["trades"]["generalised"]["over_permission"]
    assert 0 < draft["broken_total"] == round(draft["trades"]["role"]["violation"] * draft["trades"]["role"]["edges"])
    names = {r["role"] for r in found.values()}
    assert all({r["client_role"], r["server_role"]} <= names for r in rows(tmp_path / "policy" / "rules.csv"))


def test_edited_roles_are_taken_as_they_are(shop: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "roles"
    shutil.copytree(shop / "roles", copy)
    text = (copy / "roles.csv").read_text()
    role = next(r["role"] for r in rows(copy / "roles.csv") if "redis" in r["role"])
    (copy / "roles.csv").write_text(text.replace(role, "the-cache"))
    assert "the-cache" in open_workspace(copy).members()


def test_flow_logs_and_role_folders_are_graphs(shop: Path) -> None:
    graph = load_graph(shop / "flows")
    assert graph.number_of_nodes() == 37
    assert all({"role", "kind"} <= set(data) for _, data in graph.nodes(data=True))
    roles = load_graph(shop / "roles")
    assert roles.number_of_nodes() == 13
    calls = [data for _, _, data in roles.edges(data=True) if data["port"] != 53]
    assert len(calls) == 16 and all(data["state"] == "accepted" for data in calls)
    assert is_flow_log(shop / "flows") and is_flow_log(shop / "roles")
    assert not is_flow_log(SHARED / "flows" / "online_boutique")
    assert READERS[0].name == "flow_log"


def test_questions_see_roles_in_the_schema(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, kind in (("flows", "endpoint"), ("roles", "role")):
        question = ("ask", "which roles talk to the cart?", "--graph", str(shop / folder))
        assert run(*question, "--dry-run", "--show-prompt") == 0
        prompt = capsys.readouterr().out
        assert f'Node kinds (graph.nodes[n]["kind"]): {kind}.' in prompt
        node_part, edge_part = prompt.split("Edge attributes", 1)
        assert "\n- role: text" in node_part.split("Node attributes", 1)[1]
        assert all(f"\n- {name}: " in edge_part for name in ("port", "first_seen", "last_seen"))


def test_errors_name_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("segment", "policy", str(tmp_path), "--out", str(tmp_path / "x")) == 2
    assert "segment roles" in capsys.readouterr().err
    assert run("segment", "roles", str(tmp_path / "none"), "--out", str(tmp_path / "x")) == 2
    assert "no such file" in capsys.readouterr().err
    assert run("segment", "report", str(tmp_path)) == 2
    sample = str(SHARED / "flows" / "samples" / "zeek_conn.log")
    assert run("segment", "roles", sample, "--out", str(tmp_path / "y"), "--window", "never") == 2
    assert "not a time" in capsys.readouterr().err
