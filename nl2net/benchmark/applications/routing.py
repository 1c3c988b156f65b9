"""Routing: a router, or a mesh of routers, lost a setting; the agent works on their command lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nl2net.benchmark.applications.base import Action, Application, Command, Executor, Fault, State, Verdict
from nl2net.benchmark.applications.lines import (
    forbid,
    judge_ip,
    judge_iptables,
    judge_ping,
    judge_program,
    judge_sysctl,
)
from nl2net.benchmark.applications.network import NetworkExecutor, action_of, operation_of
from nl2net.benchmark.applications.routing_faults import MAKERS, read_site
from nl2net.benchmark.applications.routing_states import draw_state
from nl2net.emulator.operations import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    FlushAddresses,
    Operation,
    RemoveAddress,
    RemoveFilter,
    RemoveRoute,
    RemoveRule,
    SetChainPolicy,
    SetForwarding,
    SetLink,
    SetMtu,
)
from nl2net.errors import UserError
from nl2net.golden.streams import Stream

_JUDGES = {"ip": judge_ip, "iptables": judge_iptables, "sysctl": judge_sysctl, "ping": judge_ping}
_OFFERED = tuple(_JUDGES)
_EXAMPLES = (
    "ip addr",
    "ip route",
    "ip rule",
    "ip link set dev PORT up mtu 1500",
    "ip addr add ADDRESS/LENGTH dev PORT",
    "ip route add PREFIX via GATEWAY",
    "iptables -S",
    "iptables -D FORWARD -s PREFIX -j DROP",
    "sysctl -w net.ipv4.ip_forward=1",
    "ping -c 1 ADDRESS",
)


class Routing(Application):
    """Faults on routers of stars and meshes."""

    name = "routing"
    kinds = tuple(MAKERS)

    def make_state(self, stream: Stream) -> State:
        """Draw a network."""
        return draw_state(stream)

    def make_fault(self, state: State, kind: str, stream: Stream) -> Fault | None:
        """Draw a fault."""
        made = MAKERS[kind](read_site(state), stream)
        return None if made is None else Fault(kind, made[0], tuple(action_of(item) for item in made[1]))

    def open(self, state: State, *, backend: str = "simulated") -> Executor:
        """Build the network."""
        return NetworkExecutor(state, backend=backend)

    def commands(self, state: State, inverse: Sequence[Action]) -> tuple[Command, ...]:
        """One line per router, so that no step leaves a port half repaired."""
        lines: dict[str, list[str]] = {}
        for action in inverse:
            operation = operation_of(action)
            lines.setdefault(str(getattr(operation, "node", "")), []).append(command_of(operation))
        return tuple(Command(node, " && ".join(parts)) for node, parts in lines.items())

    def judge(self, state: State, place: str, words: Sequence[str]) -> Verdict:
        """Reading everywhere; changes on routers only."""
        verdict = judge_program(words, _OFFERED) or _JUDGES[words[0]](words)
        if verdict.changes and place not in read_site(state).routers:
            return forbid(f"{place} is not a router; hosts may only be read")
        return verdict

    def describe(self, state: State) -> Mapping[str, Any]:
        """The addressing plan: what an operator has on paper. Static routes and filters are not on it."""
        site = read_site(state)
        topology = state.data["topology"]
        hosts = [host for lan in site.lans for host in lan.hosts]
        links = [f"{_end(link['a'])} -- {_end(link['b'])}" for link in topology["links"]]
        notes = ["Every route between subnets is static.", "Changes are allowed on routers only."]
        return {
            "places": [*site.routers, *hosts],
            "repair_at": list(site.routers),
            "commands": list(_EXAMPLES),
            "network": {"links": links, "subnets": list(state.data["lans"]), "notes": notes},
        }


def _end(end: Mapping[str, Any]) -> str:
    return f"{end['node']}:{end['interface']} {' '.join(end['addresses'])}".strip()


def command_of(operation: Operation) -> str:
    """An operation as an operator types it.

    Examples
    --------
    >>> command_of(RemoveRule("r1", "prohibit", 0))
    'ip rule del prohibit pref 0'
    """
    match operation:
        case SetForwarding():
            return f"sysctl -w net.ipv4.ip_forward={int(operation.enabled)}"
        case SetLink():
            return f"ip link set dev {operation.interface} {'up' if operation.up else 'down'}"
        case SetMtu():
            return f"ip link set dev {operation.interface} mtu {operation.mtu}"
        case AddAddress() | RemoveAddress():
            verb = "add" if isinstance(operation, AddAddress) else "del"
            return f"ip addr {verb} {operation.address} dev {operation.interface}"
        case FlushAddresses():
            return f"ip addr flush dev {operation.interface}"
        case AddRoute() | RemoveRoute():
            return _route(operation)
        case AddRule() | RemoveRule():
            verb = "add" if isinstance(operation, AddRule) else "del"
            return f"ip rule {verb} {operation.action} pref {operation.preference}"
        case SetChainPolicy():
            return f"iptables -P {operation.chain.upper()} {operation.policy.upper()}"
        case AddFilter() | RemoveFilter():
            return _filter(operation)
        case _:
            raise UserError(f"operation {operation.op} has no command line")


def _route(operation: AddRoute | RemoveRoute) -> str:
    parts = ["ip route", "add" if isinstance(operation, AddRoute) else "del"]
    parts += [operation.type] if operation.type != "unicast" else []
    parts.append(operation.prefix)
    parts += ["via", operation.via] if operation.via else []
    parts += ["dev", operation.dev] if operation.dev else []
    parts += ["metric", str(operation.metric)] if operation.metric else []
    return " ".join(parts)


def _filter(operation: AddFilter | RemoveFilter) -> str:
    verb = "-D" if isinstance(operation, RemoveFilter) else "-A"
    place = getattr(operation, "position", None)
    parts = ["iptables", verb if place is None else "-I", operation.chain.upper()]
    parts += [] if place is None else [str(place + 1)]
    parts += ["-s", operation.source] if operation.source else []
    parts += ["-d", operation.destination] if operation.destination else []
    parts += ["-p", operation.protocol] if operation.protocol else []
    parts += ["--dport", str(operation.port)] if operation.port else []
    return " ".join([*parts, "-j", operation.action.upper()])


def make() -> Routing:
    """The application."""
    return Routing()
