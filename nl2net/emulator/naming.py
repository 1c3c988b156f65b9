"""Interface names that the kernel accepts: at most 15 characters, unique per node."""

from __future__ import annotations

import re

from nl2net.emulator.topology import MAX_INTERFACE_NAME

_PREFIX = "to-"


def interface_names(names: list[str], pairs: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """A name for each end of each link, after the node at the other end where it fits.

    Examples
    --------
    >>> interface_names(["a", "core 1"], [(0, 1)])
    {(0, 1): 'to-core1', (1, 0): 'to-a'}
    """
    found: dict[tuple[int, int], str] = {}
    used: dict[int, set[str]] = {}
    for near, far in [pair for a, b in pairs for pair in ((a, b), (b, a))]:
        taken = used.setdefault(near, set())
        label = (_PREFIX + re.sub(r"[^A-Za-z0-9_.-]", "", names[far]))[:MAX_INTERFACE_NAME]
        if label in taken or label == _PREFIX:
            label = f"{_PREFIX}{far}"
        taken.add(label)
        found[near, far] = label
    return found
