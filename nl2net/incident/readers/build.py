"""Puts parsed blocks together into a document whose passages are spans of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net.incident.injection import ATTACKS, flag_raw, flag_text, is_order
from nl2net.incident.records import Document, Flag, Passage, Source, SourceClass
from nl2net.incident.text import fold_line, sentence_spans


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, bullet or heading as a reader saw it."""

    text: str
    is_heading: bool = False
    level: int = 1
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that a person does not see: left out, and reported."""

    kind: str  # "hidden_text" or "html_comment"
    text: str
    block: int  # it stood before this block


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reader found in one file."""

    title: str
    blocks: Sequence[Block]
    hidden: Sequence[Hidden] = ()
    source_class: SourceClass = SourceClass.GENERATED
    published: str = ""
    incident_date: str = ""
    kind: str = ""
    url: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


def build_document(name: str, raw: bytes, *, fmt: str, parsed: Parsed, raw_text: str = "") -> Document:
    """The document of a parsed file.

    Parameters
    ----------
    name : str
        Path relative to the corpus, with forward slashes; it is the id of the document.
    raw : bytes
        Content of the file, for its hash.
    fmt : str
        Name of the reader.
    parsed : Parsed
        Blocks and facts about the file.
    raw_text : str
        The text before normalisation, for flags on invisible characters.
    """
    parts: list[str] = []
    spans: list[tuple[int, int, Block, str]] = []
    headings: list[tuple[int, str]] = []
    starts: list[int] = []
    position = 0
    for block in parsed.blocks:
        starts.append(position)
        text = fold_line(block.text)
        if not text:
            continue
        if block.is_heading:
            headings = [(level, words) for level, words in headings if level < block.level] + [(block.level, text)]
        else:
            spans.append((position, position + len(text), block, " > ".join(words for _, words in headings)))
        parts.append(text)
        position += len(text) + 1
    starts.append(position)
    full = "\n".join(parts)
    flags = [*flag_raw(raw_text), *_hidden_flags(parsed.hidden, starts, len(full)), *flag_text(full)]
    default = Source("", parsed.title, parsed.url or name, parsed.source_class)
    passages = [_passage(name, full, span, default, flags=flags) for span in spans]
    return Document(
        id=name,
        title=fold_line(parsed.title) or name,
        text=full,
        sha256=hashlib.sha256(raw).hexdigest(),
        format=fmt,
        source_class=parsed.source_class,
        passages=tuple(passages),
        published=parsed.published,
        incident_date=parsed.incident_date,
        kind=parsed.kind,
        url=parsed.url,
        flags=tuple(flags),
        data=parsed.meta,
    )


def _hidden_flags(hidden: Sequence[Hidden], starts: Sequence[int], length: int) -> list[Flag]:
    flags = []
    for item in hidden:
        at = min(starts[min(item.block, len(starts) - 1)], length)
        flags.append(Flag(item.kind, at, at, f"{len(item.text)} characters left out"))
        if is_order(item.text):
            flags.append(Flag("instruction_to_assistant", at, at, f"inside {item.kind}"))
        flags += [
            Flag(f.kind, at, at, f"inside {item.kind}") for f in flag_text(item.text) if f.kind == "private_address"
        ]
    return flags


def _passage(
    name: str, full: str, span: tuple[int, int, Block, str], default: Source, *, flags: Sequence[Flag]
) -> Passage:
    start, end, block, heading = span
    attacks = [f.start for f in flags if f.kind in ATTACKS and start <= f.start < end and f.end > f.start]
    usable = -1
    if attacks:
        first = min(attacks) - start
        # The sentence of the order and all that follows it in the same paragraph belong to the attack.
        usable = max((a for a, b in sentence_spans(full[start:end]) if a <= first), default=0)
    return Passage(name, start, end, full[start:end], heading, block.source or default, usable)
