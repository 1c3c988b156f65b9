"""New endpoints find their role after their first minutes, without a full run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import betaln

from nl2net.segmentation.endpoints import Population
from nl2net.segmentation.roles import RoleModel
from nl2net.segmentation.tokens import ROLE, edge_tokens, role_tokens

UNASSIGNED = "unassigned"


def place_endpoints(model: RoleModel, ids: Mapping[int, str], later: Population) -> dict[str, str]:
    """Roles of all endpoints of a later window.

    Parameters
    ----------
    model : RoleModel
        Roles of the learning window.
    ids : mapping of int to str
        Their names.
    later : Population
        Edges of the later window.

    Returns
    -------
    dict
        Known endpoints keep their role; new ones get the role under which their tokens are likeliest, or
        ``"unassigned"`` when a role of their own is likelier still.
    """
    labels = dict(zip(model.names, model.labels.tolist(), strict=True))
    found = {name: ids[label] for name, label in labels.items()}
    provisional = provisional_endpoints(model)
    fresh = [name for name in later.inside if name not in labels and name not in later.scanners]
    again = [name for name in later.inside if name in provisional]
    if not fresh and not again:
        return found
    counts = _Counts(model)
    # A second pass lets new endpoints that only talk to new ones be placed by their first placements.
    for _ in range(2):
        placed = _one_pass(model, counts, later, labels=labels, fresh=[*fresh, *again])
        labels.update(placed)
    for name in fresh:
        found[name] = ids[labels[name]] if name in labels else UNASSIGNED
    for name in again:
        found[name] = ids[labels[name]]
    return found


def provisional_endpoints(model: RoleModel, fewest: int = 3) -> frozenset[str]:
    """Endpoints that showed too little for a role.

    Either they are alone, serve nothing and use fewer than three services, or all they do is what endpoints of many
    roles do (name lookup, time, being monitored). They are audited, not enforced, and are placed like new ones once
    they show more.
    """
    roles = model.table.frame[model.table.frame["kind"] == ROLE]
    alone = np.bincount(model.labels)[model.labels] == 1
    used = np.bincount(roles["endpoint"], minlength=len(model.names))
    serves = np.bincount(roles.loc[roles["side"] == 1, "endpoint"], minlength=len(model.names)) > 0
    telling = np.bincount(roles.loc[~_common_tokens(model, roles), "endpoint"], minlength=len(model.names)) > 0
    thin = (alone & ~serves & (used < fewest)) | (~telling & (used > 0))
    return frozenset(name for name, few in zip(model.names, thin, strict=True) if few and model.population.inside[name])


def _common_tokens(model: RoleModel, roles: pd.DataFrame, share: float = 0.1, fewest: int = 4) -> np.ndarray:
    """Rows whose token occurs on a tenth of the endpoints and in a tenth of the roles, at least four."""
    token = roles.groupby(["side", "proto", "port", "peer"], sort=False).ngroup().to_numpy()
    group = model.labels[roles["endpoint"].to_numpy()]
    pairs = np.unique(np.stack([token, group]), axis=1)
    spread = np.bincount(pairs[0])
    count = np.bincount(token)
    groups = int(model.labels.max(initial=-1)) + 1
    common = (count >= share * len(model.names)) & (spread >= max(fewest, share * groups))
    return common[token]


class _Counts:
    """Token counts per role of the learning window."""

    def __init__(self, model: RoleModel) -> None:
        roles = model.table.frame[model.table.frame["kind"] == ROLE]
        keys = list(zip(roles["side"], roles["proto"], roles["port"], roles["peer"], strict=True))
        self.token = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        codes = np.array([self.token[key] for key in keys], dtype=np.int64)
        group = model.labels[roles["endpoint"].to_numpy()]
        self.sizes = np.bincount(model.labels)
        self.table = np.zeros((len(self.sizes), len(self.token)), dtype=np.float32)
        np.add.at(self.table, (group, codes), 1)
        share = (self.table.sum(axis=0) + 0.5) / (len(model.labels) + 1)
        strength = max(model.settings.cut.strength, 0.2)
        self.a, self.b = strength * share, strength * (1 - share)

    def best(self, tokens: list[int]) -> int | None:
        """The likeliest role, or None when a new one is likelier."""
        if not tokens:
            return None
        present = np.zeros(len(self.token), dtype=bool)
        present[tokens] = True
        members = self.sizes[:, None]
        total = np.log(self.a + self.b + members)
        having = np.log(self.a + self.table) - total
        lacking = np.log(self.b + members - self.table) - total
        # A young endpoint has not shown all it does: what it lacks counts less than what it has.
        scores = having[:, present].sum(axis=1) + 0.3 * lacking[:, ~present].sum(axis=1)
        own = betaln(self.a + 1, self.b) - betaln(self.a, self.b)
        rest = betaln(self.a, self.b + 1) - betaln(self.a, self.b)
        alone = own[present].sum() + 0.3 * rest[~present].sum()
        best = int(scores.argmax())
        return best if scores[best] >= alone else None


def _one_pass(
    model: RoleModel, counts: _Counts, later: Population, *, labels: Mapping[str, int], fresh: list[str]
) -> dict[str, int]:
    names = list(later.inside)
    index = {name: at for at, name in enumerate(names)}
    edges: pd.DataFrame = later.edges[later.learn]
    known = np.array([labels.get(name, -1) for name in names])
    tokens = role_tokens(edge_tokens(edges, index), known).frame
    tokens = tokens[(tokens["kind"] == ROLE) & (tokens["peer"] >= 0)]
    wanted = {index[name]: name for name in fresh}
    tokens = tokens[tokens["endpoint"].isin(wanted.keys())]
    by_endpoint: dict[int, list[int]] = {}
    columns = (tokens[name].tolist() for name in ("endpoint", "side", "proto", "port", "peer"))
    for endpoint, *key in zip(*columns, strict=True):
        at = counts.token.get(tuple(key))
        if at is not None:
            by_endpoint.setdefault(endpoint, []).append(at)
    placed = {}
    for endpoint, found in by_endpoint.items():
        best = counts.best(found)
        if best is not None:
            placed[wanted[endpoint]] = best
    return placed
