"""Loss, delay, jitter and rate on what leaves an interface, each measured after it was set.

``tc netem`` is used where this kernel has it. Elsewhere: loss and packet rate by nft on the frames that arrive at the
far end, byte rate by ``tc tbf``, delay and jitter by a relay.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from nl2net.emulator.kernel import relay
from nl2net.emulator.kernel.spaces import RETRANSMISSION_MS, Spaces, set_retransmission
from nl2net.emulator.operations import SetImpairment
from nl2net.emulator.topology import Topology

_FIELDS = ("loss", "delay_ms", "jitter_ms", "rate_kbit", "packets_s")
_TABLE = "netdev nl2net_impair"
_TEST_TYPE = bytes.fromhex("88b5")
_LOSS_FRAMES, _DELAY_FRAMES = 400, 5


@dataclass(slots=True)
class Impaired:
    """State of one impaired interface."""

    values: dict[str, float] = field(default_factory=dict)
    process: int = 0
    netem: bool = False


class Impairments:
    """Impairments of all links."""

    def __init__(self, spaces: Spaces, topology: Topology) -> None:
        self._spaces = spaces
        self._far = {}
        for link in topology.links:
            self._far[link.a.node, link.a.interface] = (link.b.node, link.b.interface)
            self._far[link.b.node, link.b.interface] = (link.a.node, link.a.interface)
        self._active: dict[tuple[str, str], Impaired] = {}

    def of(self, node: str) -> dict[str, dict[str, float]]:
        """Impairments in force by interface."""
        return {interface: item.values for (owner, interface), item in self._active.items() if owner == node}

    @property
    def round_trip_s(self) -> float:
        """What all delays together may add to one exchange; probes wait so much longer."""
        return 2 * sum(item.values["delay_ms"] + item.values["jitter_ms"] for item in self._active.values()) / 1000

    @property
    def lossy(self) -> bool:
        """Whether packets get lost on purpose; then no probe is repeated, for the loss is what is measured."""
        return any(item.values[name] for item in self._active.values() for name in ("loss", "rate_kbit", "packets_s"))

    def apply(self, operation: SetImpairment) -> tuple[str, str]:
        """Set or remove an impairment: the class of the refusal or empty, and what was measured."""
        key = (operation.node, operation.interface)
        previous = dict(self._active[key].values) if key in self._active else {}
        self._clear(key)
        if operation.clear:
            return "", ""
        values = {name: getattr(operation, name) for name in _FIELDS}
        try:
            self._set(key, values)
            refusal, detail = self._measure(key, values)
        except OSError as error:
            refusal, detail = "unsupported", str(error)
        if refusal:
            self._clear(key)
            if previous:
                self._set(key, previous)
        return refusal, detail

    def _set(self, key: tuple[str, str], values: dict[str, float]) -> None:
        item = self._active[key] = Impaired(values)
        if (values["loss"] or values["delay_ms"] or values["rate_kbit"]) and self._netem(key, values):
            item.netem = True
            values = {**dict.fromkeys(_FIELDS, 0), "packets_s": values["packets_s"]}
        node, interface = key
        if values["rate_kbit"]:
            burst = max(int(values["rate_kbit"] * 1000 / 8 / 100), 3200)
            queue = ["tbf", "rate", f"{int(values['rate_kbit'])}kbit", "burst", str(burst), "latency", "50ms"]
            self._spaces.run(node, ["tc", "qdisc", "add", "dev", interface, "root", *queue])
        self._set_rules(key, values)
        # ARP gives up after three requests: with a delay they must be further apart.
        set_retransmission(self._spaces, RETRANSMISSION_MS + int(1000 * self.round_trip_s))
        if values["delay_ms"] or values["jitter_ms"]:
            far_node, far_interface = self._far[key]
            with self._spaces.inside(far_node):
                arrivals = relay.packet_socket(far_interface, offload=True)
            with self._spaces.inside(node):
                departures = relay.packet_socket(interface, kind=0, offload=True)
            with arrivals, departures:
                delay, jitter = values["delay_ms"], values["jitter_ms"]
                item.process = relay.start(arrivals, departures, delay_ms=delay, jitter_ms=jitter)

    def _netem(self, key: tuple[str, str], values: dict[str, float]) -> bool:
        if not _netem_works(self._spaces, key):
            return False
        arguments = ["netem", "delay", f"{values['delay_ms']}ms", f"{values['jitter_ms']}ms"]
        arguments += ["loss", f"{values['loss'] * 100}%"]
        if values["rate_kbit"]:
            arguments += ["rate", f"{int(values['rate_kbit'])}kbit"]
        self._spaces.run(key[0], ["tc", "qdisc", "add", "dev", key[1], "root", *arguments])
        return True

    def _set_rules(self, key: tuple[str, str], values: dict[str, float]) -> None:
        rules = []
        if values["delay_ms"] or values["jitter_ms"]:
            rules.append(f"ether saddr != {relay.MARK_TEXT} drop")
        if values["loss"]:
            rules.append(f"numgen random mod 10000 < {round(values['loss'] * 10000)} counter drop")
        if values["packets_s"]:
            rules.append(f"limit rate over {int(values['packets_s'])}/second burst 1 packets counter drop")
        if not rules:
            return
        far_node, far_interface = self._far[key]
        chain = f"{_TABLE} c_{far_interface}"
        hook = f"type filter hook ingress device {far_interface} priority 0; policy accept;"
        lines = [
            f"add table {_TABLE}",
            f"add chain {chain} {{ {hook} }}",
            *(f"add rule {chain} {rule}" for rule in rules),
        ]
        self._nft(far_node, "\n".join(lines) + "\n")

    def _nft(self, node: str, text: str) -> None:
        ran = self._spaces[node].programs_ran
        self._spaces.run(node, ["nft", "-f", "-"], feed=text)
        self._spaces[node].programs_ran = ran

    def _clear(self, key: tuple[str, str]) -> None:
        item = self._active.pop(key, None)
        if item is None:
            return
        if item.process:
            _end(item.process)
        if item.values["rate_kbit"] or item.netem:
            self._spaces.run(key[0], ["tc", "qdisc", "del", "dev", key[1], "root"])
        far_node, far_interface = self._far[key]
        try:
            self._nft(far_node, f"delete chain {_TABLE} c_{far_interface}\n")
        except OSError:
            return  # this impairment needed no rule

    def _measure(self, key: tuple[str, str], values: dict[str, float]) -> tuple[str, str]:
        """Send test frames over the link and compare what arrives with what was asked."""
        far_node, far_interface = self._far[key]
        with self._spaces.inside(far_node):
            arrivals = relay.packet_socket(far_interface)  # a bridge hides frames from sockets of one type
        with self._spaces.inside(key[0]):
            departures = relay.packet_socket(key[1], kind=0)
        with arrivals, departures:
            if values["delay_ms"] or values["jitter_ms"]:
                return _judge_delay(_delays(arrivals, departures, values), values)
            if values["rate_kbit"]:
                return _judge_rate(_throughput(arrivals, departures, values["rate_kbit"]), values["rate_kbit"])
        return self._measure_drops(key, values)

    def _measure_drops(self, key: tuple[str, str], values: dict[str, float]) -> tuple[str, str]:
        with self._spaces.inside(key[0]):
            departures = relay.packet_socket(key[1], kind=0)
        count = _LOSS_FRAMES if values["loss"] else int(min(values["packets_s"] * 2 + 20, 2000))
        before = self._dropped(key)
        with departures:
            for number in range(count):
                departures.send(relay.test_frame(number, 60))
        share = (self._dropped(key) - before) / count
        low, high = 0.05, 1.0
        if values["loss"]:
            margin = 5 * (max(values["loss"] * (1 - values["loss"]), 0.0001) / count) ** 0.5
            low, high = values["loss"] - margin, values["loss"] + margin
        detail = f"measured: {share:.1%} of {count} test frames dropped"
        return ("" if low <= share <= high + 1e-9 else "no-effect"), detail

    def _dropped(self, key: tuple[str, str]) -> int:
        far_node, far_interface = self._far[key]
        ran = self._spaces[far_node].programs_ran
        listing = self._spaces.run(far_node, ["nft", "list", "chain", *_TABLE.split(), f"c_{far_interface}"])
        self._spaces[far_node].programs_ran = ran
        words = listing.split()
        return sum(int(words[i + 1]) for i, word in enumerate(words) if word == "packets" and words[i + 1].isdigit())

    def close(self) -> None:
        """End all relays."""
        for item in self._active.values():
            if item.process:
                _end(item.process)
        self._active.clear()


def _end(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    except (ProcessLookupError, ChildProcessError):
        return


@lru_cache(maxsize=1)
def _netem_known(_: int) -> list[bool]:
    return []


def _netem_works(spaces: Spaces, key: tuple[str, str]) -> bool:
    known = _netem_known(os.getpid())
    if not known:
        try:
            spaces.run(key[0], ["tc", "qdisc", "add", "dev", key[1], "root", "netem", "delay", "1ms"])
            spaces.run(key[0], ["tc", "qdisc", "del", "dev", key[1], "root"])
            known.append(True)
        except OSError:
            known.append(False)
    return known[0]


def _arrive(arrivals: socket.socket, wait_s: float) -> list[tuple[float, int]]:
    found: list[tuple[float, int]] = []
    with select.epoll() as poll:
        poll.register(arrivals.fileno(), select.EPOLLIN)
        if not poll.poll(wait_s):
            return found
    while True:
        try:
            data, sender = arrivals.recvfrom(2048)
        except BlockingIOError:
            return found
        if sender[2] != relay.OUTGOING and data[12:14] == _TEST_TYPE:
            found.append((time.monotonic(), int.from_bytes(data[14:18], "big") if data[6:12] == relay.MARK else -1))


def _delays(arrivals: socket.socket, departures: socket.socket, values: dict[str, Any]) -> list[float]:
    found: list[float] = []
    limit = (values["delay_ms"] + values["jitter_ms"]) / 1000 + 0.5
    for number in range(_DELAY_FRAMES):
        started = time.monotonic()
        departures.send(relay.test_frame(number, 60))
        while time.monotonic() - started < limit:
            late = [moment - started for moment, sequence in _arrive(arrivals, limit) if sequence == number]
            if late:
                found.append(late[0] * 1000)
                break
    return found


def _judge_delay(found: list[float], values: dict[str, Any]) -> tuple[str, str]:
    if not found:
        return "no-effect", "measured: no delayed frame arrived"
    middle = sorted(found)[len(found) // 2]
    low = values["delay_ms"] - values["jitter_ms"]
    detail = f"measured: {middle:.1f} ms one way (median of {len(found)})"
    return ("" if middle >= low * 0.9 else "no-effect"), detail


def _throughput(arrivals: socket.socket, departures: socket.socket, rate_kbit: float) -> float:
    size, span, pause = 1000, 0.3, 0.005
    per_pause = min(int(rate_kbit * 1000 / 8 * pause * 2 / size) + 1, 200)
    count, number = 0, 0
    started = time.monotonic()
    while time.monotonic() - started < span:
        for _ in range(per_pause):  # twice the rate, in small portions: a queue would drop one large burst
            number += 1
            with suppress(OSError):
                departures.send(relay.test_frame(number, size))
        count += len(_arrive(arrivals, pause))
    return count * size * 8 / span / 1000


def _judge_rate(found: float, rate_kbit: float) -> tuple[str, str]:
    detail = f"measured: {found:.0f} kbit/s"
    return ("" if 0 < found <= rate_kbit * 1.5 + 150 else "no-effect"), detail
