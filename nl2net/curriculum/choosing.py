"""Policies by name or file: rules, our npz, ONNX, Python in the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import Floats, Ints
from nl2net.curriculum.environments.base import Case, Policy, Simulator
from nl2net.curriculum.policies import load_policy
from nl2net.curriculum.sealed import SealedPolicy
from nl2net.errors import DataError, UserError


class OnnxPolicy:
    """The greedy policy of an ONNX network: features (n, features) in, one number per action out."""

    def __init__(self, path: Path, *, simulator: Simulator) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise UserError("ONNX policies need onnxruntime", hint="pip install 'nl2net[onnx]'") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(path.read_bytes(), options)
        except Exception as error:  # onnxruntime raises its own classes, which share no base
            raise DataError(f"not an ONNX model: {error}", path=path, hint="Export it again.") from None
        self._input = self._session.get_inputs()[0].name
        probe = self._logits(np.zeros((2, simulator.features)), path)
        if probe.shape != (2, simulator.actions):
            message = f"gives {probe.shape} for 2 x {simulator.features} features"
            raise DataError(message, path=path, hint=f"The output must be (n, {simulator.actions}).")

    def _logits(self, features: Floats, path: Path | None = None) -> Any:
        try:
            return self._session.run(None, {self._input: features.astype(np.float32)})[0]
        except Exception as error:
            hint = f"The input must be float32 of shape (n, {features.shape[1]})."
            raise DataError(f"does not run: {error}", path=path, hint=hint) from None

    def start(self, simulator: Simulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: Simulator, features: Floats) -> Ints:
        """The most probable action of every session."""
        choice: Ints = np.asarray(self._logits(features)).argmax(axis=1)
        return choice


def choose_policy(case: Case, name: str) -> Policy:
    """A rule of the case by name, or a policy file by path.

    Raises
    ------
    UserError
        Neither a rule nor a file.
    """
    if name in case.baselines:
        return case.baselines[name]()
    path = Path(name)
    if path.is_dir() and (path / "policy.npz").exists():
        path = path / "policy.npz"
    if not path.is_file():
        hint = f"A rule ({', '.join(case.baselines)}), a policy.npz, an .onnx or a .py file."
        raise UserError(f"no policy {name!r}", hint=hint)
    if path.suffix == ".onnx":
        return OnnxPolicy(path, simulator=case.make())
    if path.suffix == ".py":
        return SealedPolicy(path, case=case.name)
    return load_policy(path, simulator=case.make(), case=case.name)


def check_baseline(case: Case, name: str) -> str:
    """The name of a rule of the case.

    Raises
    ------
    UserError
    """
    if name not in case.baselines:
        raise UserError(f"no baseline {name!r} for {case.name}", hint=f"One of {', '.join(case.baselines)}.")
    return name
