"""Networks that can be built, broken, repaired and measured: in the kernel where it is allowed, simulated anywhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.emulator.forms import operation_from_json, operation_to_json
    from nl2net.emulator.interface import Emulator, build
    from nl2net.emulator.kubernetes.evaluate import Flow, Verdict, evaluate
    from nl2net.emulator.kubernetes.objects import Cluster, Pod, Port, Service, ServicePort
    from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy
    from nl2net.emulator.operations import (
        AddAddress,
        AddFilter,
        AddRoute,
        AddRule,
        Applied,
        DeletePolicy,
        FlushAddresses,
        Operation,
        PutPolicy,
        RemoveAddress,
        RemoveFilter,
        RemoveRoute,
        RemoveRule,
        SetChainPolicy,
        SetForwarding,
        SetImpairment,
        SetLink,
        SetMtu,
    )
    from nl2net.emulator.results import CommandResult, Hop, Matrix, Path, Probe, Reason, Snapshot
    from nl2net.emulator.shipped import boutique_calls, mesh, online_boutique, ring, sample, star
    from nl2net.emulator.topology import (
        Endpoint,
        Link,
        Node,
        NodeKind,
        StaticRoute,
        Topology,
        topology_from_json,
        topology_to_json,
    )

# Public name -> module that owns it; looked up on first use, so that importing the package stays cheap.
_EXPORTS = {
    "forms": ("operation_from_json", "operation_to_json"),
    "interface": ("Emulator", "build"),
    "kubernetes.evaluate": ("Flow", "Verdict", "evaluate"),
    "kubernetes.objects": ("Cluster", "Pod", "Port", "Service", "ServicePort"),
    "kubernetes.policy": ("NetworkPolicy", "read_policy"),
    "operations": (
        "AddAddress",
        "AddFilter",
        "AddRoute",
        "AddRule",
        "Applied",
        "DeletePolicy",
        "FlushAddresses",
        "Operation",
        "PutPolicy",
        "RemoveAddress",
        "RemoveFilter",
        "RemoveRoute",
        "RemoveRule",
        "SetChainPolicy",
        "SetForwarding",
        "SetImpairment",
        "SetLink",
        "SetMtu",
    ),
    "results": ("CommandResult", "Convergence", "Hop", "Matrix", "Path", "Probe", "Reason", "Snapshot"),
    "shipped": ("boutique_calls", "mesh", "online_boutique", "ring", "sample", "star"),
    "topology": (
        "Endpoint",
        "Link",
        "Node",
        "NodeKind",
        "StaticRoute",
        "Topology",
        "topology_from_json",
        "topology_to_json",
    ),
}
_OWNER = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "AddAddress",
    "AddFilter",
    "AddRoute",
    "AddRule",
    "Applied",
    "Cluster",
    "CommandResult",
    "Convergence",
    "DeletePolicy",
    "Emulator",
    "Endpoint",
    "Flow",
    "FlushAddresses",
    "Hop",
    "Link",
    "Matrix",
    "NetworkPolicy",
    "Node",
    "NodeKind",
    "Operation",
    "Path",
    "Pod",
    "Port",
    "Probe",
    "PutPolicy",
    "Reason",
    "RemoveAddress",
    "RemoveFilter",
    "RemoveRoute",
    "RemoveRule",
    "Service",
    "ServicePort",
    "SetChainPolicy",
    "SetForwarding",
    "SetImpairment",
    "SetLink",
    "SetMtu",
    "Snapshot",
    "StaticRoute",
    "Topology",
    "Verdict",
    "boutique_calls",
    "build",
    "evaluate",
    "mesh",
    "online_boutique",
    "operation_from_json",
    "operation_to_json",
    "read_policy",
    "ring",
    "sample",
    "star",
    "topology_from_json",
    "topology_to_json",
]


def __getattr__(name: str) -> Any:
    if name in _OWNER:
        return getattr(import_module(f"nl2net.emulator.{_OWNER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
