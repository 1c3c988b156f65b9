"""What ``rules`` knows about routers: settings read by commands, compared with the plan."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nl2net.benchmark.applications.tasks import PublicTask
from nl2net.benchmark.interactive import Observation
from nl2net.benchmark.scoring import Cause

READ = "sysctl net.ipv4.ip_forward; ip rule; ip addr; ip route; iptables -S"
_PORT = re.compile(r"^\d+: ([^:@\s]+)[^<]*<([^>]*)> mtu (\d+)")
_ROUTE = re.compile(r"^(?:(blackhole|prohibit|unreachable) )?(default|\d+\.\S+)(.*)$")


@dataclass(slots=True)
class Settings:
    """What a router's commands printed."""

    forwarding: bool = True
    rules: list[tuple[str, str]] = field(default_factory=list)  # preference and action
    ports: dict[str, tuple[bool, int, list[str]]] = field(default_factory=dict)  # up, MTU, addresses
    routes: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)  # type, prefix, options
    policies: dict[str, str] = field(default_factory=dict)
    filters: list[str] = field(default_factory=list)


def read_settings(text: str) -> Settings:
    """Read the output of `READ`, of the simulator or of the real programs."""
    found = Settings()
    port = ""
    for line in text.splitlines():
        if match := re.match(r"net\.ipv4\.ip_forward = (\d)", line):
            found.forwarding = match[1] == "1"
        elif match := re.match(r"(\d+):\s+from all (prohibit|blackhole|unreachable)", line):
            found.rules.append((match[1], match[2]))
        elif match := _PORT.match(line):
            port = match[1]
            found.ports[port] = ("UP" in match[2].split(","), int(match[3]), [])
        elif match := re.match(r"\s+inet (\S+)", line):
            found.ports[port][2].append(match[1])
        elif match := re.match(r"-P (\w+) (\w+)", line):
            found.policies[match[1]] = match[2]
        elif line.startswith("-A "):
            found.filters.append(line[3:].strip())
        elif match := _ROUTE.match(line):
            found.routes.append((match[1] or "unicast", _prefix(match[2]), _options(match[3])))
    return found


def _prefix(text: str) -> str:
    return "0.0.0.0/0" if text == "default" else str(ipaddress.IPv4Network(text))


def _options(text: str) -> dict[str, str]:
    words = [word for word in text.split() if word not in {"onlink", "linkdown", "dead"}]
    return dict(zip(words[::2], words[1::2], strict=False))


