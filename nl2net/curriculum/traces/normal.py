"""The normal form of a trace: edges and rates, so that "holds from" and "holds until" stamps cannot be mixed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.errors import DataError

# Faster than any access line; a file in bit/s would be six orders above its true rate.
_SUSPICIOUS_MBPS = 100_000.0


@dataclass(frozen=True, slots=True)
class Trace:
    """Bandwidth over time; repeats after its last edge.

    Attributes
    ----------
    edges_s : array, shape (n + 1,)
        Increasing times, the first is 0.
    mbps : array, shape (n,)
        Rate in Mbit/s between two edges.
    settings : mapping
        What the file says beside the rates: ``rtt_ms``, ``delay_ms``, ``loss``, ``queue_packets``, ``buffer_s``.
    notes : tuple of str
        Assumptions of the reader and warnings, to be shown.
    source, digest : str
        File the trace came from and the SHA-256 of its rates.
    """

    name: str
    edges_s: Floats
    mbps: Floats
    settings: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = ""
    digest: str = ""

    @property
    def duration_s(self) -> float:
        """Period after which the trace repeats."""
        return float(self.edges_s[-1])

    @property
    def mean_mbps(self) -> float:
        """Mean rate over time."""
        return float((self.mbps * np.diff(self.edges_s)).sum() / self.duration_s)

    def sampled(self, step_s: float = 1.0) -> Floats:
        """Rates at the middle of equal steps."""
        count = int(self.duration_s / step_s + 1e-9)
        middles = (np.arange(count) + 0.5) * step_s
        index = np.searchsorted(self.edges_s, middles, side="right") - 1
        rates: Floats = self.mbps[np.clip(index, 0, len(self.mbps) - 1)]
        return rates


def build_trace(
    name: str,
    edges_s: Sequence[float] | Floats,
    mbps: Sequence[float] | Floats,
    *,
    path: str = "",
    settings: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
) -> Trace:
    """Check the rules that every trace keeps, and put it in normal form.

    Raises
    ------
    DataError
        No interval, or every rate is zero: a download would never end.
    """
    edges, rates = np.asarray(edges_s, dtype=float), np.asarray(mbps, dtype=float)
    source = path or name
    if len(rates) == 0:
        hint = "A trace needs two rows at least: a rate holds between two times."
        raise DataError("no interval", path=source, hint=hint)
    if not (rates > 0).any():
        hint = "Remove the file, or cut the part without service: a download over it would never end."
        raise DataError("every rate is zero, nothing can ever be delivered", path=source, hint=hint)
    edges = edges - edges[0]
    found = list(notes)
    if rates.max() > _SUSPICIOUS_MBPS:
        found.append(
            f"rates up to {rates.max():,.0f} Mbit/s: the unit looks like bit/s; "
            "convert the column to Mbit/s, or name its unit in a header (bandwidth_bps)"
        )
    digest = sha256(edges.tobytes() + rates.tobytes()).hexdigest()
    return Trace(name, edges, rates, dict(settings or {}), tuple(found), source, digest)
