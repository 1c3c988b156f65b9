"""From vectors to a tree of merges (few endpoints) or to groups straight away (many)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.cluster.hierarchy as hierarchy
import scipy.sparse as sp
from scipy.spatial.distance import squareform

DENSE_LIMIT = 5000
_DENSE_CELLS = 50_000


@dataclass(frozen=True, slots=True)
class Tree:
    """Average-linkage tree over cosine distance, with the distances it came from."""

    linkage: np.ndarray
    distance: np.ndarray

    def cut(self, height: float) -> np.ndarray:
        """Labels at a height, from 0."""
        if len(self.distance) < 2:
            return np.zeros(len(self.distance), dtype=np.int64)
        return np.asarray(hierarchy.fcluster(self.linkage, height, criterion="distance"), dtype=np.int64) - 1


def cosine_distance(matrix: sp.csr_matrix) -> np.ndarray:
    """1 - cosine of all pairs as a dense float32 matrix with a zero diagonal; empty rows are far from everything."""
    # Only columns that occur: a small part of a large estate has few of its tokens.
    columns, at = np.unique(matrix.indices, return_inverse=True)
    small = sp.csr_matrix((matrix.data, at, matrix.indptr), (matrix.shape[0], max(1, len(columns))))
    if small.shape[0] * small.shape[1] <= _DENSE_CELLS:
        rows = small.toarray().astype(np.float32)
        similarity = rows @ rows.T
    else:
        similarity = np.asarray((small @ small.T).todense(), dtype=np.float32)
    distance: np.ndarray = np.clip(1.0 - similarity, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    return distance


def build_tree(matrix: sp.csr_matrix, constrain: np.ndarray | None = None) -> Tree:
    """Average linkage of all pairs.

    Parameters
    ----------
    matrix : sparse matrix, (n, tokens)
        L2-normalised rows.
    constrain : ndarray, (n, n), optional
        Distances that replace the computed ones where they are not NaN (hard hints).
    """
    distance = cosine_distance(matrix)
    if constrain is not None:
        distance = np.where(np.isnan(constrain), distance, constrain).astype(np.float32)
    if len(distance) < 2:
        return Tree(np.zeros((0, 4)), distance)
    return Tree(hierarchy.linkage(squareform(distance, checks=False), "average"), distance)


def sparse_similarity(matrix: sp.csr_matrix, *, top: int = 30, floor: float = 0.3, threads: int = 1) -> sp.csr_matrix:
    """Exact cosine of the ``top`` nearest neighbours of every row, those above ``floor``."""
    from sparse_dot_topn import sp_matmul_topn

    found = sp_matmul_topn(matrix, matrix.T.tocsr(), top_n=top + 1, threshold=floor, sort=True, n_threads=threads)
    found.setdiag(0)
    found.eliminate_zeros()
    return sp.csr_matrix(found)


def mutual(neighbours: sp.csr_matrix) -> sp.csr_matrix:
    """Keep pairs that are among each other's neighbours."""
    pattern = (neighbours > 0).astype(np.float64)
    both = pattern.multiply(pattern.T)
    return sp.csr_matrix(neighbours.multiply(both))


def leiden(graph: sp.csr_matrix, resolution: float, *, seed: int = 1) -> np.ndarray:
    """CPM Leiden groups of a similarity graph; endpoints without neighbours stay alone."""
    import graspologic_native as native

    upper = sp.triu(graph, 1).tocoo()
    edges = [(str(a), str(b), float(w)) for a, b, w in zip(upper.row, upper.col, upper.data, strict=True)]
    labels = np.full(graph.shape[0], -1, dtype=np.int64)
    if edges:
        _, partition = native.leiden(
            edges=edges,
            starting_communities=None,
            resolution=resolution,
            randomness=0.001,
            iterations=2,
            use_modularity=False,
            seed=seed,
            trials=1,
        )
        for name, group in partition.items():
            labels[int(name)] = group
    lonely = labels < 0
    labels[lonely] = labels.max(initial=-1) + 1 + np.arange(lonely.sum())
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
