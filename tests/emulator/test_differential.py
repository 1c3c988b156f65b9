"""The simulator is trusted because it agrees with the kernel, case by case."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nl2net.emulator import Operation, build, mesh, online_boutique
from tests.emulator.cases import (
    Case,
    any_fault,
    boutique_faults,
    cluster_case,
    mesh_case,
    star_case,
    star_faults,
)
from tests.emulator.differential import apply_both, compare_connects, compare_pings, undo

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(900)]
FIXED_SEEDS = (1, 2)
Maker = Callable[[random.Random], Case]


def seeds() -> tuple[int, ...]:
    """Fixed seeds and one fresh one, which a failure prints."""
    return (*FIXED_SEEDS, secrets.randbelow(1_000_000) + 1000)


class Tally:
    """What was compared over all tests of this module."""

    pings: ClassVar[int] = 0
    connects: ClassVar[int] = 0


def run_rounds(make: Maker, seed: int, rounds: int, *, tcp: bool) -> None:
    """Build one network twice, then break, compare and repair it several times."""
    draw = random.Random(seed)
    first = make(draw)
    with build(first.topology, backend="kernel") as kernel, build(first.topology, backend="simulated") as simulated:
        digest = kernel.snapshot().digest
        assert digest == simulated.snapshot().digest
        for number in range(rounds):
            case = first if number == 0 else Case(first.topology, again(draw, first))
            done, wrong = apply_both(kernel, simulated, case.operations)
            pings, differences = compare_pings(kernel, simulated)
            Tally.pings += len(pings.probes)
            wrong += differences
            if tcp:
                connects, differences = compare_connects(kernel, simulated)
                Tally.connects += len(connects.probes)
                wrong += differences
            wrong += undo(kernel, simulated, done, case, digest)
            assert not wrong, f"seed {seed}, round {number}: {wrong[0]}\nreplay: {case.replay(wrong[:5])}"


def again(draw: random.Random, case: Case) -> tuple[Operation, ...]:
    """Another set of changes for the same network."""
    if case.topology.cluster is not None:
        return cluster_case(draw, 4).operations
    if case.topology.name == "star":
        return star_faults(draw, case.topology)
    return tuple(any_fault(draw, case.topology) for _ in range(draw.randint(1, 4)))


@pytest.mark.parametrize("number", range(8))
def test_meshes_agree(kernel: str, number: int) -> None:
    """Random router meshes with one to four faults of any kind."""
    for seed in seeds()[: 2 if number else 3]:
        run_rounds(mesh_case, 100 * number + seed, 3, tcp=number == 0)


@pytest.mark.parametrize("number", range(3))
def test_stars_agree(kernel: str, number: int) -> None:
    """The faults of the NetPress routing application, one or two at once."""
    for seed in seeds()[: 2 if number else 3]:
        run_rounds(star_case, 100 * number + seed, 6, tcp=False)


@pytest.mark.parametrize("number", range(3))
def test_clusters_agree(kernel: str, number: int) -> None:
    """Random NetworkPolicies over 24 pods in three namespaces: 600 connections a round."""
    for seed in seeds()[number : number + 1]:
        run_rounds(lambda draw: cluster_case(draw, 24), 700 + seed, 6, tcp=True)


def test_boutique_faults_agree(kernel: str) -> None:
    """Online Boutique with random policies on top of the published ones."""
    topology = online_boutique()
    draw = random.Random(5)
    with build(topology, backend="kernel") as left, build(topology, backend="simulated") as right:
        digest = left.snapshot().digest
        for _ in range(4):
            operations = boutique_faults(draw)
            done, wrong = apply_both(left, right, operations)
            connects, differences = compare_connects(left, right)
            Tally.connects += len(connects.probes)
            case = Case(topology, operations)
            wrong += differences + undo(left, right, done, case, digest)
            assert not wrong, case.replay(wrong[:5])


def test_enough_was_compared(kernel: str) -> None:
    """At least 5,000 pings and 10,000 connections, whatever order the tests ran in."""
    draw = 0
    while Tally.pings < 5000:
        draw += 1
        run_rounds(mesh_case, 5000 + draw, 4, tcp=False)
    while Tally.connects < 10_000:
        draw += 1
        run_rounds(lambda rng: cluster_case(rng, 24), 5000 + draw, 6, tcp=True)
    print(f"compared {Tally.pings} pings and {Tally.connects} connections, 0 disagreements")


@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.integers(2, 4), st.randoms(use_true_random=False), st.integers(1, 3))
def test_small_lines_agree(kernel: str, routers: int, draw: random.Random, faults: int) -> None:
    """Hypothesis draws every choice, so that a disagreement shrinks to few routers and few faults."""
    topology = mesh(routers, [(index, index + 1) for index in range(routers - 1)])
    operations = tuple(any_fault(draw, topology) for _ in range(faults))
    with build(topology, backend="kernel") as left, build(topology, backend="simulated") as right:
        _, wrong = apply_both(left, right, operations)
        wrong += compare_pings(left, right)[1]
    assert not wrong, Case(topology, operations).replay(wrong[:3])
