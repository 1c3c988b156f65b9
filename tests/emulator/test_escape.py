"""Command lines that try to get out of a node: nothing of this machine may be read, changed or reached."""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.emulator.escapes import Attack, attacks

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
WAYS = ("bubblewrap", "namespaces")

# Builds a network and runs lines in one of its nodes, kept apart in the way that is asked for.
_RUNNER = """
import json, os, sys
from nl2net.emulator import star
from nl2net.emulator.expand import expand
from nl2net.emulator.kernel import shell, system
from nl2net.emulator.kernel.network import Network
request = json.load(sys.stdin)
system.enter()
shell.MAX_TOTAL_MEMORY = request.get("memory", shell.MAX_TOTAL_MEMORY)
network = Network(expand(star(subnets=2, hosts=1)))
found = []
for line in request["lines"]:
    done = shell.run_line(network.spaces, network._servers, ("h11", line), timeout_s=request["timeout_s"],
                          limit=65536, by=shell.Way(request["way"]), extra=tuple(request["extra"]))
    found.append(done.to_json())
loss = sum(reason != "ok" for reason, _, _ in network.ping([("h11", "h21")], 0.3))
network.close()
os.write(1, json.dumps([found, loss]).encode())
"""


@dataclass
class Prey:
    """What of this machine the attacks are after."""

    folder: Path
    token: str
    port: int
    pid: int
    listeners: list[socket.socket]
    keys: bool

    @property
    def values(self) -> dict[str, str]:
        return {"folder": str(self.folder), "port": str(self.port), "pid": str(self.pid)}

    def touched(self) -> bool:
        """Whether a listener was reached since the last look."""
        ready = select.select(self.listeners, [], [], 0.05)[0]
        for listener in ready:
            if listener.type == socket.SOCK_STREAM:
                listener.accept()[0].close()
            else:
                listener.recv(100)
        return bool(ready)

    def reached(self, attack: Attack, output: str) -> bool:
        """Whether an attack got out, by any of the signs."""
        mark = self.folder / "mark"
        there = mark.exists()
        mark.unlink(missing_ok=True)
        return self.touched() or there or self.token in output or (attack.sign == "word" and "REACHED" in output)


def add_session_key(token: str) -> bool:
    """Put the token into a session keyring of this process, which its children inherit."""
    if os.uname().machine != "x86_64":
        return False
    libc = ctypes.CDLL(None)
    libc.syscall(250, 1, None)
    made: int = libc.syscall(248, b"user", b"nl2net-canary", token.encode(), len(token), -3)
    return made > 0


@pytest.fixture
def prey(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prey]:
    # Not below the folder of the tests, which only its owner may enter: that would hold without any wall.
    folder = Path(tempfile.mkdtemp(prefix="escape-"))
    folder.chmod(0o777)
    token = secrets.token_hex(12)
    (folder / "secret").write_text(token + "\n", encoding="ascii")
    (folder / "secret").chmod(0o644)
    monkeypatch.setenv("ESCAPE_CANARY", token)
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port = tcp.getsockname()[1]
    udp.bind(("127.0.0.1", port))
    listeners = [tcp, udp]
    for name in (str(folder / "socket"), f"\0escape-probe-{port}"):
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(name)
        listeners[-1].listen()
    (folder / "socket").chmod(0o777)
    with subprocess.Popen(["sleep", "600"]) as victim:
        yield Prey(folder, token, port, victim.pid, listeners, add_session_key(token))
        assert victim.poll() is None, "an attack killed a process of this machine"
        victim.kill()
    for listener in listeners:
        listener.close()
    shutil.rmtree(folder)


def run_lines(prey: Prey, lines: list[str], way: str, **more: Any) -> tuple[list[dict[str, Any]], int]:
    """Outcome of each line in a node, and the loss of a ping afterwards."""
    request = {"lines": lines, "way": way, "extra": [], "timeout_s": 10, "token": prey.token, **more}
    done = subprocess.run(
        [sys.executable, "-c", _RUNNER],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    found, loss = json.loads(done.stdout)
    return found, loss


@pytest.mark.parametrize("way", WAYS)
def test_no_line_gets_out(shell: str, prey: Prey, way: str) -> None:
    # One run per sign that stays, so that a mark or a touch belongs to its line.
    table = attacks(prey.values)
    found, loss = run_lines(prey, [attack.line for attack in table], way)
    out = [
        attack.name
        for attack, result in zip(table, found, strict=True)
        if prey.token in result["output"] or "REACHED" in result["output"]
    ]
    print("\n".join(f"{attack.name:45} {result['status']:4}" for attack, result in zip(table, found, strict=True)))
    assert not out
    assert not (prey.folder / "mark").exists()
    assert not prey.touched()
    assert loss == 0
    assert {path.name for path in prey.folder.iterdir()} == {"secret", "socket"}


def test_the_lines_have_teeth(shell: str, prey: Prey) -> None:
    """In a plain shell, those that ask for nothing but an open door find it."""
    for attack in attacks(prey.values):
        if attack.teeth:
            line = ["bash", "-c", attack.line]
            done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, errors="replace")
            if not prey.keys and "session key" in attack.name:
                continue  # a container that forbids keyrings
            assert prey.reached(attack, done.stdout), attack.name


