"""Operations as JSON, and the checks that no backend needs to be asked for."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from nl2net.emulator.operations import (
    CHAINS,
    FILTER_PROTOCOLS,
    ROUTE_TYPES,
    RULE_ACTIONS,
    VERDICTS,
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
from nl2net.errors import UserError

T = TypeVar("T")

_KINDS: tuple[type[Operation], ...] = (
    SetForwarding,
    SetLink,
    SetMtu,
    AddAddress,
    RemoveAddress,
    FlushAddresses,
    AddRoute,
    RemoveRoute,
    AddRule,
    RemoveRule,
    SetChainPolicy,
    AddFilter,
    RemoveFilter,
    SetImpairment,
    PutPolicy,
    DeletePolicy,
)
OPERATIONS: Mapping[str, type[Operation]] = {kind.op: kind for kind in _KINDS}


def operation_to_json(operation: Operation) -> dict[str, Any]:
    """JSON form: ``op`` and the fields that differ from their defaults.

    Examples
    --------
    >>> operation_to_json(SetLink("r1", "eth0", up=False))
    {'op': 'set_link', 'node': 'r1', 'interface': 'eth0', 'up': False}
    """
    if isinstance(operation, PutPolicy):
        return {"op": operation.op, "manifest": dict(operation.manifest)}
    kept = {item.name: value for item in fields(operation) if (value := getattr(operation, item.name)) != item.default}
    return {"op": operation.op, **kept}


def applied_to_json(applied: Applied) -> dict[str, Any]:
    """JSON form of the outcome of an operation."""
    return {
        "accepted": applied.accepted,
        "reason": applied.reason,
        "inverse": [operation_to_json(item) for item in applied.inverse],
        "detail": applied.detail,
    }


def applied_from_json(data: Mapping[str, Any]) -> Applied:
    """Read the JSON form of the outcome of an operation."""
    inverse = tuple(operation_from_json(item) for item in data["inverse"])
    return Applied(data["accepted"], data["reason"], inverse, data["detail"])


def operation_from_json(data: Mapping[str, Any]) -> Operation:
    """Read the JSON form and check every value.

    Raises
    ------
    UserError
        Unknown operation or field, a field is missing, or a value is of the wrong type or out of range.
    """
    kind = OPERATIONS.get(str(data.get("op")))
    if kind is None:
        raise UserError(f"unknown operation {data.get('op')!r}", hint=f"One of: {', '.join(OPERATIONS)}")
    known = {item.name: item for item in fields(kind)}
    given = {name: value for name, value in data.items() if name != "op"}
    extra = sorted(set(given) - set(known))
    missing = sorted(name for name, item in known.items() if item.default is MISSING and name not in given)
    if extra or missing:
        what = f"unknown field {extra[0]!r}" if extra else f"field {missing[0]!r} is missing"
        raise UserError(f"operation {kind.op}: {what}")
    for name, value in given.items():
        _check_type(kind.op, name, value, str(known[name].type))
    return check_operation(kind(**given))


_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (float, int),
    "Mapping[str, Any]": (dict,),
}


def _check_type(op: str, name: str, value: Any, wanted: str) -> None:
    kinds = _TYPES[wanted]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UserError(f"operation {op}: {name} must be {wanted}, not {type(value).__name__}")


def check_operation(operation: Operation) -> Operation:
    """Refuse what no backend could carry out; whether the network accepts it is for the backend to say."""
    match operation:
        case AddAddress() | RemoveAddress():
            address = _parse(ipaddress.IPv4Interface, operation.address, operation.op)
            if operation.interface == "lo" and address.network.prefixlen != 32:
                raise UserError(f"operation {operation.op}: the loopback takes /32 addresses only")
            if address.is_multicast or address.is_unspecified or address.is_loopback or address.is_reserved:
                raise UserError(f"operation {operation.op}: {address.ip} is not a unicast address")
        case AddRoute() | RemoveRoute():
            _parse(ipaddress.IPv4Network, operation.prefix, operation.op)
            if operation.via:
                _parse(ipaddress.IPv4Address, operation.via, operation.op)
            _among(operation.op, operation.type, ROUTE_TYPES)
            if operation.op == "add_route" and operation.type == "unicast" and not (operation.via or operation.dev):
                raise UserError("operation add_route: via or dev is needed")
        case AddRule() | RemoveRule():
            _among(operation.op, operation.action, RULE_ACTIONS)
            if not 0 <= operation.preference < 32766:
                raise UserError(f"operation {operation.op}: preference must be 0 to 32765")
        case SetChainPolicy():
            _among(operation.op, operation.chain, CHAINS)
            _among(operation.op, operation.policy, ("accept", "drop"))
        case AddFilter() | RemoveFilter():
            _check_filter(operation)
        case SetImpairment():
            least = min(operation.delay_ms, operation.jitter_ms, operation.rate_kbit or 0)
            if not 0 <= operation.loss <= 1 or least < 0:
                raise UserError("operation set_impairment: loss is a share from 0 to 1, delays and rates not negative")
        case _:
            pass
    return operation


def _check_filter(operation: AddFilter | RemoveFilter) -> None:
    _among(operation.op, operation.chain, CHAINS)
    _among(operation.op, operation.action, VERDICTS)
    _among(operation.op, operation.protocol, FILTER_PROTOCOLS)
    for prefix in (operation.source, operation.destination):
        if prefix:
            _parse(ipaddress.IPv4Network, prefix, operation.op)
    if operation.port and operation.protocol not in {"tcp", "udp"}:
        raise UserError(f"operation {operation.op}: a port needs protocol tcp or udp")
    if not 0 <= operation.port <= 65535:
        raise UserError(f"operation {operation.op}: port must be 0 to 65535")


def _among(op: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UserError(f"operation {op}: {value!r} is not one of {', '.join(repr(item) for item in allowed)}")


def _parse(kind: Callable[[str], T], text: str, op: str) -> T:
    try:
        return kind(text)
    except ValueError as error:
        raise UserError(f"operation {op}: {error}") from None
