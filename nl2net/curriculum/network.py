"""Small networks in numpy with hand-written gradients, and their optimiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class Network:
    """Dense layers with tanh between them.

    Parameters
    ----------
    weights : sequence of arrays
        Matrix and bias of each layer in turn.

    Examples
    --------
    >>> net = new_network((3, 8, 2), rng=np.random.default_rng(1))
    >>> net.forward(np.zeros((5, 3), dtype=np.float32))[-1].shape
    (5, 2)
    """

    def __init__(self, weights: Sequence[Array]) -> None:
        self.weights = list(weights)

    def forward(self, x: Array) -> list[Array]:
        """Activations of every layer; the first is the input, the last the output."""
        seen = [x]
        last = len(self.weights) // 2 - 1
        for k in range(last + 1):
            y = seen[-1] @ self.weights[2 * k] + self.weights[2 * k + 1]
            seen.append(np.tanh(y, out=y) if k < last else y)
        return seen

    def backward(self, seen: Sequence[Array], gradient: Array) -> list[Array]:
        """Gradients of the weights, from the gradient of the output."""
        found: list[Array] = []
        for k in range(len(self.weights) // 2 - 1, -1, -1):
            found[:0] = [seen[k].T @ gradient, gradient.sum(axis=0)]
            if k:
                gradient = (gradient @ self.weights[2 * k].T) * (1 - seen[k] ** 2)
        return found


def new_network(sizes: Sequence[int], *, rng: np.random.Generator, last_scale: float = 1.0) -> Network:
    """A network with orthogonal starting weights; ``last_scale`` shrinks the output layer."""
    weights: list[Array] = []
    for k, (rows, columns) in enumerate(pairwise(sizes)):
        draw = rng.standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(draw)
        q = q * np.sign(np.diag(r))
        scale = np.sqrt(2) if k < len(sizes) - 2 else last_scale
        # Row order always: a checkpoint restores it, and another order would sum in another sequence.
        matrix = np.ascontiguousarray((q if rows >= columns else q.T) * scale, dtype=np.float32)
        weights += [matrix, np.zeros(columns, dtype=np.float32)]
    return Network(weights)


class Adam:
    """Adam with a step size given at every call.

    References
    ----------
    .. [1] D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """

    def __init__(self, weights: Sequence[Array]) -> None:
        self.first = [np.zeros_like(w) for w in weights]
        self.second = [np.zeros_like(w) for w in weights]
        self.count = 0

    def apply(self, weights: Sequence[Array], gradients: Sequence[Array], rate: float) -> None:
        """Move the weights in place, after clipping the gradient's norm to 0.5."""
        self.count += 1
        norm = float(np.sqrt(sum(float((g * g).sum()) for g in gradients)))
        shrink = np.float32(min(1.0, 0.5 / (norm + 1e-8)))
        step = np.float32(rate * np.sqrt(1 - 0.999**self.count) / (1 - 0.9**self.count))
        for w, g, m, v in zip(weights, gradients, self.first, self.second, strict=True):
            g = g * shrink
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            w -= step * m / (np.sqrt(v) + np.float32(1e-8))

    def arrays(self, prefix: str) -> dict[str, npt.NDArray[np.float32]]:
        """State for a checkpoint."""
        pairs = enumerate(zip(self.first, self.second, strict=True))
        return {f"{prefix}{name}{k}": a for k, pair in pairs for name, a in zip(("m", "v"), pair, strict=True)}

    def restore(self, arrays: Mapping[str, npt.NDArray[np.float32]], prefix: str, count: int) -> None:
        """State from a checkpoint."""
        self.first = [arrays[f"{prefix}m{k}"].copy() for k in range(len(self.first))]
        self.second = [arrays[f"{prefix}v{k}"].copy() for k in range(len(self.second))]
        self.count = count
