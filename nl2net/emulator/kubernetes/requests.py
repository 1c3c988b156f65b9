"""Requests to the emulated API server and their answers, without any transport."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yaml

from nl2net.emulator.interface import Emulator
from nl2net.emulator.kubernetes.objects import Cluster, Pod, Service
from nl2net.emulator.kubernetes.policy import Selector, read_policy, read_selector
from nl2net.emulator.operations import DeletePolicy, PutPolicy
from nl2net.errors import DataError, UserError

CORE, NETWORKING = "v1", "networking.k8s.io/v1"
_POLICIES = re.compile(
    r"^/apis/networking\.k8s\.io/v1(?:/namespaces/(?P<namespace>[^/]+))?/networkpolicies(?:/(?P<name>[^/]+))?$"
)
_READ_ONLY = re.compile(r"^/api/v1(?:/namespaces/(?P<namespace>[^/]+))?/(?P<kind>pods|services)(?:/(?P<name>[^/]+))?$")
_NAMESPACES = re.compile(r"^/api/v1/namespaces(?:/(?P<name>[^/]+))?$")


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``kind`` is the content type."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and JSON body."""

    status: int
    body: Mapping[str, Any]


def failure(code: int, reason: str, message: str) -> Answer:
    """A Status object as the real API server sends it."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    return Answer(code, {**body, "reason": reason, "code": code})


class Api:
    """Objects of one emulated cluster; the policies in force are those of the emulator."""

    def __init__(self, network: Emulator) -> None:
        assert network.topology.cluster is not None
        self._network = network
        self._cluster: Cluster = network.topology.cluster
        self._version = 1
        self._meta: dict[str, dict[str, Any]] = {}
        self._policies: dict[str, dict[str, Any]] = {}
        self._started = self._now()
        for key, manifest in network.state()["policies"].items():
            self._remember(key, manifest)

    def _remember(self, key: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        self._version += 1
        fresh = {"uid": str(uuid.uuid4()), "creationTimestamp": self._now(), "generation": 0}
        meta = self._meta.setdefault(key, fresh)
        meta["generation"] += 1
        namespace, _, name = key.partition("/")
        kept = {k: v for k, v in manifest["metadata"].items() if k in {"labels", "annotations"}}
        metadata = {"name": name, "namespace": namespace, **kept, **meta, "resourceVersion": str(self._version)}
        stored = {"apiVersion": NETWORKING, "kind": "NetworkPolicy", "metadata": metadata, "spec": manifest["spec"]}
        self._policies[key] = stored
        return stored

    @staticmethod
    def _now() -> str:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def handle(self, request: Request) -> Answer:
        """Answer one request."""
        fixed = _discovery().get(request.path)
        if fixed is not None:
            return Answer(200, fixed) if request.method == "GET" else _not_allowed(request)
        try:
            if found := _POLICIES.match(request.path):
                return self._on_policies(request, found["namespace"], found["name"])
            if request.query.get("watch"):
                return failure(405, "MethodNotAllowed", "watching is not supported by the emulator")
            if found := _NAMESPACES.match(request.path):
                return self._read(request, "namespaces", "", found["name"])
            if found := _READ_ONLY.match(request.path):
                return self._read(request, found["kind"], found["namespace"] or "", found["name"])
        except DataError as error:
            return failure(422, "Invalid", f"NetworkPolicy is invalid: {error}")
        except (UserError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
            return failure(400, "BadRequest", f"the request cannot be read: {error}")
        return failure(404, "NotFound", "the server could not find the requested resource")

    def _read(self, request: Request, kind: str, namespace: str, name: str | None) -> Answer:
        if request.method != "GET":
            return _not_allowed(request)
        objects = [o for o in self._objects(kind) if not namespace or o["metadata"].get("namespace") == namespace]
        if name is None:
            return _listing(kind, CORE, _chosen(objects, request.query.get("labelSelector", "")), self._version)
        found = next((item for item in objects if item["metadata"]["name"] == name), None)
        return Answer(200, found) if found else failure(404, "NotFound", f'{kind} "{name}" not found')

    def _objects(self, kind: str) -> list[dict[str, Any]]:
        if kind == "pods":
            return [_pod(pod, self._started) for pod in self._cluster.pods]
        if kind == "services":
            return [_service(service, self._started) for service in self._cluster.services]
        names = {*self._cluster.namespaces, "default", *(pod.namespace for pod in self._cluster.pods)}
        return [self._namespace(name) for name in sorted(names)]

    def _namespace(self, name: str) -> dict[str, Any]:
        metadata = {"name": name, "labels": dict(self._cluster.labels_of(name))}
        return _object("Namespace", metadata, self._started, {"status": {"phase": "Active"}})

    def _on_policies(self, request: Request, namespace: str | None, name: str | None) -> Answer:
        if request.query.get("watch"):
            return failure(405, "MethodNotAllowed", "watching is not supported by the emulator")
        if name is None or namespace is None:
            if request.method == "POST" and namespace and name is None:
                return self._create(request, namespace)
            if request.method != "GET":
                return _not_allowed(request)
            found = [p for p in self._policies.values() if namespace in {None, p["metadata"]["namespace"]}]
            chosen = _chosen(found, request.query.get("labelSelector", ""))
            return _listing("networkpolicies", NETWORKING, chosen, self._version)
        key = f"{namespace}/{name}"
        current = self._policies.get(key)
        if current is None:
            return failure(404, "NotFound", f'networkpolicies.networking.k8s.io "{name}" not found')
        match request.method:
            case "GET":
                return Answer(200, current)
            case "PUT":
                return self._write(request, key, _body(request))
            case "PATCH":
                return self._write(request, key, _patched(request, current))
            case "DELETE":
                return self._delete(request, namespace, name)
            case _:
                return _not_allowed(request)

    def _create(self, request: Request, namespace: str) -> Answer:
        manifest = _body(request)
        key = f"{namespace}/{manifest.get('metadata', {}).get('name')}"
        if key in self._policies:
            return failure(409, "AlreadyExists", f'networkpolicies.networking.k8s.io "{key}" already exists')
        return self._write(request, key, manifest, created=True)

    def _write(self, request: Request, key: str, manifest: Mapping[str, Any], *, created: bool = False) -> Answer:
        namespace, _, name = key.partition("/")
        metadata = {**manifest.get("metadata", {})}
        if metadata.get("namespace", namespace) != namespace or metadata.get("name") != name:
            return failure(400, "BadRequest", "name and namespace of the object do not match the request")
        metadata["namespace"] = namespace
        manifest = {**manifest, "metadata": metadata}
        read_policy(manifest)
        version = metadata.get("resourceVersion")
        if not created and version and version != self._policies[key]["metadata"]["resourceVersion"]:
            return failure(
                409, "Conflict", f"the object {key} has been modified; apply your changes to the latest version"
            )
        status = 201 if created else 200
        kept = {k: v for k, v in metadata.items() if k in {"name", "namespace", "labels", "annotations"}}
        plain = {"apiVersion": NETWORKING, "kind": "NetworkPolicy", "metadata": kept, "spec": manifest["spec"]}
        if request.query.get("dryRun"):
            return Answer(status, plain)
        applied = self._network.apply(PutPolicy(plain))
        if not applied.accepted:
            return failure(422, "Invalid", applied.detail or applied.reason)
        return Answer(status, self._remember(key, plain))

    def _delete(self, request: Request, namespace: str, name: str) -> Answer:
        if not request.query.get("dryRun"):
            self._network.apply(DeletePolicy(name, namespace))
            self._policies.pop(f"{namespace}/{name}")
            uid = self._meta.pop(f"{namespace}/{name}")["uid"]
            self._version += 1
        else:
            uid = self._meta[f"{namespace}/{name}"]["uid"]
        details = {"name": name, "group": "networking.k8s.io", "kind": "networkpolicies", "uid": uid}
        return Answer(
            200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        )


def _not_allowed(request: Request) -> Answer:
    return failure(405, "MethodNotAllowed", f"{request.method} is not allowed on {request.path}")


def _body(request: Request) -> dict[str, Any]:
    """JSON or YAML of a request; YAML covers both."""
    loaded = yaml.safe_load(request.body) if "yaml" in request.kind else json.loads(request.body)
    if not isinstance(loaded, dict):
        raise TypeError("an object is required")
    return loaded


def _patched(request: Request, current: Mapping[str, Any]) -> dict[str, Any]:
    body = json.loads(request.body)
    if request.kind in {"application/merge-patch+json", "application/strategic-merge-patch+json"}:
        return dict(merge_patch(current, body))
    if request.kind == "application/json-patch+json":
        import jsonpatch

        try:
            patched: dict[str, Any] = jsonpatch.apply_patch(current, body)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
            raise UserError(f"JSON patch: {error}") from None
        return patched
    raise UserError(f"patches of type {request.kind!r} are not supported")


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386). For policies the strategic form is the same, because their lists are atomic.

    Examples
    --------
    >>> merge_patch({"a": {"b": 1, "c": 2}}, {"a": {"b": None}})
    {'a': {'c': 2}}
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif not str(name).startswith("$"):  # directives of strategic patches
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def _chosen(objects: Iterable[Mapping[str, Any]], selector: str) -> list[Mapping[str, Any]]:
    wanted: Selector = read_selector(selector)
    return [item for item in objects if wanted.matches(item["metadata"].get("labels") or {})]


def _object(kind: str, metadata: dict[str, Any], created: str, rest: Mapping[str, Any]) -> dict[str, Any]:
    stamped = {**metadata, "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{kind}/{metadata}")), "resourceVersion": "1"}
    return {"kind": kind, "apiVersion": CORE, "metadata": {**stamped, "creationTimestamp": created}, **rest}


def _pod(pod: Pod, created: str) -> dict[str, Any]:
    ports = [
        {"containerPort": p.number, "protocol": p.protocol, **({"name": p.name} if p.name else {})} for p in pod.ports
    ]
    metadata = {"name": pod.name, "namespace": pod.namespace, "labels": dict(pod.labels)}
    spec = {"containers": [{"name": "main", "image": "emulated", "ports": ports}]}
    status = {"phase": "Running", "podIP": pod.address, "conditions": [{"type": "Ready", "status": "True"}]}
    return _object("Pod", metadata, created, {"spec": spec, "status": status})


def _service(service: Service, created: str) -> dict[str, Any]:
    ports = [
        {"port": p.port, "targetPort": p.target, "protocol": p.protocol, **({"name": p.name} if p.name else {})}
        for p in service.ports
    ]
    spec = {"clusterIP": service.address, "selector": dict(service.selector), "type": "ClusterIP", "ports": ports}
    metadata = {"name": service.name, "namespace": service.namespace}
    return _object("Service", metadata, created, {"spec": spec})


def _listing(kind: str, version: str, items: list[Mapping[str, Any]], revision: int) -> Answer:
    names = {"networkpolicies": "NetworkPolicyList", "pods": "PodList", "services": "ServiceList"}
    metadata = {"resourceVersion": str(revision)}
    body = {"kind": names.get(kind, "NamespaceList"), "apiVersion": version, "metadata": metadata, "items": items}
    return Answer(200, body)


def _discovery() -> Mapping[str, Mapping[str, Any]]:
    read, write = ["get", "list"], ["create", "delete", "get", "list", "patch", "update"]
    core = [
        _resource("namespaces", "Namespace", read, namespaced=False, short="ns"),
        _resource("pods", "Pod", read, short="po"),
        _resource("services", "Service", read, short="svc"),
    ]
    group_version = {"groupVersion": NETWORKING, "version": "v1"}
    group = {"name": "networking.k8s.io", "versions": [group_version], "preferredVersion": group_version}
    policies = [_resource("networkpolicies", "NetworkPolicy", write, short="netpol")]
    return {
        "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0+nl2net", "platform": "emulated"},
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
        "/apis/networking.k8s.io": {"kind": "APIGroup", "apiVersion": "v1", **group},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": core},
        "/apis/networking.k8s.io/v1": {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": NETWORKING,
            "resources": policies,
        },
    }


def _resource(name: str, kind: str, verbs: list[str], *, namespaced: bool = True, short: str = "") -> dict[str, Any]:
    body = {"name": name, "singularName": kind.lower(), "namespaced": namespaced, "kind": kind}
    return {**body, "verbs": verbs, "shortNames": [short]}
