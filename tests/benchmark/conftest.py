"""Items, a sandbox and a scripted model that the tests of the benchmark share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2net.benchmark.items import Item, Order, make_items
from nl2net.benchmark.programs import ProgramRunner


@pytest.fixture(scope="session")
def runner() -> Iterator[ProgramRunner]:
    made = ProgramRunner()
    yield made
    made.close()


@pytest.fixture(scope="session")
def traffic() -> list[Item]:
    return make_items(Order(("traffic",), 24, seed="tests")).items


@pytest.fixture(scope="session")
def planning() -> list[Item]:
    return make_items(Order(("planning",), 40, seed="tests")).items


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own, without any endpoint."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "NL2NET_MODEL", "NL2NET_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NL2NET_HOME", str(tmp_path / "home"))
    return tmp_path
