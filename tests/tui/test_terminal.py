"""The application in a real terminal: tmux types a question and reads the screen."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from tests.tui.driving import COUNT

pytestmark = pytest.mark.slow
TMUX = shutil.which("tmux") or ""


def test_a_question_typed_in_tmux_is_answered_on_the_screen(tmp_path: Path) -> None:
    if not TMUX:
        if "CI" in os.environ:
            pytest.fail("no tmux on this machine; CI must have one")
        pytest.skip("no tmux on this machine: the real terminal is NOT tested here")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tui.json").write_text(json.dumps({"toured": True}))
    with ScriptedServer([COUNT]) as server:
        environment = {
            "NL2NET_HOME": str(tmp_path), "NL2NET_MODEL": "scripted", "NL2NET_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "k", "TERM": "xterm-256color",
        }  # fmt: skip
        words = ["env", *(f"{name}={value}" for name, value in environment.items())]
        words += [sys.executable, "-c", "from nl2net.cli import main; main(['tui', '--graph', 'abilene'])"]

        def tmux(*arguments: str) -> str:
            command = [TMUX, "-S", str(tmp_path / "socket"), "-f", "/dev/null", *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        def until(condition: Callable[[str], bool]) -> str:
            for _ in range(300):
                screen = tmux("capture-pane", "-p", "-t", "t")
                if condition(screen):
                    return screen
                time.sleep(0.2)
            raise AssertionError(screen)

        tmux("new-session", "-d", "-s", "t", "-x", "120", "-y", "40", shlex.join(words))
        try:
            until(lambda screen: "abilene" in screen and "Seattle" in screen)
            tmux("send-keys", "-t", "t", "-l", "What is the frobnication index of this network?")
            tmux("send-keys", "-t", "t", "Enter")
            screen = until(lambda screen: "answered" in screen and "number_of_edges" in screen)
            assert "● 14" in screen and "def answer(graph):" in screen and "sent " in screen
            tmux("send-keys", "-t", "t", "C-q")
            for _ in range(50):
                if "t" not in subprocess.run(
                    [TMUX, "-S", str(tmp_path / "socket"), "list-sessions"], capture_output=True, text=True
                ).stdout.split(":"):
                    break
                time.sleep(0.2)
        finally:
            subprocess.run([TMUX, "-S", str(tmp_path / "socket"), "kill-server"], capture_output=True)
