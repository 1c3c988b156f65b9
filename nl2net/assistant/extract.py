"""Takes the program out of a reply. Models wrap it in prose, in several fences, in JSON, behind a thinking block."""

from __future__ import annotations

import json
import re

from nl2net.errors import ReplyError
from nl2net.model import Library

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.M | re.S)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_ENTRY = re.compile(r"^[ \t]*def[ \t]+answer[ \t]*\(", re.M)
_SELECT = re.compile(r"^\s*(?:--[^\n]*\n\s*)*(?:select|with)\b", re.I)
_SELECT_ANYWHERE = re.compile(r"^\s*(?:select|with)\b.*?(?:;|\n\s*\n|\Z)", re.I | re.M | re.S)


def extract_program(reply: str, library: Library) -> str:
    """The program in a reply: the last block that defines ``answer``, or the last SELECT.

    Raises
    ------
    ReplyError
        The reply is empty or holds no program.

    Examples
    --------
    >>> extract_program("Sure!\\n```python\\ndef answer(graph):\\n    return 1\\n```\\nDone.", Library.NETWORKX)
    'def answer(graph):\\n    return 1\\n'
    """
    text = _THINKING.sub("", reply).strip()
    if not text:
        raise ReplyError("the model sent an empty reply", hint="Try again, or another model with --model.")
    text = _unescape(text)
    blocks = [body for _, body in _FENCE.findall(text)] or [text]
    found = _last_select(blocks, text) if library is Library.SQL else _last_program(blocks, text)
    if not found:
        raise ReplyError("the reply holds no program", hint="Rephrase the question, or try another model with --model.")
    return found.rstrip() + "\n"


def _unescape(text: str) -> str:
    """A whole reply that is a JSON string or an object with a ``code`` field."""
    if text[0] in '{"':
        try:
            value = json.loads(text)
        except ValueError:
            return text
        if isinstance(value, dict):
            value = next((v for k, v in value.items() if k in {"code", "program", "answer", "sql"}), text)
        return value if isinstance(value, str) else text
    return text


def _last_program(blocks: list[str], text: str) -> str:
    for body in reversed(blocks):
        if _ENTRY.search(body):
            return _from_entry(body)
    return _from_entry(text) if _ENTRY.search(text) else ""


def _from_entry(body: str) -> str:
    """Drop prose around an unfenced program: keep top-level code lines from the first def or import on."""
    lines = body.strip("\n").split("\n")
    indent = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    lines = [line[indent:] for line in lines]
    first = next((i for i, line in enumerate(lines) if re.match(r"(def|import|from|[A-Z_]+\s*=)\b", line)), 0)
    kept: list[str] = []
    inside = False
    for line in lines[first:]:
        code = not line.strip() or line[0] in " \t#)]}@" or re.match(r"(def|import|from|\w+\s*[:=]|return)\b", line)
        if inside and not code and not re.match(r"\w[\w.]*\s*(=|\()", line):
            break
        inside = inside or line.startswith("def answer")
        kept.append(line)
    # A trailing call such as `answer(graph)` or `print(answer(graph))` is for a reader, not for us.
    while kept and (not kept[-1].strip() or re.match(r"(print\()?(result\s*=\s*)?answer\(", kept[-1])):
        kept.pop()
    return "\n".join(kept)


def _last_select(blocks: list[str], text: str) -> str:
    for body in reversed(blocks):
        if _SELECT.match(body):
            return body.strip()
    found = _SELECT_ANYWHERE.findall(text)
    return str(found[-1]).strip() if found else ""
