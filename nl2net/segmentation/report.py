"""The report of a folder: role cards, rules, metrics, what would break; as JSON, text or one HTML file."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from nl2net.errors import DataError
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.pictures import draw_heat, draw_roles, draw_trades
from nl2net.segmentation.policy.output import read_policy_json
from nl2net.segmentation.policy.rules import Policy

_STYLE = (
    "body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%;margin:.6em 0}td,th{border-bottom:1px solid #ddd;padding:3px 6px;"
    "text-align:left;vertical-align:top;font-size:12px}h2{margin-top:1.6em}details{margin:.3em 0}"
    "img{max-width:100%}.bad{color:#a00}.note{color:#666}"
)


def build_report(folder: Path) -> dict[str, Any]:
    """All facts of a folder of roles, of a policy, or of both in one.

    Raises
    ------
    DataError
        Nothing to report there.
    """
    found: dict[str, Any] = {"version": 1, "folder": str(folder)}
    for name in ("roles", "draft", "proof"):
        path = folder / f"{name}.json"
        if path.is_file():
            found[name] = json.loads(path.read_text(encoding="utf-8"))
    if len(found) == 2:
        raise DataError("neither roles nor a policy", path=folder, hint="Run nl2net segment roles or policy first.")
    return found


def render_text(report: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    lines: list[str] = []
    if "roles" in report:
        lines += _roles_text(report["roles"])
    if "draft" in report:
        lines += _draft_text(report["draft"])
    if "proof" in report:
        lines.append(proof_line(report["proof"]))
    return "\n".join(lines) + "\n"


def _roles_text(roles: Mapping[str, Any]) -> list[str]:
    read = roles["read"]
    flows = sum(item["flows"] for item in read["files"])
    bad = sum(sum(item["bad"].values()) for item in read["files"])
    lines = [
        f"{flows} flow records from {len(read['files'])} file(s), {bad} unreadable lines, {len(roles['roles'])} roles"
    ]
    for item in read["files"]:
        for sample in item["samples"][:2]:
            lines.append(f"  {sample['path']}, line {sample['line']}: {sample['reason']}: {sample['text'][:80]}")
    lines.append("direction decided by: " + ", ".join(f"{rule} {count}" for rule, count in roles["direction"].items()))
    for card in roles["roles"][:25]:
        lines.append(f"- {' '.join(card['sentences'][:3])}")
    if len(roles["roles"]) > 25:
        lines.append(f"  and {len(roles['roles']) - 25} smaller roles (roles.csv, --html)")
    lines += [f"? {question}" for question in roles["questions"]]
    lines += [f"note: {note}" for note in roles["notes"]]
    return lines


def trade_line(mode: str, trade: Mapping[str, Any]) -> str:
    """Violation, over-permission and rules of a mode, always together."""
    return (
        f"{mode:12} violation {trade['violation']:.1%} (known endpoints {trade['violation_known']:.1%}), "
        f"over-permission {trade['over_permission']:.1%} ({trade['basis']}), {trade['rules']} rules"
    )


def _draft_text(draft: Mapping[str, Any]) -> list[str]:
    lines = [f"mode {draft['mode']}: {draft['rules']} rules, {draft['review']} candidates for review"]
    lines += [trade_line(mode, trade) for mode, trade in draft["trades"].items()]
    reach = draft["reach"]
    lines.append(
        f"one hop reaches {reach['hops_1']:.1%} of endpoints, three hops {reach['hops_3']:.1%}; flat network 100%"
    )
    for check in draft["checks"]:
        state = {True: "accepted", False: "REFUSED", None: "not run"}[check["ok"]]
        lines.append(f"{check['target']}: {check['checker']} {state} {check['detail']}".rstrip())
    if draft["broken_total"]:
        lines.append(f"{draft['broken_total']} later edges would break, most used first:")
        lines += [
            f"  {item['client']} ({item['client_role']}) > {item['server']} ({item['server_role']}) "
            f"{protocol_name(item['proto'])}/{item['port']}, {item['connections']} connections"
            for item in draft["broken"][:10]
        ]
    for target, needed in draft["labels_needed"].items():
        count = sum(len(names) for names in needed.values())
        if count:
            lines.append(
                f"{target}: {count} endpoints in {len(needed)} roles need the role label (draft.json lists them)"
            )
    lines += [f"note: {note}" for note in draft["notes"]]
    return lines


def proof_line(proof: Mapping[str, Any]) -> str:
    """One line on a verification."""
    return (
        f"verified on the {proof['backend']} backend: {proof['pairs']} of {proof['possible']} connects between "
        f"{proof['pods']} pods, {proof['before_open']} open before, {proof['after_open']} after, "
        f"{proof['intended_open']} intended, {len(proof['mismatches'])} mismatches, "
        f"{len(proof['dns_broken'])} pods without name lookup, "
        f"{sum(m['noticed'] for m in proof['mutations'])} of {len(proof['mutations'])} planted faults noticed"
    )


def render_html(report: Mapping[str, Any], folder: Path) -> str:
    """One HTML file with pictures inside and nothing loaded from elsewhere."""
    parts = [
        f"<!doctype html><meta charset='utf-8'><title>Segmentation</title><style>{_STYLE}</style>",
        "<h1>Segmentation</h1>",
    ]
    parts.append(f"<p class='note'>{escape(str(report['folder']))}</p>")
    if "draft" in report:
        parts += _draft_html(report["draft"], read_policy_json(folder / "policy.json"))
    if "proof" in report:
        parts.append(f"<h2>Proof</h2><p>{escape(proof_line(report['proof']))}</p>")
        rows = [
            [m["client"], m["server"], m["port"], m["intended"], m["seen"], m["rule"]]
            for m in report["proof"]["mismatches"]
        ]
        parts.append(_table(["client", "server", "port", "intended", "seen", "rule"], rows) if rows else "")
    if "roles" in report:
        parts += _roles_html(report["roles"])
    return "\n".join(parts)


def _image(png: bytes, alt: str) -> str:
    return f"<img alt='{escape(alt)}' src='data:image/png;base64,{base64.b64encode(png).decode()}'>"


def _table(header: list[str], rows: list[list[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _draft_html(draft: Mapping[str, Any], policy: Policy) -> list[str]:
    external = tuple(draft["inventory"]["prefixes"])
    parts = ["<h2>Trade-off</h2>", _image(draw_trades(draft["trades"]), "violation against over-permission")]
    parts += [f"<p>{escape(trade_line(mode, trade))}</p>" for mode, trade in draft["trades"].items()]
    parts += ["<h2>Roles and rules</h2>", _image(draw_roles(policy, external), "graph of roles")]
    parts += ["<h2>Reach, before and after</h2>", _image(draw_heat(policy), "heat map of role pairs")]
    reach = draft["reach"]
    parts.append(
        f"<p>One hop {reach['hops_1']:.1%}, three hops {reach['hops_3']:.1%} of endpoints; a flat network 100%.</p>"
    )
    broken = [
        [
            b["client"],
            b["client_role"],
            b["server"],
            b["server_role"],
            f"{protocol_name(b['proto'])}/{b['port']}",
            b["connections"],
        ]
        for b in draft["broken"][:100]
    ]
    parts += [f"<h2>What would break ({draft['broken_total']})</h2>"]
    parts.append(
        _table(["client", "role", "server", "role", "service", "connections"], broken)
        if broken
        else "<p>Nothing seen.</p>"
    )
    review = [
        [r.client, r.server, f"{protocol_name(r.proto)}/{r.port}", r.reason, r.evidence.connections]
        for r in policy.review[:200]
    ]
    parts += [f"<h2>For a person to decide ({len(policy.review)})</h2>"]
    parts.append(_table(["client", "server", "service", "reason", "connections"], review))
    rules = [
        [r.baseline, r.client, r.server, f"{protocol_name(r.proto)}/{r.port_low}-{r.port_high}", r.evidence.clients,
         r.evidence.servers, r.evidence.buckets, r.evidence.connections, r.note]
        for r in policy.rules
    ]  # fmt: skip
    header = ["baseline", "client", "server", "ports", "clients", "servers", "buckets", "connections", "note"]
    parts += [f"<details><summary>All {len(rules)} rules</summary>", _table(header, rules), "</details>"]
    checks = [
        [c["target"], c["checker"], {True: "accepted", False: "refused", None: "not run"}[c["ok"]], c["detail"]]
        for c in draft["checks"]
    ]
    parts += ["<h2>Compiled targets</h2>", _table(["target", "checker", "result", "detail"], checks)]
    parts += [f"<p class='note'>{escape(note)}</p>" for note in draft["notes"]]
    return parts


def _roles_html(roles: Mapping[str, Any]) -> list[str]:
    parts = [f"<h2>{len(roles['roles'])} roles</h2>"]
    parts += [f"<p>{escape(question)}</p>" for question in roles["questions"]]
    for card in roles["roles"]:
        title = f"{card['id']}: {len(card['members'])} member(s), cohesion {card['cohesion']:.2f}"
        text = "".join(f"<p>{escape(line)}</p>" for line in card["sentences"])
        members = escape(", ".join(card["members"][:200]))
        parts.append(f"<details><summary>{escape(title)}</summary>{text}<p class='note'>{members}</p></details>")
    files = [[f["path"], f["format"], f["records"], f["flows"], f["skipped"], f["bad"]] for f in roles["read"]["files"]]
    parts += ["<h2>Files read</h2>", _table(["file", "format", "records", "flows", "skipped", "unreadable"], files)]
    return parts
