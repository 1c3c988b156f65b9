"""Other ways to group endpoints, with the true number of groups given to each.

References
----------
Jaccard: Tan et al., "Role classification of hosts within enterprise networks", USENIX ATC 2003 (the neighbour overlap).
SimRank: Jeh and Widom, KDD 2002. role2vec: Ahmed et al., 2018. CloudCluster: NSDI 2022 (traffic matrix, low rank).
All are re-implementations in the style of these, on the same clean edges as our method.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.cluster.hierarchy as hierarchy
from scipy.spatial.distance import pdist, squareform

from nl2net.segmentation.roles import RoleModel


def adjacency(model: RoleModel, *, volume: bool = False) -> np.ndarray:
    """Rows of out- and in-neighbours side by side, binary or with log bytes."""
    index = {name: at for at, name in enumerate(model.names)}
    edges: pd.DataFrame = model.population.edges[model.population.learn]
    size = len(index)
    out = np.zeros((size, size))
    weight = np.log1p(edges["bytes"].to_numpy(float)) if volume else np.ones(len(edges))
    np.add.at(out, (edges["client"].map(index).to_numpy(), edges["server"].map(index).to_numpy()), weight)
    out = out if volume else np.minimum(out, 1)
    return np.hstack([out, out.T])


def _linkage_labels(distance: np.ndarray, groups: int) -> np.ndarray:
    tree = hierarchy.linkage(distance, "average")
    return np.asarray(hierarchy.fcluster(tree, groups, "maxclust")) - 1


def jaccard(model: RoleModel, groups: int) -> np.ndarray:
    """Average linkage on the overlap of neighbours."""
    return _linkage_labels(np.nan_to_num(pdist(adjacency(model).astype(bool), "jaccard"), nan=1.0), groups)


def simrank(model: RoleModel, groups: int, *, decay: float = 0.8, rounds: int = 5) -> np.ndarray:
    """Two endpoints are alike when their callers are, and their servers."""
    size = len(model.names)
    out = adjacency(model)[:, :size]
    both = out + out.T
    walk = both / np.maximum(both.sum(axis=0), 1)
    similar = np.eye(size)
    for _ in range(rounds):
        similar = decay * walk.T @ similar @ walk
        np.fill_diagonal(similar, 1.0)
    return _linkage_labels(squareform(1 - np.clip((similar + similar.T) / 2, 0, 1), checks=False), groups)


def cloudcluster_like(model: RoleModel, groups: int, *, rank: int = 30) -> np.ndarray:
    """Log traffic matrix, truncated singular vectors, average linkage on the cosine."""
    table = adjacency(model, volume=True)
    left, values, _ = np.linalg.svd(table, full_matrices=False)
    vectors = left[:, :rank] * values[:rank]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    distance = np.clip(1 - vectors @ vectors.T, 0, 2)
    np.fill_diagonal(distance, 0)
    return _linkage_labels(squareform(distance, checks=False), groups)


def role2vec_like(model: RoleModel, groups: int, *, seed: int = 1, rank: int = 32) -> np.ndarray:
    """Structural types from degrees and triangles, co-occurrence over random walks, low rank, k-means."""
    from sklearn.cluster import KMeans

    size = len(model.names)
    out = adjacency(model)[:, :size]
    both = np.minimum(out + out.T, 1)
    triangles = np.diag(both @ both @ both) / 2
    features = np.column_stack([out.sum(axis=1), out.sum(axis=0), triangles])
    bins = np.floor(np.log2(1 + features)).astype(int)
    types = np.unique(bins, axis=0, return_inverse=True)[1].ravel()
    marks = np.eye(types.max() + 1)[types]
    step = both / np.maximum(both.sum(axis=1, keepdims=True), 1)
    reach, seen = np.eye(size), np.zeros_like(marks)
    for _ in range(4):
        reach = reach @ step
        seen += reach @ marks
    left, values, _ = np.linalg.svd(np.hstack([marks, seen, np.log1p(features)]), full_matrices=False)
    vectors = left[:, :rank] * values[:rank]
    return np.asarray(KMeans(min(groups, size), n_init=3, random_state=seed).fit_predict(vectors))
