"""What an interactive agent says, read from its text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nl2net.benchmark.scoring import Cause

MAX_REPLY = 100_000
_NODE = re.compile(r"^\W*(?:node|place)\W*:\s*`?([^\s`]+)`?\s*$", re.IGNORECASE | re.MULTILINE)
_COMMAND = re.compile(r"^\W*command\W*:\s*`?(.+?)`?\s*$", re.IGNORECASE | re.MULTILINE)
_KEYS = ("command", "done", "abstain")


class BadReply(ValueError):
    """A reply that holds no step; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One step: a ``command`` at a ``node``, the end, or giving up with a reason."""

    node: str = ""
    command: str = ""
    done: bool = False
    abstain: str = ""
    diagnosis: frozenset[Cause] | None = None


def read_reply(text: str, *, places: Sequence[str] = ()) -> Reply:
    """Read a reply.

    Parameters
    ----------
    text : str
        Any text with a JSON object, of which the last one counts, or with lines ``node: ...`` and ``command: ...``.
    places : sequence of str
        Where there is only one, the node may be left out.

    Raises
    ------
    BadReply
        There is no step in it.

    Examples
    --------
    >>> read_reply('First I look.\\n{"node": "r1", "command": "ip route"}').command
    'ip route'
    >>> read_reply('{"done": true, "diagnosis": [{"kind": "wrong_route", "place": "r1"}]}').done
    True
    """
    if not isinstance(text, str) or not text.strip():
        raise BadReply("the reply is empty")
    if len(text) > MAX_REPLY:
        raise BadReply(f"the reply is longer than {MAX_REPLY} characters")
    found = [item for item in _objects(text) if any(key in item for key in _KEYS)]
    only = places[0] if len(places) == 1 else ""
    if found:
        return _from_object(found[-1], only)
    command = _COMMAND.findall(text)
    node = _NODE.findall(text)
    if command and (node or only):
        return Reply(node[-1] if node else only, command[-1])
    raise BadReply('there is no JSON object with "command", "done" or "abstain" in the reply')


def _objects(text: str) -> list[Mapping[str, Any]]:
    """JSON objects of a text, outermost only."""
    decoder = json.JSONDecoder()
    found: list[Mapping[str, Any]] = []
    place = text.find("{")
    tries = 0
    while place >= 0 and tries < 200:
        tries += 1
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found.append(value)
        place = text.find("{", end)
    return found


def _from_object(item: Mapping[str, Any], only: str) -> Reply:
    diagnosis = _diagnosis(item.get("diagnosis"))
    if item.get("command"):
        node = item.get("node", item.get("place", only))
        if not isinstance(node, str) or not isinstance(item["command"], str) or not (node or only):
            raise BadReply('"node" and "command" must be texts')
        return Reply(node or only, item["command"], diagnosis=diagnosis)
    if item.get("done") is True:
        return Reply(done=True, diagnosis=diagnosis)
    if item.get("abstain"):
        return Reply(abstain=str(item["abstain"])[:500], diagnosis=diagnosis)
    raise BadReply('the object has neither a "command" nor "done": true nor a reason to "abstain"')


def _diagnosis(value: Any) -> frozenset[Cause] | None:
    if not isinstance(value, list):
        return None
    entries = [item for item in value if isinstance(item, Mapping)]
    return frozenset((_word(item.get("kind")), _word(item.get("place"))) for item in entries)


def _word(value: Any) -> str:
    return str(value or "").strip().lower()
