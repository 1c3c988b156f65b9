"""Traces of many sessions in one pair of sorted arrays, so that one search serves them all.

Each session's cumulative capacity and its times are scaled to [0, 1] and shifted by the session's number; the search
only finds the segment, and the interpolation uses the unscaled numbers, so shifting costs no digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nl2net.curriculum.arrays import Floats, Ints, Seeds
from nl2net.curriculum.streams import uniforms
from nl2net.curriculum.traces.normal import Trace

# Steps of 0.24 ms and 0.06 kbit/s: products of the two, summed over thousands of sessions, fit 53 bits.
_TIME_GRID, _RATE_GRID = 2.0**12, 2.0**14


class TraceBank:
    """Piecewise constant rates of E sessions, each repeating after its own period.

    Parameters
    ----------
    edges : array
        Edges of all sessions one after the other, each starting at 0.
    rates : array
        Rates in Mbit/s; one entry per edge, the last of each session unused.
    capacity : array
        Mbit delivered from the session's start to each edge.
    starts : array of int, shape (E + 1,)
        Where each session begins.
    """

    def __init__(self, edges: Floats, rates: Floats, capacity: Floats, *, starts: Ints) -> None:
        first, last = starts[:-1], starts[1:] - 1
        self.capacity = capacity
        self.edges, self.rates, self.starts = edges, rates, starts
        self.period = edges[last]
        self.total = self.capacity[last]
        self._first, self._last = first, last
        owner = np.repeat(np.arange(len(first)), np.diff(starts))
        self._offset = np.arange(len(first), dtype=float) * 2
        self._edge_keys = edges / self.period[owner] + self._offset[owner]
        self._capacity_keys = self.capacity / self.total[owner] + self._offset[owner]

    def delivered(self, time: Floats) -> Floats:
        """Mbit delivered from 0 to ``time``, which lies inside the period."""
        keys = time / self.period + self._offset
        index = np.clip(np.searchsorted(self._edge_keys, keys, side="right") - 1, self._first, self._last)
        result: Floats = self.capacity[index] + (time - self.edges[index]) * self.rates[index]
        return result

    def mean_ahead(self, time: Floats, span_s: float) -> Floats:
        """Mean rate in Mbit/s over the ``span_s`` seconds after ``time``."""
        end = time + span_s
        rounds = np.floor(end / self.period)
        ahead = rounds * self.total + self.delivered(end - rounds * self.period) - self.delivered(time)
        result: Floats = np.maximum(ahead, 0.0) / span_s
        return result

    def finish(self, target: Floats) -> Floats:
        """Time at which ``target`` Mbit since 0 are delivered; whole periods are counted by division."""
        rounds = np.floor(target / self.total)
        rest = np.maximum(target - rounds * self.total, 0.0)
        index = np.searchsorted(self._capacity_keys, rest / self.total + self._offset, side="right") - 1
        index = np.clip(index, self._first, self._last - 1)
        # A hit within rounding of an edge may fall on a row of rate zero; then the edge itself is the answer.
        rate = self.rates[index]
        inside = np.divide(rest - self.capacity[index], rate, out=np.zeros_like(rate), where=rate > 0)
        result: Floats = rounds * self.period + self.edges[index] + inside
        return result


def bank_of_traces(traces: Sequence[Trace]) -> TraceBank:
    """One session per trace."""
    starts = np.concatenate([[0], np.cumsum([len(trace.edges_s) for trace in traces])]).astype(np.int64)
    edges = np.concatenate([trace.edges_s for trace in traces])
    rates = np.concatenate([np.append(trace.mbps, 0.0) for trace in traces])
    sums = [np.append(0.0, np.cumsum(np.diff(trace.edges_s) * trace.mbps)) for trace in traces]
    return TraceBank(edges, rates, np.concatenate(sums), starts=starts)


def join_banks(first: TraceBank, second: TraceBank) -> TraceBank:
    """The sessions of the first bank, then those of the second."""
    starts = np.concatenate([first.starts, first.starts[-1] + second.starts[1:]])
    parts = ((getattr(first, name), getattr(second, name)) for name in ("edges", "rates", "capacity"))
    edges, rates, capacity = (np.concatenate(pair) for pair in parts)
    return TraceBank(edges, rates, capacity, starts=starts)


def bank_of_steps(low: Floats, high: Floats, interval: Floats, *, duration_s: float, seeds: Seeds) -> TraceBank:
    """Uniform levels between ``low`` and ``high``, each held for ``interval`` x U(0.7, 1.3).

    Parameters
    ----------
    low, high : array
        Mbit/s, one per session.
    interval : array
        Mean holding time in s.
    """
    counts = np.maximum(np.ceil(duration_s / interval).astype(np.int64), 1)
    sizes = counts + 1
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owner = np.repeat(np.arange(len(low)), sizes)
    place = np.arange(starts[-1]) - starts[owner]
    levels = uniforms(seeds[owner], "level", place)
    holds = interval[owner] * (0.7 + 0.6 * uniforms(seeds[owner], "hold", place))
    # On a binary grid the running sums over all sessions are exact, so a session does not depend on its batch.
    holds = np.maximum(np.round(holds * _TIME_GRID), 1.0) / _TIME_GRID
    rates = np.round((low[owner] + (high - low)[owner] * levels) * _RATE_GRID) / _RATE_GRID
    rates = np.maximum(rates, 1 / _RATE_GRID)
    edges, capacity = _running(holds, owner, starts), _running(holds * rates, owner, starts)
    return TraceBank(edges, rates, capacity, starts=starts)


def _running(steps: Floats, owner: Ints, starts: Ints) -> Floats:
    """Sums before each step, restarting at every session."""
    sums = np.cumsum(steps) - steps
    result: Floats = sums - sums[starts[:-1]][owner]
    return result
