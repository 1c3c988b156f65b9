"""CSV: edge lists, and pairs of a node table and an edge table."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from pathlib import Path

from nl2net.graphs.coerce import coerce_texts
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.columns_to_links import Table, add_links, add_nodes, apply_sidecar, find_ends
from nl2net.graphs.source import Source

_DELIMITERS = (",", ";", "\t", "|")
_NODE_STEMS = ("nodes", "node", "vertices", "devices")
_FIRST_COLUMNS = ("id", "node", "node_id", "interface")
_EDGE_STEMS = ("edges", "links", "edge", "link")


def sniff_delimiter(text: str) -> str | None:
    """The delimiter that cuts most of the first lines into the same number (at least two) of cells.

    Examples
    --------
    >>> sniff_delimiter("a;b\\n1;2\\n")
    ';'
    >>> sniff_delimiter("r1 r2\\nr2 r3\\n")
    ' '
    >>> sniff_delimiter("just a sentence") is None
    True
    """
    lines = [line for line in text.splitlines()[:50] if line.strip() and not line.startswith("#")]
    if len(text) > 60_000 and len(lines) > 1:
        lines.pop()  # the head may end inside a line
    best: tuple[float, int, str] | None = None
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter, strict=False)]
        width = max(set(widths), key=widths.count, default=0)
        if width >= 2:
            score = (widths.count(width) / len(widths), width, delimiter)
            best = max(best, score) if best else score
    if best and best[0] >= 0.5:
        return best[2]
    widths = [len(line.split()) for line in lines]
    return " " if len(lines) > 1 and widths[0] in (2, 3) and set(widths) == {widths[0]} else None


def read_rows(source: Source) -> tuple[list[list[str]], str]:
    """Rows of a delimited text, comment lines left out, and the delimiter."""
    text = source.text
    while text.startswith("#"):
        text = text.partition("\n")[2]
    delimiter = sniff_delimiter(text[:65_536])
    if delimiter is None and partner(source.path) is not None:
        delimiter = ","  # a node file may have one column
    if delimiter is None:
        raise source.error(
            "no delimiter cuts the lines into columns", hint="Expected comma, semicolon, tab, bar or blanks."
        )
    if delimiter == " ":
        return [line.split() for line in text.splitlines() if line.strip()], " "
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        return [row for row in reader if row], delimiter
    except csv.Error as error:
        raise source.error(f"not readable as CSV: {error}", line=reader.line_num) from None


def _is_header(rows: list[list[str]], options: ReadOptions) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if options.source in first or options.target in first:
        return True
    ends = find_ends(first, ReadOptions())
    if ends is not None and max(map(len, ends)) <= 2:
        # `a b` may be a header or two nodes: a number beside them, or the same names further down, mean nodes.
        places = [first.index(end) for end in ends]
        further = {row[place].strip() for row in rows[1:] for place in places if len(row) > place}
        return not further & set(ends) and not any(cell and coerce_texts([cell]) is not None for cell in first)
    if ends is not None or (first and first[0].lower() in _FIRST_COLUMNS):
        return True
    if len(rows) < 2 or len(set(first)) < len(first) or not all(first):
        return False
    sample = rows[1:200]
    for column, cell in enumerate(first):
        below = [row[column] for row in sample if len(row) > column and row[column]]
        if below and coerce_texts(below) is not None and coerce_texts([cell]) is None:
            return True
    return False


def read_table(source: Source, options: ReadOptions) -> Table:
    """A delimited file as columns of text, with or without a header."""
    rows, delimiter = read_rows(source)
    if not rows:
        raise source.error("no rows", hint="The file holds comments only.")
    headed = _is_header(rows, options)
    names = [cell.strip() for cell in rows[0]] if headed else [str(n) for n in range(1, len(rows[0]) + 1)]
    body = rows[1:] if headed else rows
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise source.error("a column name occurs twice", line=1, field=twice[:60])
    widths = set(map(len, body))
    if widths - {len(names)}:
        number = next(n for n, row in enumerate(body, start=1 + headed) if len(row) != len(names))
        found = len(body[number - 1 - headed])
        raise source.error(
            f"{found} cells in row {number}, expected {len(names)}",
            line=number,
            hint="The file may be truncated, or a cell with the delimiter lacks quotes.",
        )
    # One flat list cut with a stride: twice as fast as turning the rows by `zip`.
    flat = list(chain.from_iterable(body))
    columns = [flat[column :: len(names)] for column in range(len(names))]
    return Table(names, columns, headed, delimiter)


def partner(path: Path) -> tuple[Path, Path] | None:
    """The node file and edge file that belong together, if ``path`` is one of them or a folder with both."""
    if path.is_dir():
        files = {entry.stem.lower(): entry for entry in sorted(path.iterdir()) if entry.suffix in (".csv", ".parquet")}
        nodes = next((files[stem] for stem in _NODE_STEMS if stem in files), None)
        edges = next((files[stem] for stem in _EDGE_STEMS if stem in files), None)
        return (nodes, edges) if nodes is not None and edges is not None else None
    found = re.fullmatch(r"(?P<prefix>.*?[._-]?)(?P<role>[A-Za-z]+)", path.stem)
    if found is None:
        return None
    prefix, role = found["prefix"], found["role"].lower()
    mine, others = (_NODE_STEMS, _EDGE_STEMS) if role in _NODE_STEMS else (_EDGE_STEMS, _NODE_STEMS)
    if role not in mine:
        return None
    for stem in others:
        other = path.with_name(f"{prefix}{stem}{path.suffix}")
        if other.is_file():
            return (path, other) if mine is _NODE_STEMS else (other, path)
    return None


def read_csv(source: Source, options: ReadOptions) -> Draft:
    """Read an edge list, or both files of a pair."""
    draft = Draft()
    pair = partner(source.path)
    if pair is None:
        draft.implicit_nodes = True
        table = read_table(source, options)
        add_links(table, draft, source, options)
        draft.counts = {"rows": len(table.columns[0])}
        return draft
    node_source, edge_source = (source if path == source.path else source.sibling(path) for path in pair)
    nodes, edges = read_table(node_source, options), read_table(edge_source, options)
    meta = apply_sidecar(pair[1], draft, source)
    nodes.types, edges.types = meta.get("nodes", {}), meta.get("edges", {})
    add_nodes(nodes, draft, node_source)
    add_links(edges, draft, edge_source, options)
    draft.counts = {"node rows": len(nodes.columns[0]), "edge rows": len(edges.columns[0])}
    return draft


def _is_csv(source: Source) -> bool:
    if source.is_folder:
        pair = partner(source.path)
        return pair is not None and pair[0].suffix == ".csv"
    if source.is_binary or source.looks_like_json or source.head_text.lstrip()[:1] == "<":
        return False
    if source.path.suffix == ".csv" and partner(source.path) is not None:
        return True
    return sniff_delimiter(source.head_text) is not None


READERS = (Reader("csv", _is_csv, read_csv, "CSV edge list, or nodes and edges in two CSV files"),)
