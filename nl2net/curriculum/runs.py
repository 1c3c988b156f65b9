"""Run folders: manifest, checkpoints, learning curve and result of every (strategy, seed)."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nl2net import __version__
from nl2net.curriculum.arrays import AnyArray
from nl2net.curriculum.spaces import Space, space_from_json
from nl2net.errors import DataError, UserError
from nl2net.locations import atomic_write

_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run trains; written once and compared on resume.

    Attributes
    ----------
    generated : float
        Share of the training sessions that run on generated traces (bitrate only).
    """

    case: str
    space: Space
    strategies: tuple[str, ...]
    steps: int
    seeds: int
    rounds: int = 10
    generated: float = 0.0
    version: str = __version__

    def to_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {**asdict(self), "space": self.space.to_json(), "strategies": list(self.strategies)}

    def jobs(self) -> list[tuple[str, int]]:
        """Strategy and seed of every job; all strategies of a seed before the next seed, so that a run that is cut
        short still holds pairs."""
        return [(strategy, seed) for seed in range(1, self.seeds + 1) for strategy in self.strategies]


def write_json(path: Path, value: Any) -> None:
    """One JSON object, written whole or not at all."""
    with atomic_write(path) as stream:
        stream.write((json.dumps(value, indent=1) + "\n").encode())


def read_json(path: Path) -> Any:
    """A JSON file of a run.

    Raises
    ------
    DataError
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "Give the folder that `nl2net curriculum train --out` wrote."
        raise DataError(f"cannot be read: {error}", path=path, hint=hint) from None


def load_plan(run: Path) -> Plan:
    """The plan of a run folder."""
    data = read_json(run / _MANIFEST)
    try:
        return Plan(**{**data, "space": space_from_json(data["space"]), "strategies": tuple(data["strategies"])})
    except (TypeError, KeyError) as error:
        raise DataError(f"not a manifest of ours: {error}", path=run / _MANIFEST) from None


def open_run(run: Path, plan: Plan, *, resume: bool) -> None:
    """Create the folder, or check that it holds the same plan.

    Raises
    ------
    UserError
        The folder holds another plan, or one without ``resume``.
    """
    if (run / _MANIFEST).exists():
        found = load_plan(run)
        if not resume:
            raise UserError(f"{run} already holds a run", hint=f"Go on with --resume {run}, or choose another --out.")
        if found != plan:
            raise UserError(f"{run} holds another plan", hint="Resume with the options of the first call.")
    elif resume:
        raise UserError(f"{run} holds no run", hint="Start one with --out.")
    else:
        write_json(run / _MANIFEST, plan.to_json())


def job_folder(run: Path, strategy: str, seed: int) -> Path:
    """Where one job's files lie."""
    return run / f"{strategy}-seed{seed:02d}"


def save_checkpoint(path: Path, arrays: Mapping[str, AnyArray], state: Mapping[str, Any]) -> None:
    """Arrays and numbers in one npz without pickle; equal states give equal bytes."""
    text = json.dumps(state, sort_keys=True).encode()
    everything = {**arrays, "state": np.frombuffer(text, dtype=np.uint8)}
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(everything):
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asanyarray(everything[name]), allow_pickle=False)
            # numpy would stamp the time of writing into the archive.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())


def load_checkpoint(path: Path) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """What `save_checkpoint` wrote.

    Raises
    ------
    DataError
        Damaged or not ours.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
        return arrays, json.loads(arrays.pop("state").tobytes())
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        hint = "Delete the job's folder to train it from the start."
        raise DataError(f"damaged checkpoint: {error}", path=path, hint=hint) from None
