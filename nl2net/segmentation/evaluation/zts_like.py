"""Baseline in the style of published zero-trust segmentation work; only inside the evaluation, never in the product.

Binary adjacency and node features, principal components at 99 % of variance, an autoencoder (128, 32) whose code is
pulled together and pushed apart by a margin loss over the labelled share, Ward linkage with the true number of groups.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.cluster.hierarchy as hierarchy

from nl2net.segmentation.evaluation.baselines import adjacency
from nl2net.segmentation.roles import RoleModel


def _components(table: np.ndarray, share: float = 0.99) -> np.ndarray:
    centred = table - table.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    kept = int(np.searchsorted(np.cumsum(values**2) / max((values**2).sum(), 1e-12), share)) + 1
    reduced = left[:, :kept] * values[:kept]
    return np.asarray(reduced / max(float(reduced.std()), 1e-9))


def _margin(code: np.ndarray, pairs: np.ndarray, same: np.ndarray, margin: float) -> np.ndarray:
    """Gradient of the margin loss with respect to the code."""
    gradient = np.zeros_like(code)
    if not len(pairs):
        return gradient
    difference = code[pairs[:, 0]] - code[pairs[:, 1]]
    distance = np.linalg.norm(difference, axis=1, keepdims=True) + 1e-9
    pull = np.where(
        same[:, None], difference, np.where(distance < margin, -(margin - distance) / distance * difference, 0)
    )
    np.add.at(gradient, pairs[:, 0], pull)
    np.add.at(gradient, pairs[:, 1], -pull)
    return gradient / len(pairs)


def _train(table: np.ndarray, pairs: np.ndarray, same: np.ndarray, *, seed: int, epochs: int = 200) -> np.ndarray:
    """Codes after training with Adam."""
    rng = np.random.default_rng(seed)
    sizes = [table.shape[1], 128, 32, 128, table.shape[1]]
    weights = [rng.normal(0, np.sqrt(2 / a), (a, b)) for a, b in itertools.pairwise(sizes)]
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    for step in range(1, epochs + 1):
        layers = [table]
        for at, weight in enumerate(weights):
            value = layers[-1] @ weight
            layers.append(value if at in (1, 3) else np.maximum(value, 0))
        gradient = 2 * (layers[-1] - table) / table.size * table.shape[1]
        for at in reversed(range(4)):
            if at == 1:
                gradient = gradient + 5.0 * _margin(layers[2], pairs, same, 2.0)
            if at in (0, 2):
                gradient = gradient * (layers[at + 1] > 0)
            change = layers[at].T @ gradient
            gradient = gradient @ weights[at].T
            first[at] = 0.9 * first[at] + 0.1 * change
            second[at] = 0.999 * second[at] + 0.001 * change**2
            corrected = first[at] / (1 - 0.9**step), second[at] / (1 - 0.999**step)
            weights[at] = weights[at] - 0.003 * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
    return np.maximum(table @ weights[0], 0) @ weights[1]


def zts_like(model: RoleModel, groups: int, truth: list[str], *, labelled: float = 0.23, seed: int = 1) -> np.ndarray:
    """Labels with the true number of groups and a share of true labels.

    Parameters
    ----------
    model : RoleModel
        Endpoints and clean edges; its groups are not looked at.
    groups : int
        True number of groups.
    truth : list of str
        True role per endpoint, of which the share ``labelled`` is used.
    """
    rng = np.random.default_rng(seed)
    binary = adjacency(model)
    size = len(model.names)
    degrees = np.log1p(np.column_stack([binary[:, :size].sum(axis=1), binary[:, size:].sum(axis=1)]))
    table = _components(np.hstack([binary, degrees]))
    known = rng.choice(size, size=int(labelled * size), replace=False)
    pairs = np.array([(a, b) for i, a in enumerate(known) for b in known[i + 1 :]])
    same = np.array([truth[a] == truth[b] for a, b in pairs], dtype=bool) if len(pairs) else np.zeros(0, dtype=bool)
    if len(pairs):
        # Few pairs are alike: keep all of them and as many times three of the others.
        others = np.flatnonzero(~same)
        picked = rng.choice(others, size=min(len(others), 3 * max(1, int(same.sum()))), replace=False)
        rows = np.concatenate([np.flatnonzero(same), picked])
        pairs, same = pairs[rows], same[rows]
    code = _train(table, pairs.reshape(-1, 2), same, seed=seed)
    return hierarchy.fcluster(hierarchy.linkage(code, "ward"), groups, "maxclust") - 1
