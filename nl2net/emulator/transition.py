"""From one state of a node to another: the operations that lead there.

Inverses and restores both come from here, so an inverse is computed from the state before an operation and never from
its verb: taking a link down also loses its static routes.

The canonical state of a node is a mapping: ``forwarding``, ``interfaces`` (name to ``up``, ``mtu``, ``addresses``),
``routes`` (sorted mappings), ``rules``, ``chains`` (policy and filters by chain) and ``impairments``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from nl2net.emulator.operations import (
    CHAINS,
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
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

LOOPBACK = "lo"
State = Mapping[str, Any]


def plan_node(node: str, current: State, wanted: State) -> tuple[Operation, ...]:
    """Operations that turn the current state of one node into the wanted one."""
    found: list[Operation] = []
    if current["forwarding"] != wanted["forwarding"]:
        found.append(SetForwarding(node, wanted["forwarding"]))
    disturbed: set[str] = set()
    for name, target in wanted["interfaces"].items():
        found += _plan_interface(node, name, current["interfaces"][name], target, disturbed)
    still = current["routes"] == wanted["routes"] and current["interfaces"] == wanted["interfaces"]
    routes = [] if still else _plan_routes(node, current, wanted, disturbed)
    # A rule hides every gateway from the kernel's check of a new route: rules wait until the routes are there.
    hidden = any(isinstance(operation, AddRoute) and operation.via for operation in routes)
    removed, added = _plan_rules(node, current["rules"], wanted["rules"], afresh=hidden)
    found += removed + routes + added
    for chain in CHAINS:
        found += _plan_chain(node, chain, current["chains"][chain], wanted["chains"][chain])
    for name in sorted({*current["impairments"], *wanted["impairments"]}):
        target = wanted["impairments"].get(name, {})
        if current["impairments"].get(name, {}) != target:
            found.append(SetImpairment(node, name, **target))
    return tuple(found)


def _plan_interface(node: str, name: str, current: State, wanted: State, disturbed: set[str]) -> list[Operation]:
    found: list[Operation] = []
    if current["mtu"] != wanted["mtu"]:
        found.append(SetMtu(node, name, wanted["mtu"]))
    have, want = list(current["addresses"]), list(wanted["addresses"])
    link_after = [SetLink(node, name, wanted["up"])] if current["up"] != wanted["up"] else []
    if have != want:
        if want[: len(have)] == have:
            found += [AddAddress(node, name, item) for item in want[len(have) :]]
        elif have[: len(want)] == want and want:
            found += [RemoveAddress(node, name, item) for item in reversed(have[len(want) :])]
        else:
            disturbed.add(name)
            found.append(FlushAddresses(node, name))
            found += [AddAddress(node, name, item) for item in want]
    if link_after and not wanted["up"]:
        disturbed.add(name)
    return found + list(link_after)


def route_order(route: State) -> tuple[Any, ...]:
    """Sort key of routes in a canonical state."""
    return tuple(route[name] for name in ("prefix", "metric", "dev", "via", "type"))


def _route_key(route: State) -> tuple[Any, ...]:
    return tuple(route[name] for name in ("prefix", "via", "dev", "metric", "type", "connected"))


def _plan_routes(node: str, current: State, wanted: State, disturbed: set[str]) -> list[Operation]:
    have = [route for route in current["routes"] if route["dev"] not in disturbed]
    have_keys, want_keys = {_route_key(r) for r in have}, {_route_key(r) for r in wanted["routes"]}
    removed: list[Operation] = [
        RemoveRoute(node, r["prefix"], r["via"], r["dev"], r["metric"], r["type"])
        for r in have
        if _route_key(r) not in want_keys and not _follows_address(r, current, wanted)
    ]
    missing = [
        r for r in wanted["routes"] if _route_key(r) not in have_keys and not _comes_back(r, current, wanted, disturbed)
    ]
    # A gateway must be reachable when its route is added: on-link routes first.
    missing.sort(key=lambda r: (bool(r["via"]), r["prefix"], r["metric"]))
    added: list[Operation] = [
        AddRoute(node, r["prefix"], r["via"], r["dev"], r["metric"], r["type"], r["connected"]) for r in missing
    ]
    return removed + _unasked(node, current, wanted, disturbed) + added


def _unasked(node: str, current: State, wanted: State, disturbed: set[str]) -> list[Operation]:
    """Remove the connected routes that come with an address or a link but had been deleted before."""
    known = {(r["prefix"], r["dev"]) for r in wanted["routes"] if r["connected"]}
    found: list[Operation] = []
    for name, after in wanted["interfaces"].items():
        before = current["interfaces"][name]
        have, want = before["addresses"], after["addresses"]
        if not after["up"] or name == LOOPBACK or (have == want and before["up"]):
            continue
        whole = name in disturbed or not before["up"] or want[: len(have)] != have
        seen = set() if whole else {_subnet(cidr) for cidr in have}
        for cidr in want if whole else want[len(have) :]:
            prefix = _subnet(cidr)
            if prefix not in seen and not prefix.endswith("/32") and (prefix, name) not in known:
                found.append(RemoveRoute(node, prefix, dev=name))
            seen.add(prefix)
    return found


def _subnet(cidr: str) -> str:
    return str(ipaddress.IPv4Interface(cidr).network)


def _follows_address(route: State, current: State, wanted: State) -> bool:
    """Whether a connected route goes away by itself with the address that is removed."""
    dev = route["dev"]
    return (
        bool(route["connected"]) and current["interfaces"][dev]["addresses"] != wanted["interfaces"][dev]["addresses"]
    )


def _comes_back(route: State, current: State, wanted: State, disturbed: set[str]) -> bool:
    """Whether a connected route appears by itself with an address that is added or a link that goes up."""
    if not route["connected"]:
        return False
    before, after = current["interfaces"][route["dev"]], wanted["interfaces"][route["dev"]]
    return route["dev"] in disturbed or before["addresses"] != after["addresses"] or (after["up"] and not before["up"])


def _plan_rules(
    node: str, current: list[State], wanted: list[State], *, afresh: bool
) -> tuple[list[Operation], list[Operation]]:
    gone = [rule for rule in current if afresh or rule not in wanted]
    new = [rule for rule in wanted if afresh or rule not in current]
    return (
        [RemoveRule(node, rule["action"], rule["preference"]) for rule in gone],
        [AddRule(node, rule["action"], rule["preference"]) for rule in new],
    )


def _plan_chain(node: str, chain: str, current: State, wanted: State) -> list[Operation]:
    found: list[Operation] = []
    if current["policy"] != wanted["policy"]:
        found.append(SetChainPolicy(node, chain, wanted["policy"]))
    have, want = list(current["filters"]), list(wanted["filters"])
    start = 0
    while start < min(len(have), len(want)) and have[start] == want[start]:
        start += 1
    stop = 0
    while stop < min(len(have), len(want)) - start and have[-1 - stop] == want[-1 - stop]:
        stop += 1
    found += [RemoveFilter(node, chain, **item) for item in have[start : len(have) - stop]]
    found += [
        AddFilter(node, chain, **item, position=start + index)
        for index, item in enumerate(want[start : len(want) - stop])
    ]
    return found


def plan_policies(current: State, wanted: State) -> tuple[Operation, ...]:
    """Operations that turn one set of NetworkPolicies (by ``namespace/name``) into another."""
    found: list[Operation] = []
    for key in sorted(set(current) - set(wanted)):
        namespace, _, name = key.partition("/")
        found.append(DeletePolicy(name, namespace))
    found += [PutPolicy(wanted[key]) for key in sorted(wanted) if current.get(key) != wanted[key]]
    return tuple(found)


def plan_state(current: State, wanted: State) -> tuple[Operation, ...]:
    """Operations for a whole network; ``nodes`` and ``policies`` are the parts of a snapshot."""
    found: list[Operation] = []
    for node, target in wanted["nodes"].items():
        if current["nodes"][node] != target:
            found += plan_node(node, current["nodes"][node], target)
    return tuple(found) + plan_policies(current["policies"], wanted["policies"])
