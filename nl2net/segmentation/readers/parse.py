"""Runs the plan of a format over the blocks of a file and hands on rows in normal form."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nl2net.errors import DataError
from nl2net.segmentation.flows import NORMAL_COLUMNS, NORMAL_SCHEMA, PROTOCOL_NUMBERS, BadLine, FileReport
from nl2net.segmentation.readers import azure
from nl2net.segmentation.readers.addresses import Canonical
from nl2net.segmentation.readers.plan import Chunk, Plan
from nl2net.segmentation.readers.stream import line_blocks, open_binary

_SAMPLES_PER_REASON = 3
_SAMPLES = 30
_COUNTERS = ("pkts_fwd", "bytes_fwd", "pkts_rev", "bytes_rev")
# 1980 and 2100: what lies outside was read in the wrong unit.
_EARLIEST, _LATEST = 315_532_800_000_000, 4_102_444_800_000_000


def _macros() -> list[str]:
    cases = " ".join(f"WHEN '{name}' THEN {number}" for name, number in PROTOCOL_NUMBERS.items())
    return [
        "CREATE MACRO num(x) AS TRY_CAST(NULLIF(NULLIF(x, '-'), '') AS BIGINT)",
        "CREATE MACRO bad_num(x) AS x IS NOT NULL AND x NOT IN ('-', '') AND COALESCE(num(x), -1) < 0",
        f"CREATE MACRO proto_number(x) AS COALESCE(TRY_CAST(x AS UTINYINT), CASE lower(trim(x)) {cases} END)",
    ]


def _normal_sql(inner: str, format_name: str) -> str:
    """Wrap a format's SELECT: typed columns, and the first thing that is wrong with a row."""
    counters = " OR ".join(f"bad_num({name})" for name in _COUNTERS)
    bad = (
        "CASE WHEN skip IS NOT NULL THEN NULL WHEN bad IS NOT NULL THEN bad "
        f"WHEN t0 IS NULL OR t1 IS NULL OR NOT (t0 = 0 OR t0 BETWEEN {_EARLIEST} AND {_LATEST}) THEN 'time' "
        "WHEN p IS NULL THEN 'protocol' "
        "WHEN p IN (6, 17, 132) AND TRY_CAST(dport AS USMALLINT) IS NULL THEN 'port' "
        "WHEN p IN (6, 17, 132) AND sport IS NOT NULL AND TRY_CAST(sport AS USMALLINT) IS NULL THEN 'port' "
        f"WHEN {counters} THEN 'counter' END AS bad"
    )
    port = "CASE WHEN p NOT IN (1, 58) THEN TRY_CAST({0} AS USMALLINT) END AS {0}"
    typed = [
        "make_timestamp(t0) AS ts_start",
        "make_timestamp(greatest(t0, t1)) AS ts_end",
        "src",
        "dst",
        port.format("sport"),
        port.format("dport"),
        "CASE WHEN p IN (1, 58) THEN TRY_CAST(icmp_type AS UTINYINT) END AS icmp_type",
        "CASE WHEN p IN (1, 58) THEN TRY_CAST(icmp_code AS UTINYINT) END AS icmp_code",
        "p AS proto",
        *(f"num({name}) AS {name}" for name in _COUNTERS),
        "action, answered, initiator, src_meta, dst_meta",
        f"'{format_name}' AS source_format",
        "reporter, sample_rate",
    ]
    return (
        f"SELECT line_no, skip, {bad}, {', '.join(typed)} "  # noqa: S608 - built from constants and checked names
        f"FROM (SELECT *, proto_number(proto) AS p FROM ({inner}))"
    )


def _rows_chunk(numbers: pa.Array, lines: pa.Array, delimiter: str) -> Chunk:
    """Fields per line; a block without quotes is cut by the engine, else line by line."""
    quoted = pc.any(pc.match_substring(lines, '"')).as_py()
    if not quoted:
        return Chunk(pa.table({"line_no": numbers, "line": lines}))
    rows: list[list[str]] = []
    for line in lines.to_pylist():
        try:
            rows.append(next(csv.reader([line], delimiter=delimiter), [""]) or [""])
        except csv.Error:
            rows.append([line])
    return Chunk(pa.table({"line_no": numbers, "line": lines, "f": pa.array(rows, pa.list_(pa.string()))}))


