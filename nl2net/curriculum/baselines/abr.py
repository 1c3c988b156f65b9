"""Rules for adaptive bitrate.

References
----------
.. [1] T.-Y. Huang et al., "A buffer-based approach to rate adaptation", SIGCOMM 2014 (BBA).
.. [2] X. Yin et al., "A control-theoretic approach for dynamic adaptive video streaming over HTTP", SIGCOMM 2015
   (MPC, RobustMPC).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nl2net.curriculum.arrays import Floats, Ints
from nl2net.curriculum.environments.abr import CHUNK_S, CHUNKS, LEVELS_MBPS, STALL_WEIGHT, BitrateSimulator

_TOP = len(LEVELS_MBPS) - 1
_PAST = 5
# Sessions planned together: a block's plans fit in the second-level cache.
_BLOCK = 16


class ConstantLevel:
    """Always the same level."""

    rule = True

    def __init__(self, level: int = 0) -> None:
        self._level = level

    def start(self, simulator: BitrateSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BitrateSimulator, features: Floats) -> Ints:
        """The level, for every session."""
        return np.full(len(simulator.buffer_s), self._level, dtype=np.int64)


class BufferBased:
    """BBA: the level follows the buffer, from the lowest below 5 s to the highest from 15 s on."""

    rule = True

    def start(self, simulator: BitrateSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BitrateSimulator, features: Floats) -> Ints:
        """Levels by buffer."""
        return self.level(simulator.buffer_s)

    @staticmethod
    def level(buffer_s: Floats) -> Ints:
        """Level of a buffer.

        Examples
        --------
        >>> BufferBased.level(np.array([4.9, 7, 9, 12, 15])).tolist()
        [0, 1, 2, 3, 5]
        """
        return np.clip(np.floor(_TOP * (np.asarray(buffer_s) - 5) / 10), 0, _TOP).astype(np.int64)


def estimate_rate(throughputs: Floats, *, robust: bool = True) -> Floats:
    """Throughput that MPC plans with, from all throughputs so far.

    Parameters
    ----------
    throughputs : array, shape (sessions, chunks so far)
    robust : bool
        Divide the harmonic mean of the last five by 1 + the largest of the last five relative errors.

    Examples
    --------
    >>> past = np.array([[1.0, 2.0, 4.0]])
    >>> [round(float(estimate_rate(past[:, :n])[0]), 4) for n in (1, 2, 3)]
    [1.0, 0.8889, 1.0286]
    """
    count = throughputs.shape[1]
    mean = _harmonic(throughputs, count)
    if not robust:
        return mean
    worst = np.zeros(len(throughputs))
    for k in range(max(1, count - _PAST), count):
        actual = throughputs[:, k]
        worst = np.maximum(worst, np.abs(_harmonic(throughputs, k) - actual) / actual)
    return mean / (1 + worst)


def _harmonic(throughputs: Floats, count: int) -> Floats:
    recent = throughputs[:, max(0, count - _PAST) : count]
    result: Floats = recent.shape[1] / (1 / recent).sum(axis=1)
    return result


class Mpc:
    """The first level of the best plan over the next chunks, at the estimated rate.

    Parameters
    ----------
    horizon : int
        Chunks planned ahead.
    robust : bool
        RobustMPC's cautious estimate.
    one_step : bool
        Allow a change by one level a chunk only.
    """

    rule = True

    def __init__(self, horizon: int = 5, *, robust: bool = True, one_step: bool = False) -> None:
        self._horizon, self._robust, self._one_step = horizon, robust, one_step
        self._errors: list[Floats] = []

    def start(self, simulator: BitrateSimulator) -> None:
        """Forget the errors of the last sessions."""
        self._errors = []

    def decide(self, simulator: BitrateSimulator, features: Floats) -> Ints:
        """First levels of the best plans."""
        k = simulator.chunk
        rate = self._rate(simulator.throughputs[:, :k])
        sizes = simulator.sizes_mbit[k : min(k + self._horizon, CHUNKS)]
        chosen = np.empty(len(rate), dtype=np.int64)
        for low in range(0, len(rate), _BLOCK):
            part = slice(low, low + _BLOCK)
            start = (simulator.buffer_s[part], simulator.last_level[part])
            chosen[part] = self._plan(*start, sizes[None] / rate[part, None, None])
        return chosen

    def _rate(self, past: Floats) -> Floats:
        """As `estimate_rate`, keeping the errors instead of computing them again for every chunk."""
        count = past.shape[1]
        mean = _harmonic(past, count)
        if not self._robust:
            return mean
        if count > 1:
            actual = past[:, -1]
            self._errors.append(np.abs(_harmonic(past, count - 1) - actual) / actual)
        worst = np.max(self._errors[-_PAST:], axis=0) if self._errors else np.zeros(len(past))
        result: Floats = mean / (1 + worst)
        return result

    def _plan(self, buffer_s: Floats, last: Ints, times: Floats) -> Ints:
        """Grow all plans chunk by chunk; plans with a common beginning share its cost.

        ``times`` has shape (sessions, chunks, levels). In the order of plans the first level changes fastest, as in
        `_gains`, so the first level of plan p is p % 6.
        """
        count, depth, levels = times.shape
        buffers, stalls = buffer_s[:, None], np.zeros((count, 1))
        for k in range(depth):
            slack = buffers[:, None, :] - times[:, k, :, None]
            stalls = (stalls[:, None, :] - np.minimum(slack, 0.0)).reshape(count, -1)
            if k < depth - 1:
                buffers = (np.maximum(slack, 0.0) + CHUNK_S).reshape(count, -1)
        stalls *= STALL_WEIGHT
        best: Ints = (_gains(depth, self._one_step)[last] - stalls).argmax(axis=1) % levels
        return best


@lru_cache(maxsize=16)
def _gains(depth: int, one_step: bool) -> Floats:
    """Quality minus changes of every plan, shape (level before, plans); forbidden plans have minus infinity.

    Raising the level by one chunk earns exactly what the change costs, so many plans are equal; which of them wins
    depends on rounding. Quality and changes are summed apart, and the first of equal plans is taken.
    """
    levels = len(LEVELS_MBPS)
    plans = np.array(np.unravel_index(np.arange(levels**depth), (levels,) * depth))[::-1]
    before = np.arange(levels)[:, None]
    quality, changes = np.zeros((levels, levels**depth)), np.zeros((levels, levels**depth))
    allowed = np.ones(quality.shape, dtype=bool)
    for level in plans:
        quality += LEVELS_MBPS[level]
        changes += np.abs(LEVELS_MBPS[level] - LEVELS_MBPS[before])
        allowed &= np.abs(level - before) <= 1
        before = np.broadcast_to(level, quality.shape)
    gains: Floats = quality - changes
    return np.where(allowed, gains, -np.inf) if one_step else gains
