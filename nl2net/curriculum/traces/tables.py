"""Readers of traces with named fields: Genet's JSON files, FCC page fetches, CSV files with units in the header."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.curriculum.traces.normal import Trace, build_trace
from nl2net.curriculum.traces.rows import check_increasing, number, rate
from nl2net.errors import DataError

# Mbit/s per unit; "Bps" is bytes.
_UNITS = {"bps": 1e-6, "kbps": 1e-3, "mbps": 1.0, "gbps": 1e3, "bytes_per_s": 8e-6}
FCC_STEP_S = 5.0


def _numbers(data: Mapping[str, Any], key: str, path: Path) -> list[float]:
    raw = data.get(key)
    values = raw if isinstance(raw, list) else [raw]
    for place, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            field = f"{key}[{place}]"
            raise DataError(f"expected a number, found {value!r}", path=path, field=field, hint="Mend the value.")
    return [float(str(value)) for value in values]


def _load_json(path: Path, text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise DataError("not JSON", path=path, line=line, hint="Save the file again as one JSON object.") from None
    if not isinstance(data, dict) or "timestamps" not in data or "bandwidths" not in data:
        hint = "Genet's files are one object with `timestamps` and `bandwidths`."
        raise DataError("no timestamps and bandwidths", path=path, hint=hint)
    return data


def _times_and_rates(data: Mapping[str, Any], path: Path) -> tuple[list[float], list[float]]:
    times, rates = _numbers(data, "timestamps", path), _numbers(data, "bandwidths", path)
    if len(times) != len(rates):
        hint = "Give one rate per time."
        raise DataError(f"{len(times)} times, {len(rates)} rates", path=path, field="bandwidths", hint=hint)
    for place, value in enumerate(rates):
        if value < 0:
            raise DataError(f"negative rate {value:g}", path=path, field=f"bandwidths[{place}]", hint="Mend the value.")
    for place in range(1, len(times)):
        if times[place] <= times[place - 1]:
            field = f"timestamps[{place}]"
            raise DataError("times must increase", path=path, field=field, hint="Sort, and keep one rate per time.")
    return times, rates


def read_genet(path: Path, text: str) -> list[Trace]:
    """Genet's JSON: in its bitrate files a rate holds *until* its stamp, in its congestion files *from* it."""
    data = _load_json(path, text)
    times, rates = _times_and_rates(data, path)
    name = str(data.get("name") or path.stem)
    if "delays" in data or "queue" in data:
        settings = {"queue_packets": _numbers(data, "queue", path)[0]} if "queue" in data else {}
        for key, target in (("delays", "delay_ms"), ("loss", "loss"), ("delay_noise", "delay_noise_ms")):
            if key in data:
                settings[target] = float(np.mean(_numbers(data, key, path)))
        notes = ["delays differ over time: their mean is used"] if len(set(_as_list(data.get("delays")))) > 1 else []
        return [build_trace(name, times, rates[:-1], path=str(path), settings=settings, notes=notes)]
    settings, notes = {}, []
    if "link_rtt" in data:
        settings["rtt_ms"] = _numbers(data, "link_rtt", path)[0]
    if "buffer_thresh" in data:
        # Written in ms by the released code, though the same field is in s when a trace is built; no player
        # holds an hour of video, so the size tells which it is.
        raw = _numbers(data, "buffer_thresh", path)[0]
        settings["buffer_s"] = raw / 1000 if raw >= 1000 else raw
        if raw >= 1000:
            notes.append(f"buffer_thresh {raw:g} read as ms")
    return [build_trace(name, times, rates[1:], path=str(path), settings=settings, notes=notes)]


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_fcc(path: Path, text: str) -> list[Trace]:
    """FCC page fetches: one trace per line and target; ``bytes_sec`` is bytes, failed fetches are missing rows."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    failed: dict[tuple[str, str], int] = defaultdict(int)
    reader = csv.DictReader(text.splitlines())
    for needed in ("unit_id", "target", "bytes_sec"):
        if needed not in (reader.fieldnames or []):
            raise DataError(f"no column {needed!r}", path=path, line=1, hint="Keep the header of the FCC's file.")
    for row in reader:
        line = reader.line_num
        key = (str(row["unit_id"]), str(row["target"]))
        if (row.get("successes") or "1").strip() == "0":
            failed[key] += 1
            continue
        groups[key].append(rate(str(row["bytes_sec"]), path=path, line=line, field="bytes_sec") * 8e-6)
    if not groups:
        raise DataError("no interval", path=path, hint="The file holds no successful fetch.")
    traces = []
    for key, rates in groups.items():
        edges = np.arange(len(rates) + 1, dtype=np.float64) * FCC_STEP_S
        notes = [f"rows are single fetches: {FCC_STEP_S:g} s per row is this reader's assumption"]
        if failed[key]:
            notes.append(f"{failed[key]} failed fetches left out as missing")
        host = key[1].split("//")[-1].strip("/")
        traces.append(build_trace(f"{key[0]}-{host}", edges, rates, path=str(path), notes=notes))
    return traces


def _rate_column(names: list[str], path: Path) -> tuple[str, float]:
    for name in names:
        for unit, factor in sorted(_UNITS.items(), key=lambda item: -len(item[0])):
            if name.lower().endswith(f"_{unit}"):
                return name, factor
    hint = "Name the column with its unit: bandwidth_mbps, bandwidth_kbps, bandwidth_bps or rate_bytes_per_s."
    raise DataError("no rate column with a unit", path=path, line=1, hint=hint)


def read_header_csv(path: Path, text: str) -> list[Trace]:
    """CSV with units in the header: ``start_s`` or ``end_s``, ``bandwidth_kbps`` and the like, ``rtt_ms``."""
    lines = [(n, row) for n, row in enumerate(text.splitlines(), 1) if row.strip() and not row.startswith("#")]
    names = [name.strip() for name in lines[0][1].split(",")] if lines else []
    stamp = next((name for name in names if name in ("start_s", "end_s")), None)
    if stamp is None:
        hint = "start_s: the rate holds from the time; end_s: until it."
        raise DataError("no column start_s or end_s", path=path, line=1, hint=hint)
    column, factor = _rate_column(names, path)
    times, rates, numbers, rtts = [], [], [], []
    for line, row in lines[1:]:
        cells = dict(zip(names, (cell.strip() for cell in row.split(",")), strict=False))
        if len(row.split(",")) != len(names):
            hint = "Every row needs the columns of the header."
            raise DataError(f"{row.count(',') + 1} cells, {len(names)} columns", path=path, line=line, hint=hint)
        times.append(number(cells[stamp], path=path, line=line, field=stamp))
        rates.append(rate(cells[column], path=path, line=line, field=column) * factor)
        numbers.append(line)
        if "rtt_ms" in cells:
            rtts.append(rate(cells["rtt_ms"], path=path, line=line, field="rtt_ms"))
    check_increasing(times, numbers, path=path)
    settings = {"rtt_ms": float(np.mean(rtts))} if rtts else {}
    if stamp == "end_s":
        return [build_trace(path.stem, [0.0, *times], rates, path=str(path), settings=settings)]
    if len(times) < 2:
        raise DataError("no interval", path=path, hint="With start times two rows are needed to know how long one is.")
    last = times[-1] + times[-1] - times[-2]
    note = "the last row lasts as long as the one before"
    return [build_trace(path.stem, [*times, last], rates, path=str(path), settings=settings, notes=[note])]
