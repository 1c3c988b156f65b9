"""Markdown, with the curated notes as a special case: one claim per bullet, ``[key]`` names its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from nl2net.errors import DataError
from nl2net.incident.readers.build import Block, Hidden, Parsed
from nl2net.incident.records import Source, SourceClass

# The loader in C reads the same YAML several times faster, where libyaml is there.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_KEY = re.compile(r"\s*\[([A-Za-z0-9_.-]{1,40})\]\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_TABLE_RULE = re.compile(r"\s*\|?[\s:|-]+\|[\s:|-]*$")
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def parse_markdown(text: str, *, name: str) -> Parsed:
    """Blocks of a Markdown text.

    Parameters
    ----------
    text : str
        The whole file.
    name : str
        Its path, for messages.

    Raises
    ------
    DataError
        The front matter is no YAML mapping.

    Examples
    --------
    >>> note = "---\\ntitle: T\\nsources:\\n  - {key: a, title: A, class: news}\\n---\\n# T\\n- It failed. [a]\\n"
    >>> parsed = parse_markdown(note, name="t.md")
    >>> parsed.blocks[1].text, parsed.blocks[1].source.source_class.value
    ('It failed.', 'news')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    meta: Mapping[str, Any] = {}
    if match := _FRONT.match(text):
        meta = _front_matter(match.group(1), name)
        text = text[match.end() :]
    sources = _sources(meta, name)
    blocks, hidden = _blocks(text, sources)
    title = str(meta.get("title") or next((b.text for b in blocks if b.is_heading), "") or name)
    best = min((s.source_class for s in sources.values()), key=lambda c: c.rank, default=None)
    declared = _class_of(meta.get("class")) if meta.get("class") else None
    return Parsed(
        title=title,
        blocks=blocks,
        hidden=hidden,
        source_class=declared or best or SourceClass.GENERATED,
        published=_day(meta.get("published")),
        incident_date=_day(meta.get("date")),
        kind=str(meta.get("kind") or ""),
        url=str(meta.get("url") or ""),
    )


def _front_matter(text: str, name: str) -> Mapping[str, Any]:
    try:
        meta = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both loaders are safe ones
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise DataError(
            "the front matter is no YAML", path=name, line=line, hint="Mend the lines between ---."
        ) from None
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise DataError("the front matter is no mapping", path=name, line=2, hint="Write `key: value` lines.")
    return meta


def _day(value: object) -> str:
    return "" if value is None else str(value)[:10]


def _class_of(value: object) -> SourceClass:
    try:
        found = SourceClass(str(value))
    except ValueError:
        return SourceClass.SECONDARY
    # A document cannot declare itself a computation of this program.
    return SourceClass.SECONDARY if found is SourceClass.COMPUTATION else found


def _sources(meta: Mapping[str, Any], name: str) -> dict[str, Source]:
    listed = meta.get("sources") or []
    if not isinstance(listed, list):
        raise DataError("`sources` is no list", path=name, field="sources", hint="Write one `- key: ...` per source.")
    found = {}
    for item in listed:
        if isinstance(item, dict) and item.get("key"):
            key = str(item["key"])
            found[key] = Source(
                key, str(item.get("title") or key), str(item.get("url") or ""), _class_of(item.get("class"))
            )
    return found


def _blocks(text: str, sources: Mapping[str, Source]) -> tuple[list[Block], list[Hidden]]:
    blocks: list[Block] = []
    hidden: list[Hidden] = []
    pending: list[str] = []
    # Comments are cut out first, each leaving a mark, so that one over several lines hides nothing after it.
    comments: list[str] = []

    def keep(match: re.Match[str]) -> str:
        comments.append(match.group(1))
        return f"\x00{len(comments) - 1}\x00"

    text = _COMMENT.sub(keep, text)

    def close() -> None:
        if pending:
            blocks.append(_block(" ".join(pending), sources))
            pending.clear()

    for line in text.split("\n"):
        for mark in re.findall("\x00(\\d+)\x00", line):
            hidden.append(Hidden("html_comment", comments[int(mark)], len(blocks) + bool(pending)))
        line = re.sub("\x00\\d+\x00", "", line)
        if not line.strip() or _FENCE.match(line) or _RULE.match(line) or _TABLE_RULE.match(line):
            close()
        elif match := _HEADING.match(line):
            close()
            blocks.append(Block(_plain(match.group(2)), is_heading=True, level=len(match.group(1))))
        elif match := _BULLET.match(line):
            close()
            pending.append(line[match.end() :])
        elif line.lstrip().startswith("|"):
            close()
            blocks.append(_block(line.strip().strip("|").replace("|", " | "), sources))
        else:
            pending.append(line.strip().removeprefix("> "))
    close()
    return blocks, hidden


def _block(text: str, sources: Mapping[str, Source]) -> Block:
    source = None
    if (match := _KEY.search(text)) and match.group(1) in sources:
        source = sources[match.group(1)]
        text = text[: match.start()]
    return Block(_plain(text), source=source)


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub("", text)
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", text)
