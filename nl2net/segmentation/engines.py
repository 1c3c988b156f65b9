"""Where expressions run: DuckDB on this machine, or PySpark for logs that outgrow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import ibis
import pyarrow as pa

from nl2net.errors import UserError

Sources = Mapping[str, Sequence[Path]]


class Engine(Protocol):
    """Runs an Ibis expression over Parquet files."""

    name: str

    def run(self, expression: Any, sources: Sources) -> pa.Table:
        """The result as one Arrow table; ``sources`` maps table names of the expression to their files."""
        ...


class DuckEngine:
    """DuckDB with a memory limit; larger states spill to ``spill``.

    Parameters
    ----------
    memory_mb : int
        Limit of the engine, not of the process.
    threads : int
        Worker threads.
    spill : Path, optional
        Folder for states that do not fit; default beside the system's temporary files.
    """

    name = "duckdb"

    def __init__(self, *, memory_mb: int = 700, threads: int = 2, spill: Path | None = None) -> None:
        import duckdb

        config: dict[str, Any] = {
            "memory_limit": f"{memory_mb}MB",
            "threads": threads,
            "preserve_insertion_order": False,
        }
        if spill is not None:
            config["temp_directory"] = str(spill)
        self._connection = duckdb.connect(config=config)

    def run(self, expression: Any, sources: Sources) -> pa.Table:
        """See `Engine.run`."""
        for name, files in sources.items():
            listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
            self._connection.execute(
                f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM '  # noqa: S608 - names are ours, paths are quoted
                f"read_parquet([{listed}], hive_partitioning = false)"
            )
        return _integers(self._connection.sql(ibis.to_sql(expression, dialect="duckdb")).to_arrow_table())


def _integers(table: pa.Table) -> pa.Table:
    """Sums of int64 come as 128-bit decimals, which no later stage wants."""
    for at, column in enumerate(table.schema):
        if pa.types.is_decimal(column.type):
            table = table.set_column(at, column.name, table.column(at).cast(pa.int64()))
    return table


class SparkEngine:
    """The same expressions on PySpark.

    Parameters
    ----------
    session : pyspark.sql.SparkSession, optional
        Default: a local session with UTC as its zone.
    """

    name = "pyspark"

    def __init__(self, session: Any = None) -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise UserError("PySpark is not installed", hint="pip install 'nl2net[spark]'") from None
        self._session = session or (
            SparkSession.builder.master("local[2]")
            .appName("nl2net-segment")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .getOrCreate()
        )

    def run(self, expression: Any, sources: Sources) -> pa.Table:
        """See `Engine.run`."""
        for name, files in sources.items():
            frame = self._session.read.parquet(*(str(file) for file in files))
            frame.createOrReplaceTempView(name)
        ibis.pyspark  # noqa: B018 - the backend registers its compiler options when it is first named
        return self._session.sql(str(ibis.to_sql(expression, dialect="pyspark"))).toArrow()


def make_engine(name: str = "duckdb", **options: Any) -> Engine:
    """An engine by name, ``duckdb`` or ``pyspark``."""
    if name == "duckdb":
        return DuckEngine(**options)
    if name == "pyspark":
        return SparkEngine(**options)
    raise UserError(f"unknown engine {name!r}", hint="Known: duckdb, pyspark.")
