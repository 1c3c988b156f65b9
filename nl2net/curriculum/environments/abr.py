"""Adaptive bitrate: which quality to fetch next, so that the picture is good and never stalls.

References
----------
.. [1] H. Mao, R. Netravali, M. Alizadeh, "Neural adaptive video streaming with Pensieve", SIGCOMM 2017 (the player).
.. [2] Z. Xia et al., "Genet: automatic curriculum generation for learning adaptation in networking", SIGCOMM 2022
   (ranges, stall weight).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Ints, Seeds
from nl2net.curriculum.environments.bank import TraceBank, bank_of_steps, bank_of_traces
from nl2net.curriculum.streams import uniforms
from nl2net.curriculum.traces.normal import Trace

LEVELS_MBPS = np.array([0.3, 0.75, 1.2, 1.85, 2.85, 4.3])
CHUNK_S = 4.0
CHUNKS = 48
GOODPUT = 0.95
STALL_WEIGHT = 10.0
DURATION_S = 330.0
HISTORY = 6
# Throughputs that the estimate of the rate is made of, as in RobustMPC.
_PAST = 5
# How far the critic sees, in s.
_AHEAD_S = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
_WAIT_S = 0.5


def chunk_sizes() -> Floats:
    """Bytes of the shipped test video, shape (49, 6): 48 chunks and the row that completes the last "next size"."""
    text = files("nl2net.curriculum").joinpath("data", "envivio.csv").read_text(encoding="utf-8")
    return np.array([[float(cell) for cell in row.split(",")] for row in text.splitlines()[1:]])


class BitrateSimulator:
    """A player for each session; chunk 1 is fetched at the lowest level by `reset`, the others by `step`.

    Parameters
    ----------
    sizes : array, shape (chunks + 1, 6), optional
        Bytes per chunk and level; default the shipped video.
    jitter : bool
        Download times vary by 10 % either way, as in training; off for tests on fixed settings.

    Attributes
    ----------
    buffer_s, last_level, chunk : array or int
        State that rules read: seconds in the buffer, level of the last chunk, chunks fetched so far.
    throughputs, downloads : array, shape (sessions, 48)
        Mbit/s and s of every chunk so far.
    """

    steps = CHUNKS - 1
    features = 30
    actions = 6
    insight = len(_AHEAD_S)

    def __init__(self, sizes: Floats | None = None, *, jitter: bool = False) -> None:
        self.sizes_mbit = (chunk_sizes() if sizes is None else np.asarray(sizes, dtype=float)) * 8e-6
        self._jitter = jitter
        self.observe = True

    def reset(self, points: Floats, seeds: Seeds) -> Floats:
        """Sessions on generated steps; columns of ``points`` are those of the space ``abr``."""
        high, share, change, rtt, limit = np.asarray(points, dtype=float).T
        bank = bank_of_steps(high * share, high, change, duration_s=DURATION_S, seeds=seeds)
        start = uniforms(seeds, "start", np.zeros(len(high), dtype=np.int64)) * bank.period
        return self._begin(bank, rtt / 1000, limit, start=start, seeds=seeds)

    def reset_on(self, traces: Sequence[Trace], *, rtt_ms: float = 80.0, buffer_s: float = 60.0) -> Floats:
        """One session per trace from its head, all with the same RTT and maximum buffer."""
        count = len(traces)
        rtt, limit = np.full(count, rtt_ms / 1000), np.full(count, buffer_s)
        seeds = np.zeros(count, dtype=np.uint64)
        return self._begin(bank_of_traces(traces), rtt, limit, start=np.zeros(count), seeds=seeds)

    def _begin(self, bank: TraceBank, rtt: Floats, limit: Floats, *, start: Floats, seeds: Seeds) -> Floats:
        count = self.from_space = len(rtt)
        self._bank, self._rtt, self.limit_s, self._time, self._seeds = bank, rtt, limit, start, seeds
        self.buffer_s = np.zeros(count)
        self.last_level: Ints = np.zeros(count, dtype=np.int64)
        self.chunk = 0
        self.throughputs, self.downloads = np.zeros((count, CHUNKS)), np.zeros((count, CHUNKS))
        self.levels = np.zeros((count, CHUNKS), dtype=np.int64)
        self.stalls = np.zeros((count, CHUNKS))
        self.rewards = np.zeros((count, CHUNKS))
        self._mean, self._errors = np.ones(count), np.zeros((count, CHUNKS))
        return self.step(self.last_level)[0]

    def step(self, actions: AnyArray) -> tuple[Floats, Floats]:
        """Fetch the next chunk at these levels; rewards are quality - 10 x stall - change of quality."""
        level = np.asarray(actions, dtype=np.int64)
        size = self.sizes_mbit[self.chunk, level]
        target = self._bank.delivered(self._time) + size / GOODPUT
        finish = self._bank.finish(target)
        # Max: a target that rounds to the start of a plateau may end a rounding error before it began.
        elapsed = np.maximum(finish - self._time, 0.0)
        took = elapsed + self._rtt
        if self._jitter:
            took = took * (0.9 + 0.2 * uniforms(self._seeds, "jitter", np.full(len(took), self.chunk)))
        stall = np.maximum(took - self.buffer_s, 0.0)
        filled = np.maximum(self.buffer_s - took, 0.0) + CHUNK_S
        wait = np.maximum(np.ceil((filled - self.limit_s) / _WAIT_S), 0.0) * _WAIT_S
        self.buffer_s = filled - wait
        self._time = np.fmod(finish + wait, self._bank.period)
        quality, before = LEVELS_MBPS[level], LEVELS_MBPS[self.last_level]
        reward = quality - STALL_WEIGHT * stall - np.abs(quality - before)
        self._record(level, stall, reward, took=took, size=size)
        return self._features(), reward

    def _record(self, level: Ints, stall: Floats, reward: Floats, *, took: Floats, size: Floats) -> None:
        k = self.chunk
        self.levels[:, k], self.stalls[:, k], self.rewards[:, k] = level, stall, reward
        self.throughputs[:, k], self.downloads[:, k] = size / took, took
        self.last_level, self.chunk = level, k + 1
        if self.observe:
            actual = self.throughputs[:, k]
            self._errors[:, k] = np.abs(self._mean - actual) / actual if k else 0.0
            recent = self.throughputs[:, max(0, k + 1 - _PAST) : k + 1]
            self._mean = recent.shape[1] / (1 / recent).sum(axis=1)

    def _features(self) -> Floats:
        k, count = self.chunk, len(self.buffer_s)
        if not self.observe:
            return np.empty((count, 0))
        seen = np.zeros((count, self.features))
        seen[:, 0] = LEVELS_MBPS[self.last_level] / 4.3
        seen[:, 1] = np.minimum(self.buffer_s, 60.0) / 10
        recent = min(k, HISTORY)
        # Newest first, so that a short history leaves zeros at the same places; the log keeps 0.2 and 100 Mbit/s apart.
        seen[:, 2 : 2 + recent] = np.log1p(self.throughputs[:, k - recent : k][:, ::-1] * 4) / 2
        seen[:, 8 : 8 + recent] = np.minimum(self.downloads[:, k - recent : k][:, ::-1], 40.0) / 10
        if k < CHUNKS:
            seen[:, 14:20] = self.sizes_mbit[k] / 8
        seen[:, 20] = (CHUNKS - k) / CHUNKS
        seen[:, 21] = np.minimum(self.limit_s, 100.0) / 50
        # What a planner looks at: the cautious estimate of the rate, and how long each level would take by it, as a
        # share of the buffer. A small network finds ratios of its inputs only slowly.
        worst = self._errors[:, max(0, k - _PAST) : k].max(axis=1)
        seen[:, 22], seen[:, 23] = np.log1p(worst), np.log1p(self.buffer_s) / 2
        if k < CHUNKS:
            took = self.sizes_mbit[k] * ((1 + worst) / self._mean)[:, None]
            seen[:, 24:30] = np.clip(np.log((took + 0.1) / (self.buffer_s[:, None] + 0.1)), -3.0, 3.0) / 2
        return seen

    def foresee(self) -> Floats:
        """Mean rates of the next 2 to 80 s, on the scale of the throughputs in the features."""
        return np.column_stack([np.log1p(self._bank.mean_ahead(self._time, span) * 4) / 2 for span in _AHEAD_S])

    def score(self) -> Floats:
        """The published mean: the rewards of chunks 2 to 48, divided by 48."""
        total: Floats = self.rewards[:, 1:].sum(axis=1) / CHUNKS
        return total

    def parts(self) -> Mapping[str, Floats]:
        """Quality, stall penalty and change penalty per chunk; they add up to the score."""
        quality = LEVELS_MBPS[self.levels]
        return {
            "quality": quality[:, 1:].sum(axis=1) / CHUNKS,
            "stall": -STALL_WEIGHT * self.stalls[:, 1:].sum(axis=1) / CHUNKS,
            "change": -np.abs(np.diff(quality, axis=1)).sum(axis=1) / CHUNKS,
        }
