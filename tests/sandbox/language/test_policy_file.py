"""The policy file against the installed libraries, and what the file must never allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2net.sandbox.language.freeze import NEW, differences, installed_versions, main, render_candidate
from nl2net.sandbox.language.policy import load_policy, parse_policy

NEVER = frozenset(
    [
        "open",
        "eval",
        "exec",
        "compile",
        "read_csv",
        "read_pickle",
        "to_csv",
        "to_pickle",
        "to_sql",
        "save",
        "load",
        "savetxt",
        "loadtxt",
        "memmap",
        "fromfile",
        "frombuffer",
        "as_strided",
        "ctypes",
        "tofile",
        "dump",
        "dumps_",
        "setattr",
        "attrgetter",
        "methodcaller",
        "update_wrapper",
        "wraps",
        "Formatter",
        "Template",
        "config",
        "style",
        "plot",
        "query_",
        "orig_func",
        "gi_frame",
        "f_globals",
        "with_traceback",
        "data_",
        "view",
        "setflags",
        "getfield",
        "setfield",
        "seterr",
        "set_printoptions",
        "set_option",
        "SystemRandom",
        "getstate",
        "setstate",
        "sys",
        "os",
        "codecs",
    ]
)


def test_no_name_appeared_vanished_or_changed_kind() -> None:
    found, reviewed, here = list(differences(load_policy())), load_policy().reviewed, installed_versions()
    other = [f"{name} {here[name]} (reviewed: {reviewed[name]})" for name in here if here[name] != reviewed[name]]
    way_out = (
        "The policy of the sandbox was reviewed against other versions than the installed ones. Either install the "
        "reviewed ones (pip install -c .ci/constraints.txt -e .), or review the new names: "
        "python -m nl2net.sandbox.language.freeze --candidate FILE; look at each name marked 'NEW: review' (it stays "
        "out until you allow it), put FILE in the place of sandbox/data/policy.txt with a higher version, and raise "
        ".ci/constraints.txt."
    )
    assert found == [], f"{way_out}\nOther versions: {', '.join(other) or 'none'}\n" + "\n".join(found[:40])


def test_the_constraints_of_the_build_are_the_reviewed_versions() -> None:
    text = (Path(__file__).resolve().parents[3] / ".ci" / "constraints.txt").read_text()
    pinned = dict(line.split("==") for line in text.split() if "==" in line)
    assert pinned == {name: number for name, number in load_policy().reviewed.items() if name != "python"}


def test_reviewed_versions_are_recorded() -> None:
    assert set(load_policy().reviewed) == set(installed_versions())
    assert load_policy().version


def test_every_entry_has_a_reason_and_no_private_name() -> None:
    for entry in load_policy().entries:
        assert entry.why and entry.kind and not entry.name.startswith("_"), entry


def test_no_module_and_no_dangerous_name_is_allowed() -> None:
    allowed = [e for e in load_policy().entries if e.allowed]
    assert [e for e in allowed if e.kind == "module"] == []
    assert [e for e in allowed if e.name in NEVER and e.owner != "re"] == []
    assert len([e for e in allowed if e.space == "module" and e.owner == "networkx"]) > 500


def test_a_new_name_is_reported_and_marked_for_review(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = parse_policy("version 1\nreviewed python 3.11\nmodule heapq\n  allow function | pure\n    heappush nope\n")
    found = list(differences(policy))
    if policy.reviewed["python"] == installed_versions()["python"]:
        assert "module heapq: nope vanished" in found
        assert any("heappop appeared" in line for line in found)
    candidate = render_candidate(policy)
    assert f"left function | {NEW}" in candidate
    assert main(["--candidate", str(tmp_path / "candidate.txt")]) == 0
    again = parse_policy((tmp_path / "candidate.txt").read_text())
    assert {e for e in again.entries if e.allowed} == {e for e in load_policy().entries if e.allowed}
    assert "matches" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["nonsense\n", "module a b\n", "    name\n", "module m\n  maybe x | y\n    z\n"])
def test_a_damaged_file_is_named_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [12]"):
        parse_policy(text)
