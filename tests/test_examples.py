"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import nl2net

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
# Programs that run on import, and modules of extras that may be absent.
SKIPPED = (
    "nl2net.notebook",
    "nl2net.mcp_server",
    "nl2net.llm.engine",
    "nl2net.llm.serving",
    "nl2net.segmentation.engines",
    "nl2net.curriculum.environments.stable_baselines",  # the extra `reference`, which tests do not install
)
PARTS = sorted(module.name for module in pkgutil.iter_modules(nl2net.__path__, "nl2net."))


@pytest.mark.parametrize("part", PARTS)
def test_examples(part: str) -> None:
    failed = []
    for name in [part, *_below(part)]:
        if name.startswith(SKIPPED) or name.endswith("__main__"):
            continue
        result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
        if result.failed:
            failed.append(name)
    assert failed == []


def _below(part: str) -> list[str]:
    package = importlib.import_module(part)
    paths = getattr(package, "__path__", [])
    return [module.name for module in pkgutil.walk_packages(paths, f"{part}.")]