@pytest.mark.parametrize("way", WAYS)
def test_nothing_can_be_used_up(shell: str, prey: Prey, way: str) -> None:
    fill = (
        "for d in / /dev /dev/shm /tmp /run /var/tmp /usr /etc /proc; do for i in 1 2 3 4; do "
        "head -c 31000000 /dev/zero > $d/fill$i; done; done 2>/dev/null; du -scm /tmp /run /dev/shm | tail -1"
    )
    hogs = "for i in 1 2 3 4; do perl -e '$x = \"x\" x 150e6; sleep 60' & done; wait"
    lines = [
        "yes",
        "bomb() { bomb | bomb & }; bomb; wait",
        hogs,
        "exec >/dev/null 2>&1; sleep 60",
        "setsid sleep 60 & sleep 60",
        fill,
    ]
    found, loss = run_lines(prey, lines, way, timeout_s=6, memory=400 << 20)
    flood, bomb, memory, asleep, child, disk = found
    assert flood["truncated"]
    assert len(flood["output"]) == 65536
    assert not flood["timed_out"]  # ended by the amount
    assert bomb["wall_s"] < 30
    assert memory["status"] == -1
    assert "more than 400 MiB" in memory["output"]
    assert memory["wall_s"] < 6
    assert asleep["timed_out"]
    assert child["timed_out"]
    assert int(disk["output"].split()[0]) <= 3 * 32
    assert loss == 0


@pytest.mark.parametrize("way", WAYS)
def test_useful_lines_still_work(shell: str, prey: Prey, way: str) -> None:
    lines = [
        "ip -br addr show eth0; ip route",
        "iptables -A INPUT -p tcp --dport 81 -j DROP && iptables -S INPUT",
        "nft list ruleset | head -3",
        "sysctl -w net.ipv4.ip_forward=1",
        "ping -c1 -W1 10.0.1.1",
        "echo kept > /tmp/a; cat /tmp/a; exit 7",
        "kill -9 -1; kill -9 1; kill -9 $PPID; echo alive",
    ]
    found, _ = run_lines(prey, lines, way)
    assert "10.0.1.2/24" in found[0]["output"]
    assert "--dport 81" in found[1]["output"]
    assert "table ip filter" in found[2]["output"]
    assert found[3]["status"] == 0
    assert "1 received" in found[4]["output"]
    assert (found[5]["status"], found[5]["output"]) == (7, "kept\n")
    assert found[6]["wall_s"] < 5


# The families whose goal lies outside the interpreter; what a program may do to itself is no concern of a shell.
_FAMILIES = ("fileread", "filewrite", "network", "spawn", "env", "crash")
_SNIPPETS = """
import json, os, signal, sys
import collections, itertools, math, re, statistics
import networkx as nx, numpy as np, pandas as pd
modules = dict(nx=nx, np=np, pd=pd, collections=collections, itertools=itertools, math=math, re=re,
               statistics=statistics)
for number, source in json.loads(sys.argv[1]):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        try:
            space = dict(modules)
            exec(compile(source, "snippet", "exec"), space)
            print(number, "ran", repr(space["answer"](nx.cycle_graph(12)))[:200])
        except BaseException as error:
            print(number, "stopped", type(error).__name__)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
print("done")
"""


def open_to_all(path: Path) -> bool:
    """Whether an ordinary user may enter a path and all folders above it."""
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (path, *path.parents))


@pytest.mark.parametrize("way", WAYS)
def test_the_escape_corpus_stays_inside(shell: str, prey: Prey, way: str) -> None:
    """The hostile programs of the sandbox, with every module they wish for and no wall but that of the node."""
    harness = pytest.importorskip("tests.escape.harness")
    if not harness.FOLDER.is_dir():
        pytest.skip(f"ESCAPE CORPUS NOT RUN: {harness.FOLDER} is not there")
    import networkx

    site = Path(networkx.__file__).resolve().parents[1]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    programs = [Path(sys.executable).resolve(), *(Path(folder, version) for folder in ("/usr/bin", "/usr/local/bin"))]
    program = next((path for path in programs if path.exists() and open_to_all(path)), None)
    if program is None or not open_to_all(site):
        pytest.skip(f"ESCAPE CORPUS NOT RUN: an ordinary user may not read {program or version} or {site}")
    values = {
        "SECRET_PATH": str(prey.folder / "secret"),
        "WRITE_PATH": str(prey.folder / "mark"),
        "MARK_PATH": str(prey.folder / "mark"),
        "PROC_ROOT": "/proc",
        "PROC_ENV": "/proc/self/environ",
        "TOUCH_PATH": "/usr/bin/touch",
        "PORT": prey.port,
    }
    chosen = [item for item in harness.corpus() if item.family in _FAMILIES]
    items = json.dumps([[item.number, harness.with_values(item.source, values)] for item in chosen])
    words = shlex.join([str(program), "-W", "ignore", "-c", _SNIPPETS, items])
    line = f"export OPENBLAS_NUM_THREADS=1 PYTHONPATH={shlex.quote(str(site))}; {words}"
    extra = [str(site), *([] if program.is_relative_to("/usr") else [sys.base_prefix])]
    (result,), loss = run_lines(prey, [line], way, extra=extra, timeout_s=120)
    output = result["output"]
    assert output.rstrip().endswith("done"), output[-2000:]
    assert len(chosen) > 40
    assert prey.token not in output
    assert {path.name for path in prey.folder.iterdir()} == {"secret", "socket"}
    assert not prey.touched()
    assert loss == 0
