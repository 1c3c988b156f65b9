"""Structure of targets whose own checker needs a cluster or a cloud: fields, types, names, priorities, references."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_REFERENCE = re.compile(r"\$\{(\w+)\.(\w+)\.(?:id|name)\}")


def _common(manifest: Mapping[str, Any], api: str, kinds: set[str]) -> list[str]:
    problems = []
    if manifest.get("apiVersion") != api or manifest.get("kind") not in kinds:
        problems.append(f"not one of {sorted(kinds)} of {api}")
    name = manifest.get("metadata", {}).get("name", "")
    if not _NAME.fullmatch(name) or len(name) > 253:
        problems.append(f"bad name {name!r}")
    return problems


def _is_prefix(text: object) -> bool:
    try:
        ipaddress.ip_network(str(text))
    except ValueError:
        return False
    return True


def check_cilium(manifest: Mapping[str, Any]) -> list[str]:
    """Problems of a CiliumNetworkPolicy."""
    problems = _common(manifest, "cilium.io/v2", {"CiliumNetworkPolicy"})
    spec = manifest.get("spec", {})
    if not spec.get("endpointSelector", {}).get("matchLabels"):
        problems.append("an empty endpointSelector selects the whole namespace")
    for direction in ("ingress", "egress"):
        allowed = {"fromEndpoints", "toEndpoints", "fromCIDR", "toCIDR", "toPorts", "icmps"}
        for rule in spec.get(direction, []):
            problems += [f"unknown field {key}" for key in rule.keys() - allowed]
            problems += [
                f"bad prefix {p}" for key in ("fromCIDR", "toCIDR") for p in rule.get(key, ()) if not _is_prefix(p)
            ]
            for entry in rule.get("toPorts", ()):
                problems += [f"bad port {p}" for p in entry["ports"] if not _cilium_port(p)]
    return problems


def _cilium_port(port: Mapping[str, Any]) -> bool:
    number = port.get("port")
    good = isinstance(number, str) and number.isdigit() and 0 < int(number) < 65536
    return good and port.get("protocol") in ("TCP", "UDP", "SCTP", "ANY")


def check_calico(manifest: Mapping[str, Any]) -> list[str]:
    """Problems of a Calico tier, network set or staged policy."""
    problems = _common(manifest, "projectcalico.org/v3", {"Tier", "GlobalNetworkSet", "StagedNetworkPolicy"})
    spec = manifest.get("spec", {})
    if manifest.get("kind") == "GlobalNetworkSet":
        return problems + [f"bad prefix {net}" for net in spec.get("nets", ()) if not _is_prefix(net)]
    if manifest.get("kind") != "StagedNetworkPolicy":
        return problems
    if not str(manifest["metadata"]["name"]).startswith(f"{spec.get('tier')}."):
        problems.append("the name must begin with the tier")
    if not spec.get("selector"):
        problems.append("an empty selector selects everything")
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        if rule.get("action") not in ("Allow", "Deny", "Log", "Pass"):
            problems.append(f"bad action {rule.get('action')}")
        for port in rule.get("destination", {}).get("ports", ()):
            if not re.fullmatch(r"\d{1,5}(:\d{1,5})?", str(port)):
                problems.append(f"bad port {port}")
    return problems


def _references(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from _REFERENCE.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def check_terraform(document: Mapping[str, Any]) -> list[str]:
    """Problems of Terraform JSON for AWS or Azure: dangling references, bad ports, clashing priorities."""
    resources: Mapping[str, Mapping[str, Any]] = document.get("resource", {})
    problems = [f"no provider is required for {kind}" for kind in resources if not _provided(kind, document)]
    known = {(kind, name) for kind, bodies in resources.items() for name in bodies}
    wanted = set(_references(resources))
    problems += [f"{kind}.{name} is not defined" for kind, name in sorted(wanted - known) if kind != "var"]
    priorities: set[tuple[str, int]] = set()
    for kind, bodies in resources.items():
        for name, body in bodies.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
                problems.append(f"bad resource name {name}")
            if kind == "azurerm_network_security_rule":
                problems += _azure_rule(name, body, priorities)
            if kind.startswith("aws_vpc_security_group_"):
                problems += _aws_rule(name, body)
    return problems


def _provided(kind: str, document: Mapping[str, Any]) -> bool:
    return kind.split("_", 1)[0] in document.get("terraform", {}).get("required_providers", {})


def _azure_rule(name: str, body: Mapping[str, Any], priorities: set[tuple[str, int]]) -> list[str]:
    problems = []
    key = (str(body["direction"]), int(body["priority"]))
    if key in priorities:
        problems.append(f"{name}: priority {key[1]} is taken")
    priorities.add(key)
    if not 100 <= key[1] <= 4096:
        problems.append(f"{name}: priority {key[1]} is out of range")
    if len(str(body["name"])) > 80 or len(str(body["description"])) > 140:
        problems.append(f"{name}: name or description is too long")
    return problems


def _aws_rule(name: str, body: Mapping[str, Any]) -> list[str]:
    peers = [key for key in ("referenced_security_group_id", "cidr_ipv4", "cidr_ipv6", "prefix_list_id") if key in body]
    problems = [] if len(peers) == 1 else [f"{name}: needs exactly one peer"]
    problems += [
        f"{name}: bad prefix" for key in ("cidr_ipv4", "cidr_ipv6") if key in body and not _is_prefix(body[key])
    ]
    low, high = body.get("from_port", 0), body.get("to_port", 0)
    if not -1 <= low <= high <= 65535:
        problems.append(f"{name}: bad ports")
    return problems
