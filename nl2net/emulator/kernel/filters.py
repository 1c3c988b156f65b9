"""Filters of a node: the table that ``iptables`` shows as well, written by ``nft`` in one transaction per change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.operations import CHAINS, AddFilter, RemoveFilter, SetChainPolicy, filter_item

# The names under which iptables-nft keeps its rules, so that an operator's or agent's `iptables -D` finds ours.
_TABLE = "ip filter"
_OWN_TABLES = re.compile(r"^table ip nl2net_\w+$")
_HEAD = re.compile(r"type filter hook (input|forward|output) priority (?:filter|0); policy (accept|drop);")
_RULE = re.compile(
    r"^(?:ip saddr (?P<source>\S+) )?(?:ip daddr (?P<destination>\S+) )?"
    r"(?:(?P<ported>tcp|udp) dport (?P<port>\d+) |(?:ip protocol|meta l4proto) (?P<protocol>icmp|tcp|udp) )?"
    r"(?:counter )?(?P<action>accept|drop|reject)(?: with icmp(?: type)? (?P<code>\S+))?$"
)
_REJECT = "reject with icmp type admin-prohibited"

Chains = dict[str, dict[str, Any]]


def empty_chains() -> Chains:
    """Chains of a node without filters."""
    return {chain: {"policy": "accept", "filters": []} for chain in CHAINS}


def rule_text(item: Mapping[str, Any]) -> str:
    """One rule in nft's language."""
    if "raw" in item:
        return str(item["raw"])
    parts = []
    if item["source"]:
        parts.append(f"ip saddr {item['source']}")
    if item["destination"]:
        parts.append(f"ip daddr {item['destination']}")
    if item["port"]:
        parts.append(f"{item['protocol']} dport {item['port']}")
    elif item["protocol"]:
        parts.append(f"ip protocol {item['protocol']}")
    parts.append(_REJECT if item["action"] == "reject" else str(item["action"]))
    return " ".join(parts)


def read_rule(line: str) -> dict[str, Any]:
    """A listed rule as a filter; what is not one of ours is kept as ``raw`` text.

    Examples
    --------
    >>> read_rule("ip saddr 10.0.1.0/24 tcp dport 80 drop")["port"]
    80
    >>> read_rule("ip ttl 1 drop")
    {'raw': 'ip ttl 1 drop'}
    """
    found = _RULE.match(line)
    if found is None or (found["action"] == "reject" and found["code"] != "admin-prohibited"):
        return {"raw": line}
    return {
        "action": found["action"],
        "source": _prefix(found["source"]),
        "destination": _prefix(found["destination"]),
        "protocol": found["ported"] or found["protocol"] or "",
        "port": int(found["port"] or 0),
    }


def _prefix(text: str | None) -> str:
    return "" if not text else text if "/" in text else f"{text}/32"


def read_ruleset(listing: str) -> tuple[Chains, list[str]]:
    """Chains of the filter table, and the lines of every other table that is not the emulator's own."""
    chains, foreign = empty_chains(), []
    table, chain = "", ""
    for line in (raw.strip() for raw in listing.splitlines()):
        if line.startswith("table "):
            table, chain = line.removesuffix(" {"), ""
        head = _HEAD.match(line)
        if table == f"table {_TABLE}" and head:
            chain = head[1]
            chains[chain]["policy"] = head[2]
        elif line == "}":
            chain = ""
        elif table == f"table {_TABLE}" and chain and line:
            chains[chain]["filters"].append(read_rule(line))
        elif line and not _OWN_TABLES.match(table) and table != f"table {_TABLE}":
            foreign.append(line)
    return chains, foreign


def read_chains(spaces: Spaces, name: str) -> tuple[Chains, list[str]]:
    """Filters of a node from the kernel; a node where no program ever ran has none."""
    if not spaces[name].programs_ran:
        return empty_chains(), []
    return read_ruleset(spaces.run(name, ["nft", "-s", "list", "ruleset"]))


def change(spaces: Spaces, name: str, operation: AddFilter | RemoveFilter | SetChainPolicy) -> str:
    """Carry out one filter operation; the class of the refusal, or empty."""
    chains, _ = read_chains(spaces, name)
    chain = chains[operation.chain]
    if isinstance(operation, SetChainPolicy):
        chain["policy"] = operation.policy
    elif isinstance(operation, AddFilter):
        place = len(chain["filters"]) if operation.position is None else operation.position
        chain["filters"].insert(place, filter_item(operation))
    else:
        item = filter_item(operation)
        if item not in chain["filters"]:
            return "not-found"
        chain["filters"].remove(item)
    spaces.run(name, ["nft", "-f", "-"], feed=chain_text(operation.chain, chain))
    return ""


def chain_text(chain: str, content: Mapping[str, Any]) -> str:
    """A transaction that replaces one chain."""
    label = f"{_TABLE} {chain.upper()}"
    lines = [
        f"add table {_TABLE}",
        f"add chain {label} {{ type filter hook {chain} priority 0; policy {content['policy']}; }}",
        f"flush chain {label}",
        *(f"add rule {label} {rule_text(item)}" for item in content["filters"]),
    ]
    return "\n".join(lines) + "\n"


def drop_foreign(spaces: Spaces, name: str) -> None:
    """Remove rules and tables that no operation made, so that a restore can reach a snapshot."""
    chains, foreign = read_chains(spaces, name)
    if not foreign and not any("raw" in item for chain in chains.values() for item in chain["filters"]):
        return
    lines = []
    for line in foreign:
        if line.startswith("table "):
            lines.append(f"delete {line.removesuffix(' {')}")
    for chain, content in chains.items():
        content["filters"] = [item for item in content["filters"] if "raw" not in item]
        lines.append(chain_text(chain, content))
    spaces.run(name, ["nft", "-f", "-"], feed="\n".join(lines) + "\n")
