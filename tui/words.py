"""Answers in words: one line for a list, a badge, provenance, and values as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2net.assistant.answer import Answer
from nl2net.display import clean_line
from nl2net.model import ResultType, Status, TypedResult

# Inside a text, `$text-muted` is not blended with what lies below it.
MUTED = "$foreground 60%"
BADGES: Mapping[str, tuple[str, str]] = {
    Status.ANSWERED: ("●", "$text-success"),
    Status.CANNOT_ANSWER: ("◌", "$text-warning"),
    Status.NEEDS_CLARIFICATION: ("?", "$text-warning"),
    Status.FAILED: ("✗", "$text-error"),
    Status.REFUSED: ("⊘", "$text-error"),
}


def value_text(value: Any, labels: Mapping[str, str] | None = None) -> str:
    """A value as a person reads it: ids with their display name, numbers short, nothing that a terminal acts on.

    Examples
    --------
    >>> value_text(None), value_text(True), value_text(12345.0), value_text(["a", "b"], {"a": "Oslo"})
    ('none', 'yes', '12345', 'Oslo (a), b')
    """
    labels = labels or {}
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 or value != int(value) else str(int(value))
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item, labels) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{clean_line(str(key))}: {value_text(item, labels)}" for key, item in value.items())
    text = clean_line(str(value))
    name = labels.get(value) if isinstance(value, str) else None
    return f"{clean_line(name)} ({text})" if name else text


def path_tail(path: Path, *, width: int = 40) -> str:
    """The end of a path, which tells folders apart.

    Examples
    --------
    >>> path_tail(Path("/var/lib/estate/2031/roles"), width=16)
    '…/2031/roles'
    """
    parts = path.parts
    for at in range(len(parts)):
        text = str(Path(*parts[at:]))
        if len(text) <= width or at == len(parts) - 1:
            return clean_line(f"…/{text}" if at else text)
    return clean_line(str(path))


def result_line(result: TypedResult | None, labels: Mapping[str, str], *, width: int = 80) -> str:
    """A result on one line.

    Examples
    --------
    >>> result_line(TypedResult(ResultType.LIST, ["a", "b"], 2), {})
    '2 items: a, b'
    """
    if result is None:
        return ""
    data = result.data
    if result.type is ResultType.TABLE:
        columns = ", ".join(clean_line(str(name)) for name in data["columns"])
        return clean_line(f"table, {result.rows_total or len(data['rows'])} rows: {columns}", width=width)
    if result.type is ResultType.LIST:
        head = value_text(data[:12], labels)
        return clean_line(f"{result.rows_total or len(data)} items: {head}" if data else "empty list", width=width)
    if result.type is ResultType.GRAPH:
        return f"network, {len(data.get('nodes', ()))} nodes, {len(data.get('links', ()))} links"
    if result.type is ResultType.FIGURE:
        return "chart" if isinstance(data, dict) else f"picture {clean_line(str(data))}"
    return clean_line(value_text(data, labels), width=width)


def answer_line(answer: Answer, *, width: int = 80) -> str:
    """The answer on one line, whatever its status."""
    if answer.status is Status.ANSWERED and answer.result is not None:
        line = result_line(answer.result, answer.labels, width=width)
        return f"proposed change: {change_counts(answer)}" if answer.changes else line
    return clean_line(answer.message or str(answer.status).replace("_", " "), width=width)


def change_counts(answer: Answer) -> str:
    """How many nodes and links a proposal adds, removes and changes."""
    changes = answer.changes
    if changes is None:
        return "nothing"
    parts = [
        (len(changes.nodes_added), "+", "nodes"), (len(changes.nodes_removed), "-", "nodes"),
        (len(changes.nodes_changed), "~", "nodes"), (len(changes.edges_added), "+", "links"),
        (len(changes.edges_removed), "-", "links"), (len(changes.edges_changed), "~", "links"),
    ]  # fmt: skip
    return ", ".join(f"{sign}{count} {what}" for count, sign, what in parts if count) or "nothing"


def status_words(answer: Answer) -> str:
    """Status and confidence."""
    words = str(answer.status).replace("_", " ")
    return words if answer.confidence is None else f"{words} · confidence {answer.confidence:.2f}"


def usage_words(answer: Answer) -> str:
    """Tokens, cost and seconds."""
    usage, timing = answer.usage, answer.timing
    cost = "cost unknown" if usage.cost_usd is None else f"USD {usage.cost_usd:.4f}"
    guess = " (estimated)" if usage.estimated else ""
    return (
        f"{usage.prompt_tokens}+{usage.completion_tokens} tokens{guess} · {cost} · {timing.total_s:.1f} s"
        f" (model {timing.model_s:.1f}, program {timing.sandbox_s:.2f})"
    )


def egress_words(answer: Answer) -> str:
    """What left this machine, in one phrase."""
    requests = int(answer.egress.get("requests", 0))
    if not requests:
        return "nothing left this machine"
    many = "" if requests == 1 else "s"
    return f"sent {answer.egress.get('bytes', 0):,} bytes in {requests} request{many}"


def provenance_words(answer: Answer) -> list[tuple[str, str]]:
    """Facts that make the answer reproducible, by name."""
    facts = answer.provenance
    rows = [
        ("model", facts.model or "none"), ("origin", facts.origin), ("library", str(answer.library or "")),
        ("template", facts.template), ("schema", facts.schema_hash[:19]), ("graph", facts.fingerprint[:19]),
        ("program", facts.program_hash), ("sandbox", facts.sandbox), ("history", str(answer.turn or "")),
        ("log", str(answer.egress.get("log", ""))),
    ]  # fmt: skip
    return [(name, clean_line(value)) for name, value in rows if value]
