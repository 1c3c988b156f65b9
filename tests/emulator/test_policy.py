"""NetworkPolicy semantics: reading, evaluating, compiling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2net.emulator import Flow, Pod, Port, Verdict, evaluate, read_policy
from nl2net.emulator.kubernetes.policy import Requirement, Selector, read_selector
from nl2net.errors import DataError

WEB = Pod("web", "red", {"app": "web"}, "10.244.0.1", (Port(8080, name="http"),))
API = Pod("api", "red", {"app": "api"}, "10.244.0.2", (Port(9000, name="http"),))
DB = Pod("db", "blue", {"app": "db", "tier": "back"}, "10.244.1.3", (Port(5432, name="sql"),))
PODS = (WEB, API, DB)
NAMESPACES = {"red": {"team": "a"}, "blue": {"team": "b"}}


def policy(spec: dict[str, Any], namespace: str = "red", name: str = "p") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def ask(spec: dict[str, Any], flow: Flow, namespace: str = "red") -> Verdict:
    return evaluate([policy(spec, namespace)], PODS, flow, namespaces=NAMESPACES)


def test_no_selecting_policy_leaves_a_pod_open() -> None:
    spec = {"podSelector": {"matchLabels": {"app": "api"}}}
    assert ask(spec, Flow("api", "web", 8080)).allowed
    assert not ask(spec, Flow("web", "api", 9000)).allowed


def test_policies_of_another_namespace_do_not_select() -> None:
    assert ask({"podSelector": {}}, Flow("web", "db", 5432), "red").allowed
    assert not ask({"podSelector": {}}, Flow("web", "db", 5432), "blue").allowed


def test_default_types_restrict_egress_only_when_it_is_present() -> None:
    closed = {"podSelector": {"matchLabels": {"app": "web"}}}
    assert ask(closed, Flow("web", "api", 9000)).allowed
    opened = {**closed, "egress": [{"ports": [{"port": 9000}]}]}
    assert ask(opened, Flow("web", "api", 9000)).allowed
    assert not ask(opened, Flow("web", "api", 9001)).allowed
    assert not ask({**closed, "policyTypes": ["Egress"]}, Flow("web", "api", 9000)).allowed


def test_peer_without_namespace_selector_stays_in_the_policy_namespace() -> None:
    spec: dict[str, Any] = {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]}
    assert not ask(spec, Flow("web", "db", 5432), "blue").allowed
    spec["ingress"][0]["from"] = [{"namespaceSelector": {"matchLabels": {"team": "a"}}}]
    assert ask(spec, Flow("web", "db", 5432), "blue").allowed


def test_both_selectors_in_one_peer_must_hold() -> None:
    peer = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "api"}}}
    spec = {"podSelector": {}, "ingress": [{"from": [peer]}]}
    assert ask(spec, Flow("api", "db", 5432), "blue").allowed
    assert not ask(spec, Flow("web", "db", 5432), "blue").allowed


def test_not_in_holds_for_a_missing_key() -> None:
    expression = {"key": "tier", "operator": "NotIn", "values": ["back"]}
    spec = {"podSelector": {"matchExpressions": [expression]}}
    assert not ask(spec, Flow("web", "api", 9000)).allowed
    assert ask({"podSelector": {"matchExpressions": [expression]}}, Flow("web", "db", 5432), "blue").allowed


def test_address_blocks_cover_pods_and_their_exceptions_do_not() -> None:
    block = {"cidr": "10.244.0.0/16", "except": ["10.244.0.0/31"]}
    spec = {"podSelector": {}, "ingress": [{"from": [{"ipBlock": block}]}]}
    assert not ask(spec, Flow("web", "db", 5432), "blue").allowed
    assert ask(spec, Flow("api", "db", 5432), "blue").allowed
    assert not ask(spec, Flow("192.0.2.1", "db", 5432), "blue").allowed


@pytest.mark.parametrize(
    ("ports", "port", "protocol", "allowed"),
    [
        ([], 1, "TCP", True),
        ([], 0, "ICMP", True),
        ([{"port": 5432}], 5432, "TCP", True),
        ([{"port": 5432}], 5432, "UDP", False),
        ([{"port": 5432}], 0, "ICMP", False),
        ([{"protocol": "UDP"}], 9, "UDP", True),
        ([{"port": 5000, "endPort": 5431}], 5432, "TCP", False),
        ([{"port": 5000, "endPort": 5432}], 5432, "TCP", True),
        ([{"port": "sql"}], 5432, "TCP", True),
        ([{"port": "http"}], 5432, "TCP", False),
    ],
)
def test_ports(ports: list[dict[str, Any]], port: int, protocol: str, allowed: bool) -> None:
    spec = {"podSelector": {}, "ingress": [{"ports": ports}] if ports else [{}]}
    assert ask(spec, Flow("web", "db", port, protocol), "blue").allowed is allowed


def test_named_port_of_egress_is_looked_up_on_the_target() -> None:
    spec = {"podSelector": {"matchLabels": {"app": "web"}}, "egress": [{"ports": [{"port": "http"}]}]}
    assert ask(spec, Flow("web", "api", 9000)).allowed
    assert not ask(spec, Flow("web", "api", 8080)).allowed


def test_policies_add_up() -> None:
    deny = policy({"podSelector": {}}, name="deny")
    admit = policy({"podSelector": {"matchLabels": {"app": "api"}}, "ingress": [{"from": [{"podSelector": {}}]}]})
    verdict = evaluate([deny, admit], PODS, Flow("web", "api", 9000))
    assert verdict == Verdict(True, "admitted", ("red/p",))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"podSelector": {"matchLabel": {}}}, "spec.podSelector"),
        ({"policyTypes": ["In"]}, "spec.policyTypes"),
        ({"ingress": {}}, None),
        ({"ingress": [{"to": []}]}, "spec.ingress[0]"),
        ({"ingress": [{"from": [{}]}]}, "spec.ingress[0].from[0]"),
        ({"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/33"}}]}]}, "spec.ingress[0].from[0].ipBlock.cidr"),
        ({"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/9"]}}]}]}, None),
        ({"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]}, None),
        ({"ingress": [{"ports": [{"port": 0}]}]}, "spec.ingress[0].ports[0].port"),
        ({"ingress": [{"ports": [{"port": "80"}]}]}, "spec.ingress[0].ports[0].port"),
        ({"ingress": [{"ports": [{"port": 80, "endPort": 79}]}]}, "spec.ingress[0].ports[0].endPort"),
        ({"ingress": [{"ports": [{"protocol": "ICMP"}]}]}, "spec.ingress[0].ports[0].protocol"),
        ({"podSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, None),
        ({"podSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}, None),
    ],
)
def test_faults_name_their_field(change: dict[str, Any], where: str | None) -> None:
    spec: dict[str, Any] = {"podSelector": {}, "ingress": [{}], **change}
    if spec["ingress"] == {}:
        spec["ingress"] = {"from": []}
    with pytest.raises(DataError) as caught:
        read_policy(policy(spec))
    assert caught.value.field is not None
    assert where is None or caught.value.field.startswith(where)


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["a", "b"]))


@given(LABELS, st.sampled_from(["app", "tier"]), st.lists(st.sampled_from(["a", "b"]), min_size=1))
def test_operators_are_complements(labels: dict[str, str], key: str, values: list[str]) -> None:
    chosen = tuple(values)
    assert Requirement(key, "In", chosen).holds(labels) != Requirement(key, "NotIn", chosen).holds(labels)
    assert Requirement(key, "Exists").holds(labels) != Requirement(key, "DoesNotExist").holds(labels)


@given(LABELS)
def test_query_selectors_agree_with_label_selectors(labels: dict[str, str]) -> None:
    written = read_selector("app=a, tier notin (b,c), !old")
    meant = Selector(
        (Requirement("app", "In", ("a",)), Requirement("tier", "NotIn", ("b", "c")), Requirement("old", "DoesNotExist"))
    )
    assert written.matches(labels) == meant.matches(labels)
