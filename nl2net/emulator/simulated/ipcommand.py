"""The part of the ``ip`` command that the simulator understands."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nl2net.emulator.operations import (
    ROUTE_TYPES,
    RULE_ACTIONS,
    AddAddress,
    AddRoute,
    AddRule,
    FlushAddresses,
    Operation,
    RemoveAddress,
    RemoveRoute,
    RemoveRule,
    SetLink,
    SetMtu,
)

if TYPE_CHECKING:
    from nl2net.emulator.interface import Emulator

Outcome = tuple[int, str]
_REFUSALS = {
    "exists": "RTNETLINK answers: File exists",
    "not-found": "RTNETLINK answers: No such process",
    "invalid-gateway": "Error: Nexthop has invalid gateway.",
    "link-down": "Error: Device for nexthop is not up.",
    "invalid": "RTNETLINK answers: Invalid argument",
}


class Unsupported(Exception):
    """A form that the simulator does not know."""


def ip(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    """Run one ``ip`` command on a node."""
    words = [word for word in arguments if word not in {"-4", "-c", "-o", "-br", "-brief"}]
    brief = len(words) < len(arguments) and any(word in {"-br", "-brief"} for word in arguments)
    if not words or words[0].startswith("-"):
        raise Unsupported
    kind, rest = words[0], words[1:]
    state = network.state()["nodes"][node]
    match kind:
        case "a" | "ad" | "addr" | "address":
            return _show_links(state, rest, brief, addresses=True) if _shows(rest) else _address(network, node, rest)
        case "l" | "link":
            return _show_links(state, rest, brief, addresses=False) if _shows(rest) else _link(network, node, rest)
        case "r" | "ro" | "route":
            return _show_routes(state) if _shows(rest) else _route(network, node, rest)
        case "ru" | "rule":
            return _show_rules(state) if _shows(rest) else _rule(network, node, rest)
        case _:
            raise Unsupported


def _shows(rest: list[str]) -> bool:
    return not rest or rest[0] in {"show", "s", "list", "ls"}


def apply(network: Emulator, operation: Operation) -> Outcome:
    """Carry out an operation and word a refusal as the real command does."""
    applied = network.apply(operation)
    return (0, "") if applied.accepted else (2, _REFUSALS.get(applied.reason, f"refused: {applied.reason}") + "\n")


def _address(network: Emulator, node: str, rest: list[str]) -> Outcome:
    match rest:
        case ["add" | "a", address, "dev", name]:
            return apply(network, AddAddress(node, name, _with_length(address)))
        case ["del" | "delete" | "d", address, "dev", name]:
            return apply(network, RemoveAddress(node, name, _with_length(address)))
        case ["flush", "dev", name] | ["flush", name]:
            return apply(network, FlushAddresses(node, name))
        case _:
            raise Unsupported


def _with_length(address: str) -> str:
    return address if "/" in address else f"{address}/32"


def _link(network: Emulator, node: str, rest: list[str]) -> Outcome:
    if not rest or rest[0] != "set":
        raise Unsupported
    words = rest[1:]
    if words and words[0] == "dev":
        words = words[1:]
    if len(words) < 2:
        raise Unsupported
    name, words = words[0], words[1:]
    operations: list[Operation] = []
    while words:
        word = words.pop(0)
        if word in {"up", "down"}:
            operations.append(SetLink(node, name, word == "up"))
        elif word == "mtu" and words:
            operations.append(SetMtu(node, name, int(words.pop(0))))
        else:
            raise Unsupported
    for operation in operations:
        status, text = apply(network, operation)
        if status:
            return status, text
    return 0, ""


def _route(network: Emulator, node: str, rest: list[str]) -> Outcome:
    verb, words = rest[0], rest[1:]
    if verb not in {"add", "a", "del", "delete", "d", "replace", "change"} or not words:
        raise Unsupported
    kind = words.pop(0) if words[0] in ROUTE_TYPES else "unicast"
    if not words:
        raise Unsupported
    prefix = _prefix(words.pop(0))
    options = _pairs(words, {"via", "dev", "metric", "proto", "scope", "table", "src"})
    if options.get("table", "main") != "main" or "src" in options:
        raise Unsupported
    fields = (node, prefix, options.get("via", ""), options.get("dev", ""), int(options.get("metric", 0)), kind)
    if verb.startswith("d"):
        return apply(network, RemoveRoute(*fields))
    if verb in {"replace", "change"}:
        network.apply(RemoveRoute(node, prefix, metric=fields[4], type=kind))
    return apply(network, AddRoute(*fields))


def _prefix(text: str) -> str:
    return "0.0.0.0/0" if text == "default" else str(ipaddress.IPv4Network(text))


def _pairs(words: list[str], known: set[str]) -> dict[str, str]:
    if len(words) % 2 or not set(words[::2]) <= known:
        raise Unsupported
    return dict(zip(words[::2], words[1::2], strict=True))


def _rule(network: Emulator, node: str, rest: list[str]) -> Outcome:
    verb, words = rest[0], list(rest[1:])
    if verb not in {"add", "del", "delete"}:
        raise Unsupported
    if "from" in words:
        place = words.index("from")
        if words[place : place + 2] != ["from", "all"]:
            raise Unsupported
        del words[place : place + 2]
    actions = [word for word in words if word in RULE_ACTIONS]
    words = [word for word in words if word not in RULE_ACTIONS]
    options = _pairs(words, {"pref", "priority", "preference", "prio"})
    preference = int(next(iter(options.values()), 0))
    kind = RemoveRule if verb.startswith("d") else AddRule
    if not actions:
        if kind is AddRule:
            raise Unsupported
        actions = [r["action"] for r in network.state()["nodes"][node]["rules"] if r["preference"] == preference]
    return apply(network, kind(node, actions[0], preference)) if actions else (2, _REFUSALS["not-found"] + "\n")


def _show_links(state: Mapping[str, Any], rest: list[str], brief: bool, *, addresses: bool) -> Outcome:
    wanted = [word for word in rest[1:] if word != "dev"]
    if wanted and wanted[0] not in state["interfaces"]:
        return 1, f'Device "{wanted[0]}" does not exist.\n'
    lines = []
    for number, (name, item) in enumerate(state["interfaces"].items(), 1):
        if wanted and name != wanted[0]:
            continue
        word = "UP" if item["up"] else "DOWN"
        if brief:
            tail = " ".join(item["addresses"]) if addresses else f"mtu {item['mtu']}"
            lines.append(f"{name:<16} {word:<14} {tail}".rstrip())
            continue
        lines.append(f"{number}: {name}: <{'UP' if item['up'] else ''}> mtu {item['mtu']} state {word}")
        if addresses:
            lines += [f"    inet {address} scope global {name}" for address in item["addresses"]]
    return 0, "\n".join(lines) + "\n"


def _show_routes(state: Mapping[str, Any]) -> Outcome:
    lines = []
    for route in state["routes"]:
        prefix = "default" if route["prefix"] == "0.0.0.0/0" else route["prefix"].removesuffix("/32")
        parts = [prefix] if route["type"] == "unicast" else [route["type"], prefix]
        parts += ["via", route["via"]] if route["via"] else []
        parts += ["dev", route["dev"]] if route["dev"] else []
        parts += ["proto", "kernel", "scope", "link"] if route["connected"] else []
        parts += ["metric", str(route["metric"])] if route["metric"] else []
        lines.append(" ".join(parts))
    return 0, "".join(line + "\n" for line in lines)


def _show_rules(state: Mapping[str, Any]) -> Outcome:
    lines = ["0:\tfrom all lookup local"]
    lines += [f"{rule['preference']}:\tfrom all {rule['action']}" for rule in state["rules"]]
    return 0, "\n".join([*lines, "32766:\tfrom all lookup main", "32767:\tfrom all lookup default"]) + "\n"