def _line_chunks(path: Path, plan: Plan) -> Iterator[Chunk]:
    for block in line_blocks(path):
        numbers, lines = block.numbers(), block.lines
        stop = pc.index(pc.starts_with(lines, plan.stop), pa.scalar(True)).as_py() if plan.stop else -1
        if stop >= 0:
            numbers, lines = numbers.slice(0, stop), lines.slice(0, stop)
        if plan.source == "rows" and plan.format != "zeek_conn":
            yield _rows_chunk(numbers, lines, plan.delimiter)
        else:  # Zeek does not quote: a quote is data
            yield Chunk(pa.table({"line_no": numbers, "line": lines}))
        if stop >= 0:
            return


def _is_one_object_a_line(path: Path) -> bool:
    with open_binary(path) as stream:
        first = stream.readline(1 << 20).strip()
        while first == b"":
            piece = stream.readline(1 << 20)
            if not piece:
                return True
            first = piece.strip()
    return first.startswith((b"{", b"\xef\xbb\xbf{")) and first.endswith(b"}")


def _document_chunks(path: Path) -> Iterator[Chunk]:
    """Records of a JSON array or of pretty-printed JSON as one text a record."""
    import json

    from nl2net.segmentation.readers.stream import json_values

    rows: list[tuple[int, str]] = []
    for item in json_values(path):
        rows.append((item.line, str(item.value) if item.error else json.dumps(item.value)))
        if len(rows) >= 50_000:
            yield _texts(rows)
            rows = []
    if rows:
        yield _texts(rows)


def _texts(rows: list[tuple[int, str]]) -> Chunk:
    numbers, lines = zip(*rows, strict=True)
    return Chunk(pa.table({"line_no": pa.array(numbers, pa.int64()), "line": pa.array(lines, pa.string())}))


def _parquet_chunks(path: Path) -> Iterator[Chunk]:
    at = 0
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=262_144):
            table = pa.Table.from_batches([batch])
            numbers = pa.array(range(at + 1, at + 1 + len(table)), pa.int64())
            at += len(table)
            yield Chunk(table.append_column("line_no", numbers))
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"broken Parquet: {error}", path=path) from None


def _chunks(path: Path, plan: Plan) -> Iterator[Chunk]:
    if plan.source == "azure":
        return azure.chunks(path)
    if plan.source in ("parquet", "normal"):
        return _parquet_chunks(path)
    if plan.source == "json" and not _is_one_object_a_line(path):
        return _document_chunks(path)
    return _line_chunks(path, plan)


