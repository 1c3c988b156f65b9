"""After the cut: every endpoint may move to the role under which its tokens are likelier than under its own.

A log shows young endpoints only in part, so what an endpoint lacks says less than what it has. The cut of the tree has
to weigh both alike, because it compares groups of any size; here, with all groups known, the lacking counts less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from nl2net.segmentation.cluster import DENSE_LIMIT
from nl2net.segmentation.products import products
from nl2net.segmentation.tokens import ROLE, TokenTable, role_tokens, token_codes

LACKING = 0.15
STRENGTH = 0.2
_SMALL = 2


def settle(
    table: TokenTable, labels: np.ndarray, *, margin: float = 2.0, passes: int = 3, soft: np.ndarray | None = None
) -> np.ndarray:
    """Move endpoints one at a time to a role of at least the same size that explains their tokens better.

    Parameters
    ----------
    table : TokenTable
        Tokens of all endpoints; role tokens are made anew in each pass.
    labels : ndarray of int
        Group per endpoint.
    margin : float
        Nats by which the new role must be ahead, both of the old one and of a role of the endpoint's own.
    passes : int
        At most so many; a pass without a move is the last.
    soft : ndarray of int, optional
        Number of each endpoint's label, -1 without one; nothing moves to a role that has labels, but not its own.

    Returns
    -------
    ndarray of int
        Group per endpoint, from 0.

    Notes
    -----
    In one pass a role either gives or takes, so that two endpoints cannot swap for ever.
    """
    plain = TokenTable(table.frame[table.frame["kind"] != ROLE], table.size)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    for _ in range(passes):
        moves = _moves(plain, labels, margin, soft)
        if not moves:
            break
        labels = labels.copy()
        for endpoint, target in moves:
            labels[endpoint] = target
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return labels


def _moves(table: TokenTable, labels: np.ndarray, margin: float, soft: np.ndarray | None) -> list[tuple[int, int]]:
    odds = _Odds(table, labels)
    sizes = odds.sizes[labels]
    stay = np.maximum(odds.own(), odds.alone())
    # With very many endpoints only the smallest groups are looked at: all pairs of endpoints and roles take too long.
    movable = odds.shown > 0
    if len(labels) > DENSE_LIMIT:
        movable &= sizes <= _SMALL
    target, ahead = odds.elsewhere(stay, np.flatnonzero(movable))
    wanted = (ahead > margin) & (odds.sizes[target] >= sizes)
    order = np.flatnonzero(wanted)
    order = order[np.lexsort((order, -ahead[order]))]
    giving, taking, moves = set(), set(), []
    for endpoint in order.tolist():
        old, new = int(labels[endpoint]), int(target[endpoint])
        if old not in taking and new not in giving and not _contradicts(labels == new, endpoint, soft):
            giving.add(old)
            taking.add(new)
            moves.append((endpoint, new))
    return moves


def _contradicts(members: np.ndarray, endpoint: int, soft: np.ndarray | None) -> bool:
    if soft is None or soft[endpoint] < 0:
        return False
    known = soft[members]
    known = known[known >= 0]
    return bool(len(known)) and not bool((known == soft[endpoint]).any())


@dataclass(slots=True)
class _Parts:
    """Per role: log odds of having a token, sparse over what its members have, and the sum of lacking all."""

    having: sp.csr_matrix
    lacking: sp.csr_matrix
    lacking_sum: np.ndarray
    base: np.ndarray
    column: np.ndarray


class _Odds:
    """Tempered log likelihood of endpoints' tokens under roles, without a dense table of roles and tokens."""

    def __init__(self, table: TokenTable, labels: np.ndarray) -> None:
        frame = role_tokens(table, labels).frame
        frame = frame[frame["kind"] == ROLE]
        codes, keys = token_codes(frame)
        ones = np.ones(len(frame))
        self.labels = labels
        self.x = sp.csr_matrix((ones, (frame["endpoint"].to_numpy(), codes)), shape=(table.size, len(keys)))
        self.shown = np.asarray(self.x.sum(axis=1)).ravel()
        self.sizes = np.bincount(labels)
        member = sp.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
        self.counts = sp.csr_matrix(member @ self.x)
        share = (np.asarray(self.x.sum(axis=0)).ravel() + 0.5) / (table.size + 1)
        self.a, self.b = STRENGTH * share, STRENGTH * (1 - share)
        self._share = share

    def alone(self) -> np.ndarray:
        """Under a role of one's own."""
        lacking = np.log(1 - self._share)
        found: np.ndarray = self.x @ (np.log(self._share) - LACKING * lacking) + LACKING * lacking.sum()
        return found

    def own(self) -> np.ndarray:
        """Under the own role without oneself; nothing better than alone for a role of one."""
        rest = self.sizes - 1
        row = np.repeat(np.arange(len(self.sizes)), np.diff(self.counts.indptr))
        token, left = self.counts.indices, np.maximum(rest, 0)
        total = np.log(STRENGTH + left)
        # Tokens that all members have leave nothing to take the logarithm of; such terms cancel below.
        lacking = np.log(np.maximum(self.b[token] + left[row] - self.counts.data, 1e-12))
        plain = np.log(self.b[token] + left[row])
        columns = {int(size): np.log(self.b + size).sum() for size in np.unique(left)}
        all_lacking = np.array([columns[int(size)] for size in left]) - total * len(self.b)
        all_lacking += np.bincount(row, weights=lacking - plain, minlength=len(left))
        having = np.log(self.a[token] + np.maximum(self.counts.data - 1, 0))
        term = sp.csr_matrix(
            (having - LACKING * lacking - (1 - LACKING) * total[row], token, self.counts.indptr), self.counts.shape
        )
        mine = np.asarray(self.x.multiply(term[self.labels]).sum(axis=1)).ravel()
        result: np.ndarray = mine + LACKING * all_lacking[self.labels]
        return np.where(rest[self.labels] > 0, result, -np.inf)

    def elsewhere(self, stay: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Best other role of the endpoints ``rows``, and how far it is ahead of staying."""
        parts = self._parts()
        best = np.zeros(len(stay), dtype=np.int64)
        ahead = np.full(len(stay), -np.inf)
        missing = LACKING * parts.lacking_sum[None, :]
        x = self.x[rows]
        plain = x @ parts.base
        for start, scores in products(x, parts.having):
            which = rows[start : start + len(scores)]
            scores += plain[start : start + len(scores)][:, parts.column]
            scores += missing
            at = np.arange(len(which))
            scores[at, self.labels[which]] = -np.inf
            best[which] = scores.argmax(axis=1)
            ahead[which] = scores[at, best[which]] - stay[which]
        return best, ahead

    def _parts(self) -> _Parts:
        sizes, column = np.unique(self.sizes, return_inverse=True)
        total = np.log(STRENGTH + sizes)
        plain_lacking = np.log(self.b[:, None] + sizes[None, :]) - total[None, :]
        plain_having = np.log(self.a)[:, None] - total[None, :]
        base = plain_having - LACKING * plain_lacking
        row = np.repeat(np.arange(len(self.sizes)), np.diff(self.counts.indptr))
        token, size = self.counts.indices, self.sizes[row]
        lacking = np.log(self.b[token] + size - self.counts.data) - np.log(STRENGTH + size)
        having = np.log(self.a[token] + self.counts.data) - np.log(STRENGTH + size)
        gained = lacking - plain_lacking[token, column[row]]
        having = having - LACKING * lacking - base[token, column[row]]
        shape = self.counts.shape
        return _Parts(
            sp.csr_matrix((having, token, self.counts.indptr), shape),
            sp.csr_matrix((gained, token, self.counts.indptr), shape),
            plain_lacking.sum(axis=0)[column] + np.bincount(row, weights=gained, minlength=len(self.sizes)),
            base,
            column,
        )
