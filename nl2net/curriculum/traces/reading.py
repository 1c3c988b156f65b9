"""Finds the format of a trace file and reads it; a format that the content does not settle is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nl2net.curriculum.traces.normal import Trace
from nl2net.curriculum.traces.rows import numbered, read_hsdpa, read_mahimahi, read_two_column
from nl2net.curriculum.traces.tables import read_fcc, read_genet, read_header_csv
from nl2net.errors import DataError

FORMATS: dict[str, Callable[[Path, str], list[Trace]]] = {
    "two-column": read_two_column,
    "mahimahi": read_mahimahi,
    "genet": read_genet,
    "hsdpa": read_hsdpa,
    "fcc": read_fcc,
    "csv": read_header_csv,
}
_MAX_BYTES = 256 * 1024 * 1024
_IGNORED_NAMES = ("manifest", "readme", "licen")


def _detect(path: Path, text: str) -> str:
    """The format by content: names and endings of trace files follow no rule."""
    if text.lstrip().startswith(("{", "[")):
        return "genet"
    first = next(numbered(text), None)
    if first is None:
        raise DataError("no interval", path=path, hint="The file holds no row.")
    line, cells = first
    if "unit_id" in cells:
        return "fcc"
    if any(cell in ("start_s", "end_s") for cell in cells):
        return "csv"
    by_columns = {1: "mahimahi", 2: "two-column", 6: "hsdpa"}
    if len(cells) in by_columns:
        return by_columns[len(cells)]
    hint = f"Say which it is with the format option ({', '.join(FORMATS)}), or name the columns in a header."
    raise DataError(f"{len(cells)} columns: the format is ambiguous", path=path, line=line, hint=hint)


def load_traces(path: str | Path, *, form: str | None = None) -> list[Trace]:
    """All traces of one file.

    Parameters
    ----------
    path : path
    form : str, optional
        One of `FORMATS`; found from the content when not given.

    Raises
    ------
    DataError
        Names the file, the line and the way out.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError("larger than 256 MB", path=path, hint="Cut the trace into parts.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as text: {error}", path=path, hint="Give a text file.") from None
    if form is not None and form not in FORMATS:
        raise DataError(f"unknown format {form!r}", path=path, hint=f"One of {', '.join(FORMATS)}.")
    return FORMATS[form or _detect(path, text)](path, text)


def load_trace(path: str | Path, *, form: str | None = None) -> Trace:
    """The only trace of a file; a file with several is refused.

    Raises
    ------
    DataError
    """
    traces = load_traces(path, form=form)
    if len(traces) > 1:
        names = ", ".join(trace.name for trace in traces)
        raise DataError(f"{len(traces)} traces: {names}", path=path, hint="Use load_traces, or split the file.")
    return traces[0]


def load_folder(folder: str | Path, *, form: str | None = None) -> list[Trace]:
    """Every trace of a folder in the order of names; hidden files, manifests and licences are passed over.

    Raises
    ------
    DataError
        The folder is missing or holds no trace, or one file is faulty.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError("no such folder", path=folder, hint="Give a folder of trace files.")
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    wanted = [path for path in files if not path.name.lower().startswith(_IGNORED_NAMES)]
    traces = [trace for path in wanted for trace in load_traces(path, form=form)]
    if not traces:
        raise DataError("no trace in this folder", path=folder, hint="Give a folder of trace files.")
    return traces
