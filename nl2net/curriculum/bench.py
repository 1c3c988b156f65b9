"""Hard cells of the benchmark for one agent: the adapter between steering and whatever is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.agents import Subject, recorded_agent, simulated_agent
from nl2net.curriculum.steering import Steering, freeze, steer
from nl2net.errors import UserError

FLOOR = 0.5


def choose_subject(agent: str | None, *, seed: int) -> Subject:
    """The simulated agent, or outcomes recorded in a CSV file.

    Raises
    ------
    UserError
    """
    if agent == "simulated":
        return simulated_agent(seed)
    if agent is not None and Path(agent).is_file():
        return recorded_agent(Path(agent))
    hint = "simulated, or a CSV file with one column per knob and a column `failed`."
    raise UserError(f"no agent {agent!r}" if agent else "which agent?", hint=f"--agent {hint}")


def search_bench(agent: str | None, *, calls: int, seed: int, floor: float = FLOOR) -> dict[str, Any]:
    """Steer, estimate the true rate, and freeze the hard set.

    Parameters
    ----------
    agent : str
        ``simulated`` or a CSV file.
    calls : int
        Questions, the second asking of the hard set apart.
    seed : int
    floor : float
        Share of uniform draws.
    """
    subject = choose_subject(agent, seed=seed)
    steering = Steering(subject.cells, seed, floor=floor)
    steer(subject.fails, steering, calls=calls)
    rate = steering.rate()
    found: dict[str, Any] = {
        "version": 1,
        "agent": agent,
        "calls": len(steering.draws),
        "cells": subject.cells.count,
        "weighted": rate.weighted,
        "low": rate.low,
        "high": rate.high,
        "plain": rate.plain,
        "failed_cells": len({draw.cell for draw in steering.draws if draw.failed}),
        "hard_set": freeze(steering, subject.fails),
        "learnable": [subject.cells.describe(cell) for cell in steering.learnable(40)],
        "draws": [{"cell": d.cell, "p": d.probability, "aimed": d.aimed, "failed": d.failed} for d in steering.draws],
        "true_rate": None,
    }
    if subject.true_rates is not None:
        hard = np.flatnonzero(subject.true_rates > 0.5)
        asked = {draw.cell for draw in steering.draws}
        found |= {
            "true_rate": float(subject.true_rates.mean()),
            "hard_cells": len(hard),
            "hard_found": len(asked & set(map(int, hard))),
        }
    return found
