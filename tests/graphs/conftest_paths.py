"""Where the shared sample data lies."""

from pathlib import Path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
