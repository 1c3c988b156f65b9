"""The history survives crashes, other processes and old files."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nl2net.assistant.store import MIGRATIONS, Store
from nl2net.errors import DataError, UserError

GRAPH = {"name": "plant", "fingerprint": "sha256:1", "schema_hash": "abc"}


def test_a_turn_is_kept_with_its_events(tmp_path: Path) -> None:
    path = tmp_path / "data" / "history.sqlite3"
    store = Store(path)
    turn = store.begin("how many?", graph=GRAPH, conversation="c1")
    store.event(turn, "sample", {"program": "x"})
    store.finish(turn, {"status": "answered", "library": "networkx"}, masked="how many?", program="p", bound="b")
    store.close()
    again = Store(path)
    assert again.get(turn).status == "answered"
    assert [event["stage"] for event in again.events(turn)] == ["sample"]
    assert again.turns(search="many")[0].id == turn
    assert again.turns(search="nothing like it") == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again.close()


def test_kill_9_loses_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom nl2net.assistant.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        f"turn = store.begin('lost?', graph={GRAPH!r}, conversation='c')\n"
        "store.event(turn, 'prompt', {'text': 'kept'})\n"
        "print(turn, flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    store = Store(path)
    turn = store.get(int(done.stdout))
    assert (turn.question, turn.status) == ("lost?", None)
    assert store.events(turn.id)[0]["text"] == "kept"
    store.close()


def test_migrations_run_once_and_newer_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    Store(path).close()
    Store(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(DataError, match="newer nl2net"):
        Store(path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(DataError, match=r"history\.sqlite3"):
        Store(path)


def test_unknown_turns_are_an_error_of_the_user(tmp_path: Path) -> None:
    store = Store(tmp_path / "history.sqlite3")
    with pytest.raises(UserError):
        store.get(7)
    with pytest.raises(UserError):
        store.approve(7, "approved")
    store.close()


def test_old_turns_are_forgotten_but_followed_ones_stay_whole(tmp_path: Path) -> None:
    times = iter(["2020-01-01T00:00:00.000+00:00", "2999-01-01T00:00:00.000+00:00"])
    store = Store(tmp_path / "history.sqlite3", clock=lambda: next(times))
    old = store.begin("old", graph=GRAPH, conversation="c")
    new = store.begin("new", graph=GRAPH, conversation="c", parent=old)
    assert store.forget_older_than(30) == 1
    assert store.get(new).parent is None
    store.close()


def test_two_processes_may_write(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    code = (
        "import sys\nfrom pathlib import Path\nfrom nl2net.assistant.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        f"for i in range(30): store.begin(str(i), graph={GRAPH!r}, conversation='c')\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(path)], env=dict(os.environ)) for _ in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    store = Store(path)
    assert len(store.turns(limit=100)) == 60
    store.close()
