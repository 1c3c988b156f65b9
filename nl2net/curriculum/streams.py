"""Random numbers by address: the value depends on (seed, purpose, position) and on nothing else.

A batch of sessions must see the same environments whichever policy plays, in whatever order and batch the sessions
run. Stateful generators cannot promise that cheaply for thousands of sessions; a hash of the address can.

References
----------
.. [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the mixer).
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from scipy.special import ndtri

from nl2net.curriculum.arrays import AnyArray, Floats, Seeds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(words: Seeds) -> Seeds:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def _purpose_word(purpose: str) -> np.uint64:
    return np.uint64(int.from_bytes(sha256(purpose.encode()).digest()[:8], "little"))


def uniforms(seeds: Seeds, purpose: str, positions: AnyArray) -> Floats:
    """Uniform numbers in (0, 1), one per pair of seed and position.

    Parameters
    ----------
    seeds : array of uint64
        One per session; broadcast against ``positions``.
    purpose : str
        What the numbers are for; different purposes give independent streams.
    positions : array of int
        Place in the stream.

    Examples
    --------
    >>> import numpy as np
    >>> seeds = np.arange(3, dtype=np.uint64)
    >>> together = uniforms(seeds[:, None], "gap", np.arange(4))
    >>> alone = uniforms(seeds[2:, None], "gap", np.arange(4))
    >>> bool((together[2] == alone[0]).all())
    True
    """
    with np.errstate(over="ignore"):
        start = _mix(np.asarray(seeds, dtype=np.uint64) * _GOLDEN + _purpose_word(purpose))
        words = _mix(start + np.asarray(positions).astype(np.uint64) * _GOLDEN)
    numbers: Floats = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return numbers


def normals(seeds: Seeds, purpose: str, positions: AnyArray) -> Floats:
    """Standard normal numbers by the same addresses as `uniforms`."""
    numbers: Floats = ndtri(uniforms(seeds, purpose, positions))
    return numbers


def derive(seed: int, *words: object) -> int:
    """A seed for one purpose, from a parent seed and words that name the purpose.

    Examples
    --------
    >>> derive(1, "search", 3) == derive(1, "search", 3), derive(1, "search", 3) == derive(1, "search", 4)
    (True, False)
    """
    text = "\x1f".join(str(word) for word in (seed, *words))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little") >> 1


def generator(seed: int, *words: object) -> np.random.Generator:
    """An ordinary generator for code that draws one number after the other."""
    return np.random.Generator(np.random.PCG64(derive(seed, *words)))


def session_seeds(seed: int, *words: object, count: int) -> Seeds:
    """Seeds of ``count`` sessions."""
    with np.errstate(over="ignore"):
        return _mix(np.uint64(derive(seed, *words)) + np.arange(count, dtype=np.uint64) * _GOLDEN)
