"""The normal form on disk: Parquet partitioned by hour, written while reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nl2net.segmentation.flows import NORMAL_SCHEMA

_OPEN = 24
_HOUR_US = 3_600_000_000


class HourlyWriter:
    """Appends tables to ``hour=YYYY-MM-DDTHH/part-N.parquet`` and keeps few files open.

    Parameters
    ----------
    folder : Path
        Where the partitions go; must not hold any yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[int, pq.ParquetWriter] = {}
        self._parts: dict[int, int] = {}
        self.hours: set[int] = set()

    def write(self, table: pa.Table) -> None:
        """Append rows of the normal form; they may belong to any hours."""
        if not len(table):
            return
        stamps = table.column("ts_start").cast(pa.int64()).to_numpy()
        hours = stamps // _HOUR_US
        first, last = int(hours.min()), int(hours.max())
        if first == last:
            self._append(first, table)
            return
        for hour in np.unique(hours):
            self._append(int(hour), table.filter(pa.array(hours == hour)))

    def _append(self, hour: int, table: pa.Table) -> None:
        writer = self._open.pop(hour, None)
        if writer is None:
            while len(self._open) >= _OPEN:
                self._open.pop(next(iter(self._open))).close()
            part = self._parts.get(hour, 0)
            self._parts[hour] = part + 1
            folder = self._folder / f"hour={np.datetime64(hour, 'h')}"
            folder.mkdir(parents=True, exist_ok=True)
            writer = pq.ParquetWriter(folder / f"part-{part:04d}.parquet", NORMAL_SCHEMA, compression="zstd")
        self.hours.add(hour)
        self._open[hour] = writer
        writer.write_table(table, row_group_size=1 << 20)

    def close(self) -> None:
        """Finish all files."""
        for writer in self._open.values():
            writer.close()
        self._open.clear()
