"""One SELECT in an in-memory DuckDB that has no way out; runs in the child.

The database is opened and locked before the seal and queried after it. The settings are a belt; the seal is what
counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import duckdb
import pandas as pd

from nl2net.errors import RefusedCode

_LOCK = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)
_MOST_TEXT = 20_000
# Text in single quotes, in dollar quotes or in double quotes (a name), and comments.
_PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


def open_database(frames: Mapping[str, pd.DataFrame], *, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """Open, fill and lock the database; call it before the seal.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        As ``prepare.frames`` gives them; ``nodes`` gets its index as column ``id``.
    memory_mb : int
        Memory of the database.
    """
    settings: dict[str, Any] = {
        "threads": 1,
        "memory_limit": f"{memory_mb}MB",
        "temp_directory": "",
        "max_temp_directory_size": "0KiB",
    }
    try:
        # DuckDB 2 starts threads for reading ahead, which a sealed child may not have.
        connection = duckdb.connect(":memory:", config=settings | {"async_threads": 0})
    except duckdb.Error:
        connection = duckdb.connect(":memory:", config=settings)
    for name, frame in frames.items():
        shown = frame.reset_index() if name == "nodes" else frame
        connection.register(name, shown.rename(columns=str))
    for statement in _LOCK:
        connection.execute(statement)
    return connection


def check_statement(source: str) -> None:
    """Refuse anything but one SELECT, as DuckDB's own parser sees it.

    Raises
    ------
    RefusedCode
        More than one statement, another kind of statement, or text that does not parse.
    """
    if len(source) > _MOST_TEXT:
        raise RefusedCode("the query is too long", rule="size", hint=f"Write at most {_MOST_TEXT} characters.")
    try:
        statements = duckdb.extract_statements(source)
    except duckdb.Error as error:
        text = str(error).splitlines()[0]
        raise RefusedCode(f"the query does not parse: {text}", rule="syntax", hint="Write one SELECT.") from None
    if len(statements) != 1:
        raise RefusedCode("not exactly one statement", rule="contract", hint="Write one SELECT statement.")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise RefusedCode("not a SELECT statement", rule="contract", hint="Write a SELECT; nothing else runs.")


def bind_literals(source: str, bindings: Mapping[str, str]) -> str:
    """Replace placeholders inside quoted texts, and nowhere else.

    Examples
    --------
    >>> bind_literals("SELECT 'NODE_1' AS NODE_1 -- NODE_1", {"NODE_1": "o'brien"})
    "SELECT 'o''brien' AS NODE_1 -- NODE_1"
    """
    if not bindings:
        return source
    names = "|".join(re.escape(name) for name in sorted(bindings, key=len, reverse=True))
    token = re.compile(rf"(?<![A-Za-z0-9_])(?:{names})(?![A-Za-z0-9_])")

    def rebind(found: re.Match[str]) -> str:
        piece = found.group()
        if not piece.startswith("'"):
            return piece
        return token.sub(lambda hit: bindings[hit.group()].replace("'", "''"), piece)

    return _PIECES.sub(rebind, source)


def run_query(connection: duckdb.DuckDBPyConnection, source: str) -> Any:
    """Run the one SELECT; a single cell comes back as that value, anything else as a frame."""
    cursor = connection.execute(source)
    names = [column[0] for column in cursor.description or ()]
    rows = cursor.fetchall()
    if len(names) == 1 and len(rows) == 1:
        return rows[0][0]
    columns = {place: [row[place] for row in rows] for place in range(len(names))}
    frame = pd.DataFrame({place: pd.Series(cells, dtype=object) for place, cells in columns.items()})
    frame.columns = pd.Index(names, dtype=object)
    return frame.reset_index(drop=True)
