"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import nl2net.incident

MODULES = [m.name for m in pkgutil.walk_packages(nl2net.incident.__path__, "nl2net.incident.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