class RoutingExpert:
    """Reads every router once, then sets right what differs from the plan, router by router."""

    def __init__(self, task: PublicTask) -> None:
        self.causes: set[Cause] = set()
        self._output = ""
        self._routers: list[str] = list(task.plan["repair_at"])
        self._ports: dict[str, dict[str, str]] = {name: {} for name in self._routers}
        self._gateways: dict[tuple[str, str], str] = {}
        for link in task.plan["network"]["links"]:
            self._read_link(link)
        subnets = task.plan["network"]["subnets"]
        self._targets = [(item["router"], item["prefix"]) for item in subnets]
        for name, ports in self._ports.items():
            self._targets += [(name, _network(cidr)) for port, cidr in ports.items() if port.startswith("up")]
        homes = {host: item["prefix"] for item in subnets for host in item["hosts"]}
        closed = [flow for flow in task.flows if not flow.allowed]
        self._apart = {(homes.get(flow.source, ""), homes.get(flow.target, "")) for flow in closed}

    def _read_link(self, text: str) -> None:
        ends = [part.split() for part in text.split(" -- ")]
        names = [end[0].partition(":")[::2] for end in ends]
        for (name, port), end in zip(names, ends, strict=True):
            if name in self._ports:
                self._ports[name][port] = end[1]
        (a, _), (b, _) = names
        if a in self._ports and b in self._ports:
            self._gateways[a, b] = ends[1][1].partition("/")[0]
            self._gateways[b, a] = ends[0][1].partition("/")[0]

    def seen(self, observation: Observation) -> None:
        """Keep what the last command printed."""
        self._output = observation.output

    def steps(self, observation: Observation) -> Iterator[tuple[str, str]]:
        """Read all, then repair."""
        found: dict[str, Settings] = {}
        for router in self._routers:
            yield router, READ
            found[router] = read_settings(self._output)
        for router in self._routers:
            commands = self._repair(router, found[router])
            if commands:
                yield router, " ; ".join(commands)

    def _repair(self, router: str, now: Settings) -> list[str]:
        commands: list[str] = []
        sick = self._repair_ports(router, now, commands)
        for preference, action in now.rules:
            commands.append(f"ip rule del {action} pref {preference}")
            self.causes.add(("forwarding_off", router))
        self._repair_routes(router, now, sick, commands)
        if not now.forwarding:
            commands.append("sysctl -w net.ipv4.ip_forward=1")
            self.causes.add(("forwarding_off", router))
        for chain, policy in now.policies.items():
            if policy != "ACCEPT":
                commands.append(f"iptables -P {chain} ACCEPT")
                self.causes.add(("forwarding_off", router))
        for line in now.filters:
            if not self._intended(line):
                commands.append(f"iptables -D {line}")
                self.causes.add(("traffic_filter", router))
        return commands

    def _repair_ports(self, router: str, now: Settings, commands: list[str]) -> set[str]:
        """Ports that are down, too small, or without their address; routes through them are lost."""
        sick: set[str] = set()
        for port, cidr in self._ports[router].items():
            up, mtu, addresses = now.ports.get(port, (True, 1500, [cidr]))
            if not up or mtu < 1500:
                commands.append(f"ip link set dev {port} up mtu 1500")
                self.causes.add(("interface_down", f"{router}:{port}"))
                sick.add(port)
            if addresses != [cidr]:
                commands += [f"ip addr flush dev {port}", f"ip addr add {cidr} dev {port}"]
                self.causes.add(("wrong_address", f"{router}:{port}"))
                sick.add(port)
        return sick

    def _repair_routes(self, router: str, now: Settings, sick: set[str], commands: list[str]) -> None:
        own = {_network(cidr): port for port, cidr in self._ports[router].items()}
        wanted = {prefix: self._steps_to(router, home) for home, prefix in self._targets if prefix not in own}
        right: set[str] = set()
        for kind, prefix, options in now.routes:
            via, dev = options.get("via", ""), options.get("dev", "")
            connected = kind == "unicast" and not via and own.get(prefix) == dev
            if connected or (kind == "unicast" and via and via in wanted.get(prefix, ())):
                right.add(prefix)
            elif via or prefix not in {_network(cidr) for cidr in now.ports.get(dev, (True, 0, []))[2]}:
                commands.append(_delete(kind, prefix, options))
                self.causes.add(("wrong_route", router))
        for prefix, gateways in wanted.items():
            through = {gateway: self._port_to(router, gateway) for gateway in gateways}
            if gateways and (prefix not in right or set(through.values()) <= sick):
                commands.append(f"ip route replace {prefix} via {gateways[0]}")
                if not set(through.values()) & sick:
                    self.causes.add(("wrong_route", router))
        for prefix, port in own.items():
            if prefix not in right and port not in sick:
                commands.append(f"ip route replace {prefix} dev {port}")
                self.causes.add(("wrong_route", router))

    def _port_to(self, router: str, gateway: str) -> str:
        address = ipaddress.IPv4Address(gateway)
        ports = self._ports[router].items()
        return next((port for port, cidr in ports if address in ipaddress.IPv4Interface(cidr).network), "")

    def _steps_to(self, router: str, home: str) -> list[str]:
        """Gateways on shortest paths."""
        distance = {home: 0}
        waiting = [home]
        for here in waiting:
            for a, b in self._gateways:
                if b == here and a not in distance:
                    distance[a] = distance[here] + 1
                    waiting.append(a)
        near = [b for a, b in self._gateways if a == router and distance.get(b, 99) < distance.get(router, 0)]
        return [self._gateways[router, b] for b in near]

    def _intended(self, line: str) -> bool:
        words = line.split()
        if words[0] != "FORWARD" or "-s" not in words or "-d" not in words:
            return False
        return (words[words.index("-s") + 1], words[words.index("-d") + 1]) in self._apart


def _delete(kind: str, prefix: str, options: Mapping[str, str]) -> str:
    parts = ["ip route del", *([kind] if kind != "unicast" else []), prefix]
    for name in ("via", "dev", "metric"):
        parts += [name, options[name]] if name in options and kind == "unicast" else []
    return " ".join(parts)


def _network(cidr: str) -> str:
    return str(ipaddress.IPv4Interface(cidr).network)
