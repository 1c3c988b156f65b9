"""Rows into files: CSV in which no cell is a formula, or Parquet."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nl2net.assistant.store import Store, Turn
from nl2net.errors import UserError
from nl2net.locations import atomic_write
from nl2net.sandbox.render import csv_cell


def export_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> int:
    """Write rows to ``.csv`` or ``.parquet``; returns how many.

    Raises
    ------
    UserError
        Another suffix.

    Notes
    -----
    In CSV, a cell that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay numbers.
    """
    if path.suffix == ".csv":
        return _write_csv(columns, rows, path)
    if path.suffix == ".parquet":
        return _write_parquet(columns, rows, path)
    raise UserError(f"{path.name}: rows go to .csv or .parquet", hint="Give a name with one of these suffixes.")


def _write_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> int:
    with atomic_write(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text)
        writer.writerow([csv_cell(name) for name in columns])
        writer.writerows([csv_cell(_plain(value)) for value in row] for row in rows)
        text.detach()
    return len(rows)


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | tuple) else value


def _write_parquet(columns: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> int:
    import duckdb
    import pandas as pd

    frame = pd.DataFrame({name: _column(rows, at) for at, name in enumerate(_unique(columns))})
    path.parent.mkdir(parents=True, exist_ok=True)
    # DuckDB writes to a name of its own choice, so it gets a folder beside the target and the file is moved.
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, duckdb.connect() as connection:
        temporary = Path(folder) / "rows.parquet"
        connection.execute(f"SET pandas_analyze_sample={max(len(frame), 1)}")
        connection.from_df(frame).write_parquet(str(temporary))
        temporary.replace(path)
    return len(rows)


def _column(rows: Sequence[Sequence[Any]], at: int) -> list[Any]:
    """Values of one type: mixed columns become text."""
    values = [_plain(row[at]) if at < len(row) else None for row in rows]
    types = {type(value) for value in values if value is not None}
    if len(types) <= 1 or types == {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def _unique(columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for name in columns:
        number = 2
        fresh = name
        while fresh in names:
            fresh, number = f"{name}_{number}", number + 1
        names.append(fresh)
    return names


def export_turn(store: Store, turn: Turn, path: Path) -> Path:
    """Write the program of a question as a script, or with suffix ``.json`` its whole record.

    Raises
    ------
    UserError
        There is no program.
    """
    from nl2net.assistant import render_script
    from nl2net.model import Library

    if path.suffix == ".json":
        body = json.dumps({"envelope": turn.envelope, "events": store.events(turn.id)}, ensure_ascii=False, indent=1)
    elif turn.bound:
        header = {"question": turn.question, "graph": turn.graph, "schema": turn.schema_hash, "library": turn.library}
        body = render_script(turn.bound, Library(turn.library or "networkx"), header)
    else:
        raise UserError(f"question {turn.id} has no program", hint="Export it as .json.")
    with atomic_write(path) as stream:
        stream.write(body.encode())
    return path
