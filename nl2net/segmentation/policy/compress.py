"""Fewer rules under a target's quota, with a list of what compression newly allows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nl2net.errors import UserError
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.rules import Policy, Rule

EVERYONE = "everyone"


@dataclass(frozen=True, slots=True)
class Widening:
    """One merge: the rules it replaces, the range that covers them, and the ports that become open by it."""

    rule: Rule
    replaces: tuple[str, ...]
    ports: tuple[tuple[int, int], ...]

    @property
    def opened(self) -> int:
        """Number of newly allowed ports."""
        return sum(high - low + 1 for low, high in self.ports)


def _loads(rules: list[Rule]) -> dict[tuple[str, str], int]:
    loads: dict[tuple[str, str], int] = {}
    for rule in rules:
        for key in ((rule.server, "ingress"), (rule.client, "egress")):
            loads[key] = loads.get(key, 0) + 1
    return loads


def _merges(rules: list[Rule]) -> list[tuple[int, int, int]]:
    """(ports opened, index, index) of neighbouring ranges between the same roles."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    for at, rule in enumerate(rules):
        groups.setdefault((rule.client, rule.server, rule.proto), []).append(at)
    found = []
    for members in groups.values():
        members.sort(key=lambda at: rules[at].port_low)
        for a, b in itertools.pairwise(members):
            found.append((max(0, rules[b].port_low - rules[a].port_high - 1), a, b))
    return sorted(found)


def compress(policy: Policy, *, per_role: int) -> tuple[Policy, tuple[Widening, ...]]:
    """Merge port ranges until no role has more than ``per_role`` rules in a direction.

    Parameters
    ----------
    policy : Policy
        The rules.
    per_role : int
        The quota of the target.

    Returns
    -------
    tuple
        The smaller policy, and every merge with the ports it newly allows. Evidence survives in the merged rule.

    Raises
    ------
    UserError
        Merging ports is not enough; names the count, the limit, and the three roles whose merging would help most.
    """
    rules = list(policy.rules)
    done: list[Widening] = []
    while True:
        over = {key: count for key, count in _loads(rules).items() if count > per_role}
        if not over:
            return replace(policy, rules=tuple(rules)), tuple(done)
        choice = next(
            (
                m
                for m in _merges(rules)
                if (rules[m[1]].server, "ingress") in over or (rules[m[1]].client, "egress") in over
            ),
            None,
        )
        if choice is None:
            raise _over_quota(rules, over, per_role)
        _, a, b = choice
        first, second = rules[a], rules[b]
        gap = ((first.port_high + 1, second.port_low - 1),) if second.port_low > first.port_high + 1 else ()
        joined = replace(
            first,
            port_high=max(first.port_high, second.port_high),
            evidence=replace(
                first.evidence,
                connections=first.evidence.connections + second.evidence.connections,
                bytes=first.evidence.bytes + second.evidence.bytes,
                samples=(first.evidence.samples + second.evidence.samples)[:5],
            ),
            note=f"compressed from {first.id} and {second.id}",
        )
        done.append(Widening(joined, (first.id, second.id), gap))
        rules = [rule for at, rule in enumerate(rules) if at not in (a, b)] + [joined]


def _over_quota(rules: list[Rule], over: dict[tuple[str, str], int], limit: int) -> UserError:
    (role, direction), count = max(over.items(), key=lambda item: (item[1], item[0]))
    peers: dict[str, set[tuple[int, int, int]]] = {}
    for rule in rules:
        mine, other = (rule.server, rule.client) if direction == "ingress" else (rule.client, rule.server)
        if mine == role:
            peers.setdefault(other, set()).add((rule.proto, rule.port_low, rule.port_high))
    names = sorted(peers)
    pairs = [(len(peers[a] & peers[b]), a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    best = sorted((pair for pair in pairs if pair[0]), key=lambda pair: (-pair[0], pair[1:]))[:3]
    advice = "; ".join(f"{a} with {b} saves {saved}" for saved, a, b in best) or "no two peers share a service"
    return UserError(
        f"{role} needs {count} {direction} rules, the target allows {limit}",
        hint=f"Merges that would help most: {advice}.",
    )


def fold_baselines(policy: Policy, inner: Sequence[str]) -> tuple[Policy, tuple[str, ...]]:
    """Replace each shared rule set by one rule with a group that all inner roles belong to.

    Parameters
    ----------
    policy : Policy
        With baselines marked.
    inner : sequence of str
        Roles that carry the common group.

    Returns
    -------
    tuple
        The policy with the role ``everyone``, and a note for each set on the role pairs that it newly allows.
    """
    groups: dict[tuple[str, str, int, int, int], list[Rule]] = {}
    plain = []
    for rule in policy.rules:
        side, _, rest = rule.baseline.partition(" ")
        anchor = rest.rsplit(":", 1)[0]
        if side in ("to", "from") and anchor in inner and rule.client in inner and rule.server in inner:
            groups.setdefault((side, anchor, rule.proto, rule.port_low, rule.port_high), []).append(rule)
        else:
            plain.append(rule)
    notes = []
    for (side, anchor, proto, low, high), rules in sorted(groups.items()):
        client, server = (EVERYONE, anchor) if side == "to" else (anchor, EVERYONE)
        plain.append(replace(rules[0], client=client, server=server))
        others = {rule.client if side == "to" else rule.server for rule in rules}
        fresh = sorted(set(inner) - others)
        if fresh:
            service = f"{protocol_name(proto)}/{low}" + (f"-{high}" if high > low else "")
            notes.append(
                f"the shared rule {side} {anchor} {service} newly allows {len(fresh)} role(s): {', '.join(fresh)}"
            )
    members = dict(policy.members)
    if groups:
        members[EVERYONE] = tuple(member for role in inner for member in policy.members[role])
    return replace(policy, rules=tuple(plain), members=members), tuple(notes)
