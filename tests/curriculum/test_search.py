"""Weak spots: a planted one is found with its box, a copy of the baseline has none; steering a simulated benchmark."""

from __future__ import annotations

import json
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nl2net.curriculum.agents import recorded_agent, simulated_agent
from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.baselines.abr import BufferBased
from nl2net.curriculum.baselines.lb import ShortestExpectedDelay
from nl2net.curriculum.bench import search_bench
from nl2net.curriculum.cases import load_case
from nl2net.curriculum.diagnose import diagnose
from nl2net.curriculum.search import Settings, find_weak_spots
from nl2net.curriculum.steering import Steering, all_cells, freeze, steer
from nl2net.curriculum.streams import generator
from nl2net.errors import DataError, UserError


def _noisy(where: Any, effect: float) -> Any:
    def gap(points: Floats, repeats: int, words: str) -> Floats:
        noise = generator(1, words).normal(size=(len(points), repeats))
        return np.where(where(points), effect, 0.0)[:, None] + noise

    return gap


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_box_is_recovered(seed: int) -> None:
    found = find_weak_spots(_noisy(lambda p: (p[:, 0] > 0.6) & (p[:, 2] < 0.3), 1.0), 4, seed=seed)
    points = generator(seed, "check").random((4000, 4))
    truth = (points[:, 0] > 0.6) & (points[:, 2] < 0.3)
    named = np.zeros(len(points), dtype=bool)
    for spot in found.weak:
        named |= spot.region.contains(points) > 0
    overlap = (truth & named).sum() / (truth | named).sum()
    assert overlap > 0.7
    assert found.weak[0].low < 1.0
    assert found.weak[0].high > 0.7


def test_pure_noise_is_rarely_called_a_weakness() -> None:
    small = Settings(settings=400, fresh=400)
    false = [
        bool(find_weak_spots(_noisy(lambda p: p[:, 0] < 0, 1.0), 4, seed=s, settings=small).weak) for s in range(20)
    ]
    assert sum(false) <= 2


class _TimidWithSmallBuffers(BufferBased):
    """The baseline, except that it stays at the lowest level when the buffer holds under 200 s."""

    def decide(self, simulator: Any, features: Floats) -> Any:
        return np.where(simulator.limit_s < 200, 0, super().decide(simulator, features))


def test_a_planted_weakness_of_a_policy_is_named_in_words() -> None:
    case = load_case("abr")
    settings = Settings(settings=512, repeats=2, fresh=500)
    found = diagnose(case, _TimidWithSmallBuffers(), name="planted", baseline="bba", settings=settings)
    assert found.weak
    assert "maximum buffer is" in found.weak[0].words
    column = case.space.index("buffer_s")
    edge = case.space.axes[column].value(np.array(found.findings.weak[0].region.high[column]))
    assert edge == pytest.approx(200, abs=25)
    assert all(spot.low > 0 for spot in found.weak)
    assert "Loses to bba when" in found.text()
    example = found.weak[0].examples[0]
    assert example.baseline_score > example.policy_score
    assert example.parameters["buffer_s"] < 220
    rows = json.loads(json.dumps(found.to_json()))["regions"]
    assert rows[0]["kind"] == "loses"


def test_a_copy_of_the_baseline_has_no_weak_spot() -> None:
    case = load_case("lb")
    found = diagnose(case, ShortestExpectedDelay(), name="copy", baseline="sed", settings=Settings(settings=200))
    assert found.weak == found.strong == ()
    assert "No weak spot found" in found.text()


def test_steering_finds_more_hard_cells_and_keeps_the_true_rate() -> None:
    uniform: list[int] = []
    steered: list[int] = []
    errors = []
    for seed in range(3):
        agent = simulated_agent(seed)
        assert agent.true_rates is not None
        assert agent.cells.count == 1800
        assert agent.true_rates.mean() == pytest.approx(0.118, abs=1e-3)
        hard = set(map(int, np.flatnonzero(agent.true_rates > 0.5)))
        for floor, found in ((1.0, uniform), (0.5, steered)):
            state = Steering(agent.cells, seed, floor=floor)
            steer(agent.fails, state, calls=600)
            found.append(len(hard & {draw.cell for draw in state.draws}))
        errors.append(abs(state.rate().weighted - agent.true_rates.mean()))
        aimed = [draw.cell for draw in state.draws if draw.aimed]
        assert len(aimed) == len(set(aimed))
        assert state.rate().plain > state.rate().weighted + 0.05
    assert sum(steered) > 1.5 * sum(uniform)
    assert max(errors) < 0.03


def test_stored_probabilities_are_true() -> None:
    # The same state asked many times draws each cell as often as it says.
    agent = simulated_agent(1)
    state = Steering(agent.cells, 1, floor=0.5)
    steer(agent.fails, state, calls=100)
    claimed = [draw.probability for seed in range(100) for draw in _reseeded(state, seed).propose(1)]
    # The mean of 1 / p over draws is the number of cells that can be drawn.
    assert np.mean(1 / np.array(claimed)) == pytest.approx(agent.cells.count, rel=0.3)
    assert min(claimed) >= 0.5 / agent.cells.count


def _reseeded(state: Steering, seed: int) -> Steering:
    """The same state with another seed; a copy, since fitting the same answers 100 times over would prove nothing."""
    other = copy(state)
    other.seed, other.draws = seed, list(state.draws)
    return other


def test_the_hard_set_is_frozen_and_asked_again() -> None:
    agent = simulated_agent(2)
    state = Steering(agent.cells, 2)
    steer(agent.fails, state, calls=300)
    first, second = (freeze(state, agent.fails, size=20) for _ in range(2))
    assert first == second
    assert first["digest"].startswith("sha256:")
    assert len(first["cells"]) == 20
    assert 0.5 < first["rate_on_fresh_seeds"] <= 1


def test_learnable_cells_are_spread_and_half_uniform() -> None:
    agent = simulated_agent(3)
    state = Steering(agent.cells, 3)
    steer(agent.fails, state, calls=200)
    chosen = state.learnable(40)
    assert len(set(chosen)) == 40
    assert len({agent.cells.table[cell, 0] for cell in chosen[:20]}) == 10


def test_recorded_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.csv"
    rows = [
        f"{kind},{size},{int(kind == 'path' and size == 'large')}"
        for kind in ("path", "rank")
        for size in ("s", "large")
    ]
    path.write_text("type,size,failed\n" + "\n".join(rows) + "\n")
    agent = recorded_agent(path)
    assert agent.cells.count == 4
    found = search_bench(str(path), calls=40, seed=1)
    assert found["true_rate"] == pytest.approx(0.25)
    assert found["hard_set"]["cells"] == [{"type": "path", "size": "large"}]
    path.write_text("type,failed\npath,maybe\n")
    with pytest.raises(DataError, match="line 2"):
        recorded_agent(path)
    path.write_text("type,size\npath,1\n")
    with pytest.raises(DataError, match="failed"):
        recorded_agent(path)
    with pytest.raises(UserError, match="no agent"):
        search_bench("nobody", calls=10, seed=1)


def test_cells_are_all_combinations() -> None:
    cells = all_cells({"type": ["path", "rank"], "size": ["s", "m", "l"]})
    assert cells.count == 6
    assert cells.describe(5) == {"type": "rank", "size": "l"}
