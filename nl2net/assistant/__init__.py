"""From a question to an answer one may rely on: the ask loop, masking, the privacy gate and the store.

The package is lazy (PEP 562): the store alone, for instance, needs neither networkx nor pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.assistant.answer import Answer, Attempt
    from nl2net.assistant.entries import Entry
    from nl2net.assistant.loop import Assistant
    from nl2net.assistant.opening import Opened, open_assistant
    from nl2net.assistant.options import AskOptions, Conversation, Hooks
    from nl2net.assistant.replaying import approve_turn, run_script, script_header
    from nl2net.assistant.scripts import Script, load_script, render_script, save_script
    from nl2net.assistant.store import Store, Turn

# Public name -> module that owns it.
_EXPORTS = {
    "Answer": "answer",
    "AskOptions": "options",
    "Assistant": "loop",
    "Attempt": "answer",
    "Conversation": "options",
    "Entry": "entries",
    "Hooks": "options",
    "Opened": "opening",
    "Script": "scripts",
    "Store": "store",
    "Turn": "store",
    "approve_turn": "replaying",
    "load_script": "scripts",
    "open_assistant": "opening",
    "render_script": "scripts",
    "run_script": "replaying",
    "save_script": "scripts",
    "script_header": "replaying",
}

__all__ = [
    "Answer",
    "AskOptions",
    "Assistant",
    "Attempt",
    "Conversation",
    "Entry",
    "Hooks",
    "Opened",
    "Script",
    "Store",
    "Turn",
    "approve_turn",
    "load_script",
    "open_assistant",
    "render_script",
    "run_script",
    "save_script",
    "script_header",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(f"nl2net.assistant.{_EXPORTS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
