"""Operations on a node as netlink requests; what the kernel refuses becomes the class of the refusal."""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Mapping
from typing import Any

from nl2net.emulator.kernel import filters, netlink
from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.kernel.system import write_sysctl
from nl2net.emulator.operations import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    FlushAddresses,
    NodeOperation,
    RemoveAddress,
    RemoveFilter,
    RemoveRoute,
    RemoveRule,
    SetChainPolicy,
    SetForwarding,
    SetLink,
    SetMtu,
)

_CLASSES = {
    errno.EEXIST: "exists",
    errno.ESRCH: "not-found",
    errno.ENOENT: "not-found",
    errno.EADDRNOTAVAIL: "not-found",
    errno.EINVAL: "invalid",
    errno.ENETDOWN: "link-down",
}
_GATEWAY_ERRORS = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EINVAL, errno.EACCES}


def refusal_class(operation: NodeOperation, code: int) -> str:
    """The word for an error number, the same as the simulator's."""
    if isinstance(operation, AddRoute) and operation.via and code in _GATEWAY_ERRORS:
        return "invalid-gateway"
    return _CLASSES.get(code, errno.errorcode.get(code, str(code)).lower())


def change(spaces: Spaces, operation: NodeOperation, before: Mapping[str, Any]) -> str:
    """Carry out one operation; the class of the refusal, or empty."""
    if isinstance(operation, SetChainPolicy | AddFilter | RemoveFilter):
        return filters.change(spaces, operation.node, operation)
    if isinstance(operation, SetForwarding):
        with spaces.inside(operation.node):
            write_sysctl("net.ipv4.ip_forward", int(operation.enabled))
        return ""
    requests = _requests(spaces, operation, before)
    with spaces.link(operation.node) as link:
        for request in requests:
            code = link.send([request])[0]
            if code:
                return refusal_class(operation, code)
    return ""


def _requests(spaces: Spaces, operation: NodeOperation, before: Mapping[str, Any]) -> list[netlink.Request]:
    index = spaces[operation.node].index
    match operation:
        case SetLink():
            return [netlink.set_up(index[operation.interface], operation.up)]
        case SetMtu():
            return [netlink.set_mtu(index[operation.interface], operation.mtu)]
        case AddAddress():
            return [netlink.address(netlink.NEWADDR, index[operation.interface], operation.address)]
        case RemoveAddress():
            return [netlink.address(netlink.DELADDR, index[operation.interface], operation.address)]
        case FlushAddresses():
            return _flush(index[operation.interface], before["interfaces"][operation.interface]["addresses"])
        case AddRoute():
            source = _covering(operation, before) if operation.connected else ""
            return [netlink.route(netlink.NEWROUTE, _spec(operation, index, operation.connected, source))]
        case RemoveRoute():
            return [netlink.route(netlink.DELROUTE, _spec(operation, index))]
        case AddRule():
            return [netlink.rule(netlink.NEWRULE, operation.action, operation.preference)]
        case RemoveRule():
            return [netlink.rule(netlink.DELRULE, operation.action, operation.preference)]
        case _:
            raise TypeError(f"{operation.op} is not a netlink operation")


def _flush(index: int, addresses: list[str]) -> list[netlink.Request]:
    # Secondaries go with their primary: from the end, so that each deletion still finds its address.
    return [netlink.address(netlink.DELADDR, index, cidr) for cidr in reversed(addresses)]


def _spec(
    operation: AddRoute | RemoveRoute, index: Mapping[str, int], connected: bool = False, source: str = ""
) -> netlink.RouteSpec:
    dev = index.get(operation.dev, 0)
    return netlink.RouteSpec(operation.prefix, operation.via, dev, operation.metric, operation.type, connected, source)


def _covering(operation: AddRoute, before: Mapping[str, Any]) -> str:
    wanted = ipaddress.IPv4Network(operation.prefix)
    for cidr in before["interfaces"][operation.dev]["addresses"]:
        if ipaddress.IPv4Interface(cidr).network == wanted:
            return str(cidr.partition("/")[0])
    return ""
