"""LLDP tables of SuzieQ: Parquet files in folders whose names carry host and namespace."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from nl2net.graphs.both_ends import Sighting, add_links, merge_names
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

_MAX_FILES = 100_000


def _files(folder: Path) -> list[Path]:
    return sorted(islice(folder.rglob("*.parquet"), _MAX_FILES))


def _is_suzieq(source: Source) -> bool:
    return source.is_folder and any("hostname=" in str(file) for file in islice(source.path.rglob("*.parquet"), 50))


def _parts(file: Path) -> dict[str, str]:
    pairs = (part.partition("=") for part in file.parts)
    return {key: value for key, mark, value in pairs if mark}


def _rows(file: Path, source: Source) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = file.stat().st_size
    if size > source.limits.file_bytes:
        raise source.sibling(file).error(f"{size} bytes, more than the limit of {source.limits.file_bytes}")
    try:
        # One file at a time: dataset reading would follow the folder names in its own way.
        with pq.ParquetFile(file) as opened:
            rows: list[dict[str, Any]] = opened.read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise source.sibling(file).error(f"not a readable Parquet file: {str(error)[:120]}") from None
    return rows


def read_suzieq(source: Source, options: ReadOptions) -> Draft:
    """Read active LLDP rows of the newest time per host; both ends report each link."""
    draft = Draft(implicit_nodes=True)
    by_host: dict[str, list[dict[str, Any]]] = {}
    details: dict[str, dict[str, Any]] = {}
    for file in _files(source.path):
        parts = _parts(file.relative_to(source.path.parent))
        host = parts.get("hostname")
        if host is None:
            draft.skip("Parquet file outside a hostname folder")
            continue
        by_host.setdefault(host, []).extend(_rows(file, source))
        namespace = parts.get("namespace", "")
        details[host] = {"name": host, **({"namespace": namespace} if namespace else {})}
    sightings = []
    for host, rows in by_host.items():
        newest = max((row.get("timestamp") or 0 for row in rows), default=0)
        for row in rows:
            if not row.get("active", True) or (row.get("timestamp") or 0) < newest:
                draft.skip("row that is inactive or older than the newest of its host")
            elif not row.get("peerHostname") or not row.get("ifname"):
                draft.skip("row without peer or interface")
            else:
                sightings.append(Sighting(host, row["ifname"], row["peerHostname"], row.get("peerIfname")))
                if row.get("description"):
                    details.setdefault(row["peerHostname"], {})["description"] = row["description"]
                if row.get("mgmtIP"):
                    details.setdefault(row["peerHostname"], {})["mgmt_ip"] = row["mgmtIP"]
    draft.counts = {"hosts": len(by_host), "rows": sum(map(len, by_host.values()))}
    merged = merge_names(sightings, draft)
    for host in by_host:
        draft.add_node(host, details[host])
    for peer in dict.fromkeys(seen.peer for seen in merged if seen.peer not in by_host):
        draft.add_node(peer, {"name": peer, **details.get(peer, {})})
    add_links(merged, draft, hosts=set(by_host))
    return draft


READERS = (Reader("suzieq", _is_suzieq, read_suzieq, "SuzieQ LLDP table (folder of Parquet files)"),)
