"""What holds on this machine: the level by trial, one real attack per layer, and versions for a support request."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from nl2net.errors import Nl2netError, Unavailable
from nl2net.model import GraphClass, GraphSchema, Library
from nl2net.sandbox.channel.decode import BadFrame, parse_object
from nl2net.sandbox.outcome import Facts, GraphPayload, LayerReport, Level, Limits, Outcome, Task
from nl2net.sandbox.process import wire
from nl2net.sandbox.process.seal import HELD, describe
from nl2net.sandbox.process.worker import ENVIRONMENT
from nl2net.sandbox.service import GraphHolder, Sandbox, require_platform

_PACKAGES = ("nl2net", "networkx", "pandas", "numpy", "scipy", "duckdb", "RestrictedPython")
# On an idle machine a child is gone in 50 ms; the rest is room for a busy one.
_GONE_S = 1.0
_BOOT = "import sys; sys.path.extend(sys.argv[1:]); from nl2net.sandbox.process.trials import main; main()"
_WAYS_OUT = {
    "seccomp": "Use a kernel with CONFIG_SECCOMP_FILTER, or a container profile that allows the seccomp prctl.",
    "landlock": "Kernel 5.13 or later with landlock in the lsm= boot parameter; not required.",
    "namespaces": "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone); not required.",
    "mdwe": "Kernel 6.3 or later; not required, the seccomp filter refuses executable memory too.",
}
_SCHEMA = GraphSchema(GraphClass(directed=False, multi=False), nodes=3, edges=2)


@dataclass(frozen=True, slots=True)
class Trial:
    """One attack: the layer it is aimed at, what it tries, whether the layer held, and what was seen."""

    layer: str
    attack: str
    held: bool
    seen: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """State of the sandbox on this machine."""

    layers: LayerReport
    trials: tuple[Trial, ...]
    versions: dict[str, str]
    problem: str = ""

    @property
    def healthy(self) -> bool:
        """Whether programs can run here as promised."""
        return self.layers.level is Level.SEALED and not self.failed

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Attacks that got through a layer that this machine claims to have."""
        absent = {name for name, value in self.layers.layers.items() if value != HELD}
        return tuple(trial for trial in self.trials if not trial.held and trial.layer not in absent)

    def to_json(self) -> dict[str, Any]:
        """JSON form for a support request; holds no name of a user or a file."""
        return {
            "version": 1,
            "healthy": self.healthy,
            "level": self.layers.level.value,
            "layers": dict(self.layers.layers),
            "trials": [asdict(trial) for trial in self.trials],
            "versions": self.versions,
            "problem": self.problem,
        }


def examine() -> DoctorReport:
    """Find the level by trial and attack every layer; takes a few seconds.

    Examples
    --------
    >>> examine().layers.level.value in {"SEALED", "PARTIAL", "UNSEALED"}
    True
    """
    try:
        require_platform()
        with Sandbox(limits=Limits(wall_s=20.0, memory_mb=512)) as sandbox:
            layers = sandbox.layers()
            trials = [*_single_layers(), *_together(sandbox)]
    except Unavailable as error:
        return DoctorReport(LayerReport(Level.UNSEALED), (), versions(), f"{error.message} {error.hint}".strip())
    return DoctorReport(layers, tuple(trials), versions())


def way_out(layer: str) -> str:
    """What to do about a missing layer; empty where nothing is known."""
    return _WAYS_OUT.get(layer, "")


def summary(report: DoctorReport) -> str:
    """One line: level, layers, and what is missing."""
    return report.problem or describe(report.layers)


