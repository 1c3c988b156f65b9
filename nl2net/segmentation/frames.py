"""Typed edges as data frames: one place where their rows lose their static type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """Named tuples of a frame; the columns decide their fields, which no checker can know.

    Examples
    --------
    >>> [row.port for row in rows_of(pd.DataFrame({"port": [53, 80]}))]
    [53, 80]
    """
    return iter(frame.itertuples(index=False))
