"""Services and policies as nft text: one chain per pod and direction, reached by a map on the interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nl2net.emulator.kubernetes.evaluate import Party, party, peer_matches, port_ranges
from nl2net.emulator.kubernetes.objects import Cluster, Pod
from nl2net.emulator.kubernetes.policy import NetworkPolicy, Peer, PortRule, Rule

NAT_TABLE, POLICY_TABLE = "ip nl2net_nat", "ip nl2net_policy"
DIRECTIONS = ("egress", "ingress")


def compile_services(cluster: Cluster) -> str:
    """Destination translation from (cluster address, port) to (pod, port), and masquerade for hairpins."""
    lines = [
        f"add table {NAT_TABLE}",
        f"add chain {NAT_TABLE} pre {{ type nat hook prerouting priority -100; policy accept; }}",
        f"add chain {NAT_TABLE} post {{ type nat hook postrouting priority 100; policy accept; }}",
    ]
    for protocol in ("tcp", "udp"):
        elements = [
            f"{service.address} . {port.port} : {pod.address} . {number}"
            for service in cluster.services
            for port in service.ports
            if port.protocol.lower() == protocol
            for pod, number in cluster.endpoints(service, port)[:1]
        ]
        if elements:
            target = f"ip daddr . {protocol} dport map {{ {', '.join(elements)} }}"
            lines.append(f"add rule {NAT_TABLE} pre dnat ip to {target}")
    for pod in cluster.pods:
        lines.append(f"add rule {NAT_TABLE} post ip saddr {pod.address} ip daddr {pod.address} masquerade")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class PolicyChains:
    """Compiled policies: chain name to its rules, and interface to chain for each direction."""

    chains: Mapping[str, tuple[str, ...]]
    maps: Mapping[str, Mapping[str, str]]


def compile_policies(cluster: Cluster, interfaces: Mapping[str, str]) -> PolicyChains:
    """Compile all policies; ``interfaces`` gives the node's interface of each pod by its key.

    Notes
    -----
    A rule that admits returns from the chain, so that the other direction is still judged; the end of the chain drops.
    """
    chains: dict[str, tuple[str, ...]] = {}
    maps: dict[str, dict[str, str]] = {direction: {} for direction in DIRECTIONS}
    for pod in cluster.pods:
        for direction in DIRECTIONS:
            selecting = [p for p in cluster.policies if _restricts(p, pod, direction)]
            if not selecting:
                continue
            interface = interfaces[pod.key]
            name = f"c_{direction}_{interface}"
            rules = (line for policy in selecting for line in _policy_lines(cluster, policy, pod, direction))
            chains[name] = (*dict.fromkeys(rules), "counter drop")
            maps[direction][interface] = name
    return PolicyChains(chains, maps)


def _restricts(policy: NetworkPolicy, pod: Pod, direction: str) -> bool:
    rules = policy.ingress if direction == "ingress" else policy.egress
    return rules is not None and policy.namespace == pod.namespace and policy.pods.matches(pod.labels)


def _policy_lines(cluster: Cluster, policy: NetworkPolicy, pod: Pod, direction: str) -> Iterable[str]:
    for rule in (policy.ingress if direction == "ingress" else policy.egress) or ():
        side = "saddr" if direction == "ingress" else "daddr"
        named = direction == "egress" and any(isinstance(port.port, str) for port in rule.ports)
        for match in _peer_matches(cluster, policy, rule, side):
            if named:
                yield from _named_egress(cluster, policy, rule)
                break
            for ports in _port_matches(rule.ports, pod):
                yield " ".join(part for part in (match, ports, "return") if part)


def _peer_matches(cluster: Cluster, policy: NetworkPolicy, rule: Rule, side: str) -> list[str]:
    if not rule.peers:
        return [""]
    found = []
    for peer in rule.peers:
        if peer.block is not None:
            found.append(_block_match(peer, side))
            continue
        addresses = [p.address for p in cluster.pods if peer_matches(cluster, policy, peer, party(cluster, p.key))]
        if addresses:
            found.append(f"ip {side} {{ {', '.join(addresses)} }}")
    return found


def _block_match(peer: Peer, side: str) -> str:
    assert peer.block is not None
    parts = [f"ip {side} {peer.block}"]
    if peer.exceptions:
        # Overlapping prefixes in one set are refused: keep only the widest.
        widest = [a for a in peer.exceptions if not any(a != b and a.subnet_of(b) for b in peer.exceptions)]
        parts.append(f"ip {side} != {{ {', '.join(str(item) for item in dict.fromkeys(widest))} }}")
    return " ".join(parts)


def _port_matches(ports: tuple[PortRule, ...], owner: Pod | None) -> list[str]:
    if not ports:
        return [""]
    found = []
    for item in ports:
        protocol = item.protocol.lower()
        for low, high in port_ranges(item, owner):
            if (low, high) == (0, 65535):
                found.append(f"meta l4proto {protocol}")
            else:
                found.append(f"{protocol} dport {low if low == high else f'{low}-{high}'}")
    return found


def _named_egress(cluster: Cluster, policy: NetworkPolicy, rule: Rule) -> Iterable[str]:
    """A named port means another number on each target: one line per pod."""
    for pod in cluster.pods:
        other: Party = party(cluster, pod.key)
        if rule.peers and not any(peer_matches(cluster, policy, peer, other) for peer in rule.peers):
            continue
        for ports in _port_matches(rule.ports, pod):
            yield f"ip daddr {pod.address} {ports} return"
    # Numbers in the same rule also hold for peers that are no pods.
    numeric = tuple(port for port in rule.ports if not isinstance(port.port, str))
    for match in _peer_matches(cluster, policy, rule, "daddr"):
        for ports in _port_matches(numeric, None) if numeric else ():
            yield " ".join(part for part in (match, ports, "return") if part)


def policy_table(compiled: PolicyChains) -> str:
    """A transaction that replaces the whole policy table."""
    lines = [f"add table {POLICY_TABLE}", f"delete table {POLICY_TABLE}", f"add table {POLICY_TABLE}"]
    for direction in DIRECTIONS:
        lines.append(f"add map {POLICY_TABLE} m_{direction} {{ type ifname : verdict; }}")
    lines += _chain_lines(compiled.chains)
    lines.append(f"add chain {POLICY_TABLE} c_forward {{ type filter hook forward priority 10; policy accept; }}")
    lines.append(f"add rule {POLICY_TABLE} c_forward ct state established,related accept")
    lines.append(f"add rule {POLICY_TABLE} c_forward iifname vmap @m_egress")
    lines.append(f"add rule {POLICY_TABLE} c_forward oifname vmap @m_ingress")
    for direction, elements in compiled.maps.items():
        lines += _element_lines("add", direction, elements)
    return "\n".join(lines) + "\n"


def policy_change(before: PolicyChains, after: PolicyChains) -> str:
    """A transaction that touches only what differs; empty when nothing does."""
    lines: list[str] = []
    changed = {name: rules for name, rules in after.chains.items() if before.chains.get(name) != rules}
    lines += _chain_lines(changed)
    for direction in DIRECTIONS:
        old, new = before.maps[direction], after.maps[direction]
        lines += _element_lines("delete", direction, {k: v for k, v in old.items() if k not in new})
        lines += _element_lines("add", direction, {k: v for k, v in new.items() if k not in old})
    for name in before.chains:
        if name not in after.chains:
            lines += [f"flush chain {POLICY_TABLE} {name}", f"delete chain {POLICY_TABLE} {name}"]
    return "\n".join(lines) + "\n" if lines else ""


def _chain_lines(chains: Mapping[str, tuple[str, ...]]) -> list[str]:
    lines = []
    for name, rules in chains.items():
        lines += [f"add chain {POLICY_TABLE} {name}", f"flush chain {POLICY_TABLE} {name}"]
        lines += [f"add rule {POLICY_TABLE} {name} {rule}" for rule in rules]
    return lines


def _element_lines(verb: str, direction: str, elements: Mapping[str, str]) -> list[str]:
    if not elements:
        return []
    listed = ", ".join(f'"{interface}" : jump {chain}' for interface, chain in sorted(elements.items()))
    return [f"{verb} element {POLICY_TABLE} m_{direction} {{ {listed} }}"]
