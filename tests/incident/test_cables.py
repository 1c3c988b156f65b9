"""Event models, exact expectations and the invented world, against a checker written apart from them."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

from nl2net.errors import UserError
from nl2net.incident.evaluation import judge, load_questions
from nl2net.incident.impact.cables import Cable, CableMap, Landing, country_of, parse_length, parse_tables
from nl2net.incident.impact.events import CableList, Circle, LatitudeBand, assess
from nl2net.incident.impact.repeaters import S1, Repeaters, expect, sample
from nl2net.incident.impact.synthetic import World, make_world
from nl2net.incident.loop import Investigator
from tests.incident.conftest import open_corpus


def _world(world: World) -> CableMap:
    return parse_tables(lambda name: world.files.get(f"{name}.csv"))


def _rows(world: World, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(world.files[f"{name}.csv"].decode())))


def _isolated_by_hand(world: World, failed: set[str], day: str = "2031-06-30") -> set[str]:
    """Countries without a cable, re-derived from the bare tables with no code of the product."""
    country = {row["id"]: row["country"] for row in _rows(world, "landings")}
    joined: dict[str, set[str]] = {}
    for row in _rows(world, "segments"):
        joined.setdefault(row["cable"], set()).update((country[row["from"]], country[row["to"]]))
    had, kept = set(), set()
    for row in _rows(world, "cables"):
        live = (
            row["planned"] == "0"
            and not (row["retired"] and row["retired"] <= day)
            and not (row["rfs"] and row["rfs"] > day)
        )
        lands = joined.get(row["id"], set())
        if live and len(lands) > 1:
            had |= lands
            if row["name"] not in failed:
                kept |= lands
    return had - kept


@pytest.mark.parametrize("seed", range(40))
def test_planted_facts_hold_by_hand(seed: int) -> None:
    world = make_world(seed, documents=False)
    assert _isolated_by_hand(world, {"Lone Line"}) == {"Norland, Rep."}
    assert _isolated_by_hand(world, {"Twin One"}) == set()
    assert _isolated_by_hand(world, {"Twin One", "Twin One Extension"}) == {"Isles", "Isles (East)"}
    computed = _world(world).on("2031-06-30")
    for names in (("Lone Line",), ("Twin One",), ("TW1", "Twin One Extension"), ("Border Line",)):
        full = {"TW1": "Twin One"}
        by_hand = _isolated_by_hand(world, {full.get(n, n) for n in names})
        assert set(assess(computed, CableList(names)).isolated) == by_hand
    assert assess(computed, CableList(("Border Line",)), land_borders=True).isolated == ()


def test_the_choice_of_model_matters() -> None:
    world = _world(make_world(3)).on("2031-06-30")
    whole, landings = assess(world, LatitudeBand(60.0)), assess(world, LatitudeBand(60.0, "landings"))
    assert "Southia" in whole.isolated
    assert "Southia" not in landings.isolated
    assert any("other choice" in text for text in whole.assumptions)
    assert "Polar Arc" in assess(world, LatitudeBand(80.0, "route")).failed


def test_circles_over_the_date_line_and_the_pole() -> None:
    world = _world(make_world(3)).on("2031-06-30")
    assert set(assess(world, Circle(-11.0, 178.95, 60)).failed) == {"Trench East", "Trench West"}
    assert "Trench East" in assess(world, Circle(-11.5, -176.0, 200)).failed
    assert "Polar Arc" in assess(world, Circle(90.0, 0.0, 600)).failed
    assert assess(world, Circle(0.0, -90.0, 100)).failed == ()


def test_days_pick_the_cables_in_service() -> None:
    world = _world(make_world(3))
    names = {c.name for c in world.on("2031-06-30").cables}
    assert {"South Bridge Express", "Future Link", "Trench-East"}.isdisjoint(names)
    assert "South Bridge Express" in {c.name for c in world.on("2029-06-30").cables}
    assert any("unknown service date" in note for note in world.on("2031-06-30").notes)
    assert any("more than a year" in note for note in world.on("2025-01-01").notes)


def test_unknown_cables_are_an_error_with_suggestions() -> None:
    with pytest.raises(UserError, match="no cable") as caught:
        assess(_world(make_world(3)), CableList(("Twin Two",)))
    assert "Twin One" in caught.value.hint


def test_expectation_is_exact() -> None:
    places = {n: Landing(n, n, lat, 0.0, n) for n, lat in (("a", 61.0), ("b", 10.0), ("c", 45.0))}
    cables = (
        Cable("1", "One", frozenset("ab"), length_km=250.0),
        Cable("2", "Two", frozenset("bc"), length_km=250.0),
        Cable("3", "Three", frozenset("bc"), length_km=99.0),
        Cable("4", "Four", frozenset("bc"), length_km=None),
    )
    told = expect(CableMap(places, cables), S1)
    assert told.per_cable == pytest.approx({"1": 1.0, "2": 1 - 0.9**2, "3": 0.0})
    assert told.landings == pytest.approx((1.0 + 0.0 + 0.0) / 3)
    assert told.without_length == 1


def test_sampling_agrees_with_the_expectation() -> None:
    world = _world(make_world(5, size="medium")).on("2031-06-30")
    model = Repeaters(150, 0.1, 0.02, 0.005)
    drawn = sample(world, model, runs=300, seed=4)
    told = expect(world, model)
    mean = sum(drawn.cables) / len(drawn.cables)
    assert math.isclose(mean, told.cables, abs_tol=0.01)
    assert sample(world, model, runs=5, seed=4) == sample(world, model, runs=5, seed=4)


def test_worlds_are_the_same_bytes() -> None:
    assert make_world(9).files == make_world(9).files
    assert make_world(9).files != make_world(10).files
    large = make_world(2, size="large")
    assert len(_world(large).cables) == 500


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_questions_of_worlds(tmp_path: Path, seed: int) -> None:
    make_world(seed).write(tmp_path)
    with open_corpus(tmp_path) as corpus:
        questions = load_questions(tmp_path / "questions.json")
        verdicts = [judge(q, Investigator(corpus).investigate(q.text), corpus) for q in questions]
    able = [v for v in verdicts if v.question.is_answerable]
    wrong = [(v.question.id, v.status, v.unmatched) for v in verdicts if not v.correct]
    assert sum(v.correct for v in able) >= 0.9 * len(able), wrong
    assert all(not v.delivered for v in verdicts if not v.question.is_answerable), wrong


def test_texts_of_maps() -> None:
    assert parse_length("37,000 km") == 37000.0
    assert parse_length("n.a.") is None
    assert country_of("Muanda, Congo, Dem. Rep.") == "Congo, Dem. Rep."
