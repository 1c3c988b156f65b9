"""The part of ``iptables`` and ``nft`` that the simulator understands."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nl2net.emulator.operations import CHAINS, AddFilter, Operation, RemoveFilter, SetChainPolicy
from nl2net.emulator.simulated.ipcommand import Unsupported, apply

if TYPE_CHECKING:
    from nl2net.emulator.interface import Emulator

Outcome = tuple[int, str]
_FLAGS = {"-s": "source", "--source": "source", "-d": "destination", "--destination": "destination"}
_FLAGS |= {"-p": "protocol", "--protocol": "protocol", "--dport": "port", "-j": "action", "--jump": "action"}


def iptables(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    """Run one ``iptables`` command on a node."""
    words = [word for word in arguments if word not in {"-n", "-v", "--line-numbers", "-w"}]
    if words[:2] == ["-t", "filter"]:
        words = words[2:]
    chains = network.state()["nodes"][node]["chains"]
    match words:
        case ["-L" | "-S" | "--list", *rest]:
            return _listing(chains, [_chain(rest[0])] if rest else list(CHAINS))
        case ["-P" | "--policy", chain, policy]:
            return apply(network, SetChainPolicy(node, _chain(chain), policy.lower()))
        case ["-F" | "--flush", *rest]:
            return _flush(network, node, chains, [_chain(rest[0])] if rest else list(CHAINS))
        case ["-D" | "--delete", chain, number] if number.isdigit():
            filters = chains[_chain(chain)]["filters"]
            if not 1 <= int(number) <= len(filters):
                return 1, "iptables: Index of deletion too big.\n"
            return apply(network, RemoveFilter(node, _chain(chain), **filters[int(number) - 1]))
        case ["-D" | "--delete", chain, *rest]:
            status, text = apply(network, RemoveFilter(node, _chain(chain), **_match(rest)))
            bad = "iptables: Bad rule (does a matching rule exist in that chain?).\n"
            return (1, bad) if status else (0, text)
        case ["-A" | "--append", chain, *rest]:
            return apply(network, AddFilter(node, _chain(chain), **_match(rest)))
        case ["-I" | "--insert", chain, number, *rest] if number.isdigit():
            return apply(network, AddFilter(node, _chain(chain), **_match(rest), position=int(number) - 1))
        case ["-I" | "--insert", chain, *rest]:
            return apply(network, AddFilter(node, _chain(chain), **_match(rest), position=0))
        case _:
            raise Unsupported


def _chain(text: str) -> str:
    if text.lower() not in CHAINS or not text.isupper():
        raise Unsupported
    return text.lower()


def _match(words: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"source": "", "destination": "", "protocol": "", "port": 0, "action": ""}
    rest = [word for word in words if word not in {"tcp", "udp", "-m"} or words[words.index(word) - 1] == "-p"]
    if len(rest) % 2:
        raise Unsupported
    for flag, value in zip(rest[::2], rest[1::2], strict=True):
        name = _FLAGS.get(flag)
        if name is None:
            raise Unsupported
        found[name] = value
    found["port"] = int(found["port"])
    found["action"] = str(found["action"]).lower()
    for side in ("source", "destination"):
        if found[side]:
            found[side] = str(ipaddress.IPv4Network(found[side], strict=False))
    if found["action"] not in {"accept", "drop", "reject"} or found["protocol"] not in {"", "icmp", "tcp", "udp"}:
        raise Unsupported
    return found


def _flush(network: Emulator, node: str, chains: Mapping[str, Any], names: list[str]) -> Outcome:
    for name in names:
        for item in chains[name]["filters"]:
            operation: Operation = RemoveFilter(node, name, **item)
            network.apply(operation)
    return 0, ""


def _listing(chains: Mapping[str, Any], names: list[str]) -> Outcome:
    lines = []
    for name in names:
        chain = chains[name]
        lines.append(f"-P {name.upper()} {chain['policy'].upper()}")
        lines += [f"-A {name.upper()} {_rule(item)}" for item in chain["filters"]]
    return 0, "\n".join(lines) + "\n"


def _rule(item: Mapping[str, Any]) -> str:
    parts = [
        f"-s {item['source']}" if item["source"] else "",
        f"-d {item['destination']}" if item["destination"] else "",
    ]
    parts += [f"-p {item['protocol']}" if item["protocol"] else "", f"--dport {item['port']}" if item["port"] else ""]
    return " ".join([*(part for part in parts if part), f"-j {item['action'].upper()}"])


def nft(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    """``nft list ruleset`` and ``nft flush ruleset``."""
    chains = network.state()["nodes"][node]["chains"]
    if arguments == ["list", "ruleset"]:
        return _listing(chains, list(CHAINS))
    if arguments == ["flush", "ruleset"]:
        _flush(network, node, chains, list(CHAINS))
        for name in CHAINS:
            network.apply(SetChainPolicy(node, name, "accept"))
        return 0, ""
    raise Unsupported
