"""Checks of operations and pairs against the topology, shared by all backends."""

from __future__ import annotations

import ipaddress

from nl2net.emulator.expand import resolve_name
from nl2net.emulator.forms import check_operation
from nl2net.emulator.operations import (
    AddAddress,
    AddRoute,
    DeletePolicy,
    FlushAddresses,
    Operation,
    PutPolicy,
    RemoveAddress,
    SetImpairment,
    SetLink,
    SetMtu,
)
from nl2net.emulator.topology import LOOPBACK, NodeKind, Topology
from nl2net.errors import UserError


def check_against(topology: Topology, operation: Operation) -> Operation:
    """Refuse an operation that names a node or interface that does not exist.

    Raises
    ------
    UserError
        Names the node or interface; such a call is a mistake of the caller and not a refusal by the network.
    """
    check_operation(operation)
    if isinstance(operation, PutPolicy | DeletePolicy):
        if topology.cluster is None:
            raise UserError(f"operation {operation.op}: this network has no cluster")
        return operation
    node = topology.by_name.get(operation.node)
    if node is None:
        raise UserError(f"operation {operation.op}: node {operation.node!r} is unknown")
    if node.kind is NodeKind.SWITCH and not isinstance(operation, SetLink | SetMtu | SetImpairment):
        raise UserError(f"operation {operation.op}: {operation.node!r} is a switch; only links of it can change")
    _check_interface(topology, operation)
    return operation


def _check_interface(topology: Topology, operation: Operation) -> None:
    match operation:
        case SetLink() | SetMtu() | SetImpairment():
            name, loopback = operation.interface, False
        case AddAddress() | RemoveAddress() | FlushAddresses():
            name, loopback = operation.interface, not isinstance(operation, FlushAddresses)
        case AddRoute() if operation.dev:
            name, loopback = operation.dev, False
        case _:
            return
    node = getattr(operation, "node", "")
    if (node, name) not in topology.interfaces and not (loopback and name == LOOPBACK):
        known = ", ".join(interface for owner, interface in topology.interfaces if owner == node)
        raise UserError(f"operation {operation.op}: {node!r} has no interface {name!r}", hint=f"It has: {known}")


def namespace_of(node: str) -> str:
    """Namespace of a pod's node; ``default`` for other nodes."""
    return node.partition("/")[0] if "/" in node else "default"


def target_address(topology: Topology, target: str) -> str:
    """Address of a node name, or the text itself when it is an address; empty when it is neither."""
    if target in topology.by_name or any(name.endswith(f"/{target}") for name in topology.by_name):
        return topology.address(topology.find(target))
    try:
        return str(ipaddress.IPv4Address(target))
    except ValueError:
        return ""


def service_address(topology: Topology, name: str, source: str) -> str:
    """Cluster address of a service as the source sees it; empty when there is none of that name."""
    if topology.cluster is None:
        return ""
    return resolve_name(topology.cluster, name, namespace_of(source))
