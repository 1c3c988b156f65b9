"""The two walls between a generated program and the machine it runs on."""

from __future__ import annotations

from nl2net.sandbox.changes import apply_changes
from nl2net.sandbox.outcome import (
    CheckReport,
    Facts,
    Feedback,
    GraphPayload,
    LayerReport,
    Level,
    Limits,
    Outcome,
    RunReport,
    Task,
    TwinReport,
)
from nl2net.sandbox.service import Cancelled, GraphHolder, Sandbox

__all__ = [
    "Cancelled",
    "CheckReport",
    "Facts",
    "Feedback",
    "GraphHolder",
    "GraphPayload",
    "LayerReport",
    "Level",
    "Limits",
    "Outcome",
    "RunReport",
    "Sandbox",
    "Task",
    "TwinReport",
    "apply_changes",
]
