"""Fits the confidence of answers on runs over development suites.

Run ``python -m nl2net.benchmark.calibration RUN...``: it reads the records of the runs, fits a logistic model with a
ridge penalty, prints its reliability by leave-one-out, and writes ``assistant/data/confidence.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from nl2net import assistant
from nl2net.assistant.confidence import Signals
from nl2net.benchmark.judge import Outcome
from nl2net.benchmark.runs import Record
from nl2net.locations import atomic_write

TARGET = Path(assistant.__file__).parent / "data" / "confidence.json"
NAMES = tuple(asdict(Signals()))
_PENALTY = 1.0

Floats = npt.NDArray[np.float64]


def fit(signals: Floats, right: Floats, *, penalty: float = _PENALTY) -> Floats:
    """Weights of a logistic model, the bias last.

    Parameters
    ----------
    signals : array of shape (answers, signals)
    right : array of 0 and 1, shape (answers,)
    penalty : float
        Strength of the ridge on the weights, not on the bias.
    """
    scale = np.where(signals.std(axis=0) > 0, signals.std(axis=0), 1.0)
    scaled = np.column_stack([signals / scale, np.ones(len(signals))])

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = scaled @ weights
        chance = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        ridge = penalty * np.append(weights[:-1], 0.0)
        value = float(np.logaddexp(0, logits).sum() - right @ logits + 0.5 * ridge @ weights)
        return value, scaled.T @ (chance - right) + ridge

    found: Floats = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    return np.append(found[:-1] / scale, found[-1])


def predict(weights: Floats, signals: Floats) -> Floats:
    """Probabilities of being right."""
    chance: Floats = 1 / (1 + np.exp(-(signals @ weights[:-1] + weights[-1])))
    return chance


def leave_one_out(signals: Floats, right: Floats) -> Floats:
    """What each answer's confidence would be if it had not been seen."""
    rows = np.arange(len(right))
    return np.array([predict(fit(signals[rows != i], right[rows != i]), signals[i : i + 1])[0] for i in rows])


def _load(paths: Sequence[Path]) -> list[Record]:
    records = []
    for path in paths:
        for line in (path / "records.jsonl").read_text("utf-8").splitlines():
            values: dict[str, Any] = json.loads(line)
            if values.get("signals"):
                records.append(Record(**{**values, "outcome": Outcome(values["outcome"])}))
    return records


def main(arguments: Sequence[str]) -> None:
    """Fit on the runs named and write the weights."""
    records = _load([Path(argument) for argument in arguments])
    signals = np.array([[float(record.signals.get(name, 0.0)) for name in NAMES] for record in records])
    right = np.array([float(record.outcome is Outcome.CORRECT) for record in records])
    weights = fit(signals, right)
    unseen = leave_one_out(signals, right)
    for threshold in (0.4, 0.5, 0.6, 0.7, 0.8):
        kept = unseen >= threshold
        wrong = int((kept & (right == 0)).sum())
        print(f"threshold {threshold}: {int(kept.sum())} of {len(right)} delivered, {wrong} of them wrong")  # noqa: T201
    names = (*NAMES, "bias")
    body = {
        "answers": len(records),
        "brier": round(float(((unseen - right) ** 2).mean()), 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)},
    }
    with atomic_write(TARGET) as stream:
        stream.write((json.dumps(body, indent=1) + "\n").encode())
    print(json.dumps(body))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
