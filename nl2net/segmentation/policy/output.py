"""Files of a policy: ``rules.csv``, ``review.csv`` and ``policy.json``, read back without loss."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nl2net.errors import DataError
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.rules import Evidence, Mode, Policy, Review, Rule

RULE_COLUMNS = ("client_role", "server_role", "protocol", "port_low", "port_high")
_EVIDENCE = [
    "clients",
    "servers",
    "client_share",
    "server_share",
    "buckets",
    "connections",
    "bytes",
    "answered",
    "denied",
    "first_seen",
    "last_seen",
]
VERSION = 1


def _cells(evidence: Evidence) -> list[object]:
    values = asdict(evidence)
    if math.isnan(evidence.answered):
        values["answered"] = ""
    return [values[name] for name in _EVIDENCE]


def rules_csv(rules: Sequence[Rule]) -> str:
    """Text of ``rules.csv``: roles, protocol and ports, then evidence."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*RULE_COLUMNS, *_EVIDENCE, "baseline", "note", "samples"])
    for rule in rules:
        head = [rule.client, rule.server, protocol_name(rule.proto), rule.port_low, rule.port_high]
        writer.writerow([*head, *_cells(rule.evidence), rule.baseline, rule.note, " | ".join(rule.evidence.samples)])
    return buffer.getvalue()


def review_csv(review: Sequence[Review]) -> str:
    """Text of ``review.csv``: what a person decides, with one reason each."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["client_role", "server_role", "protocol", "port", "reason", *_EVIDENCE, "samples"])
    for item in review:
        head = [item.client, item.server, protocol_name(item.proto), item.port, item.reason]
        writer.writerow([*head, *_cells(item.evidence), " | ".join(item.evidence.samples)])
    return buffer.getvalue()


def policy_json(policy: Policy) -> dict[str, Any]:
    """JSON form of everything."""
    body = asdict(policy)
    body["version"] = VERSION
    body["members"] = {role: list(names) for role, names in policy.members.items()}
    return _without_nan(body)  # type: ignore[no-any-return]


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return value


def _evidence(body: Mapping[str, Any]) -> Evidence:
    answered = body["answered"]
    return Evidence(
        **{**body, "samples": tuple(body["samples"]), "answered": math.nan if answered is None else answered}
    )


def read_policy_json(path: Path) -> Policy:
    """Read ``policy.json``.

    Raises
    ------
    DataError
        Missing, or of another version.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("missing", path=path, hint="Run nl2net segment policy first.") from None
    if body.get("version") != VERSION:
        raise DataError("written by another version", path=path, hint="Run nl2net segment policy again.")
    rules = tuple(Rule(**{**item, "evidence": _evidence(item["evidence"])}) for item in body["rules"])
    review = tuple(Review(**{**item, "evidence": _evidence(item["evidence"])}) for item in body["review"])
    return Policy(Mode(body["mode"]), rules, review, body["members"], tuple(body["notes"]))
