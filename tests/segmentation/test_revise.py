"""Answers about roles: how they become hints, and what roles do under them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from nl2net.errors import UserError
from nl2net.segmentation.explain import Explainer, RoleCard
from nl2net.segmentation.flows import ReadReport
from nl2net.segmentation.hints import Hints, load_hints
from nl2net.segmentation.revise import (
    Cancelled,
    accept_role,
    grouped_hints,
    hints_of,
    merge_roles,
    rename_role,
    revise,
    role_changes,
    save_hints,
    split_role,
    without_hint,
)
from nl2net.segmentation.workspace import RunOptions, Workspace, infer_from_edges, open_workspace, write_run


def _edge(client: str, server: str, port: int) -> dict[str, object]:
    stamp = pd.Timestamp("2031-05-03T10:00", tz="UTC")
    return {
        "client": client, "server": server, "proto": 6, "port": port, "connections": 9, "bytes": 900, "buckets": 3,
        "answered_yes": 9, "answered_no": 0, "denied": 0, "first_seen": stamp, "last_seen": stamp,
    }  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven web servers that call two stores, and six clients of them."""
    webs, stores = [f"10.0.1.{n}" for n in range(1, 8)], ["10.0.2.1", "10.0.2.2"]
    edges = [_edge(f"10.0.9.{n}", web, 443) for n in range(1, 7) for web in webs]
    edges += [_edge(web, store, 5432) for web in webs for store in stores]
    metadata = pd.DataFrame({"address": [], "meta": [], "records": []})
    run = infer_from_edges(pd.DataFrame(edges), metadata, ReadReport(), options=RunOptions())
    folder = tmp_path_factory.mktemp("shop")
    write_run(run, folder)
    return folder


@pytest.fixture
def shop(made: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return open_workspace(tmp_path)


def _role_of(workspace: Workspace) -> dict[str, str]:
    return {name: role for role, names in workspace.members().items() for name in names}


def test_a_split_role_stays_split_and_both_sides_stay_whole(shop: Workspace) -> None:
    before = _role_of(shop)
    webs = sorted(shop.members()[before["10.0.1.1"]])
    assert webs == [f"10.0.1.{n}" for n in range(1, 8)]
    # All show the same tokens: small groups are adopted by large ones, and only the hint tells these two apart.
    _, fresh = revise(shop, split_role(Hints(), webs[5:], webs[:5]))
    after = _role_of(fresh)
    assert sorted(fresh.members()[after[webs[0]]]) == webs[:5]
    assert sorted(fresh.members()[after[webs[6]]]) == webs[5:]
    assert [after[n] for n in ("10.0.2.1", "10.0.9.1")] == [before[n] for n in ("10.0.2.1", "10.0.9.1")]


def test_a_merged_and_renamed_role_is_written_and_survives_the_next_run(shop: Workspace) -> None:
    roles = _role_of(shop)
    stores, clients = roles["10.0.2.1"], roles["10.0.9.1"]
    hints = merge_roles(Hints(), [shop.members()[stores], shop.members()[clients]])
    _, fresh = revise(shop, hints)
    joined = _role_of(fresh)["10.0.2.1"]
    assert len(fresh.members()[joined]) == 8 and _role_of(fresh)["10.0.9.6"] == joined
    assert open_workspace(shop.folder).members() == shop.members()  # nothing was written
    named = rename_role(hints, joined, "edge", taken=fresh.members())
    run, _ = revise(shop, named)
    write_run(run, shop.folder)
    again = open_workspace(shop.folder)
    assert len(again.members()["edge"]) == 8
    _, third = revise(again, named)
    assert third.members() == again.members()


def test_a_cancelled_inference_stops_before_the_first_cut(shop: Workspace) -> None:
    with pytest.raises(Cancelled):
        revise(shop, Hints(), cancelled=lambda: True)


def test_two_roles_of_one_name_are_refused(shop: Workspace) -> None:
    first, second = sorted(shop.members())[:2]
    with pytest.raises(UserError, match="two roles would be called"):
        revise(shop, Hints(names={first: "same", second: "same"}))


def test_hints_are_kept_in_the_format_that_the_command_reads(tmp_path: Path) -> None:
    hints = rename_role(accept_role(Hints(soft={"c": "web"}), ["a", "b", "c"]), "r-1", "front")
    hints = split_role(hints, ["c"], ["a", "b"])
    assert load_hints(save_hints(hints, tmp_path)) == hints == hints_of(tmp_path)
    assert json.loads((tmp_path / "hints.json").read_text())["apart"] == [["a", "c"]]
    with pytest.raises(UserError, match="a and c are to be apart"):
        save_hints(replace(hints, together=(("a", "b"), ("b", "c"))), tmp_path)
    assert hints_of(tmp_path) == hints


def test_an_answer_takes_back_those_that_it_contradicts() -> None:
    hints = merge_roles(Hints(), [["a", "b"], ["c", "d"]])
    parted = split_role(hints, ["c", "d"], ["a", "b"])
    assert not parted.contradictions() and parted.apart == (("a", "c"),)
    joined = merge_roles(parted, [["a", "b"], ["c", "d"]])
    assert not joined.contradictions() and joined.apart == ()
    assert [found.kind for found in grouped_hints(parted)] == ["together", "together", "apart"]
    for found in grouped_hints(parted):
        parted = without_hint(parted, found)
    assert parted == Hints()
    with pytest.raises(UserError, match="on both sides"):
        split_role(Hints(), ["a"], [])
    with pytest.raises(UserError, match="needs two"):
        merge_roles(Hints(), [["a"]])
    with pytest.raises(UserError, match="role of one"):
        accept_role(Hints(), ["a"])


@pytest.mark.parametrize("name", ["", "two words", "a,b", "-a", "x" * 64, "naïve"])
def test_names_that_a_target_would_not_take_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="no name of a role"):
        rename_role(Hints(), "r", name)


def test_a_taken_name_is_refused_and_a_second_name_replaces_the_first() -> None:
    with pytest.raises(UserError, match="already"):
        rename_role(Hints(), "r", "web", taken=["web", "r"])
    twice = rename_role(rename_role(Hints(), "r", "web", taken=["r"]), "web", "edge", taken=["web"])
    back = rename_role(twice, "edge", "r", taken=["edge"])
    assert twice.names["r"] == "edge" and back.names.get("r", "r") == "r"


def test_two_endpoints_are_told_apart(shop: Workspace) -> None:
    explainer = Explainer(shop.model, shop.ids)
    tokens = explainer.why_members_apart("10.0.1.1", "10.0.9.1")
    assert {token.share for token in tokens} | {token.share_there for token in tokens} <= {0.0, 1.0}
    assert tokens and explainer.evidence("10.0.1.1", "10.0.9.1") > 0 > explainer.evidence("10.0.1.1", "10.0.1.2")
    with pytest.raises(UserError, match="nothing is known of"):
        explainer.why_members_apart("10.0.1.1", "192.0.2.1")
    for card in explainer.cards():
        assert RoleCard.from_json(json.loads(json.dumps(card.to_json()))) == card


def test_changes_are_told_in_sentences() -> None:
    assert role_changes({"a": ["1", "2"]}, {"a": ["1"], "b": ["2"]}) == ["b is new: 1 from a"]
    assert role_changes({"a": ["1"]}, {"a": ["1"]}) == []
