"""Shared fixtures: an isolated home, and the sample data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nl2net.locations import Locations

# Before numpy is loaded: two workers on two cores gain nothing from threads, and a test that forks must not meet the
# thread pool of a linear algebra library half way.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Real topologies, flow logs, traces and notes; laid beside the checkout, not part of it.
SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    """Folders of an installation that nothing else uses."""
    return Locations(tmp_path / "config", tmp_path / "data", tmp_path / "cache", tmp_path / "run")
