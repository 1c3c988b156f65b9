"""DOT by our own parser: ports are no nodes, chains and groups expand, defaults apply per scope.

A colon splits a port only outside quotes: ``"leaf01":"swp1"`` is a port, ``"2001:db8::1"`` is a name.

References
----------
.. [1] Graphviz, "DOT Language", https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from nl2net.graphs.coerce import coerce_texts
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*")
    |(?P<mark>->|--|[{}\[\];,=:+])
    |(?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.])|[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_HEAD = re.compile(r"\A(?:\s|//[^\n]*\n|\#[^\n]*\n|/\*.*?\*/)*(?:strict\s+)?(?:di)?graph\b[^{\[]{0,200}\{", re.I | re.S)
_COMPASS = {"n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"}

End = tuple[str, str | None]


@dataclass(slots=True)
class _Scope:
    node: dict[str, Any] = field(default_factory=dict)
    edge: dict[str, Any] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)


def _html(text: str, start: int) -> int:
    """Position after a balanced ``<...>`` text, or -1."""
    depth = 0
    for found in re.compile(r"[<>]").finditer(text, start):
        depth += 1 if found.group() == "<" else -1
        if not depth:
            return found.end()
    return -1


def _lex(text: str, source: Source) -> list[tuple[str, str, int]]:
    tokens: list[tuple[str, str, int]] = []
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is not None:
            kind, token, end = str(found.lastgroup), found.group(), found.end()
        elif text[position] == "<" and (end := _html(text, position)) > 0:
            kind, token = "quoted", text[position:end]
        else:
            raise source.error(f"unexpected {text[position]!r}", line=line, hint="The file may be truncated.")
        if kind == "quoted":
            body = token[1:-1].replace('\\"', '"').replace("\\\n", "") if token[0] == '"' else token
            tokens.append((kind, body.replace("\\\\", "\\"), line))
        elif kind != "space":
            tokens.append((kind, token, line))
        line += token.count("\n")
        position = end
    tokens.append(("end", "", line))
    return tokens


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = _lex(source.text, source)
        self.at = 0
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: list[tuple[End, End, dict[str, Any]]] = []
        self.attributes: dict[str, Any] = {}

    def peek(self, *marks: str) -> bool:
        kind, token, _ = self.tokens[self.at]
        return kind == "mark" and token in marks

    def word(self, *words: str) -> bool:
        kind, token, _ = self.tokens[self.at]
        return kind == "word" and token.lower() in words

    def take(self) -> str:
        token = self.tokens[self.at][1]
        self.at += 1
        return token

    def expect(self, mark: str) -> None:
        if not self.peek(mark):
            kind, token, line = self.tokens[self.at]
            found = "the end of the file" if kind == "end" else repr(token[:40])
            raise self.source.error(f"{mark!r} was expected, not {found}", line=line)
        self.at += 1

    def name(self) -> str:
        kind, token, line = self.tokens[self.at]
        if kind not in ("word", "quoted"):
            raise self.source.error(f"a name was expected, not {token[:40] or 'the end of the file'!r}", line=line)
        self.at += 1
        while kind == "quoted" and self.peek("+"):
            self.at += 1
            token += self.take()
        return token

    def graph(self) -> bool:
        """The whole file; returns whether it is directed."""
        if self.word("strict"):
            self.at += 1
        if not self.word("graph", "digraph"):
            raise self.source.error("`graph` or `digraph` was expected", line=self.tokens[self.at][2])
        directed = self.take().lower() == "digraph"
        if not self.peek("{"):
            self.attributes["name"] = self.name()
        self.body(_Scope(), 0)
        if self.tokens[self.at][0] != "end":
            raise self.source.error("text after the end of the graph", line=self.tokens[self.at][2])
        return directed

    def body(self, scope: _Scope, depth: int) -> None:
        if depth > self.source.limits.depth:
            raise self.source.error(f"groups nested more than {self.source.limits.depth} levels deep")
        self.expect("{")
        while not self.peek("}"):
            if self.peek(";"):
                self.at += 1
            else:
                self.statement(scope, depth)
        self.at += 1

    def statement(self, scope: _Scope, depth: int) -> None:
        if self.word("node", "edge", "graph"):
            owner = self.take().lower()
            found = self.attribute_lists()
            {"node": scope.node, "edge": scope.edge}.get(owner, self.attributes if depth == 0 else {}).update(found)
            return
        kind, _, _ = self.tokens[self.at]
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ("end", "", 0)
        if kind in ("word", "quoted") and following[:2] == ("mark", "="):
            name = self.name()
            self.at += 1
            value = self.name()
            if depth == 0:
                self.attributes[name] = value
            return
        self.chain(scope, depth)

    def chain(self, scope: _Scope, depth: int) -> None:
        groups = [self.ends(scope, depth)]
        grouped = self.tokens[self.at - 1][1] == "}"
        while self.peek("->", "--"):
            self.at += 1
            groups.append(self.ends(scope, depth))
        found = self.attribute_lists()
        if len(groups) == 1:
            for node, _ in groups[0] if not grouped else ():
                self.nodes[node].update(found)
            return
        for firsts, seconds in pairwise(groups):
            if len(self.edges) + len(firsts) * len(seconds) > self.source.limits.edges:
                raise self.source.error("more links than the limit", hint="Raise `max_edges`.")
            for first in firsts:
                self.edges.extend((first, second, {**scope.edge, **found}) for second in seconds)

    def ends(self, scope: _Scope, depth: int) -> list[End]:
        if self.peek("{") or self.word("subgraph"):
            if self.word("subgraph"):
                self.at += 1
                if not self.peek("{"):
                    self.name()
            inner = _Scope(dict(scope.node), dict(scope.edge))
            self.body(inner, depth + 1)
            scope.members.update(inner.members)
            return [(node, None) for node in inner.members]
        node = self.name()
        port = None
        while self.peek(":"):
            self.at += 1
            part = self.name()
            port = port if part in _COMPASS else part
        if node not in self.nodes:
            self.nodes[node] = dict(scope.node)
        scope.members[node] = None
        return [(node, port)]

    def attribute_lists(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.peek("["):
            self.at += 1
            while not self.peek("]"):
                if self.peek(",", ";"):
                    self.at += 1
                    continue
                name = self.name()
                if self.peek("="):
                    self.at += 1
                    found[name] = self.name()
                else:
                    found[name] = "true"
            self.at += 1
        return found


def _convert(records: list[dict[str, Any]], declared: dict[str, str], source: Source) -> None:
    """Columns that are numbers throughout become numbers, unless the file says what they are."""
    for name in dict.fromkeys(key for record in records for key in record):
        rows = [record for record in records if record.get(name)]
        texts = [record[name] for record in rows]
        if declared.get(name) == "text":
            continue
        if declared.get(name) == "json":
            try:
                values = list(map(json.loads, texts))
            except (ValueError, RecursionError):
                raise source.error("not the JSON that the file declares", field=name) from None
        else:
            values = coerce_texts(texts) or texts
        for record, value in zip(rows, values, strict=True):
            record[name] = value


def read_dot(source: Source, options: ReadOptions) -> Draft:
    """Read a DOT file."""
    parser = _Parser(source)
    draft = Draft(implicit_nodes=True)
    draft.directed = parser.graph()
    for node, attributes in parser.nodes.items():
        draft.add_node(node, attributes)
    meta = _meta(parser.attributes.pop("nl2net", ""), draft)
    _convert(draft.node_attributes, meta.get("node", {}), source)
    records = [attributes for _, _, attributes in parser.edges]
    _convert(records, meta.get("edge", {}), source)
    for (u, port_u), (v, port_v), attributes in parser.edges:
        draft.add_edge(u, v, attributes, ports=(port_u, port_v))
    draft.graph_attributes = parser.attributes
    draft.counts = {"nodes": len(parser.nodes), "edges": len(parser.edges)}
    return draft


def _meta(text: str, draft: Draft) -> dict[str, dict[str, str]]:
    """What our own writer says about types, units and tables; types by owner and attribute."""
    try:
        meta = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(meta, dict):
        return {}
    for name in ("tables", "units"):
        if isinstance(meta.get(name), dict):
            getattr(draft, name).update(meta[name])
    types = meta.get("types", {})
    return (
        {owner: value for owner, value in types.items() if isinstance(value, dict)} if isinstance(types, dict) else {}
    )


READERS = (Reader("dot", lambda source: bool(_HEAD.match(source.head_text)), read_dot, "Graphviz DOT"),)
