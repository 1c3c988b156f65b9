"""Loss, delay, jitter and rate on what leaves an interface, each measured after it was set.

``tc netem`` is used where this kernel has it. Elsewhere: loss and packet rate by nft on the frames that arrive at the
far end, byte rate by ``tc tbf``, delay and jitter by a relay.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from nl2net.emulator.kernel import relay
from nl2net.emulator.kernel.measure import (
    Line,
    delays,
    judge_delay,
    judge_limit,
    judge_loss,
    judge_rate,
    lost_share,
    send_frames,
    throughput,
)
from nl2net.emulator.kernel.spaces import RETRANSMISSION_MS, Spaces, set_retransmission
from nl2net.emulator.operations import SetImpairment
from nl2net.emulator.topology import Topology

_FIELDS = ("loss", "delay_ms", "jitter_ms", "rate_kbit", "packets_s")
_TABLE = "netdev nl2net_impair"
LOSS_FRAMES = 400


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
            refusal, detail = self._measure(key, self._active[key])
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
        if item.values["delay_ms"] or item.values["jitter_ms"]:
            set_retransmission(self._spaces, RETRANSMISSION_MS + int(1000 * self.round_trip_s))
        if item.values["rate_kbit"] or item.netem:
            self._spaces.run(key[0], ["tc", "qdisc", "del", "dev", key[1], "root"])
        far_node, far_interface = self._far[key]
        try:
            self._nft(far_node, f"delete chain {_TABLE} c_{far_interface}\n")
        except OSError:
            return  # this impairment needed no rule

    def _measure(self, key: tuple[str, str], item: Impaired) -> tuple[str, str]:
        """Send test frames over the link and compare what arrives with what was asked; all that can be told apart."""
        values, details = item.values, []
        if values["delay_ms"] or values["jitter_ms"]:
            with self._line(key) as line:
                details.append(judge_delay(delays(line, values, relayed=not item.netem), values))
        elif values["rate_kbit"]:
            with self._line(key) as line:
                details.append(judge_rate(throughput(line, values["rate_kbit"]), values["rate_kbit"]))
        if values["loss"] and not values["rate_kbit"]:
            details.append(judge_loss(self._share_lost(key, item, LOSS_FRAMES), values["loss"]))
        elif values["packets_s"]:
            details.append(judge_limit(self._share_lost(key, item, int(min(values["packets_s"] * 2 + 20, 2000)))))
        refusal = next((found for found, _ in details if found), "")
        return refusal, "measured: " + ", ".join(text for _, text in details)

    @contextmanager
    def _line(self, key: tuple[str, str]) -> Iterator[Line]:
        far_node, far_interface = self._far[key]
        with self._spaces.inside(far_node):
            arrivals = relay.packet_socket(far_interface)  # a bridge hides frames from sockets of one type
        with self._spaces.inside(key[0]):
            departures = relay.packet_socket(key[1], kind=0)
        with arrivals, departures:
            yield Line(arrivals, departures)

    def _share_lost(self, key: tuple[str, str], item: Impaired, count: int) -> float:
        """Share of test frames that were dropped: counted by the rule, or by what arrives where netem drops."""
        delay_s = (item.values["delay_ms"] + item.values["jitter_ms"]) / 1000
        if item.netem and not item.values["packets_s"]:
            with self._line(key) as line:
                return lost_share(line, count, wait_s=delay_s + 0.2)
        before = self._dropped(key)
        with self._line(key) as line:
            send_frames(line, count)
            time.sleep(delay_s * 1.2 + (0.05 if delay_s else 0))
        return (self._dropped(key) - before) / count

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
