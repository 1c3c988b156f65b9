"""The index: incremental, safe against query syntax, fine with one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2net.errors import DataError, UserError
from nl2net.incident.corpus import Corpus


def _write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_only_changes_are_read(tmp_path: Path) -> None:
    folder, index = tmp_path / "c", tmp_path / "i.sqlite3"
    _write(folder, "a.md", "# Alpha\n- Alpha failed.\n")
    _write(folder, "b.md", "# Beta\n- Beta failed.\n")
    with Corpus(folder, index=index) as corpus:
        assert (corpus.refresh().added, corpus.refresh().unchanged) == (2, 2)
    _write(folder, "b.md", "# Gamma\n- Gamma failed badly.\n")
    (folder / "a.md").unlink()
    with Corpus(folder, index=index) as corpus:
        done = corpus.refresh()
        assert (done.added, done.removed) == (1, 1)
        assert [hit.doc for hit in corpus.search("gamma")] == ["b.md"]
        assert corpus.search("alpha") == []
        assert corpus.search("beta", limit=5) == []


@pytest.mark.parametrize(
    "question", ['"', "NEAR(a b)", "a AND (b", "title:x*", "^a OR -b", "", "the of and", "'; DROP TABLE documents;--"]
)
def test_queries_are_no_syntax(tmp_path: Path, question: str) -> None:
    _write(tmp_path / "c", "a.md", "# Alpha\n- Alpha failed.\n")
    with Corpus(tmp_path / "c", index=":memory:") as corpus:
        corpus.refresh()
        assert isinstance(corpus.search(question), list)
        assert len(corpus.index) == 1


def test_entities_meet_in_any_spelling(tmp_path: Path) -> None:
    _write(tmp_path / "c", "a.txt", "Path through AS 64510 for 192.0.2.0/26.")
    _write(tmp_path / "c", "b.txt", "Nothing here but words about routing.")
    with Corpus(tmp_path / "c", index=":memory:") as corpus:
        corpus.refresh()
        assert [hit.doc for hit in corpus.search("AS64510")] == ["a.txt"]
        # A prefix is found through one that covers it.
        assert [hit.doc for hit in corpus.search("192.0.2.0/24")] == ["a.txt"]


def test_keys_and_pages_about_the_folder_are_no_documents(tmp_path: Path) -> None:
    for name in ("questions.json", "labels.json", "README.md", "x.facts.json"):
        _write(tmp_path / "c", name, "Alpha failed.")
    with Corpus(tmp_path / "c", index=":memory:") as corpus:
        corpus.refresh()
        assert corpus.index.ids() == []
        assert set(corpus.index.skipped()) == {"questions.json", "labels.json", "README.md", "x.facts.json"}


def test_a_damaged_file_stops_nothing(tmp_path: Path) -> None:
    _write(tmp_path / "c", "bad.md", "---\na: [1\n---\n")
    _write(tmp_path / "c", "good.md", "# Good\n- It holds.\n")
    with Corpus(tmp_path / "c", index=":memory:") as corpus:
        done = corpus.refresh()
        assert done.added == 1
        assert "bad.md" in done.damaged[0]


def test_settings_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        Corpus(tmp_path / "nowhere", index=":memory:")
    _write(tmp_path / "c", "corpus.toml", 'visibility = "secret"\n')
    with pytest.raises(DataError, match="visibility"):
        Corpus(tmp_path / "c", index=":memory:")


def test_as_of_hides_later_documents(tmp_path: Path) -> None:
    head = "---\ntitle: Vega\npublished: {}\n---\n# Vega\n- Vega failed {}.\n"
    _write(tmp_path / "c", "old.md", head.format("2030-01-01", "once"))
    _write(tmp_path / "c", "new.md", head.format("2032-01-01", "twice"))
    with Corpus(tmp_path / "c", index=":memory:") as corpus:
        corpus.refresh()
        corpus.as_of = "2031-01-01"
        assert [hit.doc for hit in corpus.search("Vega failed")] == ["old.md"]
