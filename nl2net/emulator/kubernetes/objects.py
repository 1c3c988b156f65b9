"""Pods, services, namespaces and network policies as values, read from and written to Kubernetes JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy
from nl2net.errors import DataError

PROTOCOLS = ("TCP", "UDP", "SCTP")


@dataclass(frozen=True, slots=True)
class Port:
    """A port that a pod or host listens on."""

    number: int
    protocol: str = "TCP"
    name: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.number <= 65535:
            raise DataError(f"port {self.number} is not between 1 and 65535")
        if self.protocol not in PROTOCOLS:
            raise DataError(f"protocol {self.protocol!r} is not one of {', '.join(PROTOCOLS)}")

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"number": self.number, "protocol": self.protocol, "name": self.name}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | int) -> Port:
        """Read a number or the JSON form."""
        if isinstance(data, int):
            return cls(data)
        return cls(int(data["number"]), str(data.get("protocol", "TCP")), str(data.get("name", "")))


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod: ``address`` is its IPv4 address, ``labels`` are what selectors see."""

    name: str
    namespace: str = "default"
    labels: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    ports: tuple[Port, ...] = ()

    @property
    def key(self) -> str:
        """``namespace/name``, which is also the name of its node."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ServicePort:
    """``port`` is what clients use; ``target`` is a number or the name of a pod's port."""

    port: int
    target: int | str
    protocol: str = "TCP"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """A service with a cluster address; its pods are those that ``selector`` matches."""

    name: str
    namespace: str = "default"
    selector: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    ports: tuple[ServicePort, ...] = ()

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Pods, services and policies of one cluster; ``namespaces`` maps a name to its labels."""

    pods: tuple[Pod, ...] = ()
    services: tuple[Service, ...] = ()
    policies: tuple[NetworkPolicy, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def labels_of(self, namespace: str) -> Mapping[str, str]:
        """Labels of a namespace, with the name label that the API server always sets."""
        return {"kubernetes.io/metadata.name": namespace, **self.namespaces.get(namespace, {})}

    def endpoints(self, service: Service, port: ServicePort) -> tuple[tuple[Pod, int], ...]:
        """Pods behind a service port with the port number there; a named target is resolved per pod."""
        found = []
        for pod in self.pods:
            chosen = pod.namespace == service.namespace and bool(service.selector)
            if not chosen or any(pod.labels.get(k) != v for k, v in service.selector.items()):
                continue
            number = _target(pod, port)
            if number is not None:
                found.append((pod, number))
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """JSON form; policies as Kubernetes manifests."""
        return {
            "namespaces": {name: dict(labels) for name, labels in self.namespaces.items()},
            "pods": [_pod_json(pod) for pod in self.pods],
            "services": [_service_json(service) for service in self.services],
            "policies": [policy.manifest for policy in self.policies],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cluster:
        """Read the JSON form."""
        return cls(
            pods=tuple(_pod_from(item) for item in data.get("pods", ())),
            services=tuple(_service_from(item) for item in data.get("services", ())),
            policies=tuple(read_policy(item) for item in data.get("policies", ())),
            namespaces={str(k): {str(a): str(b) for a, b in v.items()} for k, v in data.get("namespaces", {}).items()},
        )


def _target(pod: Pod, port: ServicePort) -> int | None:
    if isinstance(port.target, int):
        return port.target
    named = (p.number for p in pod.ports if p.name == port.target and p.protocol == port.protocol)
    return next(named, None)


def _pod_json(pod: Pod) -> dict[str, Any]:
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "labels": dict(pod.labels),
        "address": pod.address,
        "ports": [port.to_json() for port in pod.ports],
    }


def _pod_from(item: Mapping[str, Any]) -> Pod:
    return Pod(
        name=str(item["name"]),
        namespace=str(item.get("namespace", "default")),
        labels={str(k): str(v) for k, v in item.get("labels", {}).items()},
        address=str(item.get("address", "")),
        ports=tuple(Port.from_json(port) for port in item.get("ports", ())),
    )


def _service_json(service: Service) -> dict[str, Any]:
    ports = [{"port": p.port, "target": p.target, "protocol": p.protocol, "name": p.name} for p in service.ports]
    return {
        "name": service.name,
        "namespace": service.namespace,
        "selector": dict(service.selector),
        "address": service.address,
        "ports": ports,
    }


def _service_from(item: Mapping[str, Any]) -> Service:
    ports = tuple(
        ServicePort(int(p["port"]), p.get("target", p["port"]), str(p.get("protocol", "TCP")), str(p.get("name", "")))
        for p in item.get("ports", ())
    )
    return Service(
        name=str(item["name"]),
        namespace=str(item.get("namespace", "default")),
        selector={str(k): str(v) for k, v in item.get("selector", {}).items()},
        address=str(item.get("address", "")),
        ports=ports,
    )
