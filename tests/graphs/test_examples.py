"""The examples in the docstrings of the package run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import nl2net.graphs

MODULES = [module.name for module in pkgutil.walk_packages(nl2net.graphs.__path__, "nl2net.graphs.")]


@pytest.mark.parametrize("name", ["nl2net.cli.graph_options", "nl2net.display", *MODULES])
def test_examples(name: str) -> None:
    outcome = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


def test_there_are_examples() -> None:
    modules = map(import_module, MODULES)
    assert sum(bool(test.examples) for module in modules for test in doctest.DocTestFinder().find(module)) >= 20
