"""Young replicas join the role whose members show the same tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from nl2net.segmentation.products import products
from nl2net.segmentation.tokens import GENERIC, ROLE, TokenTable, token_codes


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
    token, keys = token_codes(frame)
    df = np.bincount(token)
    weight = np.log(table.size / np.maximum(df, 1))
    sizes = np.bincount(labels)
    pairs = sp.csr_matrix((np.ones(len(frame)), (labels[frame["endpoint"].to_numpy()], token)), (len(sizes), len(keys)))
    pairs.sum_duplicates()
    share: Any = sp.csr_matrix(pairs.multiply(1.0 / np.maximum(sizes, 1)[:, None]))
    share.data = np.minimum(1.0, 2 * share.data)
    small = np.flatnonzero((sizes > 0) & (sizes <= 2))
    rows: Any = pairs[small]
    shown: Any = sp.csr_matrix((rows > 0).astype(float).multiply(weight[None, :]))
    totals = np.asarray(shown.sum(axis=1)).ravel()
    small, shown, totals = small[totals > 0], shown[totals > 0], totals[totals > 0]
    large = np.flatnonzero(sizes > 2)
    result = labels.copy()
    if not len(small) or not len(large):
        return result
    for start, scores in products(shown, share[large]):
        scores /= totals[start : start + len(scores), None]
        best = scores.argmax(axis=1)
        top = scores[np.arange(len(scores)), best]
        scores[np.arange(len(scores)), best] = 0.0
        second = scores.max(axis=1)
        for at in np.flatnonzero((top >= least) & ((second == 0) | (top - second >= lead))).tolist():
            result[labels == small[start + at]] = large[best[at]]
    return result
