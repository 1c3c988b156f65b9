"""What a policy would break and what it allows too much; the two are always reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nl2net.segmentation.policy.rules import Policy, index_rules

Truth = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trade:
    """Violation and over-permission as a pair, with the number of rules.

    ``violation`` is the share of later edges that the rules deny, ``violation_known`` that among endpoints of the
    learning window; ``over_permission`` the share of allowed (client, server, protocol, port) that is not intended, or
    without truth was never seen later. ``basis`` names which.
    """

    violation: float
    violation_known: float
    over_permission: float
    rules: int
    edges: int
    allowed: int
    basis: str

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)


def allows(policy: Policy, edges: pd.DataFrame, role_of: Mapping[str, str] | None = None) -> np.ndarray:
    """Whether the rules allow each edge; endpoints without role are denied.

    Parameters
    ----------
    policy : Policy
        The rules.
    edges : DataFrame
        Typed edges.
    role_of : mapping, optional
        Roles of endpoints, with those placed later; default the policy's own members.
    """
    roles = dict(policy.role_of() if role_of is None else role_of)
    index = index_rules(policy.rules)
    clients, servers = edges["client"].map(roles), edges["server"].map(roles)
    verdicts = [
        any(low <= port <= high for low, high in index.get((c, s, proto), ()))
        for c, s, proto, port in zip(clients, servers, edges["proto"], edges["port"], strict=True)
    ]
    return np.array(verdicts, dtype=bool)


def _unintended(policy: Policy, truth: Truth, intended: set[tuple[str, str, int, int]]) -> tuple[int, int]:
    """(allowed tuples, not intended ones), counted by the make-up of roles."""
    makeup = {role: Counter(truth.get(member, "") for member in members) for role, members in policy.members.items()}
    allowed = extra = 0
    by_service: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for client, server, proto, port in intended:
        by_service.setdefault((proto, port), set()).add((client, server))
    for rule in policy.rules:
        width = rule.port_high - rule.port_low + 1
        for a, count_a in makeup.get(rule.client, Counter()).items():
            for b, count_b in makeup.get(rule.server, Counter()).items():
                pairs = count_a * count_b - (min(count_a, count_b) if rule.client == rule.server and a == b else 0)
                meant = sum(
                    (a, b) in by_service.get((rule.proto, port), ())
                    for port in range(rule.port_low, rule.port_high + 1)
                )
                allowed += pairs * width
                extra += pairs * (width - meant)
    return allowed, extra


def _unseen(policy: Policy, later: pd.DataFrame, role_of: Mapping[str, str]) -> tuple[int, int]:
    """(allowed tuples, those never seen later)."""
    allowed = 0
    for rule in policy.rules:
        a, b = len(policy.members.get(rule.client, ())), len(policy.members.get(rule.server, ()))
        pairs = a * b - (a if rule.client == rule.server else 0)
        allowed += pairs * (rule.port_high - rule.port_low + 1)
    seen = later[allows(policy, later, role_of)].drop_duplicates(["client", "server", "proto", "port"])
    return allowed, max(0, allowed - len(seen))


def measure(
    policy: Policy,
    later: pd.DataFrame,
    *,
    role_of: Mapping[str, str] | None = None,
    truth: Truth | None = None,
    intended: set[tuple[str, str, int, int]] | None = None,
) -> Trade:
    """Violation and over-permission on a later window.

    Parameters
    ----------
    policy : Policy
        The rules.
    later : DataFrame
        Typed edges of a later window that are meant to work.
    role_of : mapping, optional
        Roles of its endpoints, new ones placed.
    truth, intended : optional
        True role of each endpoint, and the intended rules between true roles; without them over-permission means
        allowed but never seen later.
    """
    roles = dict(role_of) if role_of is not None else policy.role_of()
    verdict = allows(policy, later, roles)
    learned = policy.role_of()
    known = (later["client"].isin(learned.keys()) & later["server"].isin(learned.keys())).to_numpy()
    if truth is not None and intended is not None:
        allowed, extra = _unintended(policy, truth, intended)
        basis = "not intended"
    else:
        allowed, extra = _unseen(policy, later, roles)
        basis = "never seen later"
    return Trade(
        violation=_share(~verdict),
        violation_known=_share(~verdict[known]),
        over_permission=extra / allowed if allowed else 0.0,
        rules=policy.logical,
        edges=len(later),
        allowed=allowed,
        basis=basis,
    )


def _share(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def reach(policy: Policy, hops: int = 1) -> float:
    """Mean share of endpoints that one endpoint can reach within ``hops``; a flat network has 1.

    Examples
    --------
    >>> from nl2net.segmentation.policy.rules import Mode, Rule
    >>> chain = (Rule("a", "b", 6, 1, 1), Rule("b", "c", 6, 1, 1))
    >>> policy = Policy(Mode.ROLE, chain, (), {"a": ["1"], "b": ["2"], "c": ["3"]})
    >>> reach(policy), reach(policy, 2)
    (0.3333333333333333, 0.5)
    """
    roles = sorted(policy.members)
    at = {role: i for i, role in enumerate(roles)}
    sizes = np.array([len(policy.members[role]) for role in roles], dtype=float)
    total = sizes.sum()
    if total < 2:
        return 0.0
    pairs = {(at[rule.client], at[rule.server]) for rule in policy.rules if rule.client in at and rule.server in at}
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    step = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(roles), len(roles)))
    reached: Any = step.copy()
    for _ in range(hops - 1):
        reached = ((reached + reached @ step) > 0).astype(float)
    own = reached.diagonal() > 0
    # A role that reaches itself reaches its other members, not the endpoint that starts.
    counts = reached @ sizes - own
    return float((counts * sizes).sum() / (total * (total - 1)))


Measure = Callable[[Policy], Trade]
