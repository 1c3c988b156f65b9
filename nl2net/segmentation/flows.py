"""The normal form of a flow record and what a reader reports about a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

NORMAL_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("ts_start", pa.timestamp("us", "UTC")),
    ("ts_end", pa.timestamp("us", "UTC")),
    ("src", pa.string()),
    ("dst", pa.string()),
    ("sport", pa.uint16()),
    ("dport", pa.uint16()),
    ("icmp_type", pa.uint8()),
    ("icmp_code", pa.uint8()),
    ("proto", pa.uint8()),
    ("pkts_fwd", pa.int64()),
    ("bytes_fwd", pa.int64()),
    ("pkts_rev", pa.int64()),
    ("bytes_rev", pa.int64()),
    ("action", pa.string()),
    ("answered", pa.bool_()),
    ("initiator", pa.string()),
    ("src_meta", pa.string()),
    ("dst_meta", pa.string()),
    ("source_format", pa.string()),
    ("reporter", pa.string()),
    ("sample_rate", pa.float64()),
)
NORMAL_SCHEMA = pa.schema([pa.field(name, type_) for name, type_ in NORMAL_COLUMNS])

PROTOCOL_NUMBERS: Mapping[str, int] = {
    "icmp": 1,
    "igmp": 2,
    "tcp": 6,
    "udp": 17,
    "gre": 47,
    "esp": 50,
    "icmp6": 58,
    "ipv6-icmp": 58,
    "icmpv6": 58,
    "sctp": 132,
}
_NAMES = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmp6", 132: "sctp"}
ICMP = (1, 58)


def protocol_name(number: int) -> str:
    """Name of an IANA protocol number, or the number as text.

    Examples
    --------
    >>> protocol_name(6), protocol_name(99)
    ('tcp', '99')
    """
    return _NAMES.get(number, str(number))


@dataclass(frozen=True, slots=True)
class BadLine:
    """One line that could not be read: where it stands, why, and its first 160 characters."""

    path: str
    line: int
    reason: str
    text: str


@dataclass(slots=True)
class FileReport:
    """What became of the records of one file.

    ``skipped`` are records that carry no flow by design (``NODATA`` rows, replies that a twin reports); ``bad`` are
    records that should have been readable. Both map a reason to a number.
    """

    path: str
    format: str
    records: int = 0
    flows: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    samples: list[BadLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ReadReport:
    """What became of all files, and the facts that later stages use to plan their work."""

    files: list[FileReport] = field(default_factory=list)
    undecided: int = 0
    reporters: set[str] = field(default_factory=set)
    one_directional: bool = False
    first_seen: str | None = None
    last_seen: str | None = None

    @property
    def flows(self) -> int:
        """Number of flow records in the normal form."""
        return sum(report.flows for report in self.files)

    @property
    def bad(self) -> int:
        """Number of lines that could not be read."""
        return sum(sum(report.bad.values()) for report in self.files)

    def to_json(self) -> dict[str, Any]:
        """JSON form, as written beside the normal form."""
        body = asdict(self)
        body["reporters"] = sorted(self.reporters)
        return body


@dataclass(frozen=True, slots=True)
class FlowStore:
    """A folder of flow records in normal form: ``hour=YYYY-MM-DDTHH/part-N.parquet`` and ``read.json``."""

    folder: Path
    report: ReadReport

    def files(self) -> list[Path]:
        """All Parquet files, sorted by hour."""
        return sorted(self.folder.glob("hour=*/*.parquet"))


def open_store(folder: Path) -> FlowStore:
    """Open a folder written by `nl2net.segmentation.readers.read_flows`.

    Parameters
    ----------
    folder : Path
        The folder with ``read.json``.
    """
    body = json.loads((folder / "read.json").read_text(encoding="utf-8"))
    return FlowStore(folder, report_from_json(body))


def report_from_json(body: Mapping[str, Any]) -> ReadReport:
    """The report that `ReadReport.to_json` gave."""
    files = [
        FileReport(**{**item, "samples": [BadLine(**sample) for sample in item["samples"]]}) for item in body["files"]
    ]
    report = ReadReport(files=files, **{key: body[key] for key in ("undecided", "one_directional", "first_seen")})
    report.last_seen = body["last_seen"]
    report.reporters = set(body["reporters"])
    return report
