"""NetworkPolicy: the manifest read into selectors, peers and ports, with every fault named by its field."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net.errors import DataError

PROTOCOLS = ("TCP", "UDP", "SCTP")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label: ``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; ``NotIn`` also holds where the key is missing."""
        if self.operator == "In":
            return self.key in labels and labels[self.key] in self.values
        if self.operator == "NotIn":
            return labels.get(self.key) not in self.values
        return (self.key in labels) == (self.operator == "Exists")


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; an empty selector matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected.

        Examples
        --------
        >>> Selector((Requirement("app", "NotIn", ("web",)),)).matches({})
        True
        """
        for requirement in self.requirements:  # noqa: SIM110  (a generator here is felt in large matrices)
            if not requirement.holds(labels):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Peer:
    """One entry of ``from`` or ``to``: selectors, or an address block with exceptions."""

    pods: Selector | None = None
    namespaces: Selector | None = None
    block: ipaddress.IPv4Network | None = None
    exceptions: tuple[ipaddress.IPv4Network, ...] = ()


@dataclass(frozen=True, slots=True)
class PortRule:
    """One entry of ``ports``; ``port`` is a number, a name, or ``None`` for every port of the protocol."""

    protocol: str = "TCP"
    port: int | str | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Peers and ports of one rule; empty means anyone, or any port and protocol."""

    peers: tuple[Peer, ...] = ()
    ports: tuple[PortRule, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """A read policy. ``ingress`` or ``egress`` is ``None`` where the policy does not restrict that direction."""

    name: str
    namespace: str
    pods: Selector
    ingress: tuple[Rule, ...] | None
    egress: tuple[Rule, ...] | None
    manifest: Mapping[str, Any] = field(compare=False, hash=False, default_factory=dict)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


def read_policy(manifest: Mapping[str, Any]) -> NetworkPolicy:
    """Read a manifest of ``networking.k8s.io/v1``.

    Raises
    ------
    DataError
        Something is malformed or would be refused by a real API server; ``field`` says where.

    Examples
    --------
    >>> policy = read_policy({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
    ...                       "metadata": {"name": "deny"}, "spec": {"podSelector": {}}})
    >>> policy.ingress, policy.egress
    ((), None)
    """
    if manifest.get("kind") != "NetworkPolicy" or manifest.get("apiVersion") != "networking.k8s.io/v1":
        raise DataError("not a NetworkPolicy of networking.k8s.io/v1", field="kind")
    meta = _mapping(manifest.get("metadata"), "metadata")
    spec = _mapping(manifest.get("spec"), "spec")
    _known(spec, {"podSelector", "policyTypes", "ingress", "egress"}, "spec")
    name = meta.get("name")
    if not isinstance(name, str) or not name:
        raise DataError("a name is required", field="metadata.name")
    types = _types(spec)
    ingress = _rules(spec.get("ingress"), "ingress", "from")
    egress = _rules(spec.get("egress"), "egress", "to")
    return NetworkPolicy(
        name=name,
        namespace=str(meta.get("namespace") or "default"),
        pods=_selector(spec.get("podSelector", {}), "spec.podSelector"),
        ingress=ingress if "Ingress" in types else None,
        egress=egress if "Egress" in types else None,
        manifest=manifest,
    )


def _types(spec: Mapping[str, Any]) -> tuple[str, ...]:
    given = spec.get("policyTypes")
    if not given:
        return ("Ingress", "Egress") if spec.get("egress") else ("Ingress",)
    for item in _list(given, "spec.policyTypes"):
        if item not in {"Ingress", "Egress"}:
            raise DataError(f"unknown policy type {item!r}", field="spec.policyTypes")
    return tuple(given)


def _rules(value: Any, direction: str, peers: str) -> tuple[Rule, ...]:
    found = []
    for index, item in enumerate(_list(value or (), f"spec.{direction}")):
        where = f"spec.{direction}[{index}]"
        rule = _mapping(item, where)
        _known(rule, {peers, "ports"}, where)
        read_peers = tuple(
            _peer(peer, f"{where}.{peers}[{i}]") for i, peer in enumerate(_list(rule.get(peers) or (), where))
        )
        ports = tuple(
            _port(port, f"{where}.ports[{i}]") for i, port in enumerate(_list(rule.get("ports") or (), where))
        )
        found.append(Rule(read_peers, ports))
    return tuple(found)


def _peer(value: Any, where: str) -> Peer:
    data = _mapping(value, where)
    _known(data, {"podSelector", "namespaceSelector", "ipBlock"}, where)
    if data.get("ipBlock") is not None:
        if data.get("podSelector") is not None or data.get("namespaceSelector") is not None:
            raise DataError("ipBlock cannot stand beside a selector", field=where)
        return _block(_mapping(data["ipBlock"], where), f"{where}.ipBlock")
    pods, namespaces = data.get("podSelector"), data.get("namespaceSelector")
    if pods is None and namespaces is None:
        raise DataError("a peer needs a podSelector, a namespaceSelector or an ipBlock", field=where)
    return Peer(
        pods=None if pods is None else _selector(pods, f"{where}.podSelector"),
        namespaces=None if namespaces is None else _selector(namespaces, f"{where}.namespaceSelector"),
    )


def _block(data: Mapping[str, Any], where: str) -> Peer:
    _known(data, {"cidr", "except"}, where)
    block = _network(data.get("cidr"), f"{where}.cidr")
    exceptions = tuple(_network(item, f"{where}.except") for item in _list(data.get("except") or (), where))
    for item in exceptions:
        if item == block or not item.subnet_of(block):
            raise DataError(f"{item} is not strictly inside {block}", field=f"{where}.except")
    return Peer(block=block, exceptions=exceptions)


def _port(value: Any, where: str) -> PortRule:
    data = _mapping(value, where)
    _known(data, {"protocol", "port", "endPort"}, where)
    protocol = data.get("protocol") or "TCP"
    if protocol not in PROTOCOLS:
        raise DataError(f"protocol {protocol!r} is not one of {', '.join(PROTOCOLS)}", field=f"{where}.protocol")
    port, end = data.get("port"), data.get("endPort")
    numeric = isinstance(port, int) and not isinstance(port, bool)
    if port is not None and not numeric and not (isinstance(port, str) and port and not port.isdigit()):
        raise DataError(f"port {port!r} is neither a number nor a name", field=f"{where}.port")
    if isinstance(port, int) and not 1 <= port <= 65535:
        raise DataError(f"port {port} is not between 1 and 65535", field=f"{where}.port")
    if end is not None and not (numeric and isinstance(port, int) and isinstance(end, int) and port <= end <= 65535):
        raise DataError("endPort needs a numeric port that is not greater", field=f"{where}.endPort")
    return PortRule(protocol, port, end)


def _selector(value: Any, where: str) -> Selector:
    data = _mapping(value, where)
    _known(data, {"matchLabels", "matchExpressions"}, where)
    found = [
        Requirement(str(key), "In", (str(label),))
        for key, label in sorted(_mapping(data.get("matchLabels") or {}, where).items())
    ]
    for item in _list(data.get("matchExpressions") or (), where):
        found.append(_requirement(_mapping(item, where), f"{where}.matchExpressions"))
    return Selector(tuple(found))


def _requirement(data: Mapping[str, Any], where: str) -> Requirement:
    operator = data.get("operator")
    if operator not in OPERATORS:
        raise DataError(f"operator {operator!r} is not one of {', '.join(OPERATORS)}", field=where)
    values = tuple(str(item) for item in _list(data.get("values") or (), where))
    if (operator in {"In", "NotIn"}) != bool(values):
        raise DataError(f"{operator} {'needs' if not values else 'takes no'} values", field=where)
    return Requirement(str(data.get("key", "")), str(operator), values)


def _network(value: Any, where: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(value, strict=False)
    except ValueError:
        raise DataError(f"{value!r} is not an IPv4 prefix", field=where) from None


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError("a mapping is required", field=where)
    return value


def _list(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise DataError("a list is required", field=where)
    return value


def _known(data: Mapping[str, Any], names: set[str], where: str) -> None:
    extra = sorted(set(data) - names)
    if extra:
        raise DataError(f"unknown field {extra[0]!r}", field=where)


def read_selector(text: str) -> Selector:
    """A label selector as in a query: ``app=web,tier!=back,team in (a, b),ready,!old``.

    Examples
    --------
    >>> read_selector("app=web,tier notin (back)").matches({"app": "web"})
    True
    """
    found = []
    for part in re.split(r",(?![^(]*\))", text):
        item = part.strip()
        if not item:
            continue
        setting = re.match(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$", item)
        equal = re.match(r"^([^!=]+?)\s*(==|=|!=)\s*(\S*)$", item)
        if setting:
            values = tuple(value.strip() for value in setting[3].split(","))
            found.append(Requirement(setting[1], "In" if setting[2] == "in" else "NotIn", values))
        elif equal:
            found.append(Requirement(equal[1], "NotIn" if equal[2] == "!=" else "In", (equal[3],)))
        else:
            found.append(Requirement(item.lstrip("!"), "DoesNotExist" if item.startswith("!") else "Exists"))
    return Selector(tuple(found))
