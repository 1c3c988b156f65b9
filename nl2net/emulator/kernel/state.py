"""The canonical state of a node, read from the kernel."""

from __future__ import annotations

import socket
import struct
from typing import Any

from nl2net.emulator.kernel import netlink
from nl2net.emulator.kernel.filters import read_chains
from nl2net.emulator.kernel.spaces import Space, Spaces
from nl2net.emulator.kernel.system import read_sysctl
from nl2net.emulator.transition import route_order

_CLONED = 0x200  # learned path MTUs are listed among the routes
_TYPE_NAMES = {number: name for name, number in netlink.ROUTE_TYPES.items()}
_ACTION_NAMES = {number: name for name, number in netlink.RULE_ACTIONS.items()}


def read_state(spaces: Spaces, name: str, impairments: dict[str, dict[str, float]]) -> dict[str, Any]:
    """State of one node; impairments are kept by the backend, the rest comes from the kernel."""
    space = spaces[name]
    with spaces.link(name) as link:
        interfaces = _interfaces(link, space)
        routes, rules = _routes(link, space), _rules(link)
    with spaces.inside(name):
        forwarding = bool(read_sysctl("net.ipv4.ip_forward"))
    chains, foreign = read_chains(spaces, name)
    state = {
        "forwarding": forwarding,
        "interfaces": interfaces,
        "routes": routes,
        "rules": rules,
        "chains": chains,
        "impairments": {key: value for key, value in sorted(impairments.items()) if value},
    }
    return {**state, "foreign": foreign} if foreign else state


def _interfaces(link: netlink.Netlink, space: Space) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {name: {} for name in space.index}
    for record in link.dump(netlink.GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0), 16):
        index, flags = struct.unpack_from("=iI", record.fixed, 4)
        name = space.interface(index)
        if name:
            mtu = struct.unpack("=I", record.attributes[4])[0]
            found[name] = {"up": bool(flags & netlink.IFF_UP), "mtu": mtu, "addresses": []}
    for record in link.dump(netlink.GETADDR, struct.pack("=BBBBI", socket.AF_INET, 0, 0, 0, 0), 8):
        length = record.fixed[1]
        index = struct.unpack_from("=I", record.fixed, 4)[0]
        address = socket.inet_ntoa(record.attributes[2])
        name = space.interface(index)
        if name and address != "127.0.0.1":
            found[name]["addresses"].append(f"{address}/{length}")
    return {name: value for name, value in found.items() if value}


def _routes(link: netlink.Netlink, space: Space) -> list[dict[str, Any]]:
    found = []
    fixed = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0)
    for record in link.dump(netlink.GETROUTE, fixed, 12):
        _, length, _, _, table, protocol, _, kind = record.fixed[:8]
        learned = struct.unpack_from("=I", record.fixed, 8)[0] & _CLONED
        if table != netlink.MAIN_TABLE or kind not in _TYPE_NAMES or learned:
            continue
        data = record.attributes
        network = socket.inet_ntoa(data[1]) if 1 in data else "0.0.0.0"  # noqa: S104 - the default route
        found.append(
            {
                "prefix": f"{network}/{length}",
                "via": socket.inet_ntoa(data[5]) if 5 in data else "",
                "dev": space.interface(struct.unpack("=I", data[4])[0]) if 4 in data else "",
                "metric": struct.unpack("=I", data[6])[0] if 6 in data else 0,
                "type": _TYPE_NAMES[kind],
                "connected": protocol == netlink.PROTO_KERNEL and kind == 1,
            }
        )
    return sorted(found, key=route_order)


def _rules(link: netlink.Netlink) -> list[dict[str, Any]]:
    found = []
    fixed = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0)
    for record in link.dump(netlink.GETRULE, fixed, 12):
        action = record.fixed[7]
        if action in _ACTION_NAMES:
            preference = struct.unpack("=I", record.attributes[6])[0] if 6 in record.attributes else 0
            found.append({"preference": preference, "action": _ACTION_NAMES[action]})
    return found
