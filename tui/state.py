"""What the application remembers between two starts: graph, conversation, theme, changed keys, whether the tour ran."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from nl2net.locations import Locations, atomic_write


@dataclass(frozen=True, slots=True)
class Remembered:
    """A small JSON file beside the history; the conversation itself lies in the history."""

    graph: str = ""
    conversation: str = ""
    theme: str = "nl2net-dark"
    sidebar: bool = True
    toured: bool = False
    keys: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, locations: Locations) -> Self:
        """What was remembered; an unreadable file counts as none."""
        try:
            body: Any = json.loads(_path(locations).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        if not isinstance(body, dict):
            return cls()
        fresh = cls()
        kept = {
            name: body[name]
            for name in cls.__dataclass_fields__
            if name in body and type(body[name]) is type(getattr(fresh, name))
        }
        return cls(**kept)

    def save(self, locations: Locations) -> None:
        """Write the file, whole or not at all."""
        with atomic_write(_path(locations), private=True) as stream:
            stream.write(json.dumps(asdict(self), ensure_ascii=False, indent=1).encode())

    def updated(self, locations: Locations, **changes: Any) -> Self:
        """A copy with changes, saved."""
        changed = replace(self, **changes)
        if changed != self:
            changed.save(locations)
        return changed


def _path(locations: Locations) -> Path:
    return locations.data / "tui.json"