@dataclass(slots=True)
class Parser:
    """One engine for all files; ``timezone`` is that of stamps without a zone."""

    timezone: str | None = None
    threads: int = 2
    _engine: duckdb.DuckDBPyConnection = field(init=False, repr=False)
    _canonical: Canonical = field(default_factory=Canonical, init=False, repr=False)

    def __post_init__(self) -> None:
        self._engine = duckdb.connect(config={"threads": self.threads, "memory_limit": "512MB"})
        self._engine.execute("SET enable_external_access = false")
        try:
            self._engine.execute(f"SET TimeZone = '{(self.timezone or 'UTC').replace(chr(39), '')}'")
        except duckdb.Error:
            raise DataError(f"unknown time zone {self.timezone!r}", hint="Use a name such as Europe/Paris.") from None
        for macro in _macros():
            self._engine.execute(macro)

    def read(self, path: Path, plan: Plan, report: FileReport) -> Iterator[pa.Table]:
        """Tables in normal form; ``report`` fills up on the way."""
        report.notes.extend(plan.notes)
        for chunk in _chunks(path, plan):
            report.records += len(chunk.table) + len(chunk.broken)
            for line, reason, text in chunk.broken:
                _count_bad(report, BadLine(str(path), line, reason, text))
            if plan.source == "normal":
                table = chunk.table.select(NORMAL_SCHEMA.names).cast(NORMAL_SCHEMA)
            else:
                table = self._parse(chunk.table, plan, report)
            report.flows += len(table)
            yield table

    def _parse(self, chunk: pa.Table, plan: Plan, report: FileReport) -> pa.Table:
        inner = plan.sql
        if plan.source == "rows":
            cut = (
                "SELECT *"
                if "f" in chunk.column_names
                else f"SELECT *, string_split(line, {_sql(plan.delimiter)}) AS f"
            )
            inner = f"WITH cut AS ({cut} FROM chunk) " + plan.sql.replace("FROM chunk", "FROM cut")
        relation = self._engine.from_arrow(chunk).query("chunk", _normal_sql(inner, plan.format))
        if relation is None:
            raise AssertionError("a SELECT always gives a relation")
        table = relation.to_arrow_table()
        src, dst = (self._canonical.column(table.column(name)) for name in ("src", "dst"))
        no_address = pc.and_(
            pc.and_(table.column("skip").is_null(), table.column("bad").is_null()),
            pc.or_(pc.is_null(src), pc.is_null(dst)),
        )
        bad = pc.if_else(no_address, "address", table.column("bad"))
        _count(report.skipped, table.column("skip"))
        _sample(report, chunk, table.column("line_no"), bad)
        good = pc.and_(table.column("skip").is_null(), pc.is_null(bad))
        columns = {"src": src, "dst": dst}
        arrays = [
            columns.get(name, table.column(name) if name in table.column_names else None) for name, _ in NORMAL_COLUMNS
        ]
        typed = [_typed(array, type_) for array, (_, type_) in zip(arrays, NORMAL_COLUMNS, strict=True)]
        return pa.Table.from_arrays(typed, schema=NORMAL_SCHEMA).filter(good)


def _typed(array: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    return array if array.type == type_ else array.cast(type_)


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _count(into: dict[str, int], reasons: pa.ChunkedArray) -> None:
    if reasons.null_count == len(reasons):
        return
    for item in pc.value_counts(reasons.drop_null()).to_pylist():
        into[item["values"]] = into.get(item["values"], 0) + item["counts"]


def _count_bad(report: FileReport, bad: BadLine) -> None:
    report.bad[bad.reason] = report.bad.get(bad.reason, 0) + 1
    if report.bad[bad.reason] <= _SAMPLES_PER_REASON and len(report.samples) < _SAMPLES:
        report.samples.append(bad)


def _sample(report: FileReport, chunk: pa.Table, numbers: pa.ChunkedArray, bad: pa.ChunkedArray) -> None:
    """Count unreadable rows and keep the first few of each reason, with their text where there is one."""
    rows = pc.indices_nonzero(pc.is_valid(bad))
    if not len(rows):
        return
    lines = {}
    wanted: dict[str, list[int]] = {}
    found = bad.take(rows).to_pylist()
    at = numbers.take(rows).to_pylist()
    for reason, number in zip(found, at, strict=True):
        known = wanted.setdefault(reason, [])
        if report.bad.get(reason, 0) < _SAMPLES_PER_REASON and len(known) < _SAMPLES_PER_REASON:
            known.append(number)
    if "line" in chunk.column_names:
        numbers_wanted = sorted({number for known in wanted.values() for number in known})
        picked = chunk.filter(pc.is_in(chunk.column("line_no"), pa.array(numbers_wanted, pa.int64())))
        lines = dict(zip(picked.column("line_no").to_pylist(), picked.column("line").to_pylist(), strict=True))
    for reason, number in zip(found, at, strict=True):
        text = lines.get(number, "")[:160] if number in wanted[reason] else ""
        _count_bad(report, BadLine(report.path, number, reason, text))
