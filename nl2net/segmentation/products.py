"""Sparse products whose result is nearly dense, in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

_BLOCK = 512
_COMMON = 0.02


def products(left: sp.csr_matrix, right: sp.csr_matrix) -> Iterator[tuple[int, np.ndarray]]:
    """``left @ right.T`` as dense blocks of rows, each with its first row.

    Parameters
    ----------
    left : sparse matrix, (n, tokens)
        Endpoints or small groups.
    right : sparse matrix, (k, tokens)
        Roles.

    Notes
    -----
    A few tokens (name lookup, monitoring) occur in nearly every row of both sides and make up most of the work of a
    sparse product; those columns are multiplied as dense ones.

    Examples
    --------
    >>> [(start, block)] = list(products(sp.csr_matrix([[1.0, 2.0]]), sp.csr_matrix([[3.0, 4.0], [0.0, 1.0]])))
    >>> block.tolist()
    [[11.0, 2.0]]
    """
    often = np.bincount(right.indices, minlength=right.shape[1]) > max(20, _COMMON * right.shape[0])
    common, rare = np.flatnonzero(often), np.flatnonzero(~often)
    right_columns = right.tocsc()
    dense = np.asarray(right_columns[:, common].todense(), dtype=np.float64).T
    sparse = sp.csr_matrix(right_columns[:, rare].T)
    left_columns = left.tocsc()
    left_common, left_rare = left_columns[:, common].tocsr(), left_columns[:, rare].tocsr()
    for start in range(0, left.shape[0], _BLOCK):
        stop = min(start + _BLOCK, left.shape[0])
        block = np.asarray((left_rare[start:stop] @ sparse).todense(), dtype=np.float64)
        block += left_common[start:stop].toarray() @ dense
        yield start, block
