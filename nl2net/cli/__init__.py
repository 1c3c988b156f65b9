"""The command line: one small file per command, heavy imports inside the command.

stdout carries the result and nothing else; progress, notes and errors go to stderr.
"""

from __future__ import annotations

from nl2net.cli.main import main

__all__ = ["main"]
