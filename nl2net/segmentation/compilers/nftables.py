"""nftables: one named set per role and address family, so that a change of members touches no rule.

References
----------
nft(8).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from nl2net.segmentation.compilers.target import Compiled, Inventory, Target, object_name
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.rules import Policy, Rule

TABLE = "nl2net_segment"
_L4 = {6: "tcp", 17: "udp", 132: "sctp"}


def _set(role: str, family: int) -> str:
    # A prefix keeps names from being keywords of the grammar.
    return f"r_{object_name(role).replace('-', '_')}_v{family}"


def _members(policy: Policy, inventory: Inventory, role: str) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {4: [], 6: []}
    for text in (*policy.members.get(role, ()), *inventory.prefixes.get(role, ())):
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            continue
        found[network.version].append(str(network) if network.num_addresses > 1 else str(network.network_address))
    return {family: _collapsed(names) for family, names in found.items()}


def _collapsed(names: Sequence[str]) -> list[str]:
    """Without overlaps, which an interval set refuses."""
    networks = list(ipaddress.collapse_addresses(ipaddress.ip_network(name) for name in names))  # type: ignore[type-var]
    return [str(n) if n.num_addresses > 1 else str(n.network_address) for n in networks]


def _match(rule: Rule, family: int) -> str:
    ip = "ip" if family == 4 else "ip6"
    ports = str(rule.port_low) if rule.port_low == rule.port_high else f"{rule.port_low}-{rule.port_high}"
    service = f"{_L4[rule.proto]} dport {ports}" if rule.proto in _L4 else f"meta l4proto {rule.proto}"
    return f"{ip} saddr @{_set(rule.client, family)} {ip} daddr @{_set(rule.server, family)} {service}"


def compile_nftables(policy: Policy, inventory: Inventory, *, enforce: bool = True) -> Compiled:
    """One file for a router between the roles.

    Parameters
    ----------
    policy : Policy
        The rules.
    inventory : Inventory
        Prefixes of external roles.
    enforce : bool
        False ends with a log instead of a drop.
    """
    roles = sorted({name for rule in policy.rules for name in (rule.client, rule.server)} - inventory.quarantine)
    members = {role: _members(policy, inventory, role) for role in roles}
    lines = [f"table inet {TABLE}", f"delete table inet {TABLE}", f"table inet {TABLE} {{"]
    for role in roles:
        for family, names in members[role].items():
            if names:
                kind = "ipv4_addr" if family == 4 else "ipv6_addr"
                lines += [f"\tset {_set(role, family)} {{", f"\t\ttype {kind}", "\t\tflags interval"]
                lines += [f"\t\telements = {{ {', '.join(names)} }}", "\t}"]
    ending = "drop" if enforce else "accept"
    lines += ["\tchain forward {", f"\t\ttype filter hook forward priority filter; policy {ending};"]
    lines += ["\t\tct state established,related accept", "\t\tct state invalid drop"]
    for rule in policy.rules:
        if {rule.client, rule.server} & inventory.quarantine:
            continue
        for family in (4, 6):
            if members[rule.client][family] and members[rule.server][family]:
                lines.append(f'\t\t{_match(rule, family)} accept comment "{_comment(rule)}"')
    lines += ['\t\tlimit rate 10/second log prefix "nl2net-segment deny: "', "\t\tcounter", "\t}", "}"]
    notes = (f"the file replaces table inet {TABLE} and touches no other",)
    return Compiled(Target.NFTABLES, {"segment.nft": "\n".join(lines) + "\n"}, {}, notes)


def _comment(rule: Rule) -> str:
    text = rule.id.replace('"', "'")
    return text if len(text) <= 120 else f"{text[:100]}:{protocol_name(rule.proto)}{rule.port_low}"
