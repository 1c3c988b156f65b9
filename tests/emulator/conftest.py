"""Fixtures of the emulator's tests: the kernel backend where it works, a loud skip elsewhere, a failure in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2net.emulator.capability import capabilities, kernel_refusal


@pytest.fixture(autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for sockets and the capability cache, shared by the tests of one run."""
    home = tmp_path_factory.getbasetemp() / "emulator-home"
    monkeypatch.setenv("NL2NET_HOME", str(home))
    return home


@pytest.fixture
def kernel(isolated_home: Path) -> Iterator[str]:
    """The name of the kernel backend, or a skip that says why it does not work here."""
    refusal = kernel_refusal()
    if refusal is not None:
        message = f"KERNEL BACKEND NOT TESTED: {refusal.name}: {refusal.reason}. {refusal.advice}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    yield "kernel"


@pytest.fixture
def shell(kernel: str) -> str:
    """The kernel backend, where bubblewrap works as well."""
    bubblewrap = next(item for item in capabilities() if item.name == "bubblewrap")
    if not bubblewrap.works:
        message = f"COMMANDS IN NODES NOT TESTED: {bubblewrap.reason}. {bubblewrap.advice}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return kernel
