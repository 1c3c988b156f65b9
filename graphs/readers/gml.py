"""GML by our own parser: ids are keys, labels are names, repeated links are parallel links.

`networkx.read_gml` needs up to three tries for the files operators have (labels as keys, ids as keys, and a
``multigraph 1`` that the file lacks). Reading into a multigraph and narrowing afterwards takes all of them at once;
a test compares the outcome with that ladder.

References
----------
.. [1] M. Himsolt, "GML: A portable Graph File Format", 1996.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from nl2net.graphs.draft import Draft, check_ids, text_id
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.zoo import apply_zoo, is_zoo
from nl2net.graphs.source import Source

_TOKEN = re.compile(
    r"""(?P<space>[\s,;]+|\#[^\n]*)
    |(?P<text>"[^"]*")
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<word>[A-Za-z_]\w*|[+-]?(?:NAN|INF)\b)
    |(?P<open>\[)|(?P<close>\])""",
    re.VERBOSE,
)
_HEAD = re.compile(r"\A(?:\s*\#[^\n]*\n|\s+|[A-Za-z_]\w*\s+(?:\"[^\"]*\"|[\d.]+)\s)*\s*graph\s*\[", re.IGNORECASE)

Pairs = list[tuple[str, Any, int]]


def _tokens(text: str, source: Source) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            message = "a text without closing quote" if text[position] == '"' else f"unexpected {text[position]!r}"
            raise source.error(message, line=line, hint="The file may be truncated.")
        kind, token = str(found.lastgroup), found.group()
        if kind != "space":
            yield kind, token, line
        line += token.count("\n")
        position = found.end()


def _scalar(kind: str, token: str) -> Any:
    if kind == "text":
        return html.unescape(token[1:-1])
    if kind == "number":
        return float(token) if any(mark in token for mark in ".eE") else int(token)
    return token


def parse_gml(text: str, source: Source) -> Pairs:
    """The key-value lists of a GML text, each entry with its line."""
    root: Pairs = []
    stack: list[Pairs] = [root]
    key: str | None = None
    line = 0
    for kind, token, line in _tokens(text, source):
        if key is None:
            if kind == "close":
                stack.pop()
                if not stack:
                    raise source.error("a closing bracket too many", line=line)
            elif kind == "word":
                key = token
            else:
                raise source.error(f"a key was expected, not {token[:40]!r}", line=line)
        elif kind == "open":
            if len(stack) >= source.limits.depth:
                raise source.error(f"nested more than {source.limits.depth} levels deep", line=line)
            inner: Pairs = []
            stack[-1].append((key, inner, line))
            stack.append(inner)
            key = None
        elif kind == "close":
            raise source.error(f"the key {key!r} has no value", line=line)
        else:
            stack[-1].append((key, _scalar(kind, token), line))
            key = None
    if key is not None or len(stack) > 1:
        raise source.error("the file ends inside a record", line=line, hint="The file may be truncated.")
    return root


def _as_dict(pairs: Pairs) -> dict[str, Any]:
    """Keys to values; a repeated key becomes a list, as networkx reads it."""
    found: dict[str, Any] = {}
    repeated: set[str] = set()
    for key, raw, _ in pairs:
        value = _as_dict(raw) if isinstance(raw, list) else raw
        if key not in found:
            found[key] = value
        elif key in repeated:
            found[key].append(value)
        else:
            found[key] = [found[key], value]
            repeated.add(key)
    # networkx marks one-element and empty lists with this text when it writes them.
    for key in repeated:
        found[key] = [value for value in found[key] if value != "_networkx_list_start"]
    return found


def read_gml(source: Source, options: ReadOptions) -> Draft:
    """Read a GML file, UTF-8 or Latin-1, with or without ``multigraph 1``."""
    pairs = parse_gml(source.text, source)
    graphs = [value for key, value, _ in pairs if key.lower() == "graph" and isinstance(value, list)]
    if not graphs:
        raise source.error("no graph record", hint="A GML file holds `graph [ ... ]`.")
    draft = Draft()
    records: dict[str, list[tuple[dict[str, Any], int]]] = {"node": [], "edge": []}
    rest: Pairs = []
    for key, value, line in graphs[0]:
        if key in records and isinstance(value, list):
            records[key].append((_as_dict(value), line))
        else:
            rest.append((key, value, line))
    draft.graph_attributes = _as_dict(rest)
    draft.directed = draft.graph_attributes.pop("directed", 0) in (1, "1")
    draft.graph_attributes.pop("multigraph", None)
    check_ids([record["id"] for record, _ in records["node"] if "id" in record], source)
    for record, line in records["node"]:
        if "id" not in record:
            raise source.error("a node without id", line=line, field="node")
        node = text_id(record.pop("id"))
        draft.add_node(node, record)
    for record, line in records["edge"]:
        if "source" not in record or "target" not in record:
            raise source.error("an edge without source or target", line=line, field="edge")
        draft.add_edge(text_id(record.pop("source")), text_id(record.pop("target")), record)
    draft.counts = {"nodes": len(records["node"]), "edges": len(records["edge"])}
    apply_zoo(draft) if is_zoo(draft) else _label_to_name(draft)
    return draft


def _label_to_name(draft: Draft) -> None:
    for record in draft.node_attributes:
        if "label" not in record:
            continue
        if "name" in record:
            record["file_name"] = record.pop("name")
        record["name"] = str(record.pop("label"))


READERS = (
    Reader("gml", lambda source: bool(_HEAD.match(source.head_text)), read_gml, "GML, with or without multigraph flag"),
)
