"""Python policies: a file with ``decide(features)``, run behind the operating-system wall of the sandbox.

A child is forked and sealed for each batch of sessions; it plays the whole batch, so the file is called once a step
with all observations. What comes back is the actions alone. They are played again here: no score is ever taken from the
child.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Ints, Seeds
from nl2net.curriculum.environments.abr import BitrateSimulator
from nl2net.curriculum.environments.base import Simulator
from nl2net.curriculum.environments.cc import CongestionSimulator
from nl2net.curriculum.environments.lb import BalancerSimulator
from nl2net.errors import DataError, ProgramFailed, UserError

if TYPE_CHECKING:
    from nl2net.sandbox.process.parser import ParserWorker

_MODULE = "nl2net.curriculum.sealed"
# One character an action keeps the reply small.
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CONTRACT = "Define decide(features): features is (sessions, n) of floats, the result one whole number per session."


def _load(source: str, name: str) -> tuple[Callable[[Floats], Any], Callable[[int], Any] | None]:
    namespace: dict[str, Any] = {"__name__": "policy", "np": np, "numpy": np}
    exec(compile(source, name, "exec"), namespace)  # noqa: S102  # only ever called behind the seal
    decide, start = namespace.get("decide"), namespace.get("start")
    if not callable(decide):
        raise ValueError(f"no function decide(features) in {name}")
    return decide, start if callable(start) else None


def _checked(found: Any, simulator: Simulator, count: int) -> Ints:
    actions = np.asarray(found)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise ValueError(f"decide gave {actions.dtype} of shape {actions.shape}, not {count} whole numbers")
    if actions.size and (actions.min() < 0 or actions.max() >= simulator.actions):
        raise ValueError(f"decide gave an action outside 0 to {simulator.actions - 1}")
    return actions.astype(np.int64)


def _simulator(case: str, sizes: str | None) -> Simulator:
    """A simulator without reading any file: the seal forbids that."""
    if sizes is not None:
        return BitrateSimulator(_unpack(sizes))
    return CongestionSimulator() if case == "cc" else BalancerSimulator()


def play_values(data: bytes) -> dict[str, Any]:
    """Play sessions with a policy's source; called in the sealed child.

    Returns
    -------
    dict
        ``actions``: a text per step, one character per session. Or ``error``, where the policy is at fault.
    """
    request = json.loads(data)
    points, seeds = (_unpack(request[name]) for name in ("points", "seeds"))
    simulator = _simulator(request["case"], request["sizes"])
    features = simulator.reset(points, seeds)
    played = []
    try:
        decide, start = _load(request["source"], request["name"])
        if start is not None:
            start(len(seeds))
        for _ in range(simulator.steps):
            # A copy: a policy that writes into what it sees must not change its own history.
            actions = _checked(decide(features.copy()), simulator, len(seeds))
            played.append("".join(_DIGITS[a] for a in actions))
            features, _ = simulator.step(actions)
    except Exception as error:  # whatever a stranger's file raises is its fault, and is said by name
        return {"error": f"{type(error).__name__}: {error}"}
    return {"actions": played}


def _pack(array: AnyArray) -> str:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return base64.b64encode(content.getvalue()).decode()


def _unpack(text: str) -> AnyArray:
    result: AnyArray = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return result


class SealedPolicy:
    """The policy in a Python file.

    Parameters
    ----------
    path : Path
        ``decide(features)`` gives one action per session; an optional ``start(sessions)`` is called before a batch.
        numpy is there as ``np``; what a batch keeps in global variables is gone with the next.
    case : str
        The case whose sessions it plays.

    Raises
    ------
    DataError
        The file cannot be read.

    Notes
    -----
    The simulator runs in the same child. The seal protects this machine, not the comparison: a file written to cheat
    could look into the simulator.
    """

    def __init__(self, path: Path, *, case: str) -> None:
        self._path, self._case = path, case
        self._worker: ParserWorker | None = None
        try:
            self._source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read: {error}", path=path, hint="Give a Python file.") from None

    def start(self, simulator: Simulator) -> None:
        """Nothing to forget: every batch has a child of its own."""

    def decide(self, simulator: Simulator, features: Floats) -> Ints:
        """Refused: single steps would need a child each."""
        raise UserError("a Python policy plays whole batches only", hint="Examine it with `curriculum search`.")

    def actions_for(self, simulator: Simulator, points: Floats, seeds: Seeds) -> Ints:
        """Actions of whole sessions, shape (steps, sessions).

        Raises
        ------
        DataError
            The file raised, broke the contract, or hit a limit of the sandbox.
        Unavailable
            There is no sandbox here.
        """
        request = {
            "case": self._case,
            "name": self._path.name,
            "source": self._source,
            "sizes": _pack(simulator.sizes_mbit / 8e-6) if isinstance(simulator, BitrateSimulator) else None,
            "points": _pack(points),
            "seeds": _pack(seeds),
        }
        reply = self._ask(json.dumps(request).encode())
        if "error" in reply:
            raise DataError(f"the policy failed: {reply['error']}", path=self._path, hint=_CONTRACT)
        try:
            rows = [[_DIGITS.index(c) for c in str(row)] for row in reply["actions"]]
            actions = np.array(rows, dtype=np.int64).reshape(simulator.steps, len(seeds))
        except (KeyError, TypeError, ValueError):
            raise DataError("the policy's child sent no actions", path=self._path, hint=_CONTRACT) from None
        return np.minimum(actions, simulator.actions - 1)

    def _ask(self, data: bytes) -> Mapping[str, Any]:
        from nl2net.sandbox.process.parser import ParserWorker

        if self._worker is None:
            self._worker = ParserWorker([_MODULE])
        try:
            reply = self._worker.parse_sealed(f"{_MODULE}:play_values", data)
        except ProgramFailed as error:
            raise DataError(f"the policy crashed: {error}", path=self._path, hint=_CONTRACT) from None
        return reply if isinstance(reply, Mapping) else {}

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
