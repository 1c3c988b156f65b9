"""Corpora of the incident tests: the given one, and invented notes of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2net.incident.corpus import Corpus
from tests.conftest import SHARED

GIVEN = SHARED / "incident"
OWN = Path(__file__).parent / "data"


def open_corpus(folder: Path) -> Corpus:
    """A corpus with its index in memory."""
    corpus = Corpus(folder, index=":memory:")
    assert corpus.refresh().damaged == ()
    return corpus


@pytest.fixture(scope="session")
def given() -> Iterator[Corpus]:
    """The given corpus; its absence is an error, not a skip."""
    with open_corpus(GIVEN) as corpus:
        yield corpus


@pytest.fixture(scope="session")
def own() -> Iterator[Corpus]:
    """Invented notes on five incidents."""
    with open_corpus(OWN) as corpus:
        yield corpus


@pytest.fixture
def make_corpus(tmp_path: Path) -> Iterator[object]:
    """A function from file names and texts to a corpus."""
    opened: list[Corpus] = []

    def make(**files: str) -> Corpus:
        folder = tmp_path / "corpus"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        corpus = open_corpus(folder)
        opened.append(corpus)
        return corpus

    yield make
    for corpus in opened:
        corpus.index.close()
