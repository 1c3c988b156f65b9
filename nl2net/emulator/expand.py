"""A cluster as a plain network: one routing node, one node per pod, one routed link each.

Every pod has a /32 address and one gateway, a link-local address on the loopback of the cluster's node; so no bridge
and no bridge filter is involved, and a policy decides at the node between two interfaces.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import replace

from nl2net.emulator.kubernetes.objects import Cluster, Pod, Port, Service, ServicePort
from nl2net.emulator.topology import Endpoint, Link, Node, NodeKind, StaticRoute, Topology
from nl2net.errors import DataError

CLUSTER_NODE = "node"
GATEWAY = "169.254.1.1"
DNS_POD = Pod("kube-dns", "kube-system", {"k8s-app": "kube-dns"}, ports=(Port(53, "UDP", "dns"),))
DNS_SERVICE = Service(
    "kube-dns", "kube-system", {"k8s-app": "kube-dns"}, "10.96.0.10", (ServicePort(53, 53, "UDP", "dns"),)
)
_PODS = ipaddress.IPv4Network("10.244.0.0/16")
_SERVICES = ipaddress.IPv4Network("10.96.0.0/16")


def expand(topology: Topology) -> Topology:
    """Add nodes, links and routes of the cluster; a topology without one, or already expanded, comes back as it is."""
    if topology.cluster is None or CLUSTER_NODE in topology.by_name:
        return topology
    cluster = complete_cluster(topology.cluster)
    nodes = [Node(CLUSTER_NODE, NodeKind.ROUTER, loopback=(f"{GATEWAY}/32",))]
    links, routes = [], []
    for index, pod in enumerate(cluster.pods):
        outside = f"pod{index}"
        tcp = tuple(port for port in pod.ports if port.protocol == "TCP")
        nodes.append(Node(pod.key, NodeKind.POD, listens=tcp))
        links.append(Link(Endpoint(CLUSTER_NODE, outside), Endpoint(pod.key, "eth0", (f"{pod.address}/32",))))
        routes += [
            StaticRoute(CLUSTER_NODE, f"{pod.address}/32", dev=outside),
            StaticRoute(pod.key, f"{GATEWAY}/32", dev="eth0"),
            StaticRoute(pod.key, "0.0.0.0/0", via=GATEWAY, dev="eth0"),
        ]
    return replace(
        topology,
        nodes=topology.nodes + tuple(nodes),
        links=topology.links + tuple(links),
        routes=topology.routes + tuple(routes),
        cluster=cluster,
    )


def complete_cluster(cluster: Cluster) -> Cluster:
    """Add the name server where there is none and give addresses to pods and services that have none."""
    pods, services = list(cluster.pods), list(cluster.services)
    if not any(service.key == DNS_SERVICE.key for service in services):
        pods.append(DNS_POD)
        services.append(DNS_SERVICE)
    free_pods = _free(_PODS, {pod.address for pod in pods}, 10)
    free_services = _free(_SERVICES, {service.address for service in services}, 20)
    done_pods = tuple(pod if pod.address else replace(pod, address=next(free_pods)) for pod in pods)
    done_services = tuple(s if s.address else replace(s, address=next(free_services)) for s in services)
    keys = [pod.key for pod in done_pods]
    if len(set(keys)) != len(keys):
        raise DataError("a pod name occurs twice in one namespace")
    return replace(cluster, pods=done_pods, services=done_services)


def _free(network: ipaddress.IPv4Network, used: set[str], start: int) -> Iterator[str]:
    for number in range(start, network.num_addresses - 1):
        address = str(network[number])
        if address not in used:
            yield address
    raise DataError(f"no free address is left in {network}")


def resolve_name(cluster: Cluster, name: str, namespace: str) -> str:
    """Cluster address of a service name as a pod of that namespace sees it; empty when unknown.

    Names may be ``service``, ``service.namespace`` or the full form that ends in ``svc.cluster.local``.
    """
    parts = name.removesuffix(".").removesuffix(".cluster.local").removesuffix(".svc").split(".")
    if len(parts) > 2:
        return ""
    wanted = f"{parts[1] if len(parts) == 2 else namespace}/{parts[0]}"
    return next((service.address for service in cluster.services if service.key == wanted), "")