def versions() -> dict[str, str]:
    """Versions that matter for the sandbox."""
    found = {"python": platform.python_version(), "kernel": platform.release(), "machine": platform.machine()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _single_layers() -> list[Trial]:
    """Each layer alone, in a clean process that gives up the rights of root first."""
    paths = [entry for entry in sys.path if Path(entry).is_absolute()]
    done = subprocess.run(
        [sys.executable, "-s", "-P", "-c", _BOOT, *paths],
        capture_output=True,
        env=dict(ENVIRONMENT),
        timeout=60,
        check=False,
    )
    try:
        return [Trial(*row) for row in json.loads(done.stdout)]
    except (ValueError, TypeError):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return [Trial("trials", "run one attack per layer", False, said[-1] if said else "no answer")]


def _together(sandbox: Sandbox) -> Iterator[Trial]:
    import networkx as nx

    yield from _policy(sandbox)
    yield from _channel()
    with sandbox.open(GraphPayload(nx.path_graph(3), _SCHEMA, "doctor")) as holder:
        holder.ready()
        yield _deadline(holder)
        yield _parent_death(holder)
        report = holder.run(Task("def answer(graph):\n    return graph.number_of_edges()"))
        yield Trial("all", "an honest question after the attacks", report.value == 2, str(report.outcome))


def _policy(sandbox: Sandbox) -> Iterator[Trial]:
    attacks = {
        "reach a module": "def answer(graph):\n    import os\n    return 1",
        "a dunder attribute": "def answer(graph):\n    return graph.__class__",
        "a dunder by getattr": "def answer(graph):\n    return getattr(graph, '__cla' + 'ss__')",
        "a dunder in a format": "def answer(graph):\n    return '{0.__class__}'.format(graph)",
        "a method by its name": "def answer(graph):\n    return pd.Series([1]).agg('to_csv')",
    }
    for name, program in attacks.items():
        checked = sandbox.check(program, library=Library.NETWORKX, schema=_SCHEMA, facts=Facts())
        rules = [finding.rule for finding in checked.findings if finding.severity == "refuse"]
        if not rules:
            twin = sandbox.try_on_twin(
                program, library=Library.NETWORKX, schema=_SCHEMA, facts=Facts(), placeholders=()
            )
            rules = ["at run time"] if twin.outcome is Outcome.REFUSED else []
        yield Trial("policy", name, bool(rules), f"refused: {rules[0]}" if rules else "ran")


def _channel() -> Iterator[Trial]:
    honest = b"\0\0\0\x02{}"
    yield Trial("channel", "a forged third frame", len(wire.split_frames(honest * 3, most=2)) == 2, "ignored")
    cut = wire.split_frames(b"\xff\xff\xff\xff{}", most=2)
    yield Trial("channel", "a frame longer than the bytes", not cut, "dropped")
    for name, body in (("not JSON", b"{"), ("NaN", b'{"a": NaN}'), ("deep nesting", b'{"a":' + b"[" * 100_000)):
        try:
            parse_object(body, {"a": list})
            yield Trial("channel", name, False, "accepted")
        except BadFrame:
            yield Trial("channel", name, True, "dropped")


def _deadline(holder: GraphHolder) -> Trial:
    program = "def answer(graph):\n    while True:\n        pass"
    started = time.monotonic()
    report = holder.run(Task(program), limits=Limits(wall_s=0.5))
    late = time.monotonic() - started - 0.5
    children = _children(holder.number)
    held = report.outcome is Outcome.TIME and not children
    return Trial("deadline", "run past the limit", held, f"gone {1000 * late:.0f} ms after the deadline")


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _runs(process: int) -> bool:
    """Whether a process is there and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _parent_death(holder: GraphHolder) -> Trial:
    """Kill the holder while a child runs: the child must go with it."""
    program = "def answer(graph):\n    while True:\n        pass"
    ended = threading.Event()

    def ask() -> None:
        try:
            holder.run(Task(program), limits=Limits(wall_s=1.0))
        except Nl2netError:
            pass
        finally:
            ended.set()

    threading.Thread(target=ask, daemon=True).start()
    process, limit = holder.number, time.monotonic() + 5.0
    while not (children := _children(process)) and time.monotonic() < limit:
        time.sleep(0.005)
    if not children:
        return Trial("parent death", "kill the holder", False, "no child was seen")
    time.sleep(0.1)  # let it pass the seal
    os.kill(process, signal.SIGKILL)
    killed = time.monotonic()
    while (left := [child for child in children if _runs(child)]) and time.monotonic() < killed + _GONE_S:
        time.sleep(0.005)
    took = 1000 * (time.monotonic() - killed)
    ended.wait(30)
    return Trial(
        "parent death", "kill the holder", not left, f"child {'left behind' if left else 'gone'} after {took:.0f} ms"
    )
