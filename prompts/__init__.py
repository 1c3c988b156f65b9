"""Prompt templates, one per purpose, and their renderer. No data access."""

from nl2net.prompts.investigation import INVESTIGATION_VERSION, investigation_hash, investigation_messages
from nl2net.prompts.render import (
    TEMPLATE_VERSION,
    Example,
    Message,
    build_messages,
    fence,
    question_text,
    render,
    repair_messages,
    system_text,
    template_hash,
)
from nl2net.prompts.schema_text import ROLE_WORDS, render_schema

__all__ = [
    "INVESTIGATION_VERSION",
    "ROLE_WORDS",
    "TEMPLATE_VERSION",
    "Example",
    "Message",
    "build_messages",
    "fence",
    "investigation_hash",
    "investigation_messages",
    "question_text",
    "render",
    "render_schema",
    "repair_messages",
    "system_text",
    "template_hash",
]
