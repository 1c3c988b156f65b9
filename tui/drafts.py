"""An answer marked as wrong becomes a draft of a golden case, with the operator's corrected program."""

from __future__ import annotations

import json
from pathlib import Path

from nl2net.assistant import Store
from nl2net.errors import UserError
from nl2net.graphs.loaded import LoadedGraph
from nl2net.locations import Locations, atomic_write
from nl2net.tui.recall import Shown


def drafts_folder(locations: Locations) -> Path:
    """Where drafts lie; they hold names of the network and never leave this machine by themselves."""
    return locations.data / "golden-drafts"


def mark_wrong(store: Store, shown: Shown, graph: LoadedGraph, *, program: str, locations: Locations) -> Path:
    """Mark a turn as wrong and write its draft.

    Parameters
    ----------
    store : Store
    shown : Shown
        The answer.
    graph : LoadedGraph
        What it was asked of.
    program : str
        The program as it stands in the editor; if it was run, its value is the expected one.
    locations : Locations

    Raises
    ------
    UserError
        The question was never recorded.
    """
    if not shown.turn:
        raise UserError("only a question of the history can be marked as wrong")
    store.approve(shown.turn, "wrong")
    shown.approved = "wrong"
    answer = shown.answer
    corrected = bool(shown.edited) and program.strip() == shown.edited.strip() and answer.result is not None
    given = store.get(shown.turn)
    body = {
        "version": 1,
        "kind": "draft",
        "question": answer.question,
        "graph": {"name": graph.name, "fingerprint": graph.fingerprint, "schema": graph.schema_hash},
        "library": str(answer.library) if answer.library else None,
        "wrong_program": given.bound,
        "wrong_result": (given.envelope or {}).get("result"),
        "reference": program if program.strip() != (given.bound or "").strip() else None,
        "expected": answer.to_json()["result"] if corrected else None,
        "turn": shown.turn,
    }
    path = drafts_folder(locations) / f"case-{shown.turn}.json"
    with atomic_write(path, private=True) as stream:
        stream.write(json.dumps(body, ensure_ascii=False, indent=1, default=str).encode())
    return path
