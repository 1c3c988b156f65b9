"""Saved programs: a Python file with a provenance header that ``nl2net run`` replays without a model, and that also
runs as plain Python with networkx alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.errors import DataError
from nl2net.locations import atomic_write
from nl2net.model import Library

_BEGIN = "# --- program ---"
_END = "# --- end of program ---"
_HEADER = re.compile(r"^# nl2net-(\w+): (.*)$")
_MAX_BYTES = 1_000_000

_PLAIN_HEAD = """import collections, ipaddress, itertools, math, statistics
from collections import Counter, defaultdict
import networkx as nx
try:
    import numpy as np
    import pandas as pd
except ImportError:
    pass


def cannot_answer(reason):
    raise SystemExit(f"cannot answer: {reason}")


def ask_user(question, choices=()):
    raise SystemExit(f"{question} {list(choices)}")


def find(kind, name):
    return next((n for n, d in GRAPH.nodes(data=True) if d.get("kind") == kind and d.get("name") == name), None)


def natural_sort(items):
    import re
    return sorted(items, key=lambda x: [int(p) if p.isdigit() else p for p in re.split(r"(\\d+)", str(x))])
"""
_PLAIN_TAIL = """

if __name__ == "__main__":
    # GRAPH.json is what `nl2net graph convert FILE GRAPH.json` writes (node-link JSON, key "links").
    import json, sys
    with open(sys.argv[1], encoding="utf-8") as stream:
        data = json.load(stream)
    GRAPH = nx.node_link_graph(data, edges="links" if "links" in data else "edges")
    {call}
"""
_CALLS = {
    Library.NETWORKX: "print(answer(GRAPH))",
    Library.PANDAS: (
        'nodes = pd.DataFrame.from_dict(dict(GRAPH.nodes(data=True)), orient="index").rename_axis("id")\n'
        "    edges = nx.to_pandas_edgelist(GRAPH)\n"
        "    print(answer(nodes, edges))"
    ),
}


@dataclass(frozen=True, slots=True)
class Script:
    """A saved program with its header."""

    program: str
    library: Library
    header: Mapping[str, Any]


def program_hash(program: str) -> str:
    """First 12 hex digits of the SHA-256 of a program's text."""
    return hashlib.sha256(program.encode()).hexdigest()[:12]


def render_script(program: str, library: Library, header: Mapping[str, Any]) -> str:
    """The text of a saved script.

    Parameters
    ----------
    program : str
        Bound program.
    header : mapping
        Question, graph, hashes, model and time; values are written as one line of JSON each.
    """
    lines = ["# A program written by nl2net. Replay it without a model: nl2net run THIS_FILE --graph FILE"]
    lines += [f"# nl2net-{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in header.items()]
    head = "\n".join(lines)
    if library is Library.SQL:
        commented = "\n".join(f"-- {line[2:]}" for line in lines)
        return f"{commented}\n-- --- program ---\n{program.rstrip()}\n-- --- end of program ---\n"
    tail = _PLAIN_TAIL.replace("{call}", _CALLS[library])
    return f"{head}\n{_PLAIN_HEAD}\n\n{_BEGIN}\n{program.rstrip()}\n{_END}\n{tail}"


def save_script(path: Path, program: str, library: Library, header: Mapping[str, Any]) -> None:
    """Write a script atomically."""
    with atomic_write(path) as stream:
        stream.write(render_script(program, library, header).encode())


def load_script(path: Path) -> Script:
    """Read a saved script, or any file that holds a program.

    Raises
    ------
    DataError
        The file cannot be read, is too large or holds no program.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError("too large for a program", path=path, hint="A saved program is a few kilobytes.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", path=path, hint="Give a script written by --save.") from None
    header: dict[str, Any] = {}
    for line in text.splitlines():
        found = _HEADER.match(line.replace("-- nl2net", "# nl2net", 1) if line.startswith("-- ") else line)
        if found:
            try:
                header[found.group(1)] = json.loads(found.group(2))
            except ValueError:
                header[found.group(1)] = found.group(2)
    program = _between(text)
    library = _library(header, path, program)
    if not program.strip():
        raise DataError("holds no program", path=path, hint="Give a script written by --save.")
    return Script(program.strip() + "\n", library, header)


def _between(text: str) -> str:
    for mark in ("# ", "-- "):
        begin, end = f"{mark}--- program ---", f"{mark}--- end of program ---"
        if begin in text:
            return text.split(begin, 1)[1].split(end, 1)[0]
    return text


def _library(header: Mapping[str, Any], path: Path, program: str) -> Library:
    named = header.get("library")
    if named in set(Library):
        return Library(named)
    if path.suffix == ".sql" or re.match(r"\s*(select|with)\b", program, re.IGNORECASE):
        return Library.SQL
    return Library.PANDAS if re.search(r"def\s+answer\(\s*nodes\b", program) else Library.NETWORKX
