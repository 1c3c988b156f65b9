"""Rules that nearly every role needs, shown once and first; name lookup is never forgotten."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.rules import Evidence, Policy, Rule

SHARE = 0.8
DNS = 53
_NAMES = {53: "dns", 123: "time", 514: "logs", 6514: "logs", 22: "bastion", 9100: "monitoring", 161: "monitoring"}


def _word(rule: Rule, side: str) -> str:
    known = _NAMES.get(rule.port_low)
    return f"{side}:{known or f'{protocol_name(rule.proto)}{rule.port_low}'}"


def with_baselines(
    policy: Policy, *, external: frozenset[str] = frozenset(), quarantine: frozenset[str] = frozenset()
) -> Policy:
    """Mark shared rule sets, and add name lookup for every role where a name server is known.

    Parameters
    ----------
    policy : Policy
        Fresh rules.
    external, quarantine : frozenset of str
        Roles that count for neither side.

    Notes
    -----
    A server role reached by 80 % of roles makes a ``to`` baseline, a client role that reaches 80 % a ``from``
    baseline. Only the observed rules are marked; nothing but DNS is widened.
    """
    inner = [role for role in policy.members if role not in external and role not in quarantine]
    least = SHARE * max(1, len(inner) - 1)
    plain = [rule for rule in policy.rules if rule.client in inner and rule.server in inner]
    servers = _reach(plain, policy, least, side="server")
    clients = _reach(plain, policy, least, side="client")
    marked = []
    for rule in policy.rules:
        to_key, from_key = (rule.server, rule.proto, rule.port_low), (rule.client, rule.proto, rule.port_low)
        if rule.client in inner and to_key in servers:
            marked.append(replace(rule, baseline=_word(rule, f"to {rule.server}")))
        elif rule.server in inner and from_key in clients:
            marked.append(replace(rule, baseline=_word(rule, f"from {rule.client}")))
        elif rule.port_low == DNS and rule.proto in (6, 17):
            marked.append(replace(rule, baseline=f"to {rule.server}:dns"))
        else:
            marked.append(rule)
    marked += _name_lookup(marked, inner)
    marked.sort(key=lambda rule: (not rule.baseline, rule.id))
    return replace(policy, rules=tuple(marked), notes=(*policy.notes, *_notes(marked)))


def _reach(plain: list[Rule], policy: Policy, least: float, *, side: str) -> set[tuple[str, int, int]]:
    """Services on one side that are used with 80 % of the roles, or of the endpoints, on the other side."""
    inner = {name for rule in plain for name in (rule.client, rule.server)}
    total = sum(len(policy.members[name]) for name in inner)
    roles: Counter[tuple[str, int, int]] = Counter()
    endpoints: Counter[tuple[str, int, int]] = Counter()
    for rule in plain:
        mine, other = (rule.server, rule.client) if side == "server" else (rule.client, rule.server)
        roles[(mine, rule.proto, rule.port_low)] += 1
        endpoints[(mine, rule.proto, rule.port_low)] += len(policy.members[other])
    return {key for key, count in roles.items() if count >= 4 and (count >= least or endpoints[key] >= SHARE * total)}


def _name_lookup(rules: list[Rule], inner: list[str]) -> list[Rule]:
    """DNS over UDP for roles that did not ask in this window, towards the name servers that most use."""
    asked = Counter(rule.server for rule in rules if rule.port_low == DNS and rule.proto == 17)
    if not asked:
        return []
    most = asked.most_common(1)[0][1]
    servers = sorted(role for role, count in asked.items() if count >= most / 2)
    have = {(rule.client, rule.server) for rule in rules if rule.port_low == DNS and rule.proto == 17}
    note = "not observed: name lookup is always allowed"
    return [
        Rule(role, server, 17, DNS, DNS, Evidence(), baseline=f"to {server}:dns", note=note)
        for server in servers
        for role in inner
        if role not in servers and not any((role, other) in have for other in servers)
    ]


def _notes(rules: list[Rule]) -> list[str]:
    if any(rule.port_low == DNS for rule in rules):
        return []
    return ["no name server was seen: add one before enforcing egress, or names stop resolving"]
