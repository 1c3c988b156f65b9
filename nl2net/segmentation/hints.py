"""What people and platforms know: soft hints vote, hard hints bind.

The hints file is JSON: ``{"together": [["10.0.0.1", "10.0.0.2"]], "apart": [["a", "b"]], "labels": {"10.0.0.1":
"web"}, "names": {"r-tcp443-1a2b": "front"}}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from nl2net.errors import DataError
from nl2net.segmentation.frames import rows_of

Pair = tuple[str, str]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    together: list[tuple[str, str]] = []
    apart: list[tuple[str, str]] = []
    labels: dict[str, str] = {}
    names: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Hints:
    """Hard pairs, soft labels per endpoint, and names that people gave to roles."""

    together: tuple[Pair, ...] = ()
    apart: tuple[Pair, ...] = ()
    soft: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def indexed(self, index: Mapping[str, int]) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
        """Hard pairs by row; pairs with unknown endpoints are left out."""
        found = []
        for pairs in (self.together, self.apart):
            found.append([(index[a], index[b]) for a, b in pairs if a in index and b in index])
        return found[0], found[1]

    def contradictions(self) -> list[Pair]:
        """Pairs that are to be apart although chains of ``together`` join them."""
        parent: dict[str, str] = {}

        def find(name: str) -> str:
            while parent.get(name, name) != name:
                name = parent[name]
            return name

        for a, b in self.together:
            parent[find(a)] = find(b)
        return [(a, b) for a, b in self.apart if find(a) == find(b)]

    def agreement(self, names: Sequence[str], labels: np.ndarray) -> float:
        """Adjusted Rand index with the soft labels, over endpoints that have one; 0 without any."""
        from sklearn.metrics import adjusted_rand_score

        known = [
            (self.soft[name], label) for name, label in zip(names, labels.tolist(), strict=True) if name in self.soft
        ]
        if len(known) < 2:
            return 0.0
        return float(adjusted_rand_score([a for a, _ in known], [b for _, b in known]))


def load_hints(path: Path) -> Hints:
    """Read a hints file.

    Raises
    ------
    DataError
        Not the format, or contradictory answers, which are named and not resolved.
    """
    try:
        body = _File.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg}", path=path, line=error.lineno) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(first["msg"], path=path, field=".".join(map(str, first["loc"]))) from None
    hints = Hints(tuple(body.together), tuple(body.apart), body.labels, body.names)
    clash = hints.contradictions()
    if clash:
        raise DataError(
            f"{clash[0][0]} and {clash[0][1]} are to be apart, but chains of `together` join them",
            path=path,
            hint="Take one of the answers back.",
        )
    return hints


def soft_hints(metadata: pd.DataFrame) -> dict[str, str]:
    """A label per address from what the logs say: workload, else stem of a VM or pod name.

    Parameters
    ----------
    metadata : DataFrame
        ``address``, ``meta`` (JSON) and ``records``; the most frequent label of an address wins.
    """
    found: dict[str, str] = {}
    for row in rows_of(metadata.sort_values(["records", "meta"])):
        label = _label(json.loads(str(row.meta)))
        if label:
            found[str(row.address)] = label
    return found


def _label(meta: Mapping[str, object]) -> str:
    namespace = f"{meta['namespace']}/" if meta.get("namespace") else ""
    if meta.get("workload"):
        return f"{namespace}{meta['workload']}"
    if meta.get("vm"):
        return re.sub(r"[-_.]?\d+$", "", str(meta["vm"]))
    if meta.get("pod"):
        return namespace + re.sub(r"(-[a-z0-9]{6,10})?-([a-z0-9]{5}|\d+)$", "", str(meta["pod"]))
    return ""


def ambiguous_addresses(metadata: pd.DataFrame) -> frozenset[str]:
    """Addresses that stood for two workloads in the window: no rule by address can be right for both."""
    labels: dict[str, set[str]] = {}
    for row in rows_of(metadata):
        label = _label(json.loads(str(row.meta)))
        if label:
            labels.setdefault(str(row.address), set()).add(label)
    return frozenset(address for address, found in labels.items() if len(found) > 1)
