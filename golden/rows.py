"""One shape for scalars, lists and tables, and the comparison of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from nl2net.golden.cells import EXACT, Tolerance, cells_equal, clean, is_number, multisets_equal

Row = tuple[Any, ...]
_SEARCHED_WIDTH = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """A value as rows of cells.

    Attributes
    ----------
    rows : tuple of tuples
        Cells without wrappers. A scalar is one row of one cell, a list one row per element.
    columns : tuple of str, optional
        Names, where the value had any.
    """

    rows: tuple[Row, ...]
    columns: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """Number of columns, 0 without rows, -1 if rows differ in length."""
        if len(self.rows) == 1:
            return len(self.rows[0])
        widths = {len(row) for row in self.rows}
        return 0 if not widths else widths.pop() if len(widths) == 1 else -1


def _is_sequence(value: object) -> bool:
    return isinstance(value, (list, tuple, set, frozenset))


def _cell(value: Any) -> Any:
    if isinstance(value, (str, int, float)):
        return clean(value)
    if isinstance(value, Mapping):
        return {str(clean(key)): _cell(item) for key, item in value.items()}
    if _is_sequence(value):
        return [_cell(item) for item in value]
    return clean(value)


def _row(value: Any) -> Row:
    """A row; a leading pair, as in ``((u, v), weight)``, is laid flat."""
    if isinstance(value, str):
        return (clean(value),)
    if not _is_sequence(value):
        return (_cell(value),)
    cells = [_cell(item) for item in value]
    if len(cells) > 1 and isinstance(cells[0], list) and not any(isinstance(cell, (list, dict)) for cell in cells[0]):
        return (*cells[0], *cells[1:])
    return tuple(cells)


def as_rows(value: Any) -> Rows:
    """Bring a scalar, list, mapping, list of records, table or data frame into rows; rows stay as they are.

    Examples
    --------
    >>> as_rows({"a": 1, "b": 2}).rows == as_rows([["a", 1], ["b", 2]]).rows
    True
    >>> as_rows({"columns": ["x"], "rows": [[1]]})
    Rows(rows=((1,),), columns=('x',))
    """
    if isinstance(value, Rows):
        return value
    if isinstance(value, (str, int, float)):
        return Rows((_row(value),))
    if hasattr(value, "to_dict") and hasattr(value, "columns") and hasattr(value, "itertuples"):
        rows = tuple(_row(list(row)) for row in value.itertuples(index=False, name=None))
        return Rows(rows, tuple(str(name) for name in value.columns))
    if hasattr(value, "to_dict") and hasattr(value, "index"):
        return Rows(tuple(_row([key, item]) for key, item in value.to_dict().items()))
    if isinstance(value, Mapping):
        return _mapping_rows(value)
    if _is_sequence(value):
        items = list(value)
        if items and all(isinstance(item, Mapping) for item in items):
            return _record_rows(items)
        return Rows(tuple(_row(item) for item in items))
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        return as_rows(list(value))
    return Rows((_row(value),))


def _mapping_rows(value: Mapping[Any, Any]) -> Rows:
    if set(value) == {"columns", "rows"}:
        return Rows(tuple(_row(row) for row in value["rows"]), tuple(str(name) for name in value["columns"]))
    return Rows(tuple(_row([list(key) if isinstance(key, tuple) else key, item]) for key, item in value.items()))


def _record_rows(records: Sequence[Mapping[Any, Any]]) -> Rows:
    names = tuple(dict.fromkeys(str(name) for record in records for name in record))
    rows = [{str(key): item for key, item in record.items()} for record in records]
    return Rows(tuple(tuple(_cell(row.get(name)) for name in names) for row in rows), names)


def free_ends(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Sort the first two cells of each row: ends of a link without direction."""
    return tuple((*sorted(row[:2], key=str), *row[2:]) if len(row) >= 2 else row for row in rows)


def _kind(rows: Sequence[Row], column: int) -> int:
    return int(all(is_number(row[column]) or row[column] is None for row in rows))


def text_first(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Move numeric columns behind the others; columns of one type keep their order, since it may carry direction."""
    if not rows:
        return rows
    order = sorted(range(len(rows[0])), key=lambda column: _kind(rows, column))
    return tuple(tuple(row[column] for column in order) for row in rows)


def alignments(expected: Rows, given: Rows, *, extra: bool) -> Iterator[tuple[Row, ...]]:
    """Ways to read ``given`` with the columns of ``expected``: by name, by type, turned, without extra columns."""
    width, found = expected.width, given.width
    if width < 1 or found < 1:
        if not expected.rows and not given.rows:
            yield ()
        return
    if width == found:
        if expected.columns and given.columns and set(expected.columns) == set(given.columns):
            order = [given.columns.index(name) for name in expected.columns]
            yield tuple(tuple(row[i] for i in order) for row in given.rows)
            return
        yield given.rows
        if (moved := text_first(given.rows)) != given.rows:
            yield moved
    if width == 1 and len(given.rows) == 1 and found > 1:
        yield from _turned(given.rows[0], len(expected.rows), extra=extra)
    if extra and width < found <= _SEARCHED_WIDTH:
        for columns in combinations(range(found), width):
            yield tuple(tuple(row[i] for i in columns) for row in given.rows)


def _turned(row: Row, length: int, *, extra: bool) -> Iterator[tuple[Row, ...]]:
    if len(row) == length:
        yield tuple((cell,) for cell in row)
    elif extra and length < len(row) <= _SEARCHED_WIDTH:
        for columns in combinations(range(len(row)), length):
            yield tuple((row[i],) for i in columns)


def rows_equal(left: Row, right: Row, tolerance: Tolerance = EXACT) -> bool:
    """Compare two rows cell by cell."""
    return len(left) == len(right) and all(cells_equal(a, b, tolerance) for a, b in zip(left, right, strict=True))


def signature(row: Row) -> tuple[Any, ...]:
    """What must be equal exactly: text cells; numbers only by being numbers."""
    return tuple(0 if is_number(cell) else ("text", str(cell)) if isinstance(cell, str) else 1 for cell in row)


def same_rows(left: Sequence[Row], right: Sequence[Row], tolerance: Tolerance = EXACT) -> bool:
    """Compare two tables as multisets of rows.

    Rows are grouped by their text cells first, so that large tables take linear time.
    """
    if len(left) != len(right):
        return False
    if len(left) == 1:
        return rows_equal(left[0], right[0], tolerance)
    groups: dict[tuple[Any, ...], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((left, right)):
        for row in rows:
            groups[signature(row)][side].append(row)
    if any(len(a) != len(b) for a, b in groups.values()):
        # Texts that are equal as numbers, or booleans given as words, fall into different groups.
        return len(left) <= 500 and multisets_equal([list(r) for r in _wrapped(left)], _wrapped(right), tolerance)
    return all(_group_equal(a, b, tolerance) for a, b in groups.values())


def _wrapped(rows: Sequence[Row]) -> list[list[Any]]:
    # Cells are tagged with their column, since nested lists are compared without order.
    return [[{str(i): cell} for i, cell in enumerate(row)] for row in rows]


def _group_equal(left: list[Row], right: list[Row], tolerance: Tolerance) -> bool:
    ordered = zip(sorted(left, key=_numbers), sorted(right, key=_numbers), strict=True)
    if all(rows_equal(a, b, tolerance) for a, b in ordered):
        return True
    return len(left) <= 500 and multisets_equal(_wrapped(left), _wrapped(right), tolerance)


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(float(cell) for cell in row if is_number(cell))
