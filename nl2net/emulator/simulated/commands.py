"""A shell front end over typed operations, for the commands that people and agents use on a router.

An unknown form answers "not supported by the simulator" with status 127, never a fake success.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nl2net.emulator.kubernetes.kubectl import kubectl
from nl2net.emulator.operations import (
    AddAddress,
    FlushAddresses,
    Operation,
    SetForwarding,
    SetLink,
    SetMtu,
)
from nl2net.emulator.results import Reason
from nl2net.emulator.simulated.ipcommand import Unsupported, ip
from nl2net.emulator.simulated.iptables import iptables, nft
from nl2net.errors import Nl2netError

if TYPE_CHECKING:
    from nl2net.emulator.interface import Emulator

Outcome = tuple[int, str]
_ATTACHED = re.compile(r"^-[cWwis](?=\d)|.+")  # -c3 is -c 3
Command = Callable[["Emulator", str, list[str]], Outcome]


def run_line(network: Emulator, node: str, line: str) -> Outcome:
    """Run commands joined by ``;``, ``&&`` or ``||`` on one node; the last status and all output.

    Examples
    --------
    >>> from nl2net.emulator import build, star
    >>> with build(star(), backend="simulated") as network:
    ...     run_line(network, "r1", "ip link set eth1 down && ip -br link show eth1")
    (0, 'eth1             DOWN           mtu 1500\\n')
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError as error:
        return 2, f"syntax error: {error}\n"
    status, output, command, joint = 0, "", list[str](), ";"
    for word in [*words, ";"]:
        if word in {";", "&&", "||"}:
            skip = (joint == "&&" and status != 0) or (joint == "||" and status == 0)
            if command and not skip:
                status, text = _run(network, node, command)
                output += text
            command, joint = [], word
        elif set(word) <= set("|&<>()"):
            return 127, output + f"{word}: not supported by the simulator\n"
        else:
            command.append(word)
    return status, output


def _run(network: Emulator, node: str, words: list[str]) -> Outcome:
    found = COMMANDS.get(words[0].rpartition("/")[2])
    if found is None:
        return 127, f"{words[0]}: not supported by the simulator\n"
    try:
        return found(network, node, words[1:])
    except Unsupported:
        return 127, f"{' '.join(words)}: not supported by the simulator\n"
    except (Nl2netError, ValueError) as error:
        return 1, f"{words[0]}: {error}\n"


def _apply(network: Emulator, operation: Operation) -> Outcome:
    applied = network.apply(operation)
    return (0, "") if applied.accepted else (2, f"refused: {applied.reason}\n")


def _sysctl(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    words = [word for word in arguments if word != "-w"]
    if len(words) != 1:
        raise Unsupported
    key, _, value = words[0].partition("=")
    if key.replace("/", ".") != "net.ipv4.ip_forward":
        raise Unsupported
    if value:
        if value not in {"0", "1"}:
            raise Unsupported
        _apply(network, SetForwarding(node, value == "1"))
    state = network.state()["nodes"][node]["forwarding"]
    return 0, f"net.ipv4.ip_forward = {int(state)}\n"


def _ping(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    count, target = 1, ""
    words = [part for word in arguments for part in _ATTACHED.findall(word)]
    while words:
        word = words.pop(0)
        if word in {"-c", "-W", "-w", "-i", "-s"}:
            if not words:
                raise Unsupported
            value = words.pop(0)
            count = int(value) if word == "-c" else count
        elif word.startswith("-"):
            if word not in {"-n", "-q", "-4"}:
                raise Unsupported
        else:
            target = word
    if not target or not 1 <= count <= 1000:
        raise Unsupported
    probe = network.ping_matrix([(node, target)]).probes[0]
    received = count if probe.ok else 0
    lines = [f"PING {target}"]
    if probe.reason not in {Reason.OK, Reason.TIMEOUT}:
        lines.append(f"From {probe.place or node}: {str(probe.reason).replace('-', ' ')}")
    loss = 100 - 100 * received // count
    lines.append(f"{count} packets transmitted, {received} received, {loss}% packet loss (time not measured)")
    return (0 if probe.ok else 1), "\n".join(lines) + "\n"


def _ifconfig(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    if not arguments or arguments == ["-a"]:
        return ip(network, node, ["addr"])
    name, rest = arguments[0], arguments[1:]
    if not rest:
        return ip(network, node, ["addr", "show", name])
    match rest:
        case ["up"] | ["down"]:
            return _apply(network, SetLink(node, name, rest[0] == "up"))
        case ["mtu", value]:
            return _apply(network, SetMtu(node, name, int(value)))
        case [address, "netmask", mask]:
            address = f"{address}/{ipaddress.IPv4Network(f'0.0.0.0/{mask}').prefixlen}"
        case [address]:
            address = address if "/" in address else f"{address}/24"
        case _:
            raise Unsupported
    ipaddress.IPv4Interface(address)
    _apply(network, FlushAddresses(node, name))
    return _apply(network, AddAddress(node, name, address))


def _route(network: Emulator, node: str, arguments: list[str]) -> Outcome:
    match [word for word in arguments if word not in {"-n", "-net"}]:
        case []:
            return ip(network, node, ["route"])
        case ["add" | "del" as verb, "default", "gw", gateway]:
            return ip(network, node, ["route", verb, "default", "via", gateway])
        case ["add" | "del" as verb, prefix, "gw", gateway]:
            return ip(network, node, ["route", verb, prefix, "via", gateway])
        case ["add" | "del" as verb, prefix, "netmask", mask, "gw", gateway]:
            return ip(network, node, ["route", verb, f"{prefix}/{mask}", "via", gateway])
        case _:
            raise Unsupported


def _kubectl(network: Emulator, _: str, arguments: list[str]) -> Outcome:
    return kubectl(network, arguments)


def _echo(_: Emulator, __: str, arguments: list[str]) -> Outcome:
    return 0, " ".join(arguments) + "\n"


COMMANDS: Mapping[str, Command] = {
    "ip": ip,
    "iptables": iptables,
    "nft": nft,
    "sysctl": _sysctl,
    "ping": _ping,
    "ifconfig": _ifconfig,
    "route": _route,
    "kubectl": _kubectl,
    "echo": _echo,
    "true": lambda network, node, arguments: (0, ""),
    "false": lambda network, node, arguments: (1, ""),
}
