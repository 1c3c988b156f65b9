"""`nl2net emulate` as a user types it, and the pictures it draws."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nl2net.emulator import Matrix, Probe, Reason, build, online_boutique, star
from nl2net.emulator.daemon import call, socket_path
from nl2net.emulator.picture import draw_matrix, matrix_text
from nl2net.locations import default_locations

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(isolated_home: Path) -> Iterator[Run]:
    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", "from nl2net.cli import main; main()", "emulate", *arguments]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)

    yield command
    command("down")


def test_a_whole_session(run: Run, tmp_path: Path) -> None:
    up = run("up", "star", "--backend", "simulated")
    assert up.returncode == 0, up.stderr
    assert up.stdout == "star: 10 nodes and 9 links up, simulated backend\n"
    path = socket_path(default_locations(), "default")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert run("up", "ring").returncode == 2
    assert "42 of 42 pairs reach (100.0 %)" in run("ping").stdout
    changed = run("apply", '{"op": "set_link", "node": "r1", "interface": "eth2", "up": false}')
    assert changed.stdout.startswith("accepted\n  undo: {")
    picture = tmp_path / "matrix.png"
    measured = run("ping", "--json", "--png", str(picture))
    assert 0 < json.loads(measured.stdout)["loss"] < 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "ended: net-unreachable at r1" in run("trace", "h11", "h21").stdout
    assert run("exec", "r1", "ip link set eth2 up").returncode == 0
    assert run("trace", "h11", "h21").stdout.endswith("reached\n")
    assert "1 of 1 pairs reach" in run("ping", "--tcp", "h11", "h21", "80").stdout
    assert run("exec", "r1", "false").returncode == 1
    assert run("routing", "ospf").returncode == 5  # the simulator has none, and says so
    assert run("ping", "h11").returncode == 2
    assert run("trace", "h11", "nobody").returncode == 2
    assert run("apply", "{").returncode == 2
    assert run("down").returncode == 0
    assert run("ping").returncode == 2
    assert not path.exists()


@pytest.mark.kernel
def test_the_kernel_behind_the_socket(run: Run, shell: str) -> None:
    up = run("up", "online-boutique", "--json")
    assert json.loads(up.stdout)["backend"] == "kernel"
    assert "39 of 144 pairs reach" in run("ping", "--tcp").stdout
    assert run("exec", "frontend", "ip -o -4 addr show eth0").stdout.split()[3] == "10.244.0.10/32"
    assert run("exec", "frontend", "sleep 9", "--timeout", "0.3").returncode == 4
    assert run("down").stdout == "down\n"


def test_topology_files_and_graphs(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "ring.json"
    assert run("build", "ring", "--out", str(out)).returncode == 0
    assert run("up", str(out), "--backend", "simulated").stdout.startswith("ring: 8 nodes")
    run("down")
    graph = tmp_path / "net.json"
    assert run("build", "abilene", "--out", str(graph)).returncode == 0
    assert len(json.loads(graph.read_text(encoding="utf-8"))["nodes"]) >= 11
    assert run("up", str(graph), "--backend", "simulated").returncode == 0
    assert "(100.0 %)" in run("ping").stdout
    run("down")
    out.write_text("{", encoding="utf-8")
    assert run("up", str(out)).returncode == 2
    assert run("up", "no-such-thing").returncode == 2
    assert run("up", "star", "--backend", "mininet").returncode == 5


def test_it_ends_by_itself(run: Run) -> None:
    assert run("up", "star", "--backend", "simulated", "--idle", "0.5").returncode == 0
    limit = time.monotonic() + 20
    path = socket_path(default_locations(), "default")
    while path.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not path.exists()


def test_a_broken_caller_does_not_end_the_network(run: Run) -> None:
    assert run("up", "star", "--backend", "simulated").returncode == 0
    path = socket_path(default_locations(), "default")
    for data in (b"", b"\xff\xff\xff\xff", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x02{}", b"\x00\x00"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(data)
    assert call(path, "info")["name"] == "star"


def test_text_of_a_matrix() -> None:
    matrix = Matrix(
        (
            Probe("a", "b", True),
            Probe("a", "c", False, Reason.TIMEOUT),
            Probe("b", "a", False, Reason.FRAG_NEEDED, "r"),
        ),
        "simulated",
    )
    assert matrix_text(matrix).splitlines() == [
        "from / to   1 2 3",
        "a           - # .  1 a",
        "b           m - -  2 b",
        "                   3 c",
        "1 of 3 pairs reach (33.3 %), simulated backend",
        "# reaches  m frag-needed  . timeout",
    ]
    wide = Matrix(tuple(Probe("a", f"n{i}", False, Reason.TIMEOUT) for i in range(60)), "kernel")
    assert "... and 40 more losses" in matrix_text(wide)
    assert matrix_text(wide).endswith("60 x timeout")
    assert matrix_text(Matrix((), "kernel")).startswith("from / to")
    assert Matrix.from_json(json.loads(json.dumps(matrix.to_json()))) == matrix


def test_pictures_of_any_size(tmp_path: Path) -> None:
    with build(online_boutique(), backend="simulated") as network:
        draw_matrix(network.tcp_matrix(), tmp_path / "a.png", title="Boutique")
    with build(star(subnets=4, hosts=20), backend="simulated") as network:
        draw_matrix(network.ping_matrix(), tmp_path / "b.png", title="Large")
    assert (tmp_path / "a.png").stat().st_size > 5000
    assert (tmp_path / "b.png").stat().st_size > 3000
