"""One thread for the linear algebra, as the commands do it themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nl2net.curriculum.threads import one_thread


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield
