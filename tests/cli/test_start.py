"""The command line starts fast: nothing heavy is imported for `--help`."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("networkx", "pandas", "numpy", "textual", "openai", "pydantic", "matplotlib", "duckdb")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from nl2net.cli.main import build_app\n"
        "try:\n    build_app()(args=['--help'])\n"
        "except SystemExit as stop:\n    assert stop.code == 0\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
    assert "Ask questions about private networks" in done.stdout
