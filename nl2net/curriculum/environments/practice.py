"""Bitrate sessions as training uses them: download times vary, and a share runs on generated traces.

Uniform settings of the full space hardly ever look like the slow, correlated links of broadband lines and commutes:
their maximum bandwidth starts at 1 Mbit/s on a log scale up to 100. The generators know published statistics of such
links, never a trace.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nl2net.curriculum.arrays import Floats, Seeds
from nl2net.curriculum.environments.abr import DURATION_S, BitrateSimulator
from nl2net.curriculum.environments.bank import bank_of_steps, bank_of_traces, join_banks
from nl2net.curriculum.streams import uniforms
from nl2net.curriculum.traces.generators import generate
from nl2net.curriculum.traces.normal import Trace

KINDS = ("volatile", "broadband", "commute")
_RTT_S, _LIMIT_S = (0.04, 0.12), (30.0, 70.0)


def practice_traces(seed: int, *, each: int = 300) -> list[Trace]:
    """Generated traces of every kind, in turn.

    Parameters
    ----------
    seed : int
        Of the run; tests use other seeds.
    each : int
        Traces of a kind.
    """
    kinds = [generate(kind, seed=seed, count=each) for kind in KINDS]
    return [trace for group in zip(*kinds, strict=True) for trace in group]


class PracticeSimulator(BitrateSimulator):
    """As `BitrateSimulator`, but the last sessions of a batch run on traces, from a random point of each.

    Parameters
    ----------
    traces : sequence of Trace
        None of them: every session follows its setting.
    share : float
        Of the sessions of a batch that run on traces.
    """

    def __init__(self, traces: Sequence[Trace], *, share: float) -> None:
        super().__init__(jitter=True)
        self._traces, self._share = traces, share

    def reset(self, points: Floats, seeds: Seeds) -> Floats:
        """Sessions on the first points; the rest of the points are not used."""
        count = len(seeds)
        borrowed = round(count * self._share) if self._traces else 0
        if not borrowed:
            return super().reset(points, seeds)
        own, others = count - borrowed, seeds[count - borrowed :]
        high, share, change, rtt, limit = np.asarray(points[:own], dtype=float).T
        place = np.zeros(borrowed, dtype=np.int64)
        chosen = (uniforms(others, "trace", place) * len(self._traces)).astype(np.int64)
        bank = bank_of_traces([self._traces[k] for k in chosen])
        if own:
            bank = join_banks(bank_of_steps(high * share, high, change, duration_s=DURATION_S, seeds=seeds[:own]), bank)
        rtts = _RTT_S[0] + (_RTT_S[1] - _RTT_S[0]) * uniforms(others, "rtt", place)
        limits = _LIMIT_S[0] + (_LIMIT_S[1] - _LIMIT_S[0]) * uniforms(others, "limit", place)
        start = uniforms(seeds, "start", np.zeros(count, dtype=np.int64)) * bank.period
        both = (np.append(rtt / 1000, rtts), np.append(limit, limits))
        seen = self._begin(bank, *both, start=start, seeds=seeds)
        self.from_space = own
        return seen
