"""MALT models as text proto, by a schemaless parser: the `.proto` file is not published.

Identity is kind and name, never the name alone: a chassis, a switch and a port may share one name.

References
----------
.. [1] J. C. Mogul et al., "Experiences with Modeling Network Topologies at Multiple Levels of Abstraction", NSDI 2020.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source

_TOKEN = re.compile(
    r"""(?P<space>[\s,;]+|\#[^\n]*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFuU]?(?![\w.]))
    |(?P<word>-?[A-Za-z_][\w.]*)
    |(?P<colon>:)|(?P<open>[{<])|(?P<close>[}>])""",
    re.VERBOSE,
)
_HEAD = re.compile(r"\A(?:\s|\#[^\n]*\n)*(?:entity|relationship)\s*:?\s*[{<]")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

Message = dict[str, list[Any]]


def _unescape(found: re.Match[str]) -> str:
    body = found.group()[1:]
    if body[0] == "x" and len(body) > 1:
        return chr(int(body[1:], 16))
    if body[0].isdigit():
        return chr(int(body, 8))
    return _SIMPLE.get(body, body)


def _scalar(kind: str, token: str) -> Any:
    if kind == "text":
        return _ESCAPE.sub(_unescape, token[1:-1]) if "\\" in token else token[1:-1]
    if kind == "number":
        digits = token.rstrip("uU") if token[:2].lower() == "0x" else token.rstrip("fFuU")
        if digits.lstrip("+-")[:2].lower() == "0x":
            return int(digits, 16)
        return float(digits) if any(mark in digits for mark in ".eE") else int(digits)
    return {"true": True, "false": False}.get(token, token)


def _tokens(text: str, source: Source) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    match = _TOKEN.match
    while position < len(text):
        found = match(text, position)
        if found is None:
            raise source.error(f"unexpected {text[position : position + 1]!r}", line=line, hint="Not a text proto?")
        kind, token = str(found.lastgroup), found.group()
        if kind == "space":
            line += token.count("\n")
        else:
            yield kind, token, line
        position = found.end()


def parse_textproto(text: str, source: Source) -> Message:
    """Fields of a text-proto message, each as a list of values; nested messages as the same kind of mapping."""
    root: Message = {}
    stack: list[Message] = [root]
    name: str | None = None
    line = 0
    for kind, token, line in _tokens(text, source):
        if kind == "colon":
            if name is None:
                raise source.error("a colon without a field name", line=line)
        elif kind == "open":
            if name is None:
                raise source.error("a message without a field name", line=line)
            if len(stack) >= source.limits.depth:
                raise source.error(f"nested more than {source.limits.depth} levels deep", line=line)
            inner: Message = {}
            stack[-1].setdefault(name, []).append(inner)
            stack.append(inner)
            name = None
        elif kind == "close":
            if name is not None or len(stack) == 1:
                raise source.error("a closing bracket that fits nothing", line=line)
            stack.pop()
        elif name is None:
            if kind != "word":
                raise source.error(f"a field name was expected, not {token[:40]!r}", line=line)
            name = token
        else:
            stack[-1].setdefault(name, []).append(_scalar(kind, token))
            name = None
    if len(stack) > 1 or name is not None:
        raise source.error("the file ends inside a message", line=line, hint="The file may be truncated.")
    return root


def _flatten(message: Message, prefix: str, found: dict[str, Any]) -> None:
    """Dotted names to values; depth is bounded by the parser."""
    for name, values in message.items():
        dotted = f"{prefix}{name}"
        nested = [value for value in values if isinstance(value, dict)]
        if nested and len(values) == 1:
            _flatten(nested[0], f"{dotted}.", found)
        elif nested:
            found[dotted] = [_plain(value) for value in values]
        else:
            found[dotted] = values[0] if len(values) == 1 else list(values)


def _plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _plain(items[0]) if len(items) == 1 else [_plain(i) for i in items] for name, items in value.items()}


def _identity(message: Message, field: str, source: Source) -> tuple[str, str]:
    ids = message.get(field, [])
    if len(ids) != 1 or not isinstance(ids[0], dict) or "kind" not in ids[0] or "name" not in ids[0]:
        raise source.error("an id with kind and name was expected", field=field)
    return str(ids[0]["kind"][0]), str(ids[0]["name"][0])


def _attributes(message: Message, skip: tuple[str, ...]) -> dict[str, Any]:
    """Attributes without the wrapper of their kind (``port_attr``), nested ones dotted (``switch_loc.stage``)."""
    found: dict[str, Any] = {}
    for name, values in message.items():
        if name in skip:
            continue
        if name.endswith("_attr") and len(values) == 1 and isinstance(values[0], dict):
            _flatten(values[0], "", found)
        else:
            _flatten({name: values}, "", found)
    return found


def read_malt(source: Source, options: ReadOptions) -> Draft:
    """Read a MALT model: entities are nodes ``KIND:name``, relationships are directed edges with their kind."""
    root = parse_textproto(source.text, source)
    draft = Draft(directed=True)
    entities, relations = root.get("entity", []), root.get("relationship", [])
    for field in root.keys() - {"entity", "relationship"}:
        draft.skip(f"unknown field {field[:40]}", len(root[field]))
    for entity in entities:
        if not isinstance(entity, dict):
            raise source.error("a message was expected", field="entity")
        kind, name = _identity(entity, "id", source)
        draft.add_node(f"{kind}:{name}", {**_attributes(entity, ("id",)), "kind": kind, "name": name})
    for relation in relations:
        if not isinstance(relation, dict) or "kind" not in relation:
            raise source.error("a message with a kind was expected", field="relationship")
        start, end = _identity(relation, "a", source), _identity(relation, "z", source)
        attributes = {**_attributes(relation, ("a", "z", "kind")), "kind": str(relation["kind"][0])}
        draft.add_edge(":".join(start), ":".join(end), attributes)
    draft.counts = {"entities": len(entities), "relationships": len(relations)}
    for attribute in {name for record in draft.node_attributes for name in record}:
        if attribute.endswith("_bps"):
            draft.units[attribute] = "bit/s"
    return draft


READERS = (Reader("malt", lambda source: bool(_HEAD.match(source.head_text)), read_malt, "MALT model as text proto"),)
