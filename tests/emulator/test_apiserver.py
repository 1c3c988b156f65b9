"""The loopback API server: the official client, a real kubectl, and requests that must fail."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from nl2net.emulator import Emulator, build, online_boutique, star
from nl2net.emulator.kubernetes.apiserver import ApiServer
from nl2net.emulator.kubernetes.cluster import PolicyClient
from nl2net.emulator.kubernetes.requests import Api, Request, merge_patch
from nl2net.errors import DataError, UserError

POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
CLOSED = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "closed", "labels": {"made": "by-hand"}},
    "spec": {"podSelector": {"matchLabels": {"app": "frontend"}}},
}


@pytest.fixture
def network() -> Iterator[Emulator]:
    with build(online_boutique(), backend="simulated") as built:
        yield built


@pytest.fixture
def kubeconfig(network: Emulator, tmp_path: Path) -> Iterator[Path]:
    with ApiServer(network) as server:
        path = tmp_path / "kubeconfig"
        server.write_kubeconfig(path)
        yield path


def ask(api: Api, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, Any]:
    data = b"" if body is None else json.dumps(body).encode()
    answer = api.handle(Request(method, path, {}, kind, data))
    return answer.status, answer.body


def test_official_client_changes_what_is_enforced(network: Emulator, kubeconfig: Path) -> None:
    with config.new_client_from_config(str(kubeconfig)) as connection:
        api = client.NetworkingV1Api(connection)
        assert len(api.list_namespaced_network_policy("default").items) == 13
        assert len(client.CoreV1Api(connection).list_namespaced_pod("default").items) == 12
        pair = [("cartservice", "adservice", 9555)]
        assert not network.tcp_matrix(pair).probes[0].ok
        api.patch_namespaced_network_policy("adservice", "default", {"spec": {"ingress": [{}]}})
        assert network.tcp_matrix(pair).probes[0].ok
        api.delete_namespaced_network_policy("adservice", "default")
        assert not network.tcp_matrix(pair).probes[0].ok  # deny-all still selects it
        with pytest.raises(client.ApiException) as caught:
            api.read_namespaced_network_policy("adservice", "default")
        assert caught.value.status == 404


def test_policy_client_puts_back_what_was_there(network: Emulator, kubeconfig: Path) -> None:
    before = network.snapshot().digest
    remote = PolicyClient(kubeconfig)
    try:
        wanted = remote.policies()
        remote.put(CLOSED)
        remote.put({**wanted["adservice"].manifest, "spec": {"podSelector": {}}})
        remote.delete("redis-cart")
        remote.delete("redis-cart")
        assert network.snapshot().digest != before
        remote.restore(wanted)
        assert remote.policies() == wanted
        with pytest.raises(DataError):
            remote.put({**CLOSED, "spec": {}, "kind": "Pod"})
    finally:
        remote.close()


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="KUBECTL NOT TESTED: no kubectl on this machine")
def test_a_real_kubectl(network: Emulator, kubeconfig: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "policy.json"
    manifest.write_text(json.dumps(CLOSED), encoding="utf-8")

    def run(*arguments: str) -> str:
        command = ["kubectl", "--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "created" in run("apply", "--validate=false", "-f", str(manifest))
    assert "unchanged" in run("apply", "--validate=false", "-f", str(manifest))
    assert "closed" in run("get", "networkpolicies", "-l", "made=by-hand")
    assert "app=frontend" in run("describe", "networkpolicy", "closed")
    assert "patched" in run("patch", "netpol", "closed", "--type=merge", "-p", '{"spec": {"ingress": [{}]}}')
    assert json.loads(run("get", "netpol", "closed", "-o", "json"))["spec"]["ingress"] == [{}]
    assert "deleted" in run("delete", "netpol", "closed")
    assert len(network.state()["policies"]) == 13


def test_kubeconfig_is_private(kubeconfig: Path) -> None:
    assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600


def test_only_the_token_opens_the_server(network: Emulator) -> None:
    from urllib.error import HTTPError
    from urllib.request import urlopen

    with ApiServer(network) as server:
        with urlopen(f"{server.address}/{server.token}/version", timeout=5) as answer:
            assert json.load(answer)["major"] == "1"
        for path in ("version", "x" * 32 + "/version", ""):
            with pytest.raises(HTTPError) as caught:
                urlopen(f"{server.address}/{path}", timeout=5)
            with caught.value as error:
                assert error.code == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", POLICIES + "/none", None, 404),
        ("GET", "/api/v1/secrets", None, 404),
        ("POST", "/api/v1/namespaces/default/pods", {}, 405),
        ("DELETE", POLICIES, None, 405),
        ("POST", "/version", None, 405),
        ("POST", POLICIES, {**CLOSED, "metadata": {"name": "deny-all"}}, 409),
        ("POST", POLICIES, {**CLOSED, "spec": {"podSelectors": {}}}, 422),
        ("POST", POLICIES, {**CLOSED, "kind": "Pod"}, 422),
        ("POST", POLICIES, [], 400),
        ("PUT", POLICIES + "/deny-all", CLOSED, 400),
        ("PUT", POLICIES + "/deny-all", {**CLOSED, "metadata": {"name": "deny-all", "resourceVersion": "0"}}, 409),
        ("PATCH", POLICIES + "/deny-all", {"spec": {"ingress": 5}}, 422),
    ],
)
def test_status_objects(network: Emulator, method: str, path: str, body: Any, status: int) -> None:
    before = network.snapshot().digest
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    code, answer = ask(Api(network), method, path, body, kind)
    assert (code, answer["kind"], answer["code"]) == (status, "Status", status)
    assert network.snapshot().digest == before


def test_dry_run_changes_nothing(network: Emulator) -> None:
    before = network.snapshot().digest
    request = Request("POST", POLICIES, {"dryRun": "All"}, "application/json", json.dumps(CLOSED).encode())
    assert Api(network).handle(request).status == 201
    assert network.snapshot().digest == before


def test_json_patch_and_unknown_patches(network: Emulator) -> None:
    api = Api(network)
    remove = [{"op": "remove", "path": "/spec/ingress/0"}]
    code, body = ask(api, "PATCH", POLICIES + "/adservice", remove, "application/json-patch+json")
    assert (code, body["spec"]["ingress"]) == (200, [])
    assert ask(api, "PATCH", POLICIES + "/adservice", remove, "application/json-patch+json")[0] == 400
    assert ask(api, "PATCH", POLICIES + "/adservice", {}, "application/apply-patch+yaml")[0] == 400


def test_merge_patch_follows_its_standard() -> None:
    """Cases of RFC 7386, appendix A."""
    for target, patch, result in (
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ):
        assert merge_patch(target, patch) == result


def test_a_network_without_a_cluster_cannot_be_served() -> None:
    with build(star(), backend="simulated") as plain, pytest.raises(UserError):
        ApiServer(plain)
