"""Flow-log readers: one normal form from many formats, streaming, with an account of every line.

Units of the normal form: microseconds UTC, bytes and packets as reported (not corrected for sampling).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nl2net.errors import DataError, UserError
from nl2net.locations import atomic_write
from nl2net.segmentation.flows import FileReport, FlowStore, ReadReport
from nl2net.segmentation.readers.parse import Parser
from nl2net.segmentation.readers.sniff import NAMES, plan_for
from nl2net.segmentation.readers.store import HourlyWriter

__all__ = ["NAMES", "FlowOptions", "flow_files", "iter_flows", "read_flows"]
_IGNORED = {"read.json", "license", "readme.md", "readme"}
_MANY_REPORTERS = 1000


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """How to read flow logs.

    Attributes
    ----------
    format : str, optional
        Name of a reader or ``aws:FIELDS``; by default the content decides.
    timezone : str, optional
        Zone of stamps that carry none; default UTC, with a note.
    strict : bool
        Raise at the first line that cannot be read.
    window : (int, int), optional
        Keep records that start in this half-open interval, microseconds since 1970.
    """

    format: str | None = None
    timezone: str | None = None
    strict: bool = False
    window: tuple[int, int] | None = None


def flow_files(paths: Iterable[Path]) -> list[Path]:
    """Files named directly, and all files of named folders but hidden ones and notes."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(item for item in path.rglob("*") if item.is_file())
            found += [item for item in inside if not _ignored(item.relative_to(path))]
        elif path.is_file():
            found.append(path)
        else:
            raise DataError("no such file or folder", path=path)
    if not found:
        raise UserError("no flow logs found", hint="Name files, or folders that hold some.")
    return found


def _ignored(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts) or path.name.lower() in _IGNORED


def iter_flows(
    paths: Sequence[Path], options: FlowOptions | None = None, *, report: ReadReport | None = None
) -> Iterator[pa.Table]:
    """Tables of flow records in normal form, block by block.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders; formats may be mixed.
    options : FlowOptions, optional
        How to read.
    report : ReadReport, optional
        Filled on the way.

    Raises
    ------
    DataError
        A file cannot be opened or fits no format; with ``strict`` also at the first unreadable line.
    """
    options, report = options or FlowOptions(), report if report is not None else ReadReport()
    parser = Parser(options.timezone)
    for path in flow_files(paths):
        plan = plan_for(path, format_name=options.format, timezone=options.timezone)
        file_report = FileReport(str(path), plan.format)
        report.files.append(file_report)
        report.one_directional |= plan.one_directional
        for table in parser.read(path, plan, file_report):
            if options.strict and file_report.samples:
                worst = file_report.samples[0]
                raise DataError(f"cannot be read ({worst.reason}): {worst.text}", path=path, line=worst.line)
            kept = _in_window(table, options.window)
            file_report.flows -= len(table) - len(kept)
            _note_facts(report, kept)
            yield kept


def _in_window(table: pa.Table, window: tuple[int, int] | None) -> pa.Table:
    if window is None:
        return table
    stamps = table.column("ts_start").cast(pa.int64())
    return table.filter(pc.and_(pc.greater_equal(stamps, window[0]), pc.less(stamps, window[1])))


def _note_facts(report: ReadReport, table: pa.Table) -> None:
    if not len(table):
        return
    report.undecided += table.column("initiator").null_count
    if len(report.reporters) < _MANY_REPORTERS:
        report.reporters.update(name or "" for name in pc.unique(table.column("reporter")).to_pylist())
    first, last = (
        pc.min(table.column("ts_start")).as_py().isoformat(),
        pc.max(table.column("ts_end")).as_py().isoformat(),
    )
    report.first_seen = min(report.first_seen or first, first)
    report.last_seen = max(report.last_seen or last, last)


def read_flows(paths: Sequence[Path], folder: Path, options: FlowOptions | None = None) -> FlowStore:
    """Read flow logs into a folder of Parquet files, partitioned by hour.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders.
    folder : Path
        Target; an older store there is replaced when the new one is complete.
    options : FlowOptions, optional
        How to read.

    Returns
    -------
    FlowStore
        The folder with the account of every line.
    """
    report = ReadReport()
    building = folder.with_name(f".{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    writer = HourlyWriter(building)
    try:
        for table in iter_flows(paths, options, report=report):
            writer.write(table)
    except BaseException:
        writer.close()
        shutil.rmtree(building, ignore_errors=True)
        raise
    writer.close()
    if report.flows == 0:
        shutil.rmtree(building, ignore_errors=True)
        raise DataError(
            f"no flow record in {len(report.files)} file(s); {report.bad} lines could not be read",
            path=report.files[0].path,
            hint=_first_sample(report),
        )
    with atomic_write(building / "read.json") as stream:
        stream.write(json.dumps(report.to_json(), indent=1).encode())
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return FlowStore(folder, report)


def _first_sample(report: ReadReport) -> str:
    for file_report in report.files:
        for sample in file_report.samples:
            return f"First: {sample.path}, line {sample.line} ({sample.reason}): {sample.text}"
    return "All records were skipped by design or lie outside the window."
