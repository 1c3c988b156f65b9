"""Young replicas join the role whose members show the same tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nl2net.segmentation.tokens import GENERIC, ROLE, TokenTable


def adopt_small(table: TokenTable, labels: np.ndarray, *, least: float = 0.7, lead: float = 0.10) -> np.ndarray:
    """Move groups of at most two into the larger group that shares their generic and role tokens.

    Parameters
    ----------
    table : TokenTable
        With role tokens.
    labels : ndarray of int
        Group per endpoint.
    least, lead : float
        Smallest score, and smallest lead over the next best group.

    Notes
    -----
    ``score(d) = sum w(t) min(1, 2 share_d(t)) / sum w(t)`` with w = ln(n / df). Two passes.
    """
    for _ in range(2):
        labels = _one_pass(table, labels, least, lead)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _one_pass(table: TokenTable, labels: np.ndarray, least: float, lead: float) -> np.ndarray:
    frame = table.frame[table.frame["kind"].isin([GENERIC, ROLE])]
    token = frame.groupby(["side", "proto", "port", "kind", "peer"], sort=False).ngroup().to_numpy()
    endpoint = frame["endpoint"].to_numpy()
    df = np.bincount(token)
    weight = np.log(table.size / np.maximum(df, 1))
    sizes = np.bincount(labels)
    pairs = pd.DataFrame({"group": labels[endpoint], "token": token})
    counted = pairs.groupby(["group", "token"]).size()
    owner, which = (counted.index.get_level_values(level).to_numpy() for level in ("group", "token"))
    share = counted.to_numpy() / sizes[owner]
    by_token: dict[int, list[tuple[int, float]]] = {}
    by_group: dict[int, list[int]] = {}
    for group, one, part in zip(owner.tolist(), which.tolist(), share.tolist(), strict=True):
        by_token.setdefault(one, []).append((group, part))
        by_group.setdefault(group, []).append(one)
    result = labels.copy()
    for group in np.flatnonzero((sizes > 0) & (sizes <= 2)).tolist():
        tokens = by_group.get(group, [])
        total = float(weight[tokens].sum()) if tokens else 0.0
        if total <= 0:
            continue
        scores: dict[int, float] = {}
        for one in tokens:
            for other, part in by_token[one]:
                if other != group and sizes[other] > max(2, sizes[group]):
                    scores[other] = scores.get(other, 0.0) + float(weight[one]) * min(1.0, 2 * part) / total
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        if ranked and ranked[0][1] >= least and (len(ranked) == 1 or ranked[0][1] - ranked[1][1] >= lead):
            result[labels == group] = ranked[0][0]
    return result
