"""Where the shared sample data lies: beside the checkout, not part of it."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
