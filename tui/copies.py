"""Approved versions of the working copy, kept on disk so that a killed application comes back to the same graph."""

from __future__ import annotations

import shutil
from pathlib import Path

from nl2net.assistant.session import Session
from nl2net.graphs import load_graph, write_graph
from nl2net.locations import Locations, private_folder


def _folder(locations: Locations, conversation: str) -> Path:
    # Identifiers are hexadecimal; anything else could name a path.
    safe = "".join(letter for letter in conversation if letter.isalnum())
    return locations.data / "copies" / safe


def keep_copy(session: Session, locations: Locations) -> Path | None:
    """Write the present version below the data folder; returns its file."""
    if session.conversation is None:
        return None
    folder = private_folder(_folder(locations, session.conversation.id))
    path = folder / f"{len(session.versions)}.json"
    write_graph(session.graph.graph, path)
    return path


def drop_copy(session: Session, locations: Locations) -> None:
    """Remove the versions beyond the present one, after an undo."""
    if session.conversation is None:
        return
    folder = _folder(locations, session.conversation.id)
    for path in folder.glob("*.json"):
        if path.stem.isdecimal() and int(path.stem) > len(session.versions):
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder)


def reopen_copy(session: Session, locations: Locations, conversation: str) -> int:
    """Take up the versions that were approved in an earlier run; returns their number."""
    files = [path for path in _folder(locations, conversation).glob("*.json") if path.stem.isdecimal()]
    for path in sorted(files, key=lambda path: int(path.stem)):
        session.restore(load_graph(path, locations=locations).graph)
    return len(files)
