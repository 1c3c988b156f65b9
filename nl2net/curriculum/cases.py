"""The three decision problems by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nl2net.curriculum.baselines.abr import BufferBased, ConstantLevel, Mpc
from nl2net.curriculum.baselines.cc import Bbr, Capacity, Cubic
from nl2net.curriculum.baselines.lb import LeastWork, Lookahead, RateShare, ShortestExpectedDelay, ShortestWait
from nl2net.curriculum.environments.abr import BitrateSimulator
from nl2net.curriculum.environments.base import Case, Learning, Policy
from nl2net.curriculum.environments.cc import CongestionSimulator
from nl2net.curriculum.environments.lb import BalancerSimulator
from nl2net.curriculum.spaces import Space, shipped_space
from nl2net.errors import UserError

CASES = ("abr", "cc", "lb")
# Rules that know what is to come: bounds to aim at, nothing that could run.
ORACLES = ("capacity", "lookahead")


def _bitrate(space: Space) -> Case:
    rules: dict[str, Callable[[], Policy]] = {
        "bba": BufferBased,
        "mpc": lambda: Mpc(5, robust=False),
        "robustmpc": Mpc,
        "robustmpc3": lambda: Mpc(3),
        "robustmpc1": lambda: Mpc(5, one_step=True),
        "lowest": ConstantLevel,
    }
    learning = Learning(hidden=64, minibatches=12, rate=5e-4, teacher="robustmpc")
    return Case("abr", space, BitrateSimulator, rules, "robustmpc3", ("change_s", True), learning, "per chunk")


def _congestion(space: Space) -> Case:
    rules: dict[str, Callable[[], Policy]] = {"cubic": Cubic, "bbr": Bbr, "capacity": Capacity}
    learning = Learning(
        hidden=64,
        gamma=0.95,
        lam=0.9,
        clip_low=-2000,
        clip_high=1000,
        scale=300,
        steps=3_000_000,
        sessions=96,
        minibatches=8,
        entropy=0.02,
    )
    return Case("cc", space, CongestionSimulator, rules, "bbr", ("change_s", True), learning, "per interval")


def _balancing(space: Space) -> Case:
    rules: dict[str, Callable[[], Policy]] = {
        "llf": LeastWork,
        "spt": ShortestWait,
        "sed": ShortestExpectedDelay,
        "share": RateShare,
        "lookahead": Lookahead,
    }
    learning = Learning(
        hidden=64,
        gamma=0.98,
        clip_low=-1e9,
        clip_high=0,
        scale=0.0,
        steps=2_000_000,
        sessions=64,
        minibatches=4,
        entropy=0.01,
        teacher="sed",
        lessons=3,
    )
    return Case("lb", space, BalancerSimulator, rules, "sed", ("gap", True), learning, "in log flow time")


def load_case(name: str, space: Space | None = None) -> Case:
    """A case, over its full space or a given one.

    Raises
    ------
    UserError
        Unknown name.
    """
    makers = {"abr": _bitrate, "cc": _congestion, "lb": _balancing}
    if name not in makers:
        raise UserError(f"no case {name!r}", hint=f"One of {', '.join(CASES)}.")
    case = makers[name](space or shipped_space(name))
    return case if space is None else replace(case, space=space)
