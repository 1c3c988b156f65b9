"""Policies in our own format, and playing any policy."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Ints, Seeds
from nl2net.curriculum.environments.base import Policy, Simulator
from nl2net.curriculum.network import Array, Network
from nl2net.errors import DataError
from nl2net.locations import atomic_write


class NetworkPolicy:
    """The greedy policy of a network."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def start(self, simulator: Simulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: Simulator, features: Floats) -> Ints:
        """The most probable action of every session."""
        choice: Ints = self._network.forward(features.astype(np.float32))[-1].argmax(axis=1)
        return choice


@dataclass(frozen=True, slots=True)
class Played:
    """Scores and their terms, one per session."""

    scores: Floats
    parts: Mapping[str, Floats]


def finish(policy: Policy, simulator: Simulator, features: Floats) -> Played:
    """Play sessions that were just reset to their end."""
    policy.start(simulator)
    for _ in range(simulator.steps):
        features, _ = simulator.step(policy.decide(simulator, features))
    return Played(simulator.score(), simulator.parts())


class _Script:
    """Actions that are already known."""

    rule = True

    def __init__(self, actions: Ints) -> None:
        self._actions, self._next = actions, 0

    def start(self, simulator: Simulator) -> None:
        self._next = 0

    def decide(self, simulator: Simulator, features: Floats) -> Ints:
        self._next += 1
        found: Ints = self._actions[self._next - 1]
        return found


def play(policy: Policy, simulator: Simulator, points: Floats, seeds: Seeds) -> Played:
    """Play one session per row of parameter values.

    A rule reads the simulator's state, so features are made for networks and callables only.
    """
    whole = getattr(policy, "actions_for", None)
    if whole is not None:
        policy = _Script(whole(simulator, points, seeds))
    simulator.observe = not getattr(policy, "rule", False)
    try:
        return finish(policy, simulator, simulator.reset(points, seeds))
    finally:
        simulator.observe = True


def save_policy(network: Network, path: Path, *, case: str) -> None:
    """Write a policy as npz: layers and the name of the case, nothing that could run."""
    arrays: dict[str, AnyArray] = {f"policy{k}": w for k, w in enumerate(network.weights)}
    with atomic_write(path) as stream:
        np.savez(stream, case=np.array(case), **arrays)  # type: ignore[arg-type]


def load_policy(path: Path, *, simulator: Simulator, case: str) -> NetworkPolicy:
    """Read a policy and check that it fits the case.

    Raises
    ------
    DataError
        Not an npz of ours, or made for another case.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
            found: dict[str, Any] = {name: data[name] for name in data.files}
    except (OSError, ValueError, zipfile.BadZipFile, KeyError) as error:
        hint = "Give a policy.npz that `nl2net curriculum train` wrote."
        raise DataError(f"not a policy file: {error}", path=path, hint=hint) from None
    weights: list[Array] = []
    while f"policy{len(weights)}" in found:
        weights.append(found[f"policy{len(weights)}"].astype(np.float32))
    made_for = str(found.get("case", "?"))
    fits = len(weights) >= 2 and len(weights) % 2 == 0 and all(w.ndim == 2 - k % 2 for k, w in enumerate(weights))
    if made_for != case or not fits:
        raise DataError(f"this policy is for {made_for!r}, not for {case!r}", path=path, field="case")
    if weights[0].shape[0] != simulator.features or weights[-1].shape[0] != simulator.actions:
        raise DataError("the layers do not fit the case", path=path, hint="It was made by another version.")
    return NetworkPolicy(Network(weights))
