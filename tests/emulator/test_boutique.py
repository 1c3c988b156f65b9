"""Online Boutique: the matrix of both backends equals what its publishers configured and our data say."""

from __future__ import annotations

import csv

import pytest
import yaml

from nl2net.emulator import Emulator, PutPolicy, boutique_calls, build, online_boutique
from tests.conftest import SHARED

BACKENDS = ["simulated", pytest.param("kernel", marks=pytest.mark.kernel)]
OPEN_TO_ALL = {"frontend", "frontend-external"}


def reached(network: Emulator) -> set[tuple[str, str, int]]:
    probes = network.tcp_matrix().probes
    return {(p.source.split("/")[1], p.target.split(".")[0], p.port) for p in probes if p.ok}


@pytest.fixture(params=BACKENDS)
def network(request: pytest.FixtureRequest) -> Emulator:
    if request.param == "kernel":
        request.getfixturevalue("kernel")
    built = build(online_boutique(), backend=request.param)
    request.addfinalizer(built.close)
    return built


def test_matrix_equals_the_published_expectation(network: Emulator) -> None:
    found = {flow for flow in reached(network) if flow[0] != flow[1]}
    calls = set(boutique_calls())
    backend_calls = {call for call in calls if call[1] not in OPEN_TO_ALL}
    assert len(backend_calls) == 15
    assert {flow for flow in found if flow[1] not in OPEN_TO_ALL} == backend_calls
    # The frontend admits everyone: eleven other pods over each of its two services.
    others = {flow for flow in found if flow[1] in OPEN_TO_ALL and flow[0] != "frontend"}
    assert len(others) == 22


def test_without_policies_every_service_answers(network: Emulator) -> None:
    with build(online_boutique(policies=False), backend=network.backend) as opened:
        matrix = opened.tcp_matrix()
        assert len(matrix.probes) == 144
        assert not matrix.failed
        assert {probe.stage for probe in matrix.probes} == {"banner"}


def test_cut_egress_shows_as_a_name_that_does_not_resolve(network: Emulator) -> None:
    manifest = network.state()["policies"]["default/frontend"]
    applied = network.apply(PutPolicy({**manifest, "spec": {**manifest["spec"], "egress": []}}))
    assert applied.accepted
    probe = network.tcp_matrix([("frontend", "adservice", 9555)]).probes[0]
    assert (probe.ok, probe.stage, str(probe.reason)) == (False, "", "timeout")
    network.apply_all(applied.inverse)
    assert network.tcp_matrix([("frontend", "adservice", 9555)]).probes[0].ok


def test_shipped_facts_equal_the_published_files() -> None:
    folder = SHARED / "flows" / "online_boutique"
    with (folder / "calls.csv").open(encoding="utf-8") as stream:
        rows = {(r["client"], r["server"], int(r["service_port"])) for r in csv.DictReader(stream)}
    assert rows == set(boutique_calls())
    cluster = online_boutique().cluster
    assert cluster is not None
    shipped = {policy.name: policy.manifest for policy in cluster.policies}
    files = sorted((folder / "policies").glob("network-policy-*.yaml"))
    assert len(files) == len(shipped) == 13
    for path in files:
        manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert shipped[manifest["metadata"]["name"]] == manifest
