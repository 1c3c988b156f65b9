"""Roles, rules and hints in words: the rows of the Segmentation screen, and the text beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from nl2net.display import clean
from nl2net.tui.words import MUTED

if TYPE_CHECKING:
    from nl2net.segmentation.explain import RoleCard, TokenShare
    from nl2net.segmentation.policy.rules import Evidence, Review, Rule
    from nl2net.segmentation.revise import Grouped
    from nl2net.tui.segments import Contrast, Estate

Part = Content | str | tuple[str, str]
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "roles": ("", "role", "n", "conf", "odd", "nats", "nearest", "cohesion"),
    "rules": ("client", "server", "service", "clients", "connections", "baseline"),
    "review": ("reason", "client", "server", "service", "connections"),
    "breaks": ("client", "server", "service", "connections", "roles"),
    "hints": ("kind", "who"),
}
EMPTY: Mapping[str, str] = {
    "": "No roles are open.\n\nMake some from flow logs:\n\n  nl2net segment roles FLOWS... --out roles/\n\n"
    "then press o here and choose the folder. A folder of nl2net segment policy can be looked at, too.",
    "rules": "No rule: no traffic between roles was seen often enough.",
    "review": "Nothing is left for a person to decide.",
    "breaks": "What would break is measured on a later window:\n\n"
    "  nl2net segment policy ROLES --out policy/ --holdout LATER...\n\nthen open policy/ with o.",
    "hints": "No hints yet. On a role: a accepts, n renames, m merges marked roles, p parts marked members off; "
    "Space marks. Hints are kept in hints.json beside the roles; c infers the roles again under them.",
}


def table_rows(estate: Estate, name: str, hints: Sequence[Grouped] = (), marked: frozenset[str] = frozenset()) -> Any:
    """Rows of one of the lists."""
    if name == "roles":
        return [_role_row(estate, role, marked) for role in estate.roles]
    policy = estate.policy
    if name == "rules" and policy:
        return [
            [r.client, r.server, rule_service(r), r.evidence.clients, r.evidence.connections, r.baseline]
            for r in policy.rules
        ]
    if name == "review" and policy:
        return [
            [r.reason, r.client, r.server, _service(r.proto, r.port), r.evidence.connections] for r in policy.review
        ]
    if name == "breaks":
        return [
            [b["client"], b["server"], _service(b["proto"], b["port"]), b["connections"],
             f"{b['client_role']} > {b['server_role']}"]
            for b in estate.draft.get("broken", ())
        ]  # fmt: skip
    return [[hint.kind, (" is now " if hint.kind == "name" else ", ").join(hint.names)] for hint in hints]


def _role_row(estate: Estate, role: str, marked: frozenset[str]) -> list[Any]:
    members = estate.members.get(role, ())
    known = [m.confidence for m in members if m.confidence is not None]
    trust = round(sum(known) / len(known), 2) if known else "-"
    card = estate.cards.get(role)
    if card is None:
        return [mark(role, marked), role, len(members), trust, "", "-", "-", "-"]
    odd = f"▲ {len(card.odd)}" if card.odd else ""
    return [mark(role, marked), role, len(members), trust, odd, round(card.separation, 1), card.nearest or "-",
            round(card.cohesion, 2)]  # fmt: skip


def mark(name: str, marked: frozenset[str]) -> str:
    """The sign in the first column."""
    return "●" if name in marked else " "


def member_rows(estate: Estate, role: str, marked: frozenset[str]) -> list[list[Any]]:
    """Rows of the members of a role, odd ones out first, then by confidence."""
    card = estate.cards.get(role)
    odd = {one.member: one.why for one in card.odd} if card else {}
    rows = [
        [mark(m.name, marked), m.name, "-" if m.confidence is None else round(m.confidence, 2),
         f"▲ {odd[m.name]}" if m.name in odd else m.reason]
        for m in estate.members.get(role, ())
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[1] not in odd, row[2] if isinstance(row[2], float) else 2.0, row[1]))


# ---- the text beside ------------------------------------------------------------------------------------------------


def card_text(role: str, card: RoleCard | None, size: int) -> Content:
    """A role with its reasons."""
    if card is None:
        return Content.assemble((f"{clean(role)}\n", "bold $primary"), f"{size} endpoints, without a card\n")
    parts: list[Part] = [(clean(card.id), "bold $primary"), f"  {size} member{'s' * (size != 1)}\n\n"]
    for word, services in (("serves", card.serves), ("calls", card.consumes), ("called by", card.called_by)):
        if services:
            more = f" and {len(services) - 6} more" if len(services) > 6 else ""
            parts += [(f"{word:<10}", MUTED), clean(", ".join(services[:6])), f"{more}\n"]
    if card.tokens:
        against = f" against {card.nearest}" if card.nearest else ""
        parts += [(f"\nwhat sets it apart{clean(against)}\n", "bold"), *_tokens(card.tokens, "here", "there")]
    if card.nearest:
        parts += [f"\nEvidence against joining it with {clean(card.nearest)}: {card.separation:.1f} nats.\n"]
    for odd in card.odd:
        parts += [("\n▲ ", "$text-warning"), (clean(odd.member), "bold"), f" fits least ({odd.similarity:.2f}): "]
        parts.append(f"{clean(odd.why)}\n")
    if card.hints_agree or card.hints_differ:
        parts.append(f"\nLabels of the logs: {card.hints_agree} agree, {card.hints_differ} differ.\n")
    return Content.assemble(*parts)


def _tokens(tokens: Sequence[TokenShare], here: str, there: str) -> list[Part]:
    parts: list[Part] = []
    for token in tokens:
        parts += [
            f"{clean(token.text)}\n",
            *_bar(token.share, here, "$accent"),
            "   ",
            *_bar(token.share_there, there, "$secondary"),
            "\n",
        ]
    return parts


def _bar(share: float, word: str, colour: str) -> list[Part]:
    full = round(share * 8)
    return [("█" * full, colour), ("░" * (8 - full), MUTED), f" {share:4.0%} {word}"]


def contrast_text(found: Contrast) -> Content:
    """Why two are not one role."""
    parts: list[Part] = [
        ("why are these not one role?\n\n", "bold $primary"),
        (f"A  {clean(found.first)}\n", "$accent"),
        (f"B  {clean(found.second)}\n", "$secondary"),
        f"   {clean(found.said)}\n\n",
    ]
    parts += _tokens(found.tokens, "A", "B") or ["They show the same tokens.\n"]
    verdict = "against joining them" if found.nats > 0 else "in favour of joining them"
    parts.append(f"\nEvidence {verdict}: {abs(found.nats):.1f} nats.\n")
    return Content.assemble(*parts)


def rule_text(item: Rule | Review) -> Content:
    """A rule, or a candidate for review, with its evidence."""
    head = [(f"{clean(item.client)} → {clean(item.server)}  ", "bold $primary")]
    reason = getattr(item, "reason", "")
    notes = [text for text in (getattr(item, "baseline", ""), getattr(item, "note", "")) if text]
    parts: list[Part] = [*head, f"{rule_service(item)}\n"]
    parts += [("not allowed: ", "$text-warning"), f"{clean(reason)}\n"] if reason else []
    parts += [f"{clean(text)}\n" for text in notes]
    return Content.assemble(*parts, "\n", *_evidence(item.evidence))


def _evidence(found: Evidence) -> list[Part]:
    answered = "not said by the log" if math.isnan(found.answered) else f"{found.answered:.0%}"
    rows = [
        ("clients", f"{found.clients}, {found.client_share:.0%} of their role"),
        ("servers", f"{found.servers}, {found.server_share:.0%} of their role"),
        ("seen in", f"{found.buckets} windows of 5 minutes"),
        ("volume", f"{found.connections:,} connections, {found.bytes:,} bytes"),
        ("answered", answered),
        ("denied", f"{found.denied:,}"),
        ("first", found.first_seen),
        ("last", found.last_seen),
    ]
    parts: list[Part] = []
    for name, text in rows:
        parts += [(f"{name:<10}", MUTED), f"{clean(text)}\n"]
    if found.samples:
        parts += [("\nseen, for instance\n", "bold"), *(f"  {clean(sample)}\n" for sample in found.samples)]
    return parts


def breaks_text(estate: Estate, at: int) -> Content:
    """A later edge that the rules deny, and the trade-off of the three modes."""
    from nl2net.segmentation.report import trade_line

    item = estate.draft["broken"][at]
    parts: list[Part] = [
        (f"{clean(item['client'])} → {clean(item['server'])}  ", "bold $primary"),
        f"{_service(item['proto'], item['port'])}\n",
        f"{clean(item['client_role'])} → {clean(item['server_role'])}, {item['connections']:,} connections later\n",
        ("\nmodes, on the later window\n", "bold"),
    ]
    parts += [f"{clean(trade_line(mode, trade))}\n" for mode, trade in estate.draft.get("trades", {}).items()]
    return Content.assemble(*parts)


def hint_text(hint: Grouped) -> Content:
    """A hint in a sentence."""
    said = {
        "together": "These are one role.",
        "apart": "These two are not one role.",
        "name": "This role has a name.",
        "label": "This endpoint votes for a role by its label.",
    }[hint.kind]
    names = "".join(f"  {clean(name)}\n" for name in hint.names)
    return Content.assemble((f"{said}\n\n", "bold $primary"), names, "\nd takes it back.")


def estate_line(estate: Estate, hints: int) -> str:
    """One line below the lists."""
    count = sum(len(found) for found in estate.members.values())
    parts = [f"{len(estate.members)} roles, {count} endpoints"]
    parts += [f"{hints} hint{'s' * (hints != 1)}"] if hints else []
    if estate.workspace is None:
        parts.append("a policy: to be looked at, not changed")
    elif estate.questions:
        parts.append(f"q: {len(estate.questions)} questions for you")
    if estate.run is not None:
        parts = ["inferred again, NOT written · e writes, Esc drops", *parts]
    return " · ".join(parts)


def questions_text(estate: Estate) -> Content:
    """The few questions whose answers change most, and what the run noted."""
    parts: list[Part] = [("questions whose answers change most\n\n", "bold $primary")]
    parts += [f"? {clean(text)}\n" for text in estate.questions] or ["none\n"]
    parts += [("\nMark two roles with Space: w says why they are two, m makes them one.\n", MUTED)]
    parts += [("\nnotes\n", "bold"), *(f"{clean(note)}\n" for note in estate.notes)] if estate.notes else []
    return Content.assemble(*parts)


def rule_service(item: Any) -> str:
    """Protocol and ports of a rule."""
    low, high = getattr(item, "port_low", None), getattr(item, "port_high", None)
    if low is None:
        return _service(item.proto, item.port)
    return _service(item.proto, low) if low == high else f"{_service(item.proto, low)}-{high}"


def _service(proto: int, port: int) -> str:
    from nl2net.segmentation.explain import service_text

    return service_text(proto, port)
